"""Text: words, languages, key phrases."""
