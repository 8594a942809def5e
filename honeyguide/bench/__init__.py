"""Policies compared on the same task."""
