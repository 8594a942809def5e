"""Webs to crawl: live, recorded, generated, replayed. Which link comes next is not decided here."""
