"""Webs to crawl: recorded, generated, live."""
