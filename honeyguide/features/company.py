"""The company a link keeps: the pages that show it, the words around it, what its siblings were."""

from collections.abc import Callable

import numpy as np

from honeyguide.columns import Columns
from honeyguide.contracts import Ids, Matrix, MemoryView, Outlinks, State, Vector

TRUST = 3.0  # visited links of a page that weigh as much as what is usual in this crawl
MOST_PARENTS = 64  # of a visited page: the latest, which are told what came of it
SHOWN = 15  # columns that change when a link is found
SIBLINGS = SHOWN  # the column that also changes when a sibling was visited
EVIDENCE = SHOWN + 1
UNKNOWN = -1  # the column that is no feature: what siblings do not tell


class Company:
    """A row by page, kept up to date while its link waits.

    A parent's links are good by the share good / (tried + TRUST), and the rest of the way to
    one, TRUST / (tried + TRUST), is filled with what is usual; siblings are the mean of that
    over the parents of a link, less what is usual, which may change without a look at the rows.
    """

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions  # of the mean meaning of the words around a link
        self.width = EVIDENCE + dimensions
        self._pages = Columns(
            row=(np.float32, self.width + 1),
            mentions=np.float32,
            parents=np.float32,  # that have told it about its siblings
            tried=np.float32,  # its links that were visited
            good=np.float32,  # and relevant
            first=np.int64,  # where its links begin
            links=np.int32,  # how many it has
        )
        self._links = Columns(page=np.int32)  # page after page
        self._visits, self._relevant = 0, 0.0
        self._parents: Callable[[int, int], Ids] = _nobody

    def __len__(self) -> int:
        return len(self._pages)

    def rows(self, pages: Ids) -> Matrix:
        """What is known of pages now."""
        held: Matrix = self._pages["row"][pages]
        held[:, SIBLINGS] += self._usual() * held[:, UNKNOWN]
        return held[:, :UNKNOWN]

    def worth(self, pages: Ids, weights: Vector) -> Vector:
        """rows(pages) @ weights; one product over all pages when many are asked for."""
        weights = np.append(weights, self._usual() * weights[SIBLINGS])
        rows: Matrix = self._pages["row"]
        if 4 * len(pages) < len(self):
            return rows[pages] @ weights
        worth: Vector = rows[: len(self)] @ weights
        return worth[pages]

    def know(self, ids: Ids, source: int) -> None:
        """Make room for pages."""
        top = max(int(ids.max(initial=-1)), source)
        self._pages.extend(max(0, top + 1 - len(self._pages)))

    def hear(self, found: Outlinks, memory: MemoryView, likeness: Matrix, around: Matrix) -> None:
        """Take in what a page says about its links.

        Likeness to the topic of a link's own words, those around it and the page: a row each.
        """
        pages, ids = self._pages, found.ids
        self.know(ids, found.source)
        self._parents = memory.parents
        pages["mentions"][ids] += 1
        once = 1 / pages["mentions"][ids]
        rows = pages["row"][ids]
        meaning = rows[:, EVIDENCE:UNKNOWN]
        meaning += (around[:, : self.dimensions] - meaning) * once[:, None]
        rows[:, :SHOWN] = _evidence(rows, memory, ids, likeness, once)
        pages["row"][ids] = rows
        if found.source >= 0 and not pages["links"][found.source]:
            self._introduce(found.source, ids)

    def credit(self, page: int, relevant: float) -> None:
        """Let the siblings of a visited page gain or lose by what it was."""
        self._visits += 1
        self._relevant += relevant
        for parent in self._parents(page, MOST_PARENTS).tolist():
            before = self._shares(parent)
            self._pages["tried"][parent] += 1
            self._pages["good"][parent] += relevant
            good, unknown = (now - past for now, past in zip(self._shares(parent), before))
            first, count = self._pages["first"][parent], self._pages["links"][parent]
            children = self._links["page"][first : first + count]
            once = 1 / self._pages["parents"][children]
            self._pages["row"][children, SIBLINGS] += good * once
            self._pages["row"][children, UNKNOWN] += unknown * once

    def state(self) -> State:
        """All of it."""
        return {
            "pages": self._pages.state(),
            "links": self._links.state(),
            "visits": self._visits,
            "relevant": self._relevant,
        }

    def load(self, state: State) -> None:
        """Become what was saved."""
        self._pages.load(state["pages"])
        self._links.load(state["links"])
        self._visits, self._relevant = state["visits"], state["relevant"]

    def _introduce(self, parent: int, children: Ids) -> None:
        """Note the links of a page, and tell each what its new siblings were so far."""
        pages = self._pages
        place = self._links.extend(len(children))
        self._links["page"][place] = children
        pages["first"][parent], pages["links"][parent] = place.start, len(children)
        pages["parents"][children] += 1
        once = 1 / pages["parents"][children]
        good, unknown = self._shares(parent)
        for column, share in ((SIBLINGS, good), (UNKNOWN, unknown - 1)):
            pages["row"][children, column] += (share - pages["row"][children, column]) * once

    def _shares(self, parent: int) -> tuple[float, float]:
        """The share of a page's links that is known to be good, and that is unknown."""
        told = float(self._pages["tried"][parent]) + TRUST
        return float(self._pages["good"][parent]) / told, TRUST / told

    def _usual(self) -> np.float32:
        """The share of relevant pages in this crawl."""
        return np.float32((self._relevant + 0.5) / (self._visits + 2))


def _evidence(
    rows: Matrix, memory: MemoryView, ids: Ids, likeness: Matrix, once: Vector
) -> Matrix:
    own, around, source = likeness
    around_mean = rows[:, 2] + (around - rows[:, 2]) * once
    source_mean = rows[:, 4] + (source - rows[:, 4]) * once
    parents, relevant = memory.parent_count(ids), memory.relevant_parent_count(ids)
    share = relevant / np.maximum(parents, 1)
    many = 0.3 * np.log1p(parents)  # so that thirty parents are about one
    return np.stack(
        [
            np.ones(len(ids), np.float32),
            own,
            around_mean,
            np.maximum(rows[:, 3], np.maximum(around, own)),  # the best so far
            source_mean,
            memory.parent_relevance(ids),
            memory.ancestor_relevance(ids),
            memory.distance(ids) / 9,
            share,
            many,
            0.3 * np.log1p(relevant),
            own * share,
            share * share,
            share * many,
            share * source_mean,
        ],
        axis=1,
    )


def _nobody(page: int, most: int) -> Ids:
    return np.empty(0, np.int32)
