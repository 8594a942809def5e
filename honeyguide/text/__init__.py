"""Words, languages and key phrases of texts. Code that knows pages is not here."""
