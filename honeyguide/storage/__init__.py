"""Crawl folders: journal, snapshots, pages, exports, check and repair. Nothing here decides what is
crawled.
"""
