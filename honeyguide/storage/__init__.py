"""Crawl folders: journal, snapshots, pages, exports, check and repair."""
