"""What a URL alone gives away: whether it is a trap on sight, and which others are its like."""

import re
from collections import Counter
from enum import IntEnum
from typing import NamedTuple

DEEPEST = 20  # segments of a path
MOST_PARAMETERS = 12
LONGEST = 1024  # characters
MOST_REPEATS = 3  # of one segment, anywhere in a path

# Names of files without text to read. Left out: what also ends the names of things that have
# pages of their own ("Node.js", "Character.ai", "Booking.com").
FILE_TYPES = frozenset(
    "jpg jpeg jpe png gif bmp ico svg tif tiff webp avif heic psd eps raw"
    " mp3 wav ogg oga flac aac m4a wma mid midi aif aiff opus"
    " mp4 m4v avi mov wmv flv mkv webm mpg mpeg 3gp ogv rm ram swf"
    " zip gz tgz bz2 tbz xz 7z rar tar zst lz lzma cab z jar war apk ipa"
    " exe msi dmg pkg iso img deb rpm bin dll so"
    " pdf ps dvi doc docx dot dotx xls xlsx xlsm ppt pptx pps ppsx odt ods odp rtf epub mobi djvu"
    " woff woff2 ttf otf eot css rss atom ics vcf torrent sqlite hqx sit".split()
)

# names of query parameters that hold a session
_SESSIONS = frozenset(
    "sid sess session sessionid session_id sesskey phpsession phpsessid jsessionid oscsid zenid"
    " token visit visitor visitid ticket nonce cid auth".split()
)
_TIMES = frozenset("year month week day date yr mon calendar cal yyyy mm dd".split())

_digit = re.compile(r"\d").search
# the same one to six segments at least three times in a row
_again = re.compile(r"((?:/[^/]+){1,6}?)\1\1(?=/|$)").search
# letters and digits in turn, as no word has them: 9f8a7d6e5c4b
_MIXED = r"(?=[0-9a-z]{12,64}(?![0-9a-z]))[a-z]*(?:\d+[a-z]+){2}[0-9a-z]*"
_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_path_session = re.compile(
    rf"[/;(](?:{_UUID}|{_MIXED}|(?:sid|session|sess|[jp]\w*sessid)[=_-][^/]+)", re.IGNORECASE
).search
_session_value = re.compile(
    rf"{_UUID}|{_MIXED}|(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{{8,64}}", re.IGNORECASE
).fullmatch
# the end of a path: /2031/05, /2031-05-12.html, /20310512
_MONTH, _DAY = r"(?:0?[1-9]|1[0-2])", r"(?:0?[1-9]|[12]\d|3[01])"
_path_date = re.compile(
    rf"[/_-]((?:1[789]|2\d)\d\d)"
    rf"(?:[/_-]{_MONTH}(?:[/_-]{_DAY})?|(?:0[1-9]|1[0-2])[0-3]\d)/?(?:\.\w+)?$"
).search
_value_date = re.compile(r"(\d{4,})-\d\d?(?:-\d\d?.*)?").fullmatch
_year = re.compile(r"(?<!\d)\d{4,6}(?!\d)").findall


class Kind(IntEnum):
    """What sort of addresses a group of URLs are."""

    SINGLE = 0  # no group
    NUMBERED = 1  # /article/12345, /list?page=2
    CALENDAR = 2  # /events/2031/05
    SESSION = 3  # /s/9f8a7d6e5c4b/home, /shop?visit=9f8a7d6e


class Shape(NamedTuple):
    """A URL's likeness to others, as the names of two groups; an empty name is no group."""

    kind: Kind
    narrow: bytes  # on its site: the same path but for numbers and the values of parameters
    wide: bytes  # all queries of a path, all that follows a number; of a trap, on whatever site
    year: int = 0  # of a calendar


PLAIN = Shape(Kind.SINGLE, b"", b"")


def refusal(url: str) -> str:
    """Why a URL is not worth a visit, by its looks; empty when it may be."""
    place, _, query = url.partition("?")
    path = place[place.find("/", 8) :]
    last = path[path.rfind("/") + 1 :]
    name, dot, ending = last.rpartition(".")
    # "File:Honey.jpg" is a page about a picture
    if dot and ending.lower() in FILE_TYPES and ":" not in name and "%3" not in name:
        return "file type"
    depth = path.count("/")
    if depth > 2 and (depth > DEEPEST or _repeats(path)):
        return "deep path" if depth > DEEPEST else "repeating path"
    if len(url) > LONGEST or (query and _overgrown(query)):
        return "long query"
    return ""


def _repeats(path: str) -> bool:
    segments = path.split("/")
    if len(segments) - len(set(segments)) < 2:
        return False
    again = _again(path)
    if again is not None and not again[1].replace("/", "").isdigit():
        return True
    counts = Counter(segment for segment in segments if segment and not segment.isdigit())
    return max(counts.values(), default=0) > MOST_REPEATS


def _overgrown(query: str) -> bool:
    """Whether it grew by passing through itself."""
    pairs = query.split("&")
    return len(pairs) > MOST_PARAMETERS or len(pairs) - len(set(pairs)) > 1 or "%2525" in query


def shape(url: str) -> Shape:
    """Which other URLs it is like."""
    place, _, query = url.partition("?")
    path = place[place.find("/", 8) :]
    number = _digit(path)
    if number is None and not query:
        return PLAIN
    stem = path if number is None else path[: path.rfind("/", 0, number.start()) + 1]
    pairs = [pair.partition("=") for pair in query.split("&")] if query else []
    if session := _session(path, stem, pairs):
        return _site_wide(Kind.SESSION, place, path, session)
    keys = "&".join(sorted([name for name, _, _ in pairs])) if query else ""
    if (year := _calendar_year(path, pairs)) is not None:
        return _site_wide(Kind.CALENDAR, place, path, f"{stem}?{keys}", year)
    general = _bytes(place).translate(None, b"0123456789")
    wide = general + b"?" if query else _bytes(place[: len(place) - len(path)] + stem)
    return Shape(Kind.NUMBERED, general + b" " + _bytes(keys), wide)


def _site_wide(kind: Kind, place: str, path: str, form: str, year: int = 0) -> Shape:
    """A trap by its form, on its site and on whatever site."""
    name = _bytes(f"{kind} {form}")
    return Shape(kind, name + _bytes(place[: len(place) - len(path)]), name, year)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _session(path: str, stem: str, pairs: list[tuple[str, str, str]]) -> str:
    """Where in the URL a session is, if it has one."""
    if stem is not path and (found := _path_session(path)) is not None:
        return path[: found.start()]
    for name, _, value in pairs:
        if _digit(value) and (name.lower() in _SESSIONS or _session_value(value)):
            return f"{stem}?{name}"
    return ""


def _calendar_year(path: str, pairs: list[tuple[str, str, str]]) -> int | None:
    """The year that a calendar shows, 0 for an unknown one; None when it is no calendar."""
    if (date := _path_date(path)) is not None:
        return int(date[1])
    shown = [path]
    if pairs:
        shown += [value for name, _, value in pairs if name.lower() in _TIMES and _digit(value)]
        shown += [date[1] for _, _, value in pairs if (date := _value_date(value)) is not None]
    if len(shown) == 1:
        small = path.lower()
        if "calend" not in small and "kalend" not in small and "agenda" not in small:
            return None
    return max(map(int, _year("/".join(shown))), default=0)
