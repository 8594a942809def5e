"""Ways to bring a page."""
