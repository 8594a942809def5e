"""Write a recorded web, page by page or from arrays."""

import glob
import json
import re
import secrets
import shutil
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from types import TracebackType
from typing import Any, BinaryIO
from urllib.parse import quote

import msgspec
import numpy as np
import zstandard
from numpy.typing import NDArray

from honeyguide import urls
from honeyguide.errors import HoneyguideError
from honeyguide.recorded.graph import VERSION, Record, name_hash

CONTEXT = 150  # characters on either side of a link
MAX_ANCHOR, MAX_SEARCHED = 500, 1 << 17  # characters of an anchor, and of a text, that are used
MAX_WORK = 1 << 27  # characters searched for all links of a page
TOKEN = 4  # random bytes in the name of a draft folder
LinkRow = Sequence[str]  # target id or URL, then optional: anchor, context, tag path
_encode = msgspec.msgpack.Encoder().encode


def around(text: str, anchor: str) -> str:
    """Return the text around the first occurrence of an anchor; empty if it does not occur."""
    text, anchor = text[:MAX_SEARCHED], anchor[:MAX_ANCHOR]
    start = text.find(anchor) if anchor else -1
    if start < 0:
        anchor, text = " ".join(anchor.split()), _on_one_line(text)  # it may contain a line break
        start = text.find(anchor) if " " in anchor else -1
    if start < 0:
        return ""
    return " ".join(text[max(0, start - CONTEXT) : start + len(anchor) + CONTEXT].split())


@lru_cache(maxsize=1)
def _on_one_line(text: str) -> str:
    """Return a text on one line; cached for the other links of the same page."""
    return " ".join(text.split())


def _contexts(rows: Sequence[LinkRow], text: str) -> list[str]:
    """Return the contexts of links; on pages with too much work, only of the first links."""
    most = MAX_WORK // (len(text[:MAX_SEARCHED]) + 1)
    return [row[2] or (around(text, row[1]) if n < most else "") for n, row in enumerate(rows)]


class GraphWriter:
    """Writes a recorded web page by page; its folder appears when it is complete."""

    def __init__(
        self,
        path: str | Path,
        name: str = "",
        # keys of a URL, the best first: pages and links with the same key are joined
        ways: Callable[[str], Sequence[str]] | None = None,
    ) -> None:
        self._draft = _Draft(path, name)
        self._ways = ways
        self._by_key: dict[str, int] = {}
        self.site = f"http://{self._draft.name}.example/"  # base URL of pages without a URL
        self.counts = {"pages": 0, "links": 0, "outside": 0, "duplicates": 0, "labels": 0}
        self._numbers: dict[str, int] = {}  # page by id
        self._by_url: dict[str, int] = {}  # for pages whose URL differs from the id
        self._label_numbers: dict[str, int] = {}
        self._links, self._labels = array("q", [0]), array("q", [0])
        self._label_ids = array("i")
        self._compress = zstandard.ZstdCompressor(level=3).compress
        # names of link targets, resolved when all pages are known
        self._spool = (self._draft.folder / "spool").open("w+b")

    def __enter__(self) -> "GraphWriter":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            if error is None:
                self.close()
        except OSError as full:
            error = full
        if error is not None:
            self.discard()
        if isinstance(error, OSError):
            raise HoneyguideError(f"could not write the graph: {error.strerror}") from error

    def __len__(self) -> int:
        return len(self._numbers)

    def add(
        self,
        id: str,
        url: str,
        title: str,
        text: str,
        links: Iterable[LinkRow],
        labels: Iterable[str],
    ) -> bool:
        """Append a page and return True, or return False if its id is already there."""
        if id in self._numbers or (self._ways and self._ways(url)[0] in self._by_key):
            self.counts["duplicates"] += 1
            return False
        number = self._numbers[id] = len(self._numbers)
        if self._ways:
            self._by_key[self._ways(url)[0]] = number
        url = self._free_url(id, url, number)
        if url != id:
            self._by_url[url] = number
        self._draft.page(id, url, title)
        rows = [(*row, "", "", "")[:4] for row in links]
        columns = list(zip(*rows, strict=True)) or [()] * 4
        contexts = _contexts(rows, text)
        record = Record(text, *(_or_none(column) for column in (columns[1], contexts, columns[3])))
        self._draft.records.add(self._compress(_encode(record)))
        targets = _encode(columns[0])
        self._spool.write(len(targets).to_bytes(8, "little") + targets)
        self._links.append(self._links[-1] + len(rows))
        known = self._label_numbers
        self._label_ids.extend(
            known.setdefault(label, len(known)) for label in dict.fromkeys(labels)
        )
        self._labels.append(len(self._label_ids))
        return True

    def add_aliases(self, id: str, names: Iterable[str]) -> None:
        """Let a page that was added be found by more names, such as those of redirects to it."""
        for name in names:
            self._draft.alias(name, self._numbers[id])

    def _free_url(self, id: str, url: str, number: int) -> str:
        """Return the page's own URL if no other page has it, else one made from its id."""
        given = (
            urls.canonical(url),
            urls.canonical(id),
            id if id.startswith(("http://", "https://")) else None,
        )
        made = (urls.canonical(self.site + quote(id, safe="/:~!$&'()*+,;=@")),)
        for candidate in (*given, *made):
            if candidate and self._is_free(candidate, number):
                return candidate
        url = f"{self.site}page/{number}"
        while not self._is_free(url, number):
            url += "_"
        return url

    def _is_free(self, url: str, number: int) -> bool:
        return url not in self._by_url and self._numbers.get(url, number) == number

    def _page_at(self, target: str) -> int | None:
        found = self._numbers.get(target)
        if found is None:
            found = self._by_url.get(target)
        if found is None and self._ways:
            keys = self._ways(target)
            found = next((self._by_key[key] for key in keys if key in self._by_key), None)
        return found

    def close(self) -> None:
        """Resolve all links, count, and move the recording to its path."""
        targets = self._draft.array("targets", np.int32, self._links[-1])
        outside = self._resolve(targets)
        self._spool.close()
        (self._draft.folder / "spool").unlink()
        self.counts |= {"pages": len(self), "links": len(targets) - outside, "outside": outside}
        self.counts["labels"] = len(self._label_numbers)
        self._draft.save("offsets", np.asarray(self._links))
        self._draft.save("label_offsets", np.asarray(self._labels))
        self._draft.save("label_ids", np.asarray(self._label_ids, np.int32))
        self._draft.publish(self.counts, list(self._label_numbers))

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
                        self._draft.outside.add((url or name).encode())
                        page, outside = ~outside, outside + 1
                targets[at] = page
                at += 1
        return outside

    def discard(self) -> None:
        """Remove all files."""
        self._spool.close()
        self._draft.discard()


def write_arrays(
    path: str | Path,
    page_urls: Iterable[str],
    offsets: NDArray[np.int64],
    targets: NDArray[np.int32],
    labels: Mapping[str, NDArray[Any]] | None = None,
) -> None:
    """Write a web without text from arrays; `labels` maps a label to its pages."""
    draft = _Draft(path)
    try:
        for url in page_urls:
            draft.page(url, url, "")
            draft.records.add(b"")
        draft.save("offsets", offsets.astype(np.int64, copy=False))
        draft.save("targets", targets.astype(np.int32, copy=False))
        _save_labels(draft, labels or {}, len(offsets) - 1)
        draft.publish({"pages": len(offsets) - 1, "links": len(targets)}, list(labels or {}))
    except BaseException:
        draft.discard()
        raise


def _save_labels(draft: "_Draft", labels: Mapping[str, NDArray[Any]], page_count: int) -> None:
    pages = np.concatenate([np.empty(0, np.int64), *labels.values()]).astype(np.int64)
    numbers = np.repeat(np.arange(len(labels)), [len(pages) for pages in labels.values()])
    ends = np.cumsum(np.bincount(pages, minlength=page_count))
    draft.save("label_offsets", np.concatenate([[0], ends]).astype(np.int64))
    draft.save("label_ids", numbers[np.argsort(pages, kind="stable")].astype(np.int32))


class _Table:
    """A growing table of byte strings in a file."""

    def __init__(self, folder: Path, name: str) -> None:
        self.name = name
        self._file: BinaryIO = (folder / f"{name}.bin").open("wb", buffering=1 << 20)
        self.ends = array("q", [0])

    def add(self, item: bytes) -> None:
        self._file.write(item)
        self.ends.append(self.ends[-1] + len(item))

    def close(self) -> None:
        self._file.close()


def drafts(path: str | Path) -> list[Path]:
    """Return the folders of incomplete recordings for a path."""
    place = Path(path)
    token = "[0-9a-f]" * (2 * TOKEN)
    return sorted(place.parent.glob(f".{glob.escape(place.name)}.{token}.part"))


class _Draft:
    """The files of a recording, in a folder beside its path until they are complete."""

    def __init__(self, path: str | Path, name: str = "") -> None:
        self._place = Path(path)
        if self._place.exists():
            raise HoneyguideError(f"{path} already exists: choose another path for the graph")
        name = name or self._place.name
        self.name = re.sub(r"[^a-z0-9-]+", "-", name.lower()).strip("-") or "graph"
        self.folder = self._place.with_name(f".{self._place.name}.{secrets.token_hex(TOKEN)}.part")
        try:
            self.folder.mkdir(parents=True)
        except OSError as error:
            raise HoneyguideError(f"cannot write to {path}: {error.strerror}") from None
        names = ("ids", "urls", "titles", "outside", "records")
        self._tables = {name: _Table(self.folder, name) for name in names}
        self.outside, self.records = self._tables["outside"], self._tables["records"]
        self._hashes, self._named = array("Q"), array("i")
        self._alias_hashes, self._alias_pages = array("Q"), array("i")

    def page(self, id: str, url: str, title: str) -> None:
        """Append id, URL and title of a page."""
        number = len(self._tables["ids"].ends) - 1
        for table, name in (("ids", id), ("urls", url), ("titles", title)):
            self._tables[table].add(name.encode())
        for name in {id, url, title} - {""}:
            self._hashes.append(name_hash(name))
            self._named.append(number)

    def alias(self, name: str, page: int) -> None:
        """Append another name of a page."""
        if "aliases" not in self._tables:
            self._tables["aliases"] = _Table(self.folder, "aliases")
        self._tables["aliases"].add(name.encode())
        self._alias_hashes.append(name_hash(name))
        self._alias_pages.append(page)

    def array(self, name: str, kind: type[Any], size: int) -> NDArray[Any]:
        """Return a new memory-mapped array."""
        return np.lib.format.open_memmap(
            self.folder / f"{name}.npy", mode="w+", dtype=kind, shape=(size,)
        )

    def save(self, name: str, values: NDArray[Any]) -> None:
        """Write an array."""
        np.save(self.folder / f"{name}.npy", values)

    def publish(self, counts: Mapping[str, int], labels: list[str]) -> None:
        """Finish all files and rename the folder to its path."""
        order = self._save_sorted("hashes", self._hashes)
        self.save("named", np.asarray(self._named, np.int32)[order])
        if self._alias_pages:
            rows = self._save_sorted("alias_hashes", self._alias_hashes)
            self.save("alias_rows", rows.astype(np.int32))
            self.save("alias_pages", np.asarray(self._alias_pages, np.int32))
        for table in self._tables.values():
            table.close()
            self.save(table.name, np.asarray(table.ends))
        about = {"version": VERSION, "name": self.name, "counts": dict(counts), "labels": labels}
        (self.folder / "graph.json").write_text(json.dumps(about, indent=1))
        try:
            self.folder.rename(self._place)
        except OSError:
            self.discard()
            raise HoneyguideError(
                f"{self._place} was created by another program in the meantime"
            ) from None

    def _save_sorted(self, name: str, hashes: Sequence[int]) -> NDArray[np.intp]:
        """Write hashes in order, and return the order."""
        values = np.asarray(hashes, np.uint64)
        order = np.argsort(values, kind="stable")
        self.save(name, values[order])
        return order

    def discard(self) -> None:
        """Remove the folder."""
        for table in self._tables.values():
            table.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def _or_none(column: Sequence[str]) -> list[str]:
    return list(column) if any(column) else []
