"""Counts words in pages, quickly: a page is searched as bytes, in small letters."""

from collections.abc import Iterable, Sequence

from honeyguide.text.words import is_glued

_NO_SINGULAR = frozenset("always goods means news politics series species".split())


class Term:
    """A word to look for, in any of its forms; as a whole word, or anywhere inside one."""

    def __init__(self, word: str, forms: Sequence[str] = (), whole: bool = True) -> None:
        self.word = word
        self._forms = [form.lower().encode("utf-8", "surrogatepass") for form in forms or (word,)]
        self._whole = whole and not is_glued(word)

    def count(self, page: bytes) -> int:
        """How often a folded page has it."""
        if self._whole:
            return sum(_count_whole(page, form) for form in self._forms if form in page)
        return sum(map(page.count, self._forms))


def fold(text: str, sought: str) -> bytes:
    """A text in small letters, as far as words in the letters of `sought` need it."""
    # only ASCII has to be made small to find ASCII, which takes a quarter of the time
    small = text if sought.isascii() else text.lower()
    return small.encode("utf-8", "surrogatepass").lower()


def forms(word: str) -> list[str]:
    """An English word in singular and plural."""
    single = _singular(word)
    if single.endswith("y") and single[-2:-1] not in "aeiou":
        plural = single[:-1] + "ies"
    else:
        plural = single + ("es" if single.endswith(("s", "x", "ch", "sh")) else "s")
    return list(dict.fromkeys((word, single, plural)))


def times(count: int) -> str:
    """Once, twice, 3 times."""
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def mentions(counts: Iterable[tuple[str, int]]) -> tuple[str, ...]:
    """Reasons: what is contained how often."""
    found = [f"'{word}' {times(count)}" for word, count in counts if count]
    return (f"contains {' and '.join(found)}",) if found else ()


def _singular(word: str) -> str:
    if word in _NO_SINGULAR or len(word) < 4 or word.endswith(("ss", "us", "is", "ics")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "sses", "xes")):
        return word[:-2]
    return word.removesuffix("s")


def _count_whole(page: bytes, word: bytes) -> int:
    found, size = 0, len(word)
    at = page.find(word)
    while at >= 0:
        after = at + size
        found += not (_letter_before(page, at) or _letter_after(page, after))
        at = page.find(word, after)
    return found


def _letter_before(page: bytes, at: int) -> bool:
    sign = page[at - 1 : at] if at else b""
    if sign.isascii():
        return sign.isalnum()
    # a sign takes four bytes at most
    return page[max(0, at - 4) : at].decode("utf-8", "replace")[-1:].isalnum()


def _letter_after(page: bytes, at: int) -> bool:
    sign = page[at : at + 1]
    if sign.isascii():
        return sign.isalnum()
    return page[at : at + 4].decode("utf-8", "replace")[:1].isalnum()
