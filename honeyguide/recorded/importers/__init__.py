"""Recorded webs made from other forms."""
