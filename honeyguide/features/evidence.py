"""What guide knows of a link: its words and their meaning, its parents, siblings and host."""

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
    State,
    Vector,
)
from honeyguide.features.link_text import TopicSimilarity
from honeyguide.text.words import words


class HostRecords:
    """Two numbers a host: how well it is known, and how long it has brought nothing relevant.

    Both less their mean over the hosts visited so far: on a web of one host they are 0, since
    there is nothing to choose.
    """

    width = 2

    def __init__(self) -> None:
        self._hosts = Columns(64, visits=np.int32, barren=np.int32, row=(np.float32, self.width))
        self._visited = 0
        self._sum = np.zeros(self.width)  # over visited hosts; the rows of others are 0

    def __len__(self) -> int:
        return len(self._hosts)

    @property
    def nbytes(self) -> int:
        """Bytes of its table."""
        return self._hosts.nbytes

    def meet(self, hosts: Ids) -> None:
        """Make room for hosts."""
        self._hosts.grow(int(hosts.max(initial=-1)) + 1)

    def rows(self, hosts: Ids) -> Matrix:
        """What is known of hosts now."""
        rows: Matrix = self._hosts["row"][hosts] - self._mean()
        return rows

    def worth(self, hosts: Ids, weights: Vector) -> Vector:
        """rows(hosts) @ weights, with one product a host."""
        by_host: Vector = (self._hosts["row"] - self._mean()) @ weights
        return by_host[hosts]

    def credit(self, host: int, relevant: float) -> None:
        """Note a visit."""
        hosts = self._hosts
        self._visited += not hosts["visits"][host]
        hosts["visits"][host] += 1
        hosts["barren"][host] = 0 if relevant else hosts["barren"][host] + 1
        visits, barren = int(hosts["visits"][host]), int(hosts["barren"][host])
        before = hosts["row"][host].astype(np.float64)
        hosts["row"][host] = visits / (visits + 1), 0.3 * np.log1p(barren)  # thirty are about one
        self._sum += hosts["row"][host] - before

    def state(self) -> State:
        """All of it."""
        return {"hosts": self._hosts.state(), "visited": self._visited, "sum": self._sum.copy()}

    def load(self, state: State) -> None:
        """Become what was saved."""
        self._hosts.load(state["hosts"])
        self._visited, self._sum = state["visited"], state["sum"].copy()

    def _mean(self) -> Vector:
        return (self._sum / max(self._visited, 1)).astype(np.float32)


TRUST = 3.0  # visited links of a page that weigh as much as what is usual in this crawl
MOST_PARENTS = 64  # of a visited page: the latest, which are told what came of it
SHOWN = 15  # columns of evidence that change when a link is found
# the others change with visits: one on its siblings, then those on its host
EVIDENCE = SHOWN + 1 + HostRecords.width


class Company:
    """What is known of each page seen, kept up to date while its link waits.

    Of a parent's links, the share good / (tried + TRUST) is known to be relevant, and the share
    TRUST / (tried + TRUST) is unknown: as relevant as is usual. Siblings are worth the mean of
    that over a link's parents, less what is usual, which can change without a look at them.
    """

    def __init__(self, dimensions: int) -> None:
        self.dimensions = dimensions  # of the mean meaning of the words around a link
        self.width = EVIDENCE + dimensions
        self._pages = Columns(
            row=(np.float32, self.width),  # the columns of siblings and host stay empty
            host=np.int32,
            siblings=np.float32,  # mean share known to be relevant
            unknown=np.float32,  # mean share unknown, less one
            parents=np.float32,  # that these are means of
            mentions=np.float32,
            tried=np.float32,  # its links that were visited
            good=np.float32,  # and relevant
            first=np.int64,  # where its links begin
            links=np.int32,  # how many it has
        )
        self._links = Columns(page=np.int32)  # page after page
        self._hosts = HostRecords()
        self.visits, self.relevant = 0, 0.0
        self.barren = 0  # visits since the last relevant page
        self._memory: MemoryView | None = None

    def __len__(self) -> int:
        return len(self._pages)

    @property
    def nbytes(self) -> int:
        """Bytes of its tables."""
        return self._pages.nbytes + self._links.nbytes + self._hosts.nbytes

    def rows(self, pages: Ids) -> Matrix:
        """What is known of pages now."""
        rows: Matrix = self._pages["row"][pages]
        rows[:, SHOWN] = self._siblings(pages)
        rows[:, SHOWN + 1 : EVIDENCE] = self._hosts.rows(self._pages["host"][pages])
        return rows

    def worth(self, pages: Ids, weights: Vector) -> Vector:
        """rows(pages) @ weights; one product over all pages when many are asked for."""
        rows: Matrix = self._pages["row"]
        few = 4 * len(pages) < len(self)
        worth: Vector = rows[pages] @ weights if few else (rows @ weights)[pages]
        worth += weights[SHOWN] * self._siblings(pages)
        if len(self._hosts) > 1:  # else it is 0
            hosts = self._pages["host"][pages]
            worth += self._hosts.worth(hosts, weights[SHOWN + 1 : EVIDENCE])
        return worth

    def meet(self, memory: MemoryView, found: Outlinks) -> None:
        """Make room for the pages of a crawl."""
        self._memory = memory
        top = max(int(found.ids.max(initial=-1)), found.source)
        self._pages.grow(top + 1)
        self._pages["host"][found.ids] = hosts = memory.host(found.ids)
        self._hosts.meet(hosts)

    def hear(self, memory: MemoryView, found: Outlinks, likeness: Matrix, around: Matrix) -> None:
        """Take in what a page says about its links.

        Likeness to the topic of a link's own words, those around it, all of them at the best of
        its first mentions, and the page: a row each.
        """
        pages, ids = self._pages, found.ids
        mentions = pages["mentions"][ids] + 1
        pages["mentions"][ids] = mentions
        once = np.reciprocal(mentions)
        rows = pages["row"][ids]
        meaning = rows[:, EVIDENCE:]
        meaning += (around[:, : self.dimensions] - meaning) * once[:, None]
        rows[:, :SHOWN] = _evidence(rows, memory, ids, likeness, once)
        pages["row"][ids] = rows
        if found.source >= 0 and not pages["links"][found.source]:
            self._introduce(found.source, ids, memory.known_links(found.source))

    def credit(self, page: int, relevant: float) -> None:
        """Let the siblings and the host of a visited page gain or lose by what it was."""
        self.visits += 1
        self.relevant += relevant
        self.barren = 0 if relevant else self.barren + 1
        self._hosts.credit(int(self._pages["host"][page]), relevant)
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

    def state(self) -> State:
        """All of it."""
        return {
            "pages": self._pages.state(),
            "links": self._links.state(),
            "hosts": self._hosts.state(),
            "visits": self.visits,
            "relevant": self.relevant,
            "barren": self.barren,
        }

    def load(self, state: State) -> None:
        """Become what was saved."""
        self._pages.load(state["pages"])
        self._links.load(state["links"])
        self._hosts.load(state["hosts"])
        self.visits, self.relevant = state["visits"], state["relevant"]
        self.barren = state.get("barren", 0)  # older crawls were kept without it

    def _introduce(self, parent: int, children: Ids, known: tuple[int, int]) -> None:
        """Note the links of a page, and tell each what its new siblings were so far."""
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
        """The share of a page's links that is known to be relevant, and that is unknown."""
        good: Vector = self._pages["good"][parents]
        told: Vector = self._pages["tried"][parents] + np.float32(TRUST)
        return good / told, np.float32(TRUST) / told

    def _siblings(self, pages: Ids) -> Vector:
        usual = np.float32((self.relevant + 0.5) / (self.visits + 2))
        siblings: Vector = self._pages["siblings"][pages] + usual * self._pages["unknown"][pages]
        return siblings


def _evidence(rows: Matrix, memory: MemoryView, ids: Ids, likeness: Matrix, once: Vector) -> Matrix:
    own, around, whole, source = likeness
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
            whole,
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
