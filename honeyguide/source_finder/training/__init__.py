"""Training of the source finder."""
