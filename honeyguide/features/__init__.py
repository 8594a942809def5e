"""Links to rows of numbers."""
