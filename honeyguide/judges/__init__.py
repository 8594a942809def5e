"""Opinions on how relevant a page is."""
