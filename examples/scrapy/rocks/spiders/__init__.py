"""Spiders of the project; they know nothing of honeyguide."""
