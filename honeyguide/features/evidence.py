"""All that speaks for or against a link: its words, its meaning, and the company it keeps."""

from functools import lru_cache
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from honeyguide import urls
from honeyguide.columns import Columns
from honeyguide.contracts import Goal, Link, Matrix, MemoryView, Outlinks, State, Vector
from honeyguide.text import words

HEAD = 300  # characters of a page that say what it is about


class LinkEvidence:
    """A row of [meaning of the link's words | evidence from its surroundings | hashed words].

    What several pages say about the same link is averaged, and the best of it kept.
    """

    SURROUNDINGS = 15

    def __init__(self, goal: Goal, dimensions: int = 64, buckets: int = 256) -> None:
        self._encoder = goal.encoder
        self._topic: Vector = goal.encoder([goal.topic])[0]
        self.dimensions = min(dimensions, goal.encoder.width)
        self.buckets = buckets
        self.width = self.dimensions + self.SURROUNDINGS + buckets
        self._said = Columns(
            times=np.float32, around=np.float32, best=np.float32, source=np.float32
        )

    def __call__(self, memory: MemoryView, found: Outlinks) -> Matrix:
        x = np.zeros((len(found.links), self.width), np.float32)
        if found.links:
            meanings = self._encoder(
                [f"{urls.words(link.url)} {link.anchor}" for link in found.links]
            )
            x[:, : self.dimensions] = meanings[:, : self.dimensions]
            surroundings = x[:, self.dimensions : self.dimensions + self.SURROUNDINGS]
            self._look_around(surroundings, memory, found, meanings @ self._topic)
            self._hash_words(x[:, self.width - self.buckets :], found.links)
        return x

    def state(self) -> State:
        """What has been said about each link so far."""
        return self._said.state()

    def load(self, state: State) -> None:
        """Go on from there."""
        self._said.load(state)

    def _look_around(self, x: Matrix, memory: MemoryView, found: Outlinks, own: Vector) -> None:
        ids = found.ids
        around, best, source = self._hear(found, own)
        parents, relevant = memory.parent_count(ids), memory.relevant_parent_count(ids)
        share = relevant / np.maximum(parents, 1)
        many = 0.3 * np.log1p(parents)  # so that thirty parents are about one
        x[:] = np.stack(
            [
                np.ones(len(ids), np.float32),
                own,
                around,
                best,
                source,
                memory.parent_relevance(ids),
                memory.ancestor_relevance(ids),
                memory.distance(ids) / 9,
                share,
                many,
                0.3 * np.log1p(relevant),
                own * share,
                share * share,
                share * many,
                share * source,
            ],
            axis=1,
        )

    def _hear(self, found: Outlinks, own: Vector) -> tuple[Vector, Vector, Vector]:
        """How close to the topic the surroundings and the pages of a link have been so far."""
        said, ids = self._said, found.ids
        said.extend(max(0, int(ids.max()) + 1 - len(said)))
        around: Vector = self._encoder([link.context for link in found.links]) @ self._topic
        source = 0.0
        if found.page is not None:
            page = f"{found.page.title} {found.page.text[:HEAD]}"
            source = float(self._encoder([page])[0] @ self._topic)
        said["times"][ids] += 1
        said["around"][ids] += around
        said["source"][ids] += source
        said["best"][ids] = np.maximum(said["best"][ids], np.maximum(around, own))
        times = said["times"][ids]
        return said["around"][ids] / times, said["best"][ids], said["source"][ids] / times

    def _hash_words(self, x: Matrix, links: tuple[Link, ...]) -> None:
        for row, link in zip(x, links, strict=True):
            places = hashed(urls.words(link.url), link.anchor, link.tag_path, self.buckets)
            row[places] = 1 / max(1.0, len(places) ** 0.5)


@lru_cache(100_000)
def hashed(url_words: str, anchor: str, tag_path: str, buckets: int) -> NDArray[np.intp]:
    """The buckets of a link's words: of its URL, its anchor and its place in the page."""
    signs = {f"u:{word}" for word in url_words.lower().split()}
    signs |= {f"a:{word}" for word in words(anchor)} | ({f"t:{tag_path}"} if tag_path else set())
    places = {crc32(sign.encode("utf-8", "replace")) % buckets for sign in signs}
    return np.array(sorted(places), np.intp)
