"""Crawls driven by other programs; each needs an extra of its own. Nothing here is needed by a
crawl.
"""
