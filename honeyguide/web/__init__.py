"""Fetching and reading pages of the live web, politely."""
