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
import shutil
from array import array
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO
from urllib.parse import quote

import msgspec
import numpy as np
import zstandard
from numpy.typing import NDArray

from honeyguide import urls
from honeyguide.contracts import Link, Page
from honeyguide.errors import HoneyguideError, unknown

VERSION = 1
CONTEXT = 150  # characters either side of a link
MAX_COMPARED = 50_000  # pages among which the nearest name is looked for
LinkRow = Sequence[str]  # target id or URL, anchor, context, tag path; the last ones may be missing


class Record(msgspec.Struct, array_like=True):
    """What a page says; the columns of its links are empty where no link has any."""

    text: str
    anchors: list[str]
    contexts: list[str]
    tag_paths: list[str]


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Record).decode


def around(text: str, anchor: str) -> str:
    """The characters either side of an anchor's first occurrence in a text."""
    start = text.find(anchor) if anchor else -1
    end = start + len(anchor)
    if start < 0:
        words = anchor.split()
        if len(words) < 2 or words[0] not in text:
            return ""
        found = re.search(r"\s+".join(map(re.escape, words)), text)  # broken over lines
        if found is None:
            return ""
        start, end = found.span()
    return " ".join(text[max(0, start - CONTEXT) : end + CONTEXT].split())


def _hash(name: str) -> int:
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
        known = {table[page].decode() for table in (self._ids, self._titles) for page in range(len(self))}
        raise unknown("page", name, known - {""})

    def _candidates(self, name: str) -> list[int]:
        wanted = np.uint64(_hash(name))
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


# --------------------------------------------------------------------------- writing


class GraphWriter:
    """Writes a recorded web page by page; it appears under its name when complete."""

    def __init__(self, path: str | Path, name: str = "") -> None:
        self._draft = _Draft(path, name)
        self.site = f"http://{self._draft.name}.example/"  # of pages that have no URL of their own
        self.duplicates = 0
        self._numbers: dict[str, int] = {}  # page by id
        self._by_url: dict[str, int] = {}  # where the URL is not the id
        self._label_numbers: dict[str, int] = {}
        self._links, self._labels = array("q", [0]), array("q", [0])
        self._label_ids = array("i")
        self._compress = zstandard.ZstdCompressor(level=3).compress
        # targets are known by name until all pages are
        self._spool = (self._draft.folder / "spool").open("w+b")

    def __enter__(self) -> "GraphWriter":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.discard()

    def add(
        self,
        id: str,
        url: str,
        title: str,
        text: str,
        links: Iterable[LinkRow],
        labels: Iterable[str],
    ) -> bool:
        """Append a page, unless its id is already there."""
        if id in self._numbers:
            self.duplicates += 1
            return False
        number = self._numbers[id] = len(self._numbers)
        url = self._free_url(id, url, number)
        if url != id:
            self._by_url[url] = number
        self._draft.page(id, url, title)
        rows = [(*row, "", "", "")[:4] for row in links]
        columns = list(zip(*rows, strict=True)) or [()] * 4
        contexts = [row[2] or around(text, row[1]) for row in rows]
        record = Record(text, *(_or_none(column) for column in (columns[1], contexts, columns[3])))
        self._draft.records.add(self._compress(_encode(record)))
        targets = _encode(columns[0])
        self._spool.write(len(targets).to_bytes(8, "little") + targets)
        self._links.append(self._links[-1] + len(rows))
        known = self._label_numbers
        self._label_ids.extend(known.setdefault(label, len(known)) for label in dict.fromkeys(labels))
        self._labels.append(len(self._label_ids))
        return True

    def _free_url(self, id: str, url: str, number: int) -> str:
        """The page's own URL where it has one that no other page has, else one made from its id."""
        given = (urls.canonical(url), urls.canonical(id), id if "://" in id else None)
        made = (urls.canonical(self.site + quote(id, safe="/:~!$&'()*+,;=@")),)
        for candidate in (*given, *made):
            if candidate and self._page_at(candidate) in (None, number):
                return candidate
        return f"{self.site}page/{number}"

    def _page_at(self, target: str) -> int | None:
        found = self._numbers.get(target)
        return self._by_url.get(target) if found is None else found

    def close(self) -> dict[str, int]:
        """Resolve all links, put the recording in its place, and count what is in it."""
        targets = self._draft.array("targets", np.int32, self._links[-1])
        outside = self._resolve(targets)
        self._spool.close()
        (self._draft.folder / "spool").unlink()
        counts = {
            "pages": len(self._numbers),
            "links": len(targets) - outside,
            "outside": outside,
            "duplicates": self.duplicates,
        }
        self._draft.save("offsets", np.asarray(self._links))
        self._draft.save("label_offsets", np.asarray(self._labels))
        self._draft.save("label_ids", np.asarray(self._label_ids, np.int32))
        self._draft.publish(counts, list(self._label_numbers))
        return counts | {"labels": len(self._label_numbers)}

    def _resolve(self, targets: NDArray[np.int32]) -> int:
        self._spool.seek(0)
        at = outside = 0
        while size := int.from_bytes(self._spool.read(8), "little"):
            for name in msgspec.msgpack.decode(self._spool.read(size), type=list[str]):
                page = self._page_at(name)
                if page is None:
                    url = urls.canonical(name)
                    page = self._page_at(url) if url else None
                    if page is None:
                        self._draft.outside.add((url or name).encode("utf-8", "surrogatepass"))
                        page, outside = ~outside, outside + 1
                targets[at] = page
                at += 1
        return outside

    def discard(self) -> None:
        """Leave nothing behind."""
        self._spool.close()
        self._draft.discard()


def write_arrays(
    path: str | Path,
    page_urls: Iterable[str],
    offsets: NDArray[np.int64],
    targets: NDArray[np.int32],
    labels: Mapping[str, NDArray[Any]] | None = None,
) -> None:
    """Write a generated web without text from its arrays; `labels` has the pages of each label."""
    draft = _Draft(path)
    for url in page_urls:
        draft.page(url, url, "")
        draft.records.add(b"")
    names = list(labels or {})
    pages = np.concatenate([np.asarray(p) for p in (labels or {}).values()] or [np.empty(0, int)])
    numbers = np.repeat(np.arange(len(names)), [len(p) for p in (labels or {}).values()])
    count = np.bincount(pages.astype(np.int64), minlength=len(offsets) - 1)
    draft.save("label_offsets", np.concatenate([[0], np.cumsum(count)]).astype(np.int64))
    draft.save("label_ids", numbers[np.argsort(pages, kind="stable")].astype(np.int32))
    draft.save("offsets", offsets.astype(np.int64, copy=False))
    draft.save("targets", targets.astype(np.int32, copy=False))
    draft.publish({"pages": len(offsets) - 1, "links": len(targets)}, names)


class _Table:
    """Byte strings, appended to a file."""

    def __init__(self, folder: Path, name: str) -> None:
        self.name = name
        self._file: BinaryIO = (folder / f"{name}.bin").open("wb", buffering=1 << 20)
        self.ends = array("q", [0])

    def add(self, item: bytes) -> None:
        self._file.write(item)
        self.ends.append(self.ends[-1] + len(item))

    def close(self) -> None:
        self._file.close()


class _Draft:
    """The files of a recording, in a folder beside its place until they are complete."""

    def __init__(self, path: str | Path, name: str = "") -> None:
        self._place = Path(path)
        if self._place.exists():
            raise HoneyguideError(f"{path} already exists: choose another place for the graph")
        name = name or self._place.name
        self.name = re.sub(r"[^a-z0-9-]+", "-", name.lower()).strip("-") or "graph"
        token = np.random.default_rng().integers(1 << 32)  # unlike any other import's
        self.folder = self._place.with_name(f".{self._place.name}.{token:08x}.part")
        self.folder.mkdir(parents=True)
        names = ("ids", "urls", "titles", "outside", "records")
        self._tables = {name: _Table(self.folder, name) for name in names}
        self.outside, self.records = self._tables["outside"], self._tables["records"]
        self._hashes, self._named = array("Q"), array("i")

    def page(self, id: str, url: str, title: str) -> None:
        """Append a page's names."""
        number = len(self._tables["ids"].ends) - 1
        for table, name in (("ids", id), ("urls", url), ("titles", title)):
            self._tables[table].add(name.encode("utf-8", "surrogatepass"))
        for name in {id, url, title} - {""}:
            self._hashes.append(_hash(name))
            self._named.append(number)

    def array(self, name: str, kind: type[Any], size: int) -> NDArray[Any]:
        """An array on disk to be filled in."""
        return np.lib.format.open_memmap(
            self.folder / f"{name}.npy", mode="w+", dtype=kind, shape=(size,)
        )

    def save(self, name: str, values: NDArray[Any]) -> None:
        """Write an array."""
        np.save(self.folder / f"{name}.npy", values)

    def publish(self, counts: Mapping[str, int], labels: list[str]) -> None:
        """Finish all files and move them to their place at once."""
        hashes = np.asarray(self._hashes, np.uint64)
        order = np.argsort(hashes, kind="stable")
        self.save("hashes", hashes[order])
        self.save("named", np.asarray(self._named, np.int32)[order])
        for table in self._tables.values():
            table.close()
            self.save(table.name, np.asarray(table.ends))
        about = {"version": VERSION, "name": self.name, **counts, "labels": labels}
        (self.folder / "graph.json").write_text(json.dumps(about, indent=1))
        try:
            self.folder.rename(self._place)
        except OSError:
            self.discard()
            raise HoneyguideError(f"{self._place} appeared in the meantime") from None

    def discard(self) -> None:
        """Remove all of it."""
        for table in self._tables.values():
            table.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def _or_none(column: Sequence[str]) -> list[str]:
    return list(column) if any(column) else []
