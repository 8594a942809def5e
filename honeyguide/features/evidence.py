"""All that speaks for or against a link: its words, their meaning, and the company it keeps."""

from functools import lru_cache
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from honeyguide import urls
from honeyguide.contracts import (
    Candidates,
    Goal,
    Link,
    Matrix,
    MemoryView,
    Outlinks,
    State,
    Vector,
)
from honeyguide.features.link_context import Company
from honeyguide.features.link_text import TopicSimilarity
from honeyguide.text.words import words

HEAD = 300  # characters of a page that say what it is about


class LinkEvidence:
    """A row of [meaning of the link's words | hashed words].

    What a row cannot hold, since it changes while the link waits, is kept by page in `company`.
    """

    def __init__(self, goal: Goal, dimensions: int = 64, buckets: int = 256) -> None:
        self._encoder = goal.encoder
        self._topic: Vector = goal.encoder([goal.topic])[0]
        self.dimensions = min(dimensions, goal.encoder.width)
        self.buckets = buckets
        self.width = self.dimensions + buckets
        self.company = Company(self.dimensions)
        self._similarity = TopicSimilarity(goal.topic, goal.encoder)  # all that best_first knows

    def __call__(self, memory: MemoryView, found: Outlinks) -> Matrix:
        self.company.meet(memory, found)
        x = np.zeros((len(found.links), self.width), np.float32)
        if not found.links:
            return x
        own = self._encoder([f"{urls.words(link.url)} {link.anchor}" for link in found.links])
        around = self._encoder([link.context for link in found.links])
        x[:, : self.dimensions] = own[:, : self.dimensions]
        self._hash_words(x[:, self.dimensions :], found.links)
        source = np.full(len(x), self._source(found), np.float32)
        whole = self._similarity(memory, found)[:, 0]
        likeness = np.stack([own @ self._topic, around @ self._topic, whole, source])
        self.company.hear(memory, found, likeness, around)
        return x

    @property
    def nbytes(self) -> int:
        """Bytes of its tables."""
        return self.company.nbytes + self._similarity.nbytes

    def whole(self, links: Candidates) -> Matrix:
        """Rows with all that is known now: of the words, then of the company."""
        return np.hstack([links.x, self.company.rows(links.ids)])

    def worth(self, links: Candidates, weights: Vector) -> Vector:
        """whole(links) @ weights."""
        company = self.company.worth(links.ids, weights[self.width :])
        return links.x @ weights[: self.width] + company

    def state(self) -> State:
        """What is known of each page so far."""
        return {"company": self.company.state(), "similarity": self._similarity.state()}

    def load(self, state: State) -> None:
        """Go on from there."""
        self.company.load(state["company"])
        self._similarity.load(state["similarity"])

    def _source(self, found: Outlinks) -> float:
        if found.page is None:
            return 0.0
        head = f"{found.page.title} {found.page.text[:HEAD]}"
        return float(self._encoder([head])[0] @ self._topic)

    def _hash_words(self, x: Matrix, links: tuple[Link, ...]) -> None:
        places = [
            hashed(urls.words(link.url), link.anchor, link.tag_path, self.buckets) for link in links
        ]
        counts = np.array([len(of_link) for of_link in places])
        share = np.float32(1) / np.sqrt(np.maximum(counts, 1))
        x[np.repeat(np.arange(len(x)), counts), np.concatenate(places)] = np.repeat(share, counts)


@lru_cache(100_000)
def hashed(url_words: str, anchor: str, tag_path: str, buckets: int) -> NDArray[np.intp]:
    """The buckets of a link's words: of its URL, its anchor and its place in the page."""
    signs = {f"u:{word}" for word in url_words.lower().split()}
    signs |= {f"a:{word}" for word in words(anchor)} | ({f"t:{tag_path}"} if tag_path else set())
    places = {crc32(sign.encode("utf-8", "replace")) % buckets for sign in signs}
    return np.array(sorted(places), np.intp)
