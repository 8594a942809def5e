"""Fetch and parse pages of the live web; what to crawl next is not decided here."""
