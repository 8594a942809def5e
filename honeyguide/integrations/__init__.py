"""Other programs' ways to drive a crawl; each needs an extra of its own."""
