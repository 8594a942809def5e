"""A table of link probabilities, filled page by page; links are named by their row in it."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from honeyguide.columns import Columns
from honeyguide.contracts import Encoder, Link, Matrix, MemoryView, Outlinks, Page, State, Vector
from honeyguide.source_finder.inputs import (
    MOST_LINKS,
    PageInputs,
    joined_signs,
    page_inputs,
    shown,
)
from honeyguide.source_finder.link_signs import link_signs
from honeyguide.source_finder.policy import Policy
from honeyguide.source_finder.similar_links import SimilarLinks

PAGE = 4096  # a row number is split in two, which float32 holds exactly
KEPT = 300  # last pages, whose probabilities are recomputed after an update
NOWHERE = -1  # the row of a seed, or of a link beyond MOST_LINKS


class ProbableLinks:
    """Features that hold each link's row in the table: the row of its most probable mention."""

    width = 2

    def __init__(
        self, encoder: Encoder, policy: Policy, similar: SimilarLinks | None = None
    ) -> None:
        self.encoder, self.policy, self.similar = encoder, policy, similar
        self._table = Columns(probability=np.float32)
        self._best = Columns(place=np.int64)  # by page in Memory: row + 1, 0 where unknown
        self._starts: list[int] = []  # first row of each kept page
        # of each kept page: anchors, tag paths, signs of the links if the policy uses them
        self._texts: list[tuple[list[str], list[str], Matrix | None]] = []

    def __call__(self, memory: MemoryView, found: Outlinks) -> Matrix:
        places = np.full(len(found.ids), NOWHERE, np.int64)
        if found.page is not None and len(found.ids):
            here = self._add_page(found.page, self._known(found))
            places = self._best_mentions(found, here)
        return np.stack([places // PAGE, places % PAGE], axis=1).astype(np.float32)

    def probabilities(self, x: Matrix) -> Vector:
        """Return the probability of each link; 0 for links that are not in the table."""
        return self.known(self.places(x))

    def known(self, places: Sequence[int] | NDArray[np.int64]) -> Vector:
        """Return the probabilities in these rows of the table; 0 for negative rows."""
        at = np.asarray(places, np.int64)
        found = np.zeros(len(at), np.float32)
        found[at >= 0] = self._table["probability"][at[at >= 0]]
        return found

    def worths(self, x: Matrix) -> Vector:
        """Return probabilities, corrected by the results of clicks on similar links if enabled."""
        worths, places = self.probabilities(x), self.places(x)
        if self.similar is not None:
            at = places >= 0
            worths[at] += self.similar.corrections(places[at], self._table["probability"])
        return worths

    def places(self, x: Matrix) -> NDArray[np.int64]:
        """Return each link's row in the table."""
        rows = x.astype(np.int64)
        places: NDArray[np.int64] = rows[:, 0] * PAGE + rows[:, 1]
        return places

    def link(self, place: int) -> tuple[int, int] | None:
        """Return the kept page of a table row and the link's index on it; None if not kept."""
        page = bisect_right(self._starts, place) - 1
        if page < 0 or place - self._starts[page] >= len(self._texts[page][0]):
            return None
        return page, place - self._starts[page]

    def anchor(self, x: Vector) -> str:
        """Return the text of the link with these features; empty if its page is not kept."""
        at = self.link(int(self.places(x[None])[0]))
        return self._texts[at[0]][0][at[1]] if at else ""

    def inputs(self, page: int) -> PageInputs:
        """Return the policy's inputs for a kept page."""
        anchors, paths, signs = self._texts[page]
        links = [
            Link("", anchor, tag_path=path) for anchor, path in zip(anchors, paths, strict=True)
        ]
        seen = page_inputs(links, self.encoder)
        return seen if signs is None else replace(seen, anchors=joined_signs(seen.anchors, signs))

    def refresh(self) -> None:
        """Recompute the probabilities of the links of kept pages."""
        for page, start in enumerate(self._starts):
            fresh = self.policy(self.inputs(page))
            self._table["probability"][start : start + len(fresh)] = fresh
        if self.similar is not None:
            self.similar.refresh()

    def state(self) -> State:
        """Return everything needed to resume."""
        return {
            "table": self._table.state(),
            "best": self._best.state(),
            "starts": list(self._starts),
            "texts": [[list(anchors), list(paths), signs] for anchors, paths, signs in self._texts],
            "kin": self.similar.state() if self.similar is not None else None,
        }

    def load(self, state: State) -> None:
        """Resume from a saved state."""
        self._table.load(state["table"])
        self._best.load(state["best"])
        self._starts = list(state["starts"])
        self._texts = [
            (list(anchors), list(paths), signs[0] if signs else None)
            for anchors, paths, *signs in state["texts"]
        ]
        if self.similar is not None and state["kin"] is not None:
            self.similar.load(state["kin"])

    @property
    def uses_signs(self) -> bool:
        """Whether the policy was trained with signs of links beside their texts."""
        return self.policy.width > self.encoder.width

    def _known(self, found: Outlinks) -> frozenset[str]:
        """Return the URLs of links that other pages have shown before, or that were visited."""
        self._best.grow(int(found.ids.max()) + 1)
        fresh = self._best["place"][found.ids] == 0
        new = {link.url for link, is_new in zip(found.links, fresh, strict=True) if is_new}
        links = found.page.links if found.page else ()
        return frozenset(link.url for link in links if link.url not in new)

    def _add_page(self, page: Page, known: frozenset[str]) -> dict[str, int]:
        """Add a page's links to the table; return for each URL the row of its best mention."""
        links = page.links[:MOST_LINKS]
        signs = link_signs(page, links, known) if self.uses_signs else None
        self._texts.append(
            ([shown(link) for link in links], [link.tag_path for link in links], signs)
        )
        probabilities = self.policy(self.inputs(len(self._texts) - 1))
        rows = self._table.add(len(links), probability=probabilities)
        self._starts.append(rows.start)
        del self._starts[:-KEPT], self._texts[:-KEPT]
        if self.similar is not None:
            targets = [link.url for link in links]
            self.similar.add_page(
                page.url, targets, [link.tag_path for link in links], probabilities
            )
        best: dict[str, int] = {}
        for place, link in enumerate(links):
            if link.url not in best or probabilities[place] > probabilities[best[link.url]]:
                best[link.url] = place
        return {url: rows.start + place for url, place in best.items()}

    def _best_mentions(self, found: Outlinks, here: dict[str, int]) -> NDArray[np.int64]:
        """Return for each link the more probable of its known row and its row on this page."""
        self._best.grow(int(found.ids.max()) + 1)
        now = np.array([here.get(link.url, NOWHERE) for link in found.links], np.int64)
        before = self._best["place"][found.ids] - 1
        better = np.where(self.known(now) > self.known(before), now, before)
        better = np.where(better < 0, now, better)
        self._best["place"][found.ids] = better + 1
        return better
