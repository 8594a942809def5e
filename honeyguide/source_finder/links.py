"""Links by their place in a table of probabilities, made page by page (Liao and Chang 2022)."""

from bisect import bisect_right
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from honeyguide.columns import Columns
from honeyguide.contracts import Encoder, Link, Matrix, MemoryView, Outlinks, State, Vector
from honeyguide.source_finder.inputs import MOST_LINKS, PageInputs, page_inputs, shown
from honeyguide.source_finder.policy import Policy
from honeyguide.source_finder.similar_links import SimilarLinks

PAGE = 4096  # a place is two numbers, so that float32 holds it exactly
KEPT = 300  # pages whose links can be weighed again
NOWHERE = -1  # a seed, or a link too far down its page


class ProbableLinks:
    """Two numbers a link: its place in the table, at the likeliest of its mentions."""

    width = 2

    def __init__(self, encoder: Encoder, policy: Policy, kin: SimilarLinks | None = None) -> None:
        self.encoder, self.policy, self.kin = encoder, policy, kin
        self._table = Columns(probability=np.float32)
        self._best = Columns(place=np.int64)  # by page in Memory: place + 1, 0 where unknown
        self._starts: list[int] = []  # of kept pages in the table
        self._texts: list[tuple[list[str], list[str]]] = []  # of kept pages: anchors, tag paths

    def __call__(self, memory: MemoryView, found: Outlinks) -> Matrix:
        places = np.full(len(found.ids), NOWHERE, np.int64)
        if found.page is not None and len(found.ids):
            here = self._weigh(found.page.url, found.page.links[:MOST_LINKS])
            places = self._better(found, here)
        return np.stack([places // PAGE, places % PAGE], axis=1).astype(np.float32)

    def probabilities(self, x: Matrix) -> Vector:
        """What the table says of each row; 0 for what is not in it."""
        return self.known(self.places(x))

    def known(self, places: Sequence[int] | NDArray[np.int64]) -> Vector:
        """Probabilities by place."""
        at = np.asarray(places, np.int64)
        found = np.zeros(len(at), np.float32)
        found[at >= 0] = self._table["probability"][at[at >= 0]]
        return found

    def worths(self, x: Matrix) -> Vector:
        """Probabilities, corrected by what came of clicks on links alike, if that is noted."""
        worths, places = self.probabilities(x), self.places(x)
        if self.kin is not None:
            at = places >= 0
            worths[at] += self.kin.missed(places[at], self._table["probability"])
        return worths

    def places(self, x: Matrix) -> NDArray[np.int64]:
        """The place of each row's link in the table."""
        rows = x.astype(np.int64)
        places: NDArray[np.int64] = rows[:, 0] * PAGE + rows[:, 1]
        return places

    def link(self, place: int) -> tuple[int, int] | None:
        """The kept page that a place belongs to, and which of its links it is."""
        page = bisect_right(self._starts, place) - 1
        if page < 0 or place - self._starts[page] >= len(self._texts[page][0]):
            return None
        return page, place - self._starts[page]

    def inputs(self, page: int) -> PageInputs:
        """What the policy is given of a kept page."""
        anchors, paths = self._texts[page]
        links = [
            Link("", anchor, tag_path=path) for anchor, path in zip(anchors, paths, strict=True)
        ]
        return page_inputs(links, self.encoder)

    def refresh(self) -> None:
        """Weigh the links of kept pages anew."""
        for page, start in enumerate(self._starts):
            fresh = self.policy(self.inputs(page))
            self._table["probability"][start : start + len(fresh)] = fresh
        if self.kin is not None:
            self.kin.refresh()

    def state(self) -> State:
        """All of it."""
        return {
            "table": self._table.state(),
            "best": self._best.state(),
            "starts": list(self._starts),
            "texts": [[list(anchors), list(paths)] for anchors, paths in self._texts],
            "kin": self.kin.state() if self.kin is not None else None,
        }

    def load(self, state: State) -> None:
        """Become what was saved."""
        self._table.load(state["table"])
        self._best.load(state["best"])
        self._starts = list(state["starts"])
        self._texts = [(list(anchors), list(paths)) for anchors, paths in state["texts"]]
        if self.kin is not None and state["kin"] is not None:
            self.kin.load(state["kin"])

    def _weigh(self, page: str, links: Sequence[Link]) -> dict[str, int]:
        """Add a page's links to the table; the place of each address's likeliest mention."""
        probabilities = self.policy(page_inputs(links, self.encoder))
        rows = self._table.add(len(links), probability=probabilities)
        self._starts.append(rows.start)
        self._texts.append(([shown(link) for link in links], [link.tag_path for link in links]))
        del self._starts[:-KEPT], self._texts[:-KEPT]
        if self.kin is not None:
            targets = [link.url for link in links]
            self.kin.show(page, targets, [link.tag_path for link in links], probabilities)
        best: dict[str, int] = {}
        for place, link in enumerate(links):
            if link.url not in best or probabilities[place] > probabilities[best[link.url]]:
                best[link.url] = place
        return {url: rows.start + place for url, place in best.items()}

    def _better(self, found: Outlinks, here: dict[str, int]) -> NDArray[np.int64]:
        """Of where a link was known before and where it was found now, the likelier place."""
        self._best.grow(int(found.ids.max()) + 1)
        now = np.array([here.get(link.url, NOWHERE) for link in found.links], np.int64)
        before = self._best["place"][found.ids] - 1
        better = np.where(self.known(now) > self.known(before), now, before)
        better = np.where(better < 0, now, better)
        self._best["place"][found.ids] = better + 1
        return better
