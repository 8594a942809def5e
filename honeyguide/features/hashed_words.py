"""The words of a link in numbered buckets, and which words a bucket stands for in a link."""

import re
from zlib import crc32

from honeyguide import urls
from honeyguide.contracts import Link
from honeyguide.text.words import words

_KINDS = {"u": "in its URL", "a": "in its anchor", "t": "its place on the page"}
_name = re.compile(r"word (\d+) of (\d+)").fullmatch


def signs_of(url_words: str, anchor: str, tag_path: str, buckets: int) -> dict[int, set[str]]:
    """The signs of a link by bucket: its URL words "u:", anchor words "a:" and tag path "t:"."""
    signs = {f"u:{word}" for word in url_words.lower().split()}
    signs |= {f"a:{word}" for word in words(anchor)} | ({f"t:{tag_path}"} if tag_path else set())
    found: dict[int, set[str]] = {}
    for sign in signs:
        found.setdefault(crc32(sign.encode("utf-8", "replace")) % buckets, set()).add(sign)
    return found


def word_name(bucket: int, buckets: int) -> str:
    """The name of a bucket's column; `read_word_name` says what it stands for in a link."""
    return f"word {bucket} of {buckets}"


def read_word_name(name: str, link: Link) -> str | None:
    """The words of a link that a column stands for, for people; None if the name is of no bucket.

    Empty if the link has no such word: then another mention of it had.
    """
    named = _name(name)
    if named is None:
        return None
    bucket, buckets = int(named[1]), int(named[2])
    signs = signs_of(urls.words(link.url), link.anchor, link.tag_path, buckets)
    return ", ".join(_readable(sign) for sign in sorted(signs.get(bucket, ())))


def _readable(sign: str) -> str:
    kind, word = sign.split(":", 1)
    return _KINDS[kind] if kind == "t" else f"'{word}' {_KINDS[kind]}"
