"""Crawl folders: journal, snapshots, pages, exports, reports, check and repair.

Nothing here decides what is crawled.
"""
