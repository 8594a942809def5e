"""Recorded webs from other forms."""
