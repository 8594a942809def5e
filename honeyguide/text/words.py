"""Words of a text in any language: found, counted in a page, and shown in a terminal."""

import re
from collections.abc import Iterable, Sequence

# ASCII letters become small, other ASCII signs become spaces, bytes of other letters stay
_ASCII = bytes(
    (byte | 32 if 65 <= byte <= 90 else byte) if byte >= 128 or chr(byte).isalnum() else 32
    for byte in range(256)
)
# Chinese characters and Japanese kana: no spaces between words, so each is a word
_ALONE = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
# vowel signs and accents of Arabic, Hebrew, Indian and other scripts, which \w leaves out
_MARKS = "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0963\u0966-\u109f\u1780-\u17d3"
_WORD = re.compile(f"[{_ALONE}]|(?:[^\\W_{_ALONE}]|[{_MARKS}])+")
_RUN = re.compile(f"(?:[^\\W_]|[{_MARKS}])+")
# these and Thai, Lao, Burmese, Khmer and Korean: no spaces between words, or endings glued on
_GLUED = re.compile(f"[{_ALONE}\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\uac00-\ud7af]")
_NO_SINGULAR = frozenset("always goods means news politics series species".split())

# words that say nothing about a text's subject
STOP_WORDS = frozenset(
    """
    a about above after again against all also am an and any are as at be because been before
    being below between both but by can cannot could d did do does doing don down during each
    else ever few for from further get had has have having he her here hers herself him himself
    his how however i if in into is it its itself just ll m may me might more most much must my
    myself no nor not now of off on once one only or other our ours ourselves out over own per
    re s same shall she should since so some such t than that the their theirs them themselves
    then there these they this those through thus to too under until up upon us ve very via was
    we were what when where which while who whom whose why will with within without would yet
    you your yours yourself yourselves
    """.split()
)

# what a terminal obeys or hides: C0 but the line feed, DEL, C1, marks that turn the direction of
# writing, other line ends, the byte-order mark, annotations, halves of surrogate pairs
_HIDDEN = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb"
    "\ud800-\udfff]"
)


def printable(text: str) -> str:
    """The text with \\u001b for a control character: JSON stays the same JSON; tabs are spaces."""
    return _HIDDEN.sub(_escaped, text)


def _escaped(sign: re.Match[str]) -> str:
    return " " if sign[0] == "\t" else f"\\u{ord(sign[0]):04x}"


def encodable(text: str) -> str:
    """The text with a question mark for half a surrogate pair, which no UTF-8 file can hold."""
    return text.encode("utf-8", "replace").decode()


def words(text: str) -> list[str]:
    """The words of a text in small letters, in order; Chinese and Japanese signs one by one."""
    # five times as fast as one regular expression over a page, since most words are ASCII
    small = text.encode("utf-8", "surrogatepass").translate(_ASCII)
    pieces = small.decode("utf-8", "surrogatepass").split()
    if text.isascii():
        return pieces
    found: list[str] = []
    for piece in pieces:
        if piece.isascii():
            found.append(piece)
        else:
            found.extend(_WORD.findall(piece.lower()))
    return found


def terms(text: str) -> list[str]:
    """What a topic is made of: its words without stop words; signs written together stay so."""
    found = list(dict.fromkeys(_RUN.findall(text.lower())))
    return [word for word in found if word not in STOP_WORDS] or found


def is_glued(text: str) -> bool:
    """Whether its script writes words, or words and their endings, without spaces between."""
    return _GLUED.search(text) is not None


def counted(number: int, noun: str) -> str:
    """So many of something."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def are(number: int) -> str:
    """The verb after so many of something."""
    return "is" if number == 1 else "are"


class Term:
    """A word to look for, in any of its forms; as a whole word, or anywhere inside one."""

    def __init__(self, word: str, forms: Sequence[str] = (), whole: bool = True) -> None:
        self.word = word
        self._forms = [form.lower().encode("utf-8", "surrogatepass") for form in forms or (word,)]
        self._whole = whole and not is_glued(word)

    def count(self, page: bytes) -> int:
        """How often a folded page has it."""
        if self._whole:
            return len(self.places(page))
        return sum(map(page.count, self._forms))

    def places(self, page: bytes) -> list[int]:
        """Where a folded page has it, in bytes from its begin; form by form."""
        forms = (form for form in self._forms if form in page)
        return [at for form in forms for at in _places(page, form, self._whole)]


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


def _places(page: bytes, word: bytes, whole: bool) -> list[int]:
    found, size = [], len(word)
    at = page.find(word)
    while at >= 0:
        after = at + size
        if not (whole and (_letter_before(page, at) or _letter_after(page, after))):
            found.append(at)
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
