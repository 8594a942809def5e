"""Read links from MediaWiki's own tables, which include those that templates add."""

import tempfile
from array import array
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from honeyguide.errors import HoneyguideError
from honeyguide.recorded.importers.sqldump import NUMBER, TEXT, SqlTable, text
from honeyguide.recorded.importers.streams import Progress

BATCH = 1 << 20  # links sorted at once
_TITLED = {"pl_from": NUMBER, "pl_namespace": NUMBER, "pl_title": TEXT}
_NUMBERED = {"pl_from": NUMBER, "pl_target_id": NUMBER}
_TARGETS = {"lt_id": NUMBER, "lt_namespace": NUMBER, "lt_title": TEXT}
Numbers = NDArray[np.int32]
Pages = Mapping[bytes, int]  # page number by page id, as SQL writes it
Find = Callable[[int, str], int | None]  # page number by namespace and title without prefix


class PageLinks:
    """The link targets of each page, by page number, in an unnamed temporary file."""

    def __init__(self, offsets: NDArray[np.int64], targets: Numbers) -> None:
        self._offsets, self._targets = offsets, targets

    def __getitem__(self, page: int) -> list[int]:
        start, end = self._offsets[page : page + 2]
        found: list[int] = self._targets[start:end].tolist()
        return found


class LinkTables:
    """pagelinks.sql, with titles of targets (old form) or with ids in linktarget.sql (new form)."""

    def __init__(self, path: Path) -> None:
        self._links = SqlTable(path, "pagelinks")
        self._targets = None
        if "pl_title" not in self._links.columns:
            beside = path.with_name(path.name.replace("pagelinks", "linktarget"))
            if beside == path or not beside.exists():
                raise HoneyguideError(
                    f"{path} gives the targets of links by number:"
                    f" put linktarget.sql.gz of the same dump beside it as {beside.name}"
                )
            self._targets = SqlTable(beside, "linktarget")

    def read(
        self, pages: Pages, find: Find, folder: Path, progress: Progress | None = None
    ) -> PageLinks:
        """Return the links between these pages."""
        if self._targets is None:
            batches = _by_title(self._links, pages, find, progress)
        else:
            batches = _by_number(self._links, pages, _numbered(self._targets, find), progress)
        degrees = np.zeros(max(pages.values(), default=-1) + 1, np.int64)
        with tempfile.TemporaryFile(dir=folder) as spool:
            for batch in batches:
                np.add.at(degrees, batch[:, 0], 1)
                spool.write(batch.tobytes())
            spool.seek(0)
            return _by_source(spool, degrees, folder)


def _by_title(
    table: SqlTable, pages: Pages, find: Find, progress: Progress | None
) -> Iterator[Numbers]:
    for rows in table.rows(_TITLED, progress):
        pairs = array("i")
        for source, namespace, title in rows:
            page = pages.get(source)
            if page is not None and (target := find(int(namespace), text(title))) is not None:
                pairs.extend((page, target))
        yield np.asarray(pairs, np.int32).reshape(-1, 2)


def _by_number(
    table: SqlTable, pages: Pages, targets: tuple[NDArray[Any], Numbers], progress: Progress | None
) -> Iterator[Numbers]:
    known, leads_to = targets
    for rows in table.rows(_NUMBERED, progress):
        found = [(pages.get(source, -1), int(target)) for source, target in rows]
        sources, wanted = np.array(found, np.int64).T
        places = np.searchsorted(known[:-1], wanted)
        kept = (sources >= 0) & (known[places] == wanted)
        yield np.stack([sources[kept], leads_to[places[kept]]], axis=1).astype(np.int32)


def _numbered(table: SqlTable, find: Find) -> tuple[NDArray[Any], Numbers]:
    """Return the sorted ids of link targets that are recorded pages, and their page numbers."""
    known, leads_to = array("q"), array("i")
    for rows in table.rows(_TARGETS):
        for number, namespace, title in rows:
            page = find(int(namespace), text(title))
            if page is not None:
                known.append(int(number))
                leads_to.append(page)
    order = np.argsort(known, kind="stable")
    # one more entry, so that every search ends at an entry
    return np.append(np.asarray(known, np.int64)[order], -1), np.append(
        np.asarray(leads_to, np.int32)[order], np.int32(-1)
    )


def _by_source(spool: BinaryIO, degrees: NDArray[np.int64], folder: Path) -> PageLinks:
    """Sort links by page, in bounded memory."""
    offsets = np.concatenate([[0], np.cumsum(degrees)])
    if not offsets[-1]:
        return PageLinks(offsets, np.empty(0, np.int32))
    with tempfile.TemporaryFile(dir=folder) as file:
        file.truncate(4 * int(offsets[-1]))
        targets = np.memmap(file, np.int32, "r+", shape=(int(offsets[-1]),))
    free = offsets[:-1].copy()  # where the next link of each page goes
    while data := spool.read(8 * BATCH):
        pairs = np.frombuffer(data, np.int32).reshape(-1, 2)
        pairs = pairs[np.argsort(pairs[:, 0], kind="stable")]
        sources, first, counts = np.unique(pairs[:, 0], return_index=True, return_counts=True)
        rank = np.arange(len(pairs)) - np.repeat(first, counts)
        targets[np.repeat(free[sources], counts) + rank] = pairs[:, 1]
        free[sources] += counts
    return PageLinks(offsets, targets)
