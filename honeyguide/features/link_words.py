"""What the words of links say: their vectors, cosines to the topic, and hashed words.

All of it depends on the page and the topic alone, so that it can be computed where the page is
read, in another process, and comes out the same from a stored page.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from honeyguide import urls
from honeyguide.contracts import Additive, Encoder, Link, Matrix, Page, Vector
from honeyguide.features.hashed_words import signs_of
from honeyguide.text.vectors import unit

HEAD = 300  # characters at the start of a page, taken for what it is about
Places = NDArray[np.int32]
Packed = tuple[list[bytes], float]


@dataclass(frozen=True, slots=True)
class LinkWordsSpec:
    """What is asked about the words of links."""

    topic: str
    dimensions: int  # of vectors
    buckets: int  # of hashed words


class LinkWords(NamedTuple):
    """The answer for some links of a page, a row a link."""

    spec: LinkWordsSpec
    places: Places  # of these links among all of the page; empty where nobody looks them up
    own: Matrix  # vectors of the words of URL and anchor, shape (links, dimensions)
    around: Matrix  # vectors of the words around them
    cosines: Matrix  # to the topic, shape (3, links): of own words, of those around, of both
    buckets: Sequence[Places]  # of the hashed words of each link, ascending
    source: float  # cosine of the page's beginning to the topic

    def rows(self, page: Page, links: Sequence[Link]) -> NDArray[np.intp] | None:
        """Their rows; None if one has none."""
        row_of = {id(page.links[place]): row for row, place in enumerate(self.places.tolist())}
        rows = [row_of.get(id(link), -1) for link in links]
        return None if -1 in rows else np.array(rows, np.intp)

    def of_rows(self, rows: NDArray[np.intp]) -> "LinkWords":
        """The answer for these rows alone."""
        return self._replace(
            places=self.places[rows],
            own=self.own[rows],
            around=self.around[rows],
            cosines=self.cosines[:, rows],
            buckets=[self.buckets[row] for row in rows.tolist()],
        )

    def packed(self) -> Packed:
        """The answer as bytes for another process."""
        counts = np.array([len(each) for each in self.buckets], np.int32)
        buckets = np.concatenate([*self.buckets, np.empty(0, np.int32)])
        arrays = self.places, self.own, self.around, self.cosines, counts, buckets
        return [array.tobytes() for array in arrays], self.source


def unpacked(spec: LinkWordsSpec, sent: Packed) -> LinkWords:
    """The answer that was `packed`."""
    (places, own, around, cosines, counts, buckets), source = sent
    ends = np.cumsum(np.frombuffer(counts, np.int32)).tolist()
    of_all = np.frombuffer(buckets, np.int32)
    return LinkWords(
        spec,
        np.frombuffer(places, np.int32),
        np.frombuffer(own, np.float32).reshape(-1, spec.dimensions),
        np.frombuffer(around, np.float32).reshape(-1, spec.dimensions),
        np.frombuffer(cosines, np.float32).reshape(3, -1),
        [of_all[begin:end] for begin, end in pairwise([0, *ends])],
        source,
    )


class WordsReader:
    """Reads the words of links."""

    def __init__(self, spec: LinkWordsSpec, encoder: Encoder) -> None:
        self.spec = spec
        self._encoder = encoder
        self._topic: Vector = encoder([spec.topic])[0]

    def of_page(self, page: Page) -> LinkWords:
        """The answer for all links of a page that a crawl looks at: one for each target."""
        chosen = {id(link) for link in first_with_anchor(page.links).values()}
        places = [place for place, link in enumerate(page.links) if id(link) in chosen]
        found = self._read(page, [page.links[place] for place in places])
        return found._replace(places=np.array(places, np.int32))

    def __call__(self, page: Page | None, links: Sequence[Link]) -> LinkWords:
        """The answer for these links, which were found on a page; computed unless it has it."""
        known = None if page is None else page.link_words
        if page is not None and isinstance(known, LinkWords) and known.spec == self.spec:
            rows = known.rows(page, links)
            if rows is not None:
                return known.of_rows(rows)
        return self._read(page, links)

    def _read(self, page: Page | None, links: Sequence[Link]) -> LinkWords:
        count, dimensions = len(links), self.spec.dimensions
        vectors = self._vectors(page, links)
        # row by row, so that a link's cosine does not depend on the links beside it
        cosines = np.einsum("ij,j->i", vectors, self._topic)
        buckets = [
            hashed(urls.words(link.url), link.anchor, link.tag_path, self.spec.buckets)
            for link in links
        ]
        return LinkWords(
            self.spec,
            np.empty(0, np.int32),
            np.ascontiguousarray(vectors[:count, :dimensions]),
            np.ascontiguousarray(vectors[count : 2 * count, :dimensions]),
            cosines[: 3 * count].reshape(3, count),
            buckets,
            float(cosines[3 * count]),
        )

    def _vectors(self, page: Page | None, links: Sequence[Link]) -> Matrix:
        """Of own words, of those around, of both, and of the page's beginning."""
        count = len(links)
        own = [f"{urls.words(link.url)} {link.anchor}" for link in links]
        around = [link.context for link in links]
        head = "" if page is None else f"{page.title} {page.text[:HEAD]}"
        if not isinstance(self._encoder, Additive):
            both = [f"{one} {other}" for one, other in zip(own, around, strict=True)]
            return self._encoder([*own, *around, *both, head])
        sums = self._encoder.sums([*own, *around, head])  # so no word is read twice
        both_sums = sums[:count] + sums[count : 2 * count]
        return unit(np.concatenate([sums[:-1], both_sums, sums[-1:]]))


@lru_cache(100_000)
def hashed(url_words: str, anchor: str, tag_path: str, buckets: int) -> Places:
    """The distinct buckets of a link's URL words, anchor words and tag path, ascending."""
    return np.array(sorted(signs_of(url_words, anchor, tag_path, buckets)), np.int32)


def first_with_anchor(links: Sequence[Link]) -> dict[str, Link]:
    """The first link with an anchor to each page (or the last), by first appearance of the page."""
    distinct: dict[str, Link] = {}
    for link in links:
        if link.url not in distinct or not distinct[link.url].anchor:
            distinct[link.url] = link
    return distinct
