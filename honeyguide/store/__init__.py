"""A crawl on disk: killed at any moment, it goes on where it was."""
