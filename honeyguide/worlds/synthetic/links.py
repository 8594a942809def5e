"""A generated web's links alone, recorded: many times as quick to walk as one that is written."""

from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from honeyguide.graphwriter import write_arrays
from honeyguide.worlds.synthetic.chance import draw, key
from honeyguide.worlds.synthetic.degrees import links
from honeyguide.worlds.synthetic.layout import SPECIALIST_HOST, Layout, Spot
from honeyguide.worlds.synthetic.names import Names
from honeyguide.worlds.synthetic.truth import arrives
from honeyguide.worlds.synthetic.wiring import Wiring

CHUNK = 20_000  # pages that one process writes at a time
WORKERS = 2
TRIES = 3  # to find another page, for each link that is wanted: some are found twice


class Recording(NamedTuple):
    """A generated web whose links are recorded."""

    pages: int
    seed: int
    many: bool = False  # as many links a page as in document 004, instead of the web's own


def record_links(web: Recording, out: Path, progress: Callable[[int], None] | None = None) -> None:
    """Write the URLs and links of a generated web; a page that only fails has no links."""
    counts: list[NDArray[np.int64]] = []
    targets: list[NDArray[np.int32]] = []
    starts = range(0, web.pages, CHUNK)

    def urls() -> Iterator[str]:
        with ProcessPoolExecutor(WORKERS, get_context("spawn")) as workers:
            for chunk in workers.map(partial(_chunk, web), starts):
                counts.append(chunk.counts)
                targets.append(chunk.targets)
                if progress is not None:
                    progress(len(chunk.urls))
                yield from chunk.urls

    known = list(urls())
    offsets = np.concatenate([[0], np.cumsum(np.concatenate(counts))])
    write_arrays(out, known, offsets, np.concatenate(targets))


class _Chunk(NamedTuple):
    urls: list[str]
    counts: NDArray[np.int64]
    targets: NDArray[np.int32]


def _chunk(web: Recording, start: int) -> _Chunk:
    """Some pages of a web."""
    layout = Layout(web.pages, web.seed)
    names, wiring = Names(layout, web.seed), Wiring(layout, web.seed)
    degrees = Degrees(wiring, web.seed) if web.many else None
    urls, counts, targets = [], [], []
    for page in range(start, min(start + CHUNK, web.pages)):
        spot = layout.spot(page)
        seen = arrives(layout, spot)
        found = list(dict.fromkeys(wiring.targets(seen))) if seen else []
        if seen and degrees:
            found = degrees.fitted(seen, found)
        urls.append(names.url(spot))
        counts.append(len(found))
        targets += found
    return _Chunk(urls, np.array(counts, np.int64), np.array(targets, np.int32))


class Degrees:
    """Gives every page as many links as document 004's pages have."""

    def __init__(self, wiring: Wiring, seed: int) -> None:
        self._wiring = wiring
        self._count_key, self._order_key = key(seed, "degree"), key(seed, "kept links")

    def fitted(self, spot: Spot, found: list[int]) -> list[int]:
        """Some of a page's links, or all of them and more such as its text could have."""
        wanted = links((draw(self._count_key, spot.page) >> 32) / 4294967296)
        if wanted <= len(found):
            order = sorted(range(len(found)), key=partial(draw, self._order_key, spot.page))
            return [found[place] for place in sorted(order[:wanted])]
        shown = dict.fromkeys(found)
        for place in range(TRIES * wanted):
            if len(shown) >= wanted:
                break
            shown[self._wiring.more(spot, place)] = None
        shown.pop(spot.page, None)
        return list(shown)


def specialist_hosts(pages: int, seed: int, topic: str) -> list[str]:
    """The names of all hosts that are about one topic, the largest first."""
    layout = Layout(pages, seed)
    names = Names(layout, seed)
    number = names.vocabulary.topics.index(topic)
    hosts = map(layout.host, range(layout.hosts))
    found = [h for h in hosts if h.kind == SPECIALIST_HOST and h.topic == number]
    return [names.host_name(host.number) for host in found]
