"""Measure the links of a recorded web: Pertejo's (2021) table 4.1 and figures 4.1 and 4.2."""

import csv
import io
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from honeyguide.recorded.graph import Graph

Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class LinkStatistics:
    """Links between the pages of a web, each pair of pages once, without links to the same page."""

    recorded: int  # links as they stand on pages, with repeated ones and those that lead outside
    outlinks: Counts  # by page
    inlinks: Counts  # by page

    @property
    def links(self) -> int:
        """How many links there are."""
        return int(self.outlinks.sum())

    @property
    def pages_with_links(self) -> int:
        """How many pages link to another."""
        return int(np.count_nonzero(self.outlinks))

    def table(self) -> list[tuple[str, str]]:
        """What table 4.1 says of a web: a name and a number a row.

        The document divides by the pages that have links (A.1, get_avg_links_per_page).
        """
        pages = len(self.outlinks)
        return [
            ("pages", f"{pages:,}"),
            ("pages with links", f"{self.pages_with_links:,}"),
            ("links recorded", f"{self.recorded:,}"),
            ("links between different pages", f"{self.links:,}"),
            ("links per page", f"{self.links / max(1, pages):.2f}"),
            ("links per page with links", f"{self.links / max(1, self.pages_with_links):.2f}"),
            ("most links from a page", f"{self.outlinks.max(initial=0):,}"),
            ("most links to a page", f"{self.inlinks.max(initial=0):,}"),
        ]

    def curves(self, top: int) -> tuple[Counts, Counts]:
        """Links from, and to, the `top` pages with the most, in falling order: the figures."""
        return _falling(self.outlinks, top), _falling(self.inlinks, top)

    def curves_csv(self, top: int) -> str:
        """The curves as CSV: rank, outlinks, inlinks."""
        text = io.StringIO()
        rows = csv.writer(text, lineterminator="\n")
        rows.writerow(("rank", "outlinks", "inlinks"))
        outlinks, inlinks = self.curves(top)
        ranks = range(1, len(outlinks) + 1)
        rows.writerows(zip(ranks, outlinks.tolist(), inlinks.tolist(), strict=True))
        return text.getvalue()


def link_statistics(graph: Graph) -> LinkStatistics:
    """Count the links of a recorded web, in about 30 bytes a link."""
    offsets, targets = graph.inside()
    pages = len(graph)
    source = np.repeat(np.arange(pages), np.diff(offsets))
    pairs = np.unique(source * pages + targets)
    source, target = np.divmod(pairs, max(1, pages))
    source, target = source[source != target], target[source != target]
    outlinks, inlinks = (np.bincount(ends, minlength=pages) for ends in (source, target))
    return LinkStatistics(graph.link_count, outlinks, inlinks)


def _falling(counts: Counts, top: int) -> Counts:
    falling: Counts = np.sort(counts)[::-1][:top]
    return falling
