"""Features: each link as a row of numbers. Nothing is learnt here."""
