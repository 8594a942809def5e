"""Texts in small letters without accents, to compare what people type in different ways."""

import unicodedata
from functools import cache

_ALONE = {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i"}


def unaccented(text: str) -> str:
    """Return a text in small letters, its Latin, Greek and Cyrillic ones without accents."""
    folded = text.casefold()
    return folded if folded.isascii() else "".join(map(_bare, folded))


@cache
def _bare(sign: str) -> str:
    if sign in _ALONE:
        return _ALONE[sign]
    if not 0x80 <= ord(sign) < 0x2E80:
        return sign
    parts = unicodedata.normalize("NFKD", sign)
    return "".join(part for part in parts if not unicodedata.combining(part))
