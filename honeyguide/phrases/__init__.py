"""What a text is about, in its own words, and how close that is to what is looked for."""
