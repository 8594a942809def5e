"""What came of the other links of the pages that link to a page."""

import numpy as np
from numpy.typing import NDArray

from honeyguide.columns import Columns
from honeyguide.contracts import Ids, MemoryView, State, Vector

PRIOR = 3.0  # pseudo-count of visited links a page, at the crawl's mean relevance
MOST_PARENTS = 64  # of a visited page: only the latest are updated with its outcome


class Siblings:
    """For each page, the share of relevant pages expected among the links of its parents.

    A parent's links are expected to be relevant with the share (good + PRIOR * mean) /
    (tried + PRIOR), where mean is the crawl's mean relevance. A link's sibling feature is the mean
    of that over its parents, less the crawl's mean. The two summands are stored apart, so that a
    change of the crawl's mean needs no update of the rows.
    """

    def __init__(self) -> None:
        self._pages = Columns(
            good=np.float32,  # mean of good / (tried + PRIOR) over its parents
            unknown=np.float32,  # mean of PRIOR / (tried + PRIOR) over its parents, less 1
            parents=np.int32,  # number of parents in these means
            parent=np.int32,  # its own row in _parents; 0 for none
        )
        self._parents = Columns(
            tried=np.float32,  # number of its links that were visited
            good=np.float32,  # sum of their rewards
            first=np.int64,  # place of its first link in _links
            links=np.int32,  # number of its links
        )
        self._parents.add(1)  # row 0 stands for pages whose links are not known
        self._links = Columns(page=np.int32)  # targets of links, page after page

    @property
    def nbytes(self) -> int:
        """Size of its tables in bytes."""
        return self._pages.nbytes + self._parents.nbytes + self._links.nbytes

    def grow(self, pages: int) -> None:
        """Add empty rows for pages below this number."""
        self._pages.grow(pages)

    def shares(self, pages: Ids, mean: np.float32) -> Vector:
        """The feature of each page, given the crawl's mean relevance."""
        shares: Vector = self._pages["unknown"].take(pages)
        shares *= mean
        shares += self._pages["good"].take(pages)
        return shares

    def add_parent(self, page: int, links: Ids, known: tuple[int, int]) -> None:
        """Store the links of a page, once, and update the sibling feature of each.

        `known` has the number of its links that were visited before it, and of the good ones.
        """
        if self._pages["parent"][page] or not len(links):
            return
        first = self._links.add(len(links), page=links).start
        row = self._parents.add(1, tried=known[0], good=known[1], first=first, links=len(links))
        pages = self._pages
        pages["parent"][page] = row.start
        pages["parents"][links] += 1
        share = np.reciprocal(pages["parents"][links], dtype=np.float32)
        good, unknown = self._expected(np.array([row.start]))
        pages["good"][links] += (good - pages["good"][links]) * share
        pages["unknown"][links] += (unknown - 1 - pages["unknown"][links]) * share

    def add_visit(self, memory: MemoryView, page: int, relevant: float) -> None:
        """Update the siblings of a visited page with its reward."""
        parents = self._pages["parent"][memory.parents(page, MOST_PARENTS)]
        parents = parents[parents > 0]
        if not len(parents):
            return
        table, pages = self._parents, self._pages
        good, unknown = self._expected(parents)
        table["tried"][parents] += 1
        table["good"][parents] += relevant
        more_good, more_unknown = self._expected(parents)
        begins, counts = table["first"][parents], table["links"][parents]
        listed = map(slice, begins.tolist(), (begins + counts).tolist())
        siblings = np.concatenate([self._links["page"][place] for place in listed])
        share = np.reciprocal(pages["parents"][siblings], dtype=np.float32)
        np.add.at(pages["good"], siblings, np.repeat(more_good - good, counts) * share)
        np.add.at(pages["unknown"], siblings, np.repeat(more_unknown - unknown, counts) * share)

    def state(self) -> State:
        """Everything that `load` restores."""
        return {
            "pages": self._pages.state(),
            "parents": self._parents.state(),
            "links": self._links.state(),
        }

    def load(self, state: State) -> None:
        """Restore a saved state."""
        self._pages.load(state["pages"])
        self._parents.load(state["parents"])
        self._links.load(state["links"])

    def load_pages(self, pages: State, links: State) -> None:
        """Restore the state of an earlier version, which kept all of it by page."""
        has_links = np.flatnonzero(pages["links"])
        parent = np.zeros(len(pages["links"]), np.int32)
        parent[has_links] = 1 + np.arange(len(has_links))
        kept = {name: pages[name] for name in ("unknown", "parents")}
        self._pages.load({**kept, "good": pages["siblings"], "parent": parent})
        self._parents.add(
            len(has_links),
            **{name: pages[name][has_links] for name in ("tried", "good", "first", "links")},
        )
        self._links.load(links)

    def _expected(self, parents: NDArray[np.integer]) -> tuple[Vector, Vector]:
        """good / (tried + PRIOR) and PRIOR / (tried + PRIOR) of parents."""
        good: Vector = self._parents["good"][parents]
        total: Vector = self._parents["tried"][parents] + np.float32(PRIOR)
        return good / total, np.float32(PRIOR) / total
