"""Importers that make recorded webs from other formats, one format per module."""
