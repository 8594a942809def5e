"""The features of guide as version 0.2.0 had them, kept to be compared with."""

from functools import lru_cache
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from honeyguide import urls
from honeyguide.columns import Columns
from honeyguide.contracts import (
    Candidates,
    Goal,
    Ids,
    Link,
    Matrix,
    MemoryView,
    Outlinks,
    Vector,
)
from honeyguide.features.link_text import TopicSimilarity
from honeyguide.text.words import words


class HostRecords:
    """Two features a host: how often it was visited, and its visits since the last relevant page.

    Each is scaled to about 1 and reduced by its mean over the hosts visited so far, so both are 0
    on a web of one host.
    """

    width = 2

    def __init__(self) -> None:
        self._hosts = Columns(64, visits=np.int32, barren=np.int32, row=(np.float32, self.width))
        self._visited = 0
        self._sum = np.zeros(self.width)  # over visited hosts; the rows of others are 0

    def __len__(self) -> int:
        return len(self._hosts)

    def grow(self, hosts: Ids) -> None:
        """Add empty rows for hosts that have none."""
        self._hosts.grow(int(hosts.max(initial=-1)) + 1)

    def rows(self, hosts: Ids) -> Matrix:
        """The present features of hosts: shape (hosts, 2)."""
        rows: Matrix = self._hosts["row"][hosts] - self._mean()
        return rows

    def dot(self, hosts: Ids, weights: Vector) -> Vector:
        """rows(hosts) @ weights, computed once a distinct host."""
        by_host: Vector = (self._hosts["row"] - self._mean()) @ weights
        return by_host[hosts]

    def add_visit(self, host: int, relevant: float) -> None:
        """Count a visit to a host, with its reward."""
        hosts = self._hosts
        self._visited += not hosts["visits"][host]
        hosts["visits"][host] += 1
        hosts["barren"][host] = 0 if relevant else hosts["barren"][host] + 1
        visits, barren = int(hosts["visits"][host]), int(hosts["barren"][host])
        before = hosts["row"][host].astype(np.float64)
        hosts["row"][host] = visits / (visits + 1), 0.3 * np.log1p(barren)  # 30 visits give about 1
        self._sum += hosts["row"][host] - before

    def _mean(self) -> Vector:
        return (self._sum / max(self._visited, 1)).astype(np.float32)


PRIOR = 3.0  # pseudo-count of visited links a page, at the crawl's mean relevance
MOST_PARENTS = 64  # of a visited page: only the latest are updated with its outcome
SIBLINGS = 15  # column of the siblings; those before it change only when a link is found
EVIDENCE = SIBLINGS + 1 + HostRecords.width  # columns; the last ones are of the host


class EvidenceTable:
    """One row a page: evidence from its parents, siblings and host, updated while its link waits.

    A parent's links are expected to be relevant with the share (good + PRIOR * mean) /
    (tried + PRIOR), where mean is the crawl's mean relevance. A link's sibling feature is the mean
    of that over its parents, less the crawl's mean. The two summands are stored apart, so that a
    change of the crawl's mean needs no update of the rows.
    """

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions  # of the mean vector of the words around a link
        self.width = EVIDENCE + dimensions
        self._pages = Columns(
            row=(np.float32, self.width),  # the columns of siblings and host stay 0: see `rows`
            host=np.int32,
            siblings=np.float32,  # mean of good / (tried + PRIOR) over its parents
            unknown=np.float32,  # mean of PRIOR / (tried + PRIOR) over its parents, less 1
            parents=np.float32,  # number of parents in these means
            mentions=np.float32,  # times that a link to it was found
            tried=np.float32,  # number of its links that were visited
            good=np.float32,  # sum of their rewards
            first=np.int64,  # place of its first link in _links
            links=np.int32,  # number of its links
        )
        self._links = Columns(page=np.int32)  # targets of links, page after page
        self._hosts = HostRecords()
        self.visits, self.relevant = 0, 0.0
        self.since_relevant = 0  # visits since the last relevant page
        self._memory: MemoryView | None = None

    def __len__(self) -> int:
        return len(self._pages)

    def rows(self, pages: Ids) -> Matrix:
        """The present evidence on pages: shape (pages, width)."""
        rows: Matrix = self._pages["row"][pages]
        rows[:, SIBLINGS] = self._siblings(pages)
        rows[:, SIBLINGS + 1 : EVIDENCE] = self._hosts.rows(self._pages["host"][pages])
        return rows

    def dot(self, pages: Ids, weights: Vector) -> Vector:
        """rows(pages) @ weights; for many pages, one product over the whole table."""
        rows: Matrix = self._pages["row"]
        few = 4 * len(pages) < len(self)
        products: Vector = rows[pages] @ weights if few else (rows @ weights)[pages]
        products += weights[SIBLINGS] * self._siblings(pages)
        if len(self._hosts) > 1:  # the features of a single host are 0
            hosts = self._pages["host"][pages]
            products += self._hosts.dot(hosts, weights[SIBLINGS + 1 : EVIDENCE])
        return products

    def add_pages(self, memory: MemoryView, found: Outlinks) -> None:
        """Add rows for a page and the targets of its links, where they have none."""
        self._memory = memory
        top = max(int(found.ids.max(initial=-1)), found.source)
        self._pages.grow(top + 1)
        self._pages["host"][found.ids] = hosts = memory.host(found.ids)
        self._hosts.grow(hosts)

    def add_mentions(
        self, memory: MemoryView, found: Outlinks, similarity: Matrix, around: Matrix
    ) -> None:
        """Update the rows of links with what the page they were found on says about them.

        `similarity` has four rows, each with a cosine to the topic a link: of its own words, of
        the words around it, the best of its first mentions, and of the page. `around` has the
        vector of the words around each link.
        """
        pages, ids = self._pages, found.ids
        mentions = pages["mentions"][ids] + 1
        pages["mentions"][ids] = mentions
        once = np.reciprocal(mentions)
        rows = pages["row"][ids]
        meaning = rows[:, EVIDENCE:]
        meaning += (around[:, : self.dimensions] - meaning) * once[:, None]
        rows[:, :SIBLINGS] = _evidence(rows, memory, ids, similarity, once)
        pages["row"][ids] = rows
        if found.source >= 0 and not pages["links"][found.source]:
            self._add_parent(found.source, ids, memory.known_links(found.source))

    def add_visit(self, page: int, relevant: float) -> None:
        """Update the evidence on a visited page's host and siblings with its reward."""
        self.visits += 1
        self.relevant += relevant
        self.since_relevant = 0 if relevant else self.since_relevant + 1
        self._hosts.add_visit(int(self._pages["host"][page]), relevant)
        if self._memory is None or not len(parents := self._memory.parents(page, MOST_PARENTS)):
            return
        pages = self._pages
        good, unknown = self._shares(parents)
        pages["tried"][parents] += 1
        pages["good"][parents] += relevant
        more_good, more_unknown = self._shares(parents)
        begins, counts = pages["first"][parents], pages["links"][parents]
        ends = (begins + counts).tolist()
        listed = [slice(*ends) for ends in zip(begins.tolist(), ends, strict=True)]
        siblings = np.concatenate([self._links["page"][place] for place in listed])
        share = np.reciprocal(pages["parents"][siblings])
        np.add.at(pages["siblings"], siblings, np.repeat(more_good - good, counts) * share)
        np.add.at(pages["unknown"], siblings, np.repeat(more_unknown - unknown, counts) * share)

    def _add_parent(self, parent: int, children: Ids, known: tuple[int, int]) -> None:
        """Store the links of a page and update the sibling feature of each."""
        pages = self._pages
        pages["tried"][parent], pages["good"][parent] = known
        added = self._links.add(len(children), page=children)
        pages["first"][parent], pages["links"][parent] = added.start, len(children)
        pages["parents"][children] += 1
        share = np.reciprocal(pages["parents"][children])
        good, unknown = self._shares(np.array([parent], np.int32))
        pages["siblings"][children] += (good - pages["siblings"][children]) * share
        pages["unknown"][children] += (unknown - 1 - pages["unknown"][children]) * share

    def _shares(self, parents: Ids) -> tuple[Vector, Vector]:
        """good / (tried + PRIOR) and PRIOR / (tried + PRIOR) of parents."""
        good: Vector = self._pages["good"][parents]
        total: Vector = self._pages["tried"][parents] + np.float32(PRIOR)
        return good / total, np.float32(PRIOR) / total

    def _siblings(self, pages: Ids) -> Vector:
        mean = np.float32((self.relevant + 0.5) / (self.visits + 2))
        siblings: Vector = self._pages["siblings"][pages] + mean * self._pages["unknown"][pages]
        return siblings


def _evidence(
    rows: Matrix, memory: MemoryView, ids: Ids, similarity: Matrix, once: Vector
) -> Matrix:
    """The columns before SIBLINGS; `once` is 1 / mentions, to update means."""
    own, around, best, source = similarity
    around_mean = rows[:, 2] + (around - rows[:, 2]) * once
    source_mean = rows[:, 4] + (source - rows[:, 4]) * once
    parents, relevant = memory.parent_count(ids), memory.relevant_parent_count(ids)
    share = relevant / np.maximum(parents, 1)
    many = 0.3 * np.log1p(parents)  # 30 parents give about 1
    return np.stack(
        [
            np.ones(len(ids), np.float32),
            own,
            around_mean,
            best,
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


HEAD = 300  # characters at the start of a page, taken for what it is about


class LinkEvidence:
    """A row a link: the vector of its words, then its hashed words.

    What changes while the link waits is kept by page in `evidence`.
    """

    def __init__(self, goal: Goal, dimensions: int = 64, buckets: int = 256) -> None:
        self._encoder = goal.encoder
        self._topic: Vector = goal.encoder([goal.topic])[0]
        self.dimensions = min(dimensions, goal.encoder.width)
        self.buckets = buckets
        self.width = self.dimensions + buckets
        self.evidence = EvidenceTable(self.dimensions)
        self._similarity = TopicSimilarity(goal.topic, goal.encoder)

    def __call__(self, memory: MemoryView, found: Outlinks) -> Matrix:
        self.evidence.add_pages(memory, found)
        x = np.zeros((len(found.links), self.width), np.float32)
        if not found.links:
            return x
        own = self._encoder([f"{urls.words(link.url)} {link.anchor}" for link in found.links])
        around = self._encoder([link.context for link in found.links])
        x[:, : self.dimensions] = own[:, : self.dimensions]
        self._hash_words(x[:, self.dimensions :], found.links)
        source = np.full(len(x), self._source(found), np.float32)
        best = self._similarity(memory, found)[:, 0]
        similarity = np.stack([own @ self._topic, around @ self._topic, best, source])
        self.evidence.add_mentions(memory, found, similarity, around)
        return x

    def full_rows(self, links: Candidates) -> Matrix:
        """All features of links: those of `links.x`, then the present evidence."""
        return np.hstack([links.x, self.evidence.rows(links.ids)])

    def dot(self, links: Candidates, weights: Vector) -> Vector:
        """full_rows(links) @ weights."""
        of_evidence = self.evidence.dot(links.ids, weights[self.width :])
        return links.x @ weights[: self.width] + of_evidence

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
    """The distinct buckets of a link's URL words, anchor words and tag path, ascending."""
    signs = {f"u:{word}" for word in url_words.lower().split()}
    signs |= {f"a:{word}" for word in words(anchor)} | ({f"t:{tag_path}"} if tag_path else set())
    places = {crc32(sign.encode("utf-8", "replace")) % buckets for sign in signs}
    return np.array(sorted(places), np.intp)
