"""What decides which links are worth following."""
