"""How relevant a page is, and why, one judge a file. A judge keeps nothing from page to page."""
