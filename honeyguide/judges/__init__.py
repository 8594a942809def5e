"""Judges, one a file: each says how relevant a page is, and why. They keep no state."""
