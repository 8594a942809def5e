"""Read a recorded web from memory-mapped files; opening it reads none of the arrays.

graph.json               name, counts, label names
offsets.npy targets.npy  links of page p: targets[offsets[p]:offsets[p + 1]]; ~k is outside[k]
records.bin .npy         a zstd frame per page: text; anchors, contexts, tag paths of its links
ids urls titles outside  string tables: bytes in .bin, offsets in .npy
hashes.npy named.npy     sorted hashes of all ids, titles and URLs, and the pages they name
label_offsets.npy label_ids.npy
aliases .bin .npy        string table: more names of pages, such as redirects; may be missing, with
alias_pages.npy          the page of each, and
alias_hashes.npy alias_rows.npy  sorted hashes of them, and their rows
"""

import hashlib
import json
import os
import re
import stat
import weakref
from collections.abc import Callable
from functools import lru_cache, wraps
from itertools import repeat
from math import isqrt
from pathlib import Path
from struct import Struct
from tokenize import TokenError
from typing import Any, Literal, TypeVar, cast

import msgspec
import numpy as np
import zstandard
from numpy.typing import NDArray

from honeyguide import urls
from honeyguide.contracts import Link, Page
from honeyguide.errors import HoneyguideError, unknown

Method = TypeVar("Method", bound=Callable[..., Any])
VERSION = 1
MAX_COMPARED = 50_000  # pages up to which an unknown name is answered with the nearest one
MAX_RECORD = 1 << 28  # bytes of a page's text and link texts
# types of the arrays; string tables have offsets, too
KINDS = {"targets": "<i4", "label_ids": "<i4", "named": "<i4", "hashes": "<u8"}
KINDS |= {"alias_pages": "<i4", "alias_rows": "<i4", "alias_hashes": "<u8"}
OFFSETS = "<i8"


class Record(msgspec.Struct, array_like=True):
    """The text of a page and columns of its links; a column is empty if no link has a value."""

    text: str
    anchors: list[str]
    contexts: list[str]
    tag_paths: list[str]


_SPAN = Struct("=qq")
_SIDES: tuple[Literal["left"], Literal["right"]] = ("left", "right")
_decode = msgspec.msgpack.Decoder(Record).decode


def name_hash(name: str) -> int:
    """Return a case-insensitive 64-bit hash of a name."""
    folded = name.casefold().encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(folded, digest_size=8).digest(), "little")


class Column:
    """A one-dimensional array on disk, as a memory map or by reading single items.

    Reading takes no memory afterwards; access to the map loads 64 KB around every item.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self._file = _Opened(folder / f"{name}.npy")
        try:
            mapped = np.lib.format.open_memmap(folder / f"{name}.npy", mode="r")
        except (SyntaxError, TokenError, OverflowError, MemoryError, RecursionError):
            raise ValueError(f"{name}.npy is damaged") from None
        if mapped.ndim != 1 or mapped.dtype != np.dtype(KINDS.get(name, OFFSETS)):
            raise ValueError(f"{name}.npy has the wrong type or shape")
        self.all: NDArray[Any] = np.asarray(mapped)
        self._start: int = mapped.offset

    def __len__(self) -> int:
        return len(self.all)

    def part(self, start: int, stop: int) -> NDArray[Any]:
        """Read the items from start to stop."""
        if not 0 <= start <= stop <= len(self.all):
            raise _Damaged
        kind = self.all.dtype
        first, size = self._start + start * kind.itemsize, (stop - start) * kind.itemsize
        return np.frombuffer(os.pread(self._file.number, size, first), kind)

    def span(self, row: int) -> tuple[int, int]:
        """Read start and end of a row from a column of offsets."""
        if not 0 <= row < len(self.all) - 1:
            raise _Damaged
        return _SPAN.unpack(os.pread(self._file.number, 16, self._start + 8 * row))


class Blobs:
    """A table of byte strings on disk."""

    def __init__(self, folder: Path, name: str) -> None:
        self._ends = Column(folder, name)
        self._file = _Opened(folder / f"{name}.bin")
        self._size = os.fstat(self._file.number).st_size
        if self._size != self._ends.all[-1]:
            raise ValueError(f"{name}.bin is cut off")

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __getitem__(self, index: int) -> bytes:
        start, end = self._ends.span(index)
        if not 0 <= start <= end <= self._size:
            raise _Damaged
        return os.pread(self._file.number, end - start, start) if end > start else b""


class _Aliases:
    """More names of pages, such as the titles and URLs of redirects."""

    def __init__(self, folder: Path, pages: int) -> None:
        self._names, self._pages = Blobs(folder, "aliases"), Column(folder, "alias_pages")
        self._hashes, self._rows = Column(folder, "alias_hashes"), Column(folder, "alias_rows")
        self._most = pages
        if not len(self._names) == len(self._pages) == len(self._hashes) == len(self._rows):
            raise ValueError("its aliases do not fit together")

    def find(self, name: str, same: Callable[[str], str] = str) -> int:
        """Return the page with an alias that `same` makes equal to the name, or -1."""
        for row in _found(self._hashes, self._rows, name):
            if same(self._names[row].decode()) == same(name):
                page = int(self._pages.part(row, row + 1)[0])
                if not 0 <= page < self._most:
                    raise _Damaged
                return page
        return -1


class _Opened:
    """A regular file (no link, pipe or device), closed when it is garbage-collected."""

    def __init__(self, path: Path) -> None:
        self.number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        weakref.finalize(self, os.close, self.number)
        if not stat.S_ISREG(os.fstat(self.number).st_mode):
            raise ValueError(f"{path.name} is not a regular file")


class _Damaged(Exception):  # noqa: N818 - never leaves this module
    """Offsets or numbers in the files are out of range."""


def _raises_if_damaged(method: Method) -> Method:
    """Turn signs of damage in a method into a HoneyguideError."""

    @wraps(method)
    def checked(graph: "Graph", *given: Any, **named: Any) -> Any:
        try:
            return method(graph, *given, **named)
        except (_Damaged, UnicodeDecodeError):
            raise HoneyguideError(f"the recorded web {graph.path} is damaged") from None

    return cast(Method, checked)


class Graph:
    """A recorded web; pages are numbered and found by id, title or URL."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        try:
            about = self._about()
            if about["version"] != VERSION:
                raise HoneyguideError(f"{path} was written by another version: import it again")
            self._open(about)
        except FileNotFoundError:
            raise HoneyguideError(
                f"{path} is not a recorded web: make one with 'honeyguide import'"
            ) from None
        except (OSError, EOFError, ValueError, LookupError, TypeError, RecursionError) as error:
            reason = getattr(error, "strerror", None) or error
            raise HoneyguideError(f"cannot read the recorded web {path}: {reason}") from None

    def _about(self) -> dict[str, Any]:
        file = _Opened(self.path / "graph.json")
        with os.fdopen(os.dup(file.number), encoding="utf-8") as text:
            about: dict[str, Any] = json.load(text)
        return about

    def _open(self, about: dict[str, Any]) -> None:
        self.name: str = about["name"]
        self.label_names: list[str] = about["labels"]
        if not all(isinstance(name, str) for name in (self.name, *self.label_names)):
            raise ValueError("a name in graph.json is not a string")
        folder = self.path
        self._offsets, self._targets = Column(folder, "offsets"), Column(folder, "targets")
        self._label_offsets = Column(folder, "label_offsets")
        self._label_ids = Column(folder, "label_ids")
        self._hashes, self._named = Column(folder, "hashes"), Column(folder, "named")
        self._records = Blobs(folder, "records")
        self._ids, self._titles = Blobs(folder, "ids"), Blobs(folder, "titles")
        self._urls, self._outside = Blobs(folder, "urls"), Blobs(folder, "outside")
        self._check_sizes()
        has_aliases = (folder / "aliases.npy").exists()
        self._aliases = _Aliases(folder, len(self._urls)) if has_aliases else None
        self.url = lru_cache(maxsize=1 << 15)(self._url)  # popular pages are linked often
        self._last_targets: dict[str, int] = {}  # targets of the last page: likely to be next

    def _check_sizes(self) -> None:
        """Check the sizes of all files; values are checked when they are read."""
        pages = len(self._urls)
        tables = (self._ids, self._titles, self._records)
        offsets = (self._offsets, self._label_offsets)
        fit = [len(table) == pages for table in tables]
        fit += [len(column) == pages + 1 for column in offsets]
        if not all(fit) or len(self._hashes) != len(self._named):
            raise ValueError("its files do not fit together")

    @classmethod
    def open(cls, path: str | Path) -> "Graph":
        """Open a recorded web without reading it."""
        return cls(path)

    def __reduce__(self) -> tuple[Any, ...]:
        return Graph, (self.path,)

    def __len__(self) -> int:
        return len(self._urls)

    @_raises_if_damaged
    def id(self, page: int) -> str:
        """Return the id of a page in its source."""
        return self._ids[page].decode()

    @_raises_if_damaged
    def _url(self, page: int) -> str:
        """Return the URL of a page, or of link target ~page outside the recording."""
        url = (self._urls[page] if page >= 0 else self._outside[~page]).decode()
        if page >= 0 and not url.startswith(("http://", "https://")):
            raise _Damaged
        return url

    @_raises_if_damaged
    def title(self, page: int) -> str:
        """Return the title of a page."""
        return self._titles[page].decode()

    @_raises_if_damaged
    def page(self, page: int, outside: bool = False) -> Page:
        """Return a page with its links, on request also those that lead outside the recording."""
        record = self._record(page)
        targets = self._targets.part(*self._offsets.span(page)).tolist()
        columns = [record.anchors, record.contexts, record.tag_paths]
        if any(column and len(column) != len(targets) for column in columns):
            raise _Damaged
        if targets and min(targets) < 0:
            kept = [row for row, target in enumerate(targets) if self._shows(target, outside)]
            columns = [[column[row] for row in kept] if column else column for column in columns]
            targets = [targets[row] for row in kept]
        none = [""] * len(targets)
        to = list(map(self.url, targets))
        self._last_targets = dict(zip(to, targets, strict=True))
        anchors, contexts, paths = (column or none for column in columns)
        links = tuple(map(Link, to, anchors, contexts, paths, repeat(0), repeat(self.url(page))))
        return self._page(page, record.text, links)

    def _shows(self, target: int, outside: bool) -> bool:
        """Return whether to show a link; targets outside may be no web addresses."""
        return target >= 0 or (outside and self.url(target).startswith(("http://", "https://")))

    @_raises_if_damaged
    def page_without_links(self, page: int) -> Page:
        """Return a page without its links, which is much faster."""
        return self._page(page, self._record(page).text, ())

    def _page(self, page: int, text: str, links: tuple[Link, ...]) -> Page:
        return Page(self.url(page), self.title(page), text, links, b"", self._labels_of(page))

    def _record(self, page: int) -> Record:
        frame = self._records[page]
        if not frame:
            return _NOTHING
        try:
            if not 0 <= zstandard.frame_content_size(frame) <= MAX_RECORD:
                raise _Damaged
            # a new decompressor: they are not thread-safe
            return _decode(zstandard.ZstdDecompressor().decompress(frame))
        except (zstandard.ZstdError, msgspec.DecodeError, RecursionError):
            raise _Damaged from None

    def _labels_of(self, page: int) -> tuple[str, ...]:
        start, end = self._label_offsets.span(page)
        labels = self._label_ids.part(start, end).tolist()
        if labels and not 0 <= min(labels) <= max(labels) < len(self.label_names):
            raise _Damaged
        return tuple([self.label_names[label] for label in labels])

    @property
    def link_count(self) -> int:
        """Links as recorded, with repeated ones and those that lead outside."""
        return len(self._targets)

    @_raises_if_damaged
    def inside(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return offsets and targets of the links between recorded pages."""
        offsets, targets = self._offsets.all, self._targets.all
        _check_offsets(offsets, len(targets))
        if targets.size and not -len(self._outside) <= targets.min() <= targets.max() < len(self):
            raise _Damaged
        known = targets >= 0
        if known.all():
            return offsets, targets
        before = np.concatenate([[0], np.cumsum(known)])  # number of inner links before each link
        return before[offsets], targets[known]

    # ------------------------------------------------------------------- by name

    @_raises_if_damaged
    def index(self, url: str) -> int:
        """Return the number of the page with exactly this URL, or -1."""
        page = self._last_targets.get(url, -1)
        if page >= 0:
            return page
        wanted = url.encode("utf-8", "surrogatepass")
        return next((page for page in self._candidates(url) if self._urls[page] == wanted), -1)

    @_raises_if_damaged
    def find(self, name: str) -> int:
        """Return the number of the page with this id, title, URL or alias, ignoring case."""
        pages = self._candidates(name)
        for same in (str, str.casefold):
            wanted = same(name)
            for table in (self._ids, self._titles, self._urls):
                for page in pages:
                    if same(table[page].decode()) == wanted:
                        return page
            if self._aliases is not None and (page := self._aliases.find(name, same)) >= 0:
                return page
        url = urls.canonical(name) or ""
        page = self.index(url)
        if page < 0 and self._aliases is not None:
            page = self._aliases.find(url)
        if page >= 0:
            return page
        if len(self) > MAX_COMPARED:
            raise HoneyguideError(f"no page of {self.name} has the id, title or URL {name!r}")
        known = {
            table[page].decode() for table in (self._ids, self._titles) for page in range(len(self))
        }
        raise unknown("page", name, known - {""})

    def _candidates(self, name: str) -> list[int]:
        return _found(self._hashes, self._named, name)

    # ------------------------------------------------------------------- labels

    @_raises_if_damaged
    def labels(self) -> dict[str, int]:
        """Return the number of pages with each label, the most frequent first."""
        ids = self._label_ids.all
        if ids.size and not 0 <= ids.min() <= ids.max() < len(self.label_names):
            raise _Damaged
        counts = np.bincount(ids, minlength=len(self.label_names)).tolist()
        pairs = zip(self.label_names, counts, strict=True)
        return dict(sorted(pairs, key=lambda pair: (-pair[1], pair[0])))

    @_raises_if_damaged
    def pages_with_label(self, name: str) -> NDArray[np.int32]:
        """Return the pages with a label that matches a name, as `label_matches` says."""
        wanted = [i for i, label in enumerate(self.label_names) if label_matches(label, name)]
        if not wanted:
            parts = {re.split("[.:]", label)[-1] for label in self.label_names}
            raise unknown("label", name, parts | set(self.label_names))
        _check_offsets(self._label_offsets.all, len(self._label_ids))
        rows = np.flatnonzero(np.isin(self._label_ids.all, wanted))
        pages = np.searchsorted(self._label_offsets.all, rows, side="right") - 1
        return np.unique(pages).astype(np.int32)


def _found(hashes: Column, values: Column, name: str) -> list[int]:
    """Return the values beside the hashes of a name; hashes are sorted."""
    wanted, count = name_hash(name), len(hashes)
    near = wanted * count >> 64  # hashes are uniform: interpolation search
    reach = isqrt(count) // 2 + 8  # one standard deviation; doubled until it suffices
    while True:
        start = min(max(0, near - reach), max(0, count - 1))
        stop = max(min(count, near + reach), min(count, start + 1))
        window = hashes.part(start, stop)
        below, above = start == 0 or window[0] < wanted, stop == count or window[-1] > wanted
        if below and above:
            break
        near = start + ((wanted - int(window[0])) * count >> 64)
        reach *= 2
    value = np.uint64(wanted)
    first, last = (start + int(np.searchsorted(window, value, side)) for side in _SIDES)
    return [int(item) for item in values.part(first, last)]


def _check_offsets(offsets: NDArray[Any], end: int) -> None:
    if offsets[0] != 0 or offsets[-1] != end or (np.diff(offsets) < 0).any():
        raise _Damaged


_NOTHING = Record("", [], [], [])


def label_matches(label: str, name: str) -> bool:
    """Return whether a label, or its part after the last dot or colon, is a name in any case."""
    label, name = label.casefold(), name.casefold()
    return label == name or re.split("[.:]", label)[-1] == name
