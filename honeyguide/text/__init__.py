"""Words, languages and key phrases of a text. Pages are not known here."""
