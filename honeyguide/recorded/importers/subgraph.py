"""Cut the part of a recorded web around some target pages (Friar 2017, §3.2.2)."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from honeyguide.contracts import Link, Mask, Page, Truth
from honeyguide.errors import HoneyguideError
from honeyguide.learning.optimal import UNREACHABLE, hops_to_reward
from honeyguide.recorded.graph import Graph
from honeyguide.recorded.importers.streams import Progress
from honeyguide.recorded.writer import GraphWriter
from honeyguide.text.words import counted

OUTGOING = -2  # in place of hops: pages only linked from pages that lead to a target


def cut_subgraph(
    source: Path,
    out: Path,
    is_target: Callable[[Page], bool] | None = None,  # by URL and title
    label: str = "",
    hops: int = 2,
    progress: Progress | None = None,
) -> dict[str, int]:
    """Record the pages within so many links of a target, and the pages they link to.

    Pages that are only linked to lose their links to these, so that walks end there, as in Friar
    (2017). Links that lead outside stay: a crawl with --record follows them.
    """
    graph = Graph.open(source)
    rewards = _rewards(graph, is_target, label)
    offsets, links = graph.inside()
    truth = Truth(graph.index, rewards, offsets, links)
    distance = hops_to_reward(truth, rewards)
    hops = min(hops, int(distance.max()))  # no page is farther away
    distance[distance > hops] = UNREACHABLE
    kept = np.flatnonzero(distance >= 0)
    for page in kept.tolist():
        around = links[offsets[page] : offsets[page + 1]]
        distance[around[distance[around] == UNREACHABLE]] = OUTGOING
    with GraphWriter(out) as writer:
        chosen = np.flatnonzero(distance != UNREACHABLE).tolist()
        for done, page in enumerate(chosen):
            if progress is not None:
                progress(done + 1, len(chosen))
            _add(writer, graph, page, distance)
    return {"pages": len(chosen)} | _counts(distance, hops)


def _rewards(graph: Graph, is_target: Callable[[Page], bool] | None, label: str) -> Mask:
    if (is_target is None) == (not label):
        raise HoneyguideError("give either target domains or a label")
    rewards = np.zeros(len(graph), np.bool_)
    if is_target is None:
        rewards[graph.pages_with_label(label)] = True
    else:
        for page in range(len(graph)):
            rewards[page] = is_target(Page(graph.url(page), graph.title(page)))
    if not rewards.any():
        raise HoneyguideError(f"no page of {graph.name} is a target")
    return rewards


def _add(writer: GraphWriter, graph: Graph, page: int, distances: NDArray[np.int32]) -> None:
    whole, distance = graph.page(page, outside=True), int(distances[page])
    links: Sequence[Link] = whole.links
    if distance == OUTGOING:
        links = [link for link in links if _leads_outside(graph, link, distances)]
    rows = [(link.url, link.anchor, link.context, link.tag_path) for link in links]
    hops = f"hops:{distance}" if distance >= 0 else "hops:outgoing"
    writer.add(graph.id(page), whole.url, whole.title, whole.text, rows, (*whole.labels, hops))


def _leads_outside(graph: Graph, link: Link, distances: NDArray[np.int32]) -> bool:
    page = graph.index(link.url)
    return page < 0 or int(distances[page]) == UNREACHABLE


def _counts(distance: NDArray[np.int32], hops: int) -> dict[str, int]:
    """Return the number of pages by hops, as in Friar (2017, table 3.1)."""
    by_hops = {f"at {counted(n, 'hop')}": int((distance == n).sum()) for n in range(hops + 1)}
    return by_hops | {"outgoing": int((distance == OUTGOING).sum())}
