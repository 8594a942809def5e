"""Finding the pages where a site publishes its lists (document 003: Liao and Chang)."""
