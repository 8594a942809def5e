"""The links that wait."""
