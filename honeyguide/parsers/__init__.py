"""Bytes to pages."""
