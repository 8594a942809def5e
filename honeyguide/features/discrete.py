"""Pages and links as bucket numbers, as in Han et al. (2018, §3.1) and Pertejo (2021)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from honeyguide.contracts import Encoder, Ids, Matrix, MemoryView, Outlinks, Page, Vector
from honeyguide.errors import HoneyguideError
from honeyguide.features.column_names import ColumnNames
from honeyguide.features.link_text import PATHS, LinkText

HEAD = 2000  # characters of a page that are encoded; the articles of both papers are seldom longer
FARTHEST = 9  # hops: the memory counts the distance to the last relevant page no further
CHANGES = np.array(
    [4, 3, 0, 1, 2], np.float32
)  # bucket -> index: much less, less, the same, more, much more
SIDES: tuple[Literal["left"], Literal["right"]] = ("left", "right")
CATEGORY = "is close to a category"
_PARENTS = ("has relevant parents", "has parents that are relevant enough")
ROUNDING = 6  # decimals of a change: 0.6 - 0.5 is 0.1, also as a difference of float32


@dataclass(frozen=True, slots=True, kw_only=True)
class Buckets:
    """The lower edges of buckets; a relevance on an edge belongs to the bucket above it."""

    relevance: tuple[
        tuple[float, ...], ...
    ]  # each tuple of edges gives one index of the same value
    change: tuple[float, float, float, float]
    change_share: float = 1.0  # factor on the difference to the ancestors' relevance
    change_within: bool = False  # whether a change on an edge belongs to the bucket nearer to 0
    nearness: bool = False  # whether to use 9 - distance instead of the distance


# 5 and 6 overlapping buckets; "within" delta_1 = 0.1, "by" delta_2 = 0.3 and "more than" that
HAN = Buckets(
    relevance=((0.2, 0.4, 0.6, 0.8), (0.1, 0.3, 0.5, 0.7, 0.9)),
    change=(-0.3, -0.1, 0.1, 0.3),
    change_within=True,
)
# int(10 x), which is 10 at 1; a small decrease counts as a decrease
PERTEJO = Buckets(
    relevance=(tuple(tenth / 10 for tenth in range(1, 11)),),
    change=(-0.3, 0.0, 0.1, 0.3),
    change_share=0.6,  # it compares with wrl(page), of which the page itself is beta = 0.4
    nearness=True,
)


class Discrete:
    """A row a link: bucket indexes of its page, the page's change and distance, the link's indexes.

    The indexes are of the cosines to the topic and to each category, then of the mean relevance of
    all parents and of the relevant parents. The row of a seed is zero, so that nothing is learnt
    from it.
    """

    def __init__(
        self,
        topic: str,
        encoder: Encoder,
        categories: Sequence[str] = (),
        buckets: Buckets = HAN,
        text: LinkText = PATHS,
        later: int = 0,  # categories that `choose` names during the crawl
    ) -> None:
        for category in categories:
            if not encoder.knows(category):
                raise HoneyguideError(
                    f"the category {category!r} has no word that the encoder knows"
                )
        self._encoder = encoder
        self._text = text
        sought = encoder([topic, *categories])  # rows: topic, categories
        self._sought = np.pad(sought, ((0, later), (0, 0)))
        self.later, self.chosen = later, list[str]()
        self._edges = [np.array(edges, np.float32) for edges in buckets.relevance]
        self._change_edges = np.array(buckets.change, np.float32)
        self._buckets = buckets
        self._half = len(self._edges) * (len(self._sought) + 2)  # indexes of the page, or a link
        last = np.arange(1, len(self._edges) + 1) * (len(self._sought) + 2) - 1
        self._parents_at = np.stack([last - 1, last], axis=1).ravel()  # columns, of a page
        self.page_width = self._half + 2
        self.width = self.page_width + self._half
        kinds = ["is close to the topic", *[CATEGORY] * (len(self._sought) - 1), *_PARENTS]
        indexes = [kind for _ in self._edges for kind in kinds]
        self.columns = (
            *(f"its page {kind}" for kind in indexes),
            "its page is more or less relevant than those before",
            "hops since a relevant page",
            *(f"the link {kind}" for kind in indexes),
        )
        self.column_names = ColumnNames(self.columns)

    def __call__(self, memory: MemoryView, found: Outlinks) -> Matrix:
        x = np.zeros((len(found.links), self.width), np.float32)
        if not found.links or found.page is None:
            return x
        x[:, : self.page_width] = self.of_page(memory, found.source, found.page)
        texts = self._text(found.links, found.page, memory.urls.host_count)
        cosines = self._encoder(texts) @ self._sought.T
        x[:, self.page_width :] = self._indexes(memory, found.ids, cosines)
        return x

    def choose(self, words: Sequence[str]) -> None:
        """Name the categories left open; those words the encoder knows count, in their order.

        Rows made before have index 0 for them.
        """
        known = [word for word in words if self._encoder.knows(word)][: self.later]
        self.chosen = known
        if known:
            first = len(self._sought) - self.later
            self._sought[first : first + len(known)] = self._encoder(known)

    def of_page(self, memory: MemoryView, source: int, page: Page) -> Vector:
        """The state of a page: its bucket indexes, its change and its distance."""
        own = np.array([source], np.int32)
        relevance = memory.relevance(own)[0]  # as the judge found it
        cosines = np.concatenate([[relevance], self._categories(page)])[None]
        numbers = self._numbers(memory, own)[0]
        state: Vector = np.concatenate([self._indexes(memory, own, cosines)[0], numbers])
        return state.astype(np.float32)

    def renew(self, memory: MemoryView, sources: Ids, ids: Ids, x: Matrix) -> Matrix:
        """Rows as they would be made now: all that depends on parents is made again."""
        x = x.copy()
        pages, places = np.unique(sources, return_inverse=True)
        x[:, self._parents_at] = self._parents(memory, pages)[places]
        x[:, self.page_width + self._parents_at] = self._parents(memory, ids)
        x[:, self._half : self.page_width] = self._numbers(memory, pages)[places]
        return x

    def _categories(self, page: Page) -> Vector:
        categories = self._sought[1:]
        if not len(categories):
            return np.empty(0, np.float32)
        vector: Vector = self._encoder([f"{page.title}. {page.text[:HEAD]}"])[0]
        return vector @ categories.T

    def _indexes(self, memory: MemoryView, ids: Ids, cosines: Matrix) -> Matrix:
        """Bucket indexes, one row an id; `cosines` are those to the topic and the categories."""
        parents = memory.parent_relevance(ids), memory.relevant_parent_relevance(ids)
        return self._bucketed(np.column_stack([cosines, *parents]))

    def _parents(self, memory: MemoryView, ids: Ids) -> Matrix:
        """The indexes of the parents' relevance alone, in the order of `_parents_at`."""
        parents = memory.parent_relevance(ids), memory.relevant_parent_relevance(ids)
        return self._bucketed(np.column_stack(parents))

    def _bucketed(self, values: Matrix) -> Matrix:
        relevances = values.astype(np.float32)
        columns = [np.searchsorted(edges, relevances, side="right") for edges in self._edges]
        return np.concatenate(columns, axis=1).astype(np.float32)

    def _numbers(self, memory: MemoryView, pages: Ids) -> Matrix:
        """The change and the distance of each page."""
        numbers = [self._change(memory, pages), self._distance(memory, pages)]
        return np.column_stack(numbers).astype(np.float32)

    def _change(self, memory: MemoryView, pages: Ids) -> Vector:
        """The bucket of rl(p) - max wrl(x) over parents x of p; 0 for a page without parents."""
        changes = memory.relevance(pages) - memory.ancestor_relevance(pages)
        changes = np.where(memory.parent_count(pages) > 0, changes, np.float32(0.0))
        return CHANGES[self._change_buckets(changes * self._buckets.change_share)]

    def _change_buckets(self, changes: Vector) -> NDArray[np.intp]:
        if not self._buckets.change_within:
            return np.searchsorted(self._change_edges, changes, side="right")
        exact = np.round(changes.astype(np.float64), ROUNDING)
        below, above = (np.searchsorted(self._buckets.change, exact, side) for side in SIDES)
        return np.where(exact > 0, below, above)

    def _distance(self, memory: MemoryView, pages: Ids) -> Vector:
        distances = memory.distance(pages).astype(np.float32)
        return FARTHEST - distances if self._buckets.nearness else distances


def category_words(categories: str) -> list[str]:
    """Split a setting such as "earth+science" into its words."""
    return [word.strip() for word in re.split(r"[+,]", categories) if word.strip()]
