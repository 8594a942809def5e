"""The truth about a whole generated web, for upper benchmarks."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from honeyguide.contracts import Mask, Truth
from honeyguide.errors import HoneyguideError
from honeyguide.worlds.synthetic.layout import EMPTY, FINE, MOVED, Layout, Spot
from honeyguide.worlds.synthetic.names import Names
from honeyguide.worlds.synthetic.wiring import Wiring

MOST_PAGES = 500_000


def arrives(layout: Layout, spot: Spot) -> Spot | None:
    """The page that a visit shows, after redirects; None if the visit fails."""
    if spot.status == MOVED:  # to the index of its section
        here = spot.host.start + spot.host.first + spot.section * spot.host.section_size
        return layout.spot(here)
    return spot if spot.status in (FINE, EMPTY) else None


def whole_truth(
    layout: Layout,
    wiring: Wiring,
    names: Names,
    judge: Callable[[Spot], bool],
    progress: Callable[[int, int], None] | None = None,
) -> Truth:
    """The links and relevance of every page."""
    _check_size(layout)
    offsets = np.zeros(layout.pages + 1, dtype=np.int64)
    relevant = np.zeros(layout.pages, dtype=np.bool_)
    rows: list[NDArray[np.int32]] = []
    for page in range(layout.pages):
        spot = arrives(layout, layout.spot(page))
        found = sorted(set(wiring.targets(spot))) if spot else []
        relevant[page] = spot is not None and judge(spot)
        rows.append(np.array(found, dtype=np.int32))
        offsets[page + 1] = offsets[page] + len(found)
        if progress is not None:
            progress(page + 1, layout.pages)
    return Truth(
        names.find_page,
        relevant,
        offsets,
        np.concatenate(rows),
        lambda page: names.url(layout.spot(page)),
    )


def link_counts(layout: Layout, wiring: Wiring) -> NDArray[np.int64]:
    """The number of pages that each page links to; 0 where a visit fails or is redirected."""
    _check_size(layout)
    spots = (layout.spot(page) for page in range(layout.pages))
    counts = (len(set(wiring.targets(s))) if arrives(layout, s) is s else 0 for s in spots)
    return np.fromiter(counts, np.int64, layout.pages)


def _check_size(layout: Layout) -> None:
    if layout.pages > MOST_PAGES:
        raise HoneyguideError(
            f"the truth of a generated web is known up to {MOST_PAGES:,} pages, "
            f"and this one has {layout.pages:,}"
        )


def reachable(truth: Truth, starts: Sequence[int]) -> Mask:
    """Which pages can be reached by links from the start pages."""
    seen = np.zeros(len(truth.relevant), dtype=np.bool_)
    ring = np.unique(np.array([start for start in starts if start >= 0], dtype=np.int64))
    while len(ring):
        seen[ring] = True
        spans = [truth.targets[truth.offsets[p] : truth.offsets[p + 1]] for p in ring]
        reached = np.unique(np.concatenate(spans)).astype(np.int64)
        ring = reached[~seen[reached]]
    return seen
