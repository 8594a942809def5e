"""Record the links of a generated web without its texts, which is much faster to walk."""

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from experiments.friar2017_degrees import links
from experiments.harness.trials import end_with_parent
from honeyguide.recorded.writer import write_arrays
from honeyguide.worlds.synthetic.chance import draw, key
from honeyguide.worlds.synthetic.layout import SPECIALIST_HOST, Layout, Spot
from honeyguide.worlds.synthetic.names import Names
from honeyguide.worlds.synthetic.truth import arrives
from honeyguide.worlds.synthetic.wiring import Wiring

CHUNK = 20_000  # pages that a worker writes at a time
TRIES = 3  # draws for each missing link, since some draw a page twice


class Recording(NamedTuple):
    """Which generated web to record."""

    pages: int
    seed: int
    many: bool = False  # as many links per page as Friar (2017), not the web's own number


def record_links(web: Recording, out: Path) -> None:
    """Write the URLs and links of a generated web; pages that always fail have no links."""
    chunks = list(_chunks(web))
    counts = np.concatenate([chunk.counts for chunk in chunks])
    offsets = np.concatenate([[0], np.cumsum(counts)])
    targets = np.concatenate([chunk.targets for chunk in chunks])
    write_arrays(out, (url for chunk in chunks for url in chunk.urls), offsets, targets)


def _chunks(web: Recording) -> "Iterator[_Chunk]":
    """Yield all pages in order; workers write those of a large web."""
    spans = [range(web.pages)[start : start + CHUNK] for start in range(0, web.pages, CHUNK)]
    if len(spans) == 1:
        yield _chunk(web, spans[0])
        return
    context = get_context("spawn")
    with ProcessPoolExecutor(mp_context=context, initializer=end_with_parent) as workers:
        yield from workers.map(partial(_chunk, web), spans)


class _Chunk(NamedTuple):
    urls: list[str]
    counts: NDArray[np.int64]
    targets: NDArray[np.int32]


def _chunk(web: Recording, span: range) -> _Chunk:
    """Return the URLs and links of some pages."""
    layout = Layout(web.pages, web.seed)
    names, wiring = Names(layout, web.seed), Wiring(layout, web.seed)
    degrees = Degrees(wiring, web.seed) if web.many else None
    urls, counts, targets = [], [], []
    for page in span:
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
    """Give pages as many links as the pages of Friar (2017) have."""

    def __init__(self, wiring: Wiring, seed: int) -> None:
        self._wiring = wiring
        self._count_key, self._order_key = key(seed, "degree"), key(seed, "kept links")

    def fitted(self, spot: Spot, found: list[int]) -> list[int]:
        """Drop some of a page's links, or add links that its text could have."""
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


@cache
def specialist_hosts(pages: int, seed: int, topic: str) -> tuple[str, ...]:
    """List the hosts that are about one topic, largest first."""
    layout = Layout(pages, seed)
    names = Names(layout, seed)
    number = names.vocabulary.topics.index(topic)
    hosts = map(layout.host, range(layout.hosts))
    found = [h for h in hosts if h.kind == SPECIALIST_HOST and h.topic == number]
    return tuple(names.host_name(host.number) for host in found)
