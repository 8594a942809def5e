"""A recorded web on disk, memory-mapped: opening it reads none of it.

graph.json               name, counts, label names
offsets.npy targets.npy  links of page p: targets[offsets[p]:offsets[p + 1]]; ~k is outside[k]
records.bin .npy         a zstd frame a page: its text, and its links' anchors, contexts, paths
ids urls titles outside  string tables: .bin the bytes, .npy where each ends
hashes.npy named.npy     hashes of all ids, titles and URLs, sorted, and the pages they name
label_offsets.npy label_ids.npy
"""

import hashlib
import json
import mmap
import re
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import zstandard
from numpy.typing import NDArray

from honeyguide import urls
from honeyguide.contracts import Link, Page
from honeyguide.errors import HoneyguideError, unknown

VERSION = 1
MAX_COMPARED = 50_000  # pages among which the nearest name is looked for


class Record(msgspec.Struct, array_like=True):
    """What a page says; the columns of its links are empty where no link has any."""

    text: str
    anchors: list[str]
    contexts: list[str]
    tag_paths: list[str]


_decode = msgspec.msgpack.Decoder(Record).decode


def name_hash(name: str) -> int:
    """The same for every way to write a name in small and capital letters."""
    folded = name.casefold().encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(folded, digest_size=8).digest(), "little")


class Blobs:
    """Byte strings by number, memory-mapped."""

    def __init__(self, folder: Path, name: str) -> None:
        self._ends = _array(folder, name)
        with (folder / f"{name}.bin").open("rb") as file:
            size = file.seek(0, 2)
            self._bytes = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if size else b""
        if size != int(self._ends[-1]):
            raise ValueError(f"{name}.bin is cut off")

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __getitem__(self, index: int) -> bytes:
        return self._bytes[int(self._ends[index]) : int(self._ends[index + 1])]

    def texts(self, indices: NDArray[Any]) -> list[str]:
        """Many at once, as text."""
        starts, ends = self._ends[indices].tolist(), self._ends[indices + 1].tolist()
        stored = self._bytes
        return [stored[a:b].decode() for a, b in zip(starts, ends, strict=True)]


def _array(folder: Path, name: str) -> NDArray[Any]:
    # a plain view: indexing a memmap object itself is several times as slow
    return np.asarray(np.load(folder / f"{name}.npy", mmap_mode="r"))


class Graph:
    """A recorded web: its pages by number, and their numbers by id, title or URL."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        try:
            about = json.loads((self.path / "graph.json").read_text())
            if about["version"] != VERSION:
                raise HoneyguideError(f"{path} was written by another version: import it again")
            self._open(about)
        except FileNotFoundError:
            raise HoneyguideError(
                f"{path} is no recorded web: make one with 'honeyguide import'"
            ) from None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise HoneyguideError(f"cannot read the recorded web {path}: {error}") from None

    def _open(self, about: dict[str, Any]) -> None:
        self.name: str = about["name"]
        self.label_names: list[str] = about["labels"]
        folder = self.path
        self.offsets, self.targets = _array(folder, "offsets"), _array(folder, "targets")
        self._label_offsets = _array(folder, "label_offsets")
        self._label_ids = _array(folder, "label_ids")
        self._hashes, self._named = _array(folder, "hashes"), _array(folder, "named")
        self._records = Blobs(folder, "records")
        self._ids, self._titles = Blobs(folder, "ids"), Blobs(folder, "titles")
        self._urls, self._outside = Blobs(folder, "urls"), Blobs(folder, "outside")

    @classmethod
    def open(cls, path: str | Path) -> "Graph":
        """Open a recorded web without reading it."""
        return cls(path)

    def __reduce__(self) -> tuple[Any, ...]:
        return Graph, (self.path,)

    def __len__(self) -> int:
        return len(self._urls)

    def id(self, page: int) -> str:
        """The name a page goes by in what was imported."""
        return self._ids[page].decode()

    def url(self, page: int) -> str:
        """The URL of a page."""
        return self._urls[page].decode()

    def title(self, page: int) -> str:
        """The title of a page."""
        return self._titles[page].decode()

    def page(self, page: int, outside: bool = False) -> Page:
        """A page with its links, on request also those that lead outside the recording."""
        record = self._record(page)
        targets = self.targets[self.offsets[page] : self.offsets[page + 1]]
        columns = [record.anchors, record.contexts, record.tag_paths]
        if len(targets) and targets.min() < 0:
            kept = [row for row, target in enumerate(targets.tolist()) if outside or target >= 0]
            columns = [[column[row] for row in kept] if column else column for column in columns]
            targets = targets[kept]
        none = [""] * len(targets)
        rows = zip(self._targets(targets), *(column or none for column in columns), strict=True)
        source = self.url(page)
        links = tuple([Link(url, a, context, path, 0, source) for url, a, context, path in rows])
        return Page(source, self.title(page), record.text, links, b"", self._labels_of(page))

    def _record(self, page: int) -> Record:
        frame = self._records[page]
        # a decompressor of its own: they are not to be shared between threads
        return _decode(zstandard.ZstdDecompressor().decompress(frame)) if frame else _NOTHING

    def _targets(self, targets: NDArray[Any]) -> list[str]:
        if not len(targets) or targets.min() >= 0:
            return self._urls.texts(targets)
        return [self.url(t) if t >= 0 else self._outside[~t].decode() for t in targets.tolist()]

    def _labels_of(self, page: int) -> tuple[str, ...]:
        ids = self._label_ids[self._label_offsets[page] : self._label_offsets[page + 1]]
        return tuple([self.label_names[label] for label in ids.tolist()])

    def inside(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Offsets and targets of the links between recorded pages."""
        known = self.targets >= 0
        if known.all():
            return self.offsets, self.targets
        before = np.concatenate([[0], np.cumsum(known)])  # links inside before each link
        return before[self.offsets], self.targets[known]

    # ------------------------------------------------------------------- by name

    def index(self, url: str) -> int:
        """The number of the page with exactly this URL, or -1."""
        wanted = url.encode("utf-8", "surrogatepass")
        return next((page for page in self._candidates(url) if self._urls[page] == wanted), -1)

    def find(self, name: str) -> int:
        """The number of the page with this id, title or URL, case aside."""
        pages = self._candidates(name)
        for same in (str, str.casefold):
            wanted = same(name)
            for table in (self._ids, self._titles, self._urls):
                for page in pages:
                    if same(table[page].decode()) == wanted:
                        return page
        page = self.index(urls.canonical(name) or "")
        if page >= 0:
            return page
        if len(self) > MAX_COMPARED:
            raise HoneyguideError(f"no page of {self.name} has the id, title or URL {name!r}")
        known = {
            table[page].decode() for table in (self._ids, self._titles) for page in range(len(self))
        }
        raise unknown("page", name, known - {""})

    def _candidates(self, name: str) -> list[int]:
        wanted = np.uint64(name_hash(name))
        start = int(np.searchsorted(self._hashes, wanted))
        end = start
        while end < len(self._hashes) and self._hashes[end] == wanted:
            end += 1
        return [int(page) for page in self._named[start:end]]

    # ------------------------------------------------------------------- labels

    def labels(self) -> dict[str, int]:
        """How many pages have each label, the most frequent first."""
        counts = np.bincount(self._label_ids, minlength=len(self.label_names)).tolist()
        pairs = zip(self.label_names, counts, strict=True)
        return dict(sorted(pairs, key=lambda pair: (-pair[1], pair[0])))

    def pages_with_label(self, name: str) -> NDArray[np.int32]:
        """The pages with a label that is this name, or whose last part after . or : is."""
        wanted = [i for i, label in enumerate(self.label_names) if label_matches(label, name)]
        if not wanted:
            parts = {re.split("[.:]", label)[-1] for label in self.label_names}
            raise unknown("label", name, parts | set(self.label_names))
        rows = np.flatnonzero(np.isin(self._label_ids, wanted))
        pages = np.searchsorted(self._label_offsets, rows, side="right") - 1
        return np.unique(pages).astype(np.int32)


_NOTHING = Record("", [], [], [])


def label_matches(label: str, name: str) -> bool:
    """Whether a label equals a name, or its last part after a dot or colon does, case aside."""
    label, name = label.casefold(), name.casefold()
    return label == name or re.split("[.:]", label)[-1] == name
