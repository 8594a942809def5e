"""Detects traps: by the form of URLs, and by earlier visits of their host and URL pattern."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from honeyguide.columns import Columns
from honeyguide.contracts import Ids, State

DEEPEST = 20  # segments of a path
MOST_PARAMETERS = 12  # of a query
LONGEST = 1024  # characters of a URL
MOST_REPEATS = 3  # of one segment, anywhere in a path

# Endings of files without text. Not here: endings that occur in names of things with pages of
# their own ("Node.js", "Character.ai", "Booking.com").
FILE_TYPES = frozenset(
    "jpg jpeg jpe png gif bmp ico svg tif tiff webp avif heic psd eps raw"
    " mp3 wav ogg oga flac aac m4a wma mid midi aif aiff opus"
    " mp4 m4v avi mov wmv flv mkv webm mpg mpeg 3gp ogv rm ram swf"
    " zip gz tgz bz2 tbz xz 7z rar tar zst lz lzma cab z jar war apk ipa"
    " exe msi dmg pkg iso img deb rpm bin dll so"
    " pdf ps dvi doc docx dot dotx xls xlsx xlsm ppt pptx pps ppsx odt ods odp rtf epub mobi djvu"
    " woff woff2 ttf otf eot css rss atom ics vcf torrent sqlite hqx sit".split()
)

# names of query parameters with a session id
_SESSIONS = frozenset(
    "sid sess session sessionid session_id sesskey phpsession phpsessid jsessionid oscsid zenid"
    " token visit visitor visitid ticket nonce cid auth".split()
)
_TIMES = frozenset("year month week day date yr mon calendar cal yyyy mm dd".split())

_digit = re.compile(r"\d").search
# the same one to six segments at least three times in a row
_again = re.compile(r"((?:/[^/]+){1,6}?)\1\1(?=/|$)").search
# letters and digits alternating more often than in any word: 9f8a7d6e5c4b
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
    """Kinds of URL patterns."""

    SINGLE = 0  # no pattern
    NUMBERED = 1  # /article/12345, /list?page=2
    CALENDAR = 2  # /events/2031/05
    SESSION = 3  # /s/9f8a7d6e5c4b/home, /shop?visit=9f8a7d6e


class Shape(NamedTuple):
    """The pattern of a URL, as the names of two groups of URLs; an empty name is no group."""

    kind: Kind
    narrow: bytes  # on its host: the same path and parameters, but for digits and values
    wide: bytes  # all queries of a path, or all paths up to a number; of a trap, on any host
    year: int = 0  # of a calendar


PLAIN = Shape(Kind.SINGLE, b"", b"")


def refusal(url: str) -> str:
    """Why a URL is refused by its form alone; empty if it is not."""
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
    """Whether segments of a path repeat as in a relative link that nests into itself."""
    segments = path.split("/")
    if len(segments) - len(set(segments)) < 2:
        return False
    again = _again(path)
    if again is not None and not again[1].replace("/", "").isdigit():
        return True
    counts = Counter(segment for segment in segments if segment and not segment.isdigit())
    return max(counts.values(), default=0) > MOST_REPEATS


def _overgrown(query: str) -> bool:
    """Whether a query has grown from page to page."""
    pairs = query.split("&")
    return len(pairs) > MOST_PARAMETERS or len(pairs) - len(set(pairs)) > 1 or "%2525" in query


def shape(url: str) -> Shape:
    """The pattern of a URL."""
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
    """The pattern of a calendar or session trap, which holds on any host."""
    name = _bytes(f"{kind} {form}")
    return Shape(kind, name + _bytes(place[: len(place) - len(path)]), name, year)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _session(path: str, stem: str, pairs: list[tuple[str, str, str]]) -> str:
    """The part of a URL before its session id; empty without one."""
    if stem is not path and (found := _path_session(path)) is not None:
        return path[: found.start()]
    for name, _, value in pairs:
        if _digit(value) and (name.lower() in _SESSIONS or _session_value(value)):
            return f"{stem}?{name}"
    return ""


def _calendar_year(path: str, pairs: list[tuple[str, str, str]]) -> int | None:
    """The year of a calendar URL, 0 if it has none; None for other URLs."""
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


Codes = NDArray[np.uint8]
Record = NDArray[np.uint32]  # a row of six
UrlForm = tuple[int, int, int]  # why a URL is refused by its form, and the slots of its groups

SLOTS = 1 << 20  # of a hash table of groups; colliding groups share a record
MOST_FORMS = 40  # different sets of parameters of one path
REASONS = (
    "",
    "file type",
    "deep path",
    "repeating path",
    "long query",
    "far date",
    "calendar",
    "session ids",
    "URL pattern with nothing relevant",
    "URL pattern with nothing new",
    "growing query",
    "host with nothing relevant",
    "host with nothing new",
)
OPEN = 0
_CODES = {reason: code for code, reason in enumerate(REASONS)}
_HOST_FULL, _HOST_STALE = _CODES["host with nothing relevant"], _CODES["host with nothing new"]
_GROWING = _CODES["growing query"]
_NONE = np.empty(0, np.int32)
_NO_ROWS = np.empty(0, np.intp)
_UNREAD = 255  # the form of the URL is not known yet


# columns of a record
_VISITED, _NEW, _RELEVANT, _DRY, _FORMS, _CLOSED = range(6)


class Limits(NamedTuple):
    """Limits of a group of URLs, and the reasons when they are reached."""

    pages: float  # visits, plus `growth` for each relevant page
    patience: int  # visits in a row without a new page
    full: int  # reason when `pages` is reached
    stale: int  # reason when `patience` is reached


class Traps:
    """Counts visits by host and by URL pattern, and closes those that reach their limits."""

    def __init__(
        self,
        pattern_pages: int = 1000,  # of one URL pattern, plus `growth` for each relevant one
        calendar_pages: int = 60,  # of one calendar, plus the same
        host_pages: int = 20_000,  # of one host, plus the same
        growth: int = 50,
        patience: int = 20,  # visits in a row without a new page
        year: int | None = None,  # the present year; None: no date is refused
        far: int = 3,  # years ahead after which dates are refused
    ) -> None:
        self.growth = growth
        self.latest = math.inf if year is None else year + far
        self._limits = _limits(pattern_pages, calendar_pages, patience)
        self._host_limits = Limits(host_pages, 3 * patience, _HOST_FULL, _HOST_STALE)
        self._links = Columns(code=np.uint8, narrow=np.int32, wide=np.int32)  # by page
        self._groups = _records(SLOTS)
        self._hosts = _records(0)
        self._forms: dict[str, UrlForm] = {}  # of the URLs that were screened last

    @property
    def nbytes(self) -> int:
        """Size in bytes of the tables that grow."""
        return self._links.nbytes + self._hosts.nbytes

    def check(self, ids: Ids, hosts: Ids, urls: Sequence[str], by_form: bool = True) -> Codes:
        """Why each link is refused, as places in REASONS; 0: it is not."""
        self._grow(ids, hosts)
        links = self._links
        of_form: Codes = links["code"][ids]
        unread = np.flatnonzero(of_form == _UNREAD)
        if len(unread):
            self._read(ids[unread], [urls[place] for place in unread.tolist()])
            of_form = links["code"][ids]
        codes: Codes = self._hosts["record"][hosts, _CLOSED].astype(np.uint8)
        codes = self._closed(codes, links["wide"][ids], links["narrow"][ids])
        return np.where(of_form, of_form, codes) if by_form else codes

    def screen(self, hosts: Ids, urls: Sequence[str]) -> Codes:
        """As `check`, for URLs that have no number yet; a host without a number is -1."""
        self._forms = {url: self._form(url) for url in urls}
        by_form, narrow, wide = np.array(list(self._forms.values()), np.int32).reshape(-1, 3).T
        codes = np.zeros(len(urls), np.uint8)
        known = (hosts >= 0) & (hosts < len(self._hosts))
        codes[known] = self._hosts["record"][hosts[known], _CLOSED]
        codes = self._closed(codes, wide, narrow)
        return np.where(by_form, by_form, codes).astype(np.uint8)

    def refuses(self, host: int, url: str) -> str:
        """Why one URL is refused, without counting anything; a host without a number is -1."""
        by_form, narrow, wide = self._form(url)
        codes = np.zeros(1, np.uint8)
        if 0 <= host < len(self._hosts):
            codes[0] = self._hosts["record"][host, _CLOSED]
        slots = (np.array([slot], np.int32) for slot in (wide, narrow))
        return REASONS[by_form or int(self._closed(codes, *slots)[0])]

    def note(self, host: int, like: Shape, new: bool, relevant: bool) -> None:
        """Count the outcome of a visit to a URL with the pattern `like`."""
        self._grow(_NONE, np.array([host], np.int32))
        self._tally(self._hosts["record"][host], self._host_limits, new, relevant)
        if like.kind == Kind.SINGLE:
            return
        narrow, wide = (self._groups["record"][_slot(name)] for name in (like.narrow, like.wide))
        if like.wide.endswith(b"?") and not narrow[_VISITED]:
            wide[_FORMS] += 1
        for record, limits in zip((narrow, wide), self._limits[like.kind], strict=True):
            self._tally(record, limits, new, relevant)

    def state(self) -> State:
        """All records; the forms of URLs are computed again."""
        groups = self._groups["record"]
        used = np.flatnonzero(groups[:, _VISITED])
        return {
            "slots": used,
            "groups": groups[used],
            "hosts": self._hosts.state(),
            "pages": len(self._links),
        }

    def load(self, state: State) -> None:
        """Restore a saved state, before any link is checked."""
        self._groups = _records(SLOTS)
        self._groups["record"][state["slots"]] = state["groups"]
        self._hosts.load(state["hosts"])
        self._links.keep(_NO_ROWS)
        self._links.grow(state.get("pages", 0), code=_UNREAD)  # older crawls did not count them

    def _closed(self, codes: Codes, wide: Ids, narrow: Ids) -> Codes:
        """The codes of closed hosts, else those of closed groups."""
        groups = self._groups["record"]
        for slots in (wide, narrow):
            codes = np.where(codes, codes, groups[slots, _CLOSED])
        return codes

    def _read(self, ids: Ids, urls: Sequence[str]) -> None:
        forms = [self._forms.get(url) or self._form(url) for url in urls]
        codes, narrow, wide = zip(*forms, strict=True)
        self._links["code"][ids] = codes
        self._links["narrow"][ids] = narrow
        self._links["wide"][ids] = wide

    def _form(self, url: str) -> UrlForm:
        like = shape(url)
        code = _CODES[refusal(url) or ("far date" if like.year > self.latest else "")]
        return code, _slot(like.narrow), _slot(like.wide)

    def _tally(self, record: Record, limits: Limits, new: bool, relevant: bool) -> None:
        """Count a visit in a record, and close it if a limit is reached."""
        visited, fresh, found, dry, forms, _ = record.tolist()
        visited, fresh, found = visited + 1, fresh + new, found + (new and relevant)
        dry = 0 if new else dry + 1
        if dry >= limits.patience + fresh // 4:
            closed = limits.stale
        elif visited >= limits.pages + self.growth * found:
            closed = limits.full
        elif forms > MOST_FORMS + found:
            closed = _GROWING
        else:
            closed = OPEN
        record[:] = visited, fresh, found, dry, forms, closed

    def _grow(self, ids: Ids, hosts: Ids) -> None:
        self._links.grow(int(ids.max(initial=-1)) + 1, code=_UNREAD)
        self._hosts.grow(int(hosts.max(initial=-1)) + 1)


def _limits(
    pattern_pages: int, calendar_pages: int, patience: int
) -> dict[Kind, tuple[Limits, Limits]]:
    """The limits of the narrow and the wide groups of each kind."""
    full = _CODES["URL pattern with nothing relevant"]
    stale = _CODES["URL pattern with nothing new"]
    calendar, session = _CODES["calendar"], _CODES["session ids"]
    twice = 2 * patience
    return {
        Kind.NUMBERED: (
            Limits(pattern_pages, patience, full, stale),
            Limits(math.inf, twice, full, stale),
        ),
        Kind.CALENDAR: (
            Limits(calendar_pages, patience, calendar, calendar),
            Limits(math.inf, twice, calendar, calendar),
        ),
        Kind.SESSION: (
            Limits(pattern_pages, patience, session, session),
            Limits(math.inf, twice, session, session),
        ),
    }


def _records(rows: int) -> Columns:
    records = Columns(record=(np.uint32, 6))
    records.add(rows)
    return records


def _slot(name: bytes) -> int:
    """The slot of a group's record; 0 for no group."""
    return 1 + crc32(name) % (SLOTS - 1) if name else 0
