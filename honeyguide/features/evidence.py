"""The features of the guide agent: a link's words, parents, siblings and host."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from honeyguide.contracts import (
    START,
    Candidates,
    FeatureRows,
    Goal,
    Ids,
    Matrix,
    MemoryView,
    Outlinks,
    Scorer,
    State,
    Vector,
)
from honeyguide.features.column_names import ColumnNames
from honeyguide.features.hashed_words import word_name
from honeyguide.features.host_records import HostRecords
from honeyguide.features.link_text import TopicSimilarity
from honeyguide.features.link_words import LinkWordsSpec, WordsReader, hashed
from honeyguide.features.packed_rows import PackedRows, PackedWeights
from honeyguide.features.siblings import Siblings

# numbers that a row has room for: cosines to the topic of a link's own words, of the words around
# it and of its page (means over all mentions) and the best of its first mentions; what memory says
# of its parents
OWN, AROUND, BEST, SOURCE, PARENT, ANCESTOR, DISTANCE, SHARE, MANY, RELEVANT = range(10)
STORED = 10
# columns of evidence: 1, the numbers above, the share of relevant parents times some of them, then
# what changes while a link waits: its siblings and its host
FACTORS = (OWN, SHARE, MANY, SOURCE)  # each times SHARE
SIBLINGS = 1 + STORED + len(FACTORS)
EVIDENCE = SIBLINGS + 1 + HostRecords.width
OWN_WORDS, WORDS_AROUND = "its own words", "the words around it"
PARENTS = "its parents are relevant"
BARREN = "pages since its host brought a relevant one"
# what a person is told of each column of evidence
EVIDENCE_NAMES = (
    START,
    OWN_WORDS,
    WORDS_AROUND,
    "its best mention is close to the topic",
    "the pages it is on are close to the topic",
    PARENTS,
    "its ancestors are relevant",
    "hops since the last relevant page",
    PARENTS,
    "how many pages link to it",
    PARENTS,
    "its own words, on relevant pages",
    PARENTS,
    PARENTS,
    PARENTS,
    "what other links of its pages led to",
    "how often its host was visited",
    BARREN,
)


class Evidence:
    """What visits say about waiting links: outcomes of siblings and hosts, and of the crawl."""

    def __init__(self) -> None:
        self.siblings, self.hosts = Siblings(), HostRecords()
        self.visits, self.relevant = 0, 0.0
        self.since_relevant = 0  # visits since the last relevant page
        self._memory: MemoryView | None = None

    @property
    def nbytes(self) -> int:
        """Size of its tables in bytes."""
        return self.siblings.nbytes + self.hosts.nbytes

    def add_pages(self, memory: MemoryView, found: Outlinks) -> Ids:
        """Add rows for a page and the targets of its links, where they have none; their hosts."""
        self._memory = memory
        hosts = memory.host(found.ids)
        self.siblings.grow(max(int(found.ids.max(initial=-1)), found.source) + 1)
        self.hosts.grow(hosts)
        return hosts

    def add_parent(self, memory: MemoryView, found: Outlinks) -> None:
        """Note the links of a visited page, once."""
        if found.source >= 0:
            self.siblings.add_parent(found.source, found.ids, memory.known_links(found.source))

    def add_visit(self, page: int, relevant: float) -> None:
        """Update the evidence on a visited page's host and siblings with its reward."""
        self.visits += 1
        self.relevant += relevant
        self.since_relevant = 0 if relevant else self.since_relevant + 1
        if self._memory is not None:
            self.hosts.add_visit(self._memory.urls.host_of(page), relevant)
            self.siblings.add_visit(self._memory, page, relevant)

    def rows(self, pages: Ids, hosts: Ids) -> Matrix:
        """The columns of siblings and hosts."""
        siblings = self.siblings.shares(pages, self._mean())
        return np.hstack([siblings[:, None], self.hosts.rows(hosts)])

    def dot(self, pages: Ids, hosts: Ids, weights: Vector) -> Vector:
        """rows(pages, hosts) @ weights."""
        products: Vector = weights[0] * self.siblings.shares(pages, self._mean())
        if len(self.hosts) > 1:  # the features of a single host are 0
            products += self.hosts.dot(hosts, weights[1:])
        return products

    def state(self) -> State:
        """Everything that `load` restores."""
        return {
            "siblings": self.siblings.state(),
            "hosts": self.hosts.state(),
            "visits": self.visits,
            "relevant": self.relevant,
            "barren": self.since_relevant,
        }

    def load(self, state: State) -> None:
        """Restore a saved state."""
        if "siblings" in state:
            self.siblings.load(state["siblings"])
        else:
            self.siblings.load_pages(state["pages"], state["links"])
        self.hosts.load(state["hosts"])
        self.visits, self.relevant = state["visits"], state["relevant"]
        self.since_relevant = state.get("barren", 0)  # older crawls did not store it

    def _mean(self) -> np.float32:
        return np.float32((self.relevant + 0.5) / (self.visits + 2))


class LinkEvidence:
    """Packed rows of links: the words of a link, and what its mentions and parents say about it.

    Unpacked, a row has the vector of its own words, its hashed words, evidence, and the mean vector
    of the words around its mentions. Evidence that changes while a link waits is not in its row.
    """

    dtype = np.dtype(np.uint8)
    accumulates = True

    def __init__(self, goal: Goal, dimensions: int = 64, buckets: int = 256) -> None:
        self._encoder = goal.encoder
        self._topic: Vector = goal.encoder([goal.topic])[0]
        self.dimensions = min(dimensions, goal.encoder.width)
        self.buckets = buckets
        self._packed = PackedRows(STORED, buckets, self.dimensions)
        self.width = self._packed.width  # bytes
        self.own_words = self.dimensions + buckets  # the first numbers of an unpacked row
        self.full_width = self.own_words + EVIDENCE + self.dimensions
        self.evidence = Evidence()
        self._similarity = TopicSimilarity(goal.topic, goal.encoder)
        self.link_words = LinkWordsSpec(goal.topic, self.dimensions, buckets)
        self._reader = WordsReader(self.link_words, goal.encoder)
        hashed_words = [word_name(bucket, buckets) for bucket in range(buckets)]
        self.column_names = ColumnNames(  # of `full_rows`
            [OWN_WORDS] * self.dimensions
            + [*hashed_words, *EVIDENCE_NAMES]
            + [WORDS_AROUND] * self.dimensions
        )
        self._old: State | None = None  # evidence of an earlier version, by page

    def __call__(self, memory: MemoryView, found: Outlinks) -> FeatureRows:
        self._old = None
        hosts = self.evidence.add_pages(memory, found)
        if not found.links:
            return np.zeros((0, self.width), np.uint8)
        said = self._reader(found.page, found.links)
        own, around, both = said.cosines
        best = self._similarity.updated(found.ids, both.__getitem__)[:, 0]
        earlier = np.zeros((len(hosts), self.width), np.uint8) if found.rows is None else found.rows
        mentions = self._packed.mentions(earlier) + 1
        numbers = self._packed.small_numbers(earlier)
        numbers[:, OWN], numbers[:, BEST] = own, best
        numbers[:, AROUND] += (around - numbers[:, AROUND]) / mentions
        numbers[:, SOURCE] += (np.float32(said.source) - numbers[:, SOURCE]) / mentions
        numbers[:, PARENT:] = _of_parents(memory, found.ids)
        vectors = self._packed.vectors(earlier)
        own_words, mean = vectors[:, : self.dimensions], vectors[:, self.dimensions :]
        own_words[:] = said.own
        mean += (said.around - mean) / mentions[:, None]
        self.evidence.add_parent(memory, found)
        return self._packed.pack(hosts, mentions, numbers, said.buckets, vectors)

    @property
    def nbytes(self) -> int:
        """Size of its tables in bytes."""
        return self.evidence.nbytes + self._similarity.nbytes

    def full_rows(self, links: Candidates) -> Matrix:
        """All features of links as numbers, with the present evidence."""
        packed, x = self._packed, links.x
        vectors, numbers = packed.vectors(x), packed.small_numbers(x)
        products = numbers[:, FACTORS] * numbers[:, SHARE, None]
        present = self.evidence.rows(links.ids, packed.hosts(x))
        one = np.ones((len(links), 1), np.float32)
        own, around = vectors[:, : self.dimensions], vectors[:, self.dimensions :]
        return np.hstack([own, packed.words(x), one, numbers, products, present, around])

    def rows_of_words(self, words: Sequence[str]) -> Matrix:
        """Full rows of links that have these words as anchors, and nothing else."""
        rows = np.zeros((len(words), self.full_width), np.float32)
        own = self._encoder(words)
        rows[:, : self.dimensions] = own[:, : self.dimensions]
        rows[:, self.own_words + EVIDENCE_NAMES.index(OWN_WORDS)] = own @ self._topic
        for row, word in zip(rows, words, strict=True):
            places = hashed("", word, "", self.buckets)
            row[self.dimensions + places] = 1 / np.sqrt(max(len(places), 1))
        return rows

    def dot(self, links: Candidates, weights: Vector) -> Vector:
        """full_rows(links) @ weights, without unpacking the rows."""
        return self.scorer(weights)(links)

    def scorer(self, weights: Vector) -> Scorer:
        """A function that computes `dot` with these weights; faster if called several times."""
        words, around = self.own_words, self.own_words + EVIDENCE
        of_words = weights[self.dimensions : words]
        evidence = weights[words:around]
        of_numbers = np.zeros((STORED, 3), np.float32)  # alone, with the share, the share itself
        of_numbers[:, 0] = evidence[1 : 1 + STORED]
        of_numbers[FACTORS, 1] = evidence[1 + STORED : SIBLINGS]
        of_numbers[SHARE, 2] = 1
        own = weights[: self.dimensions]
        packed = PackedWeights.of(self._packed, of_numbers, of_words, own, weights[around:])
        return partial(self._score, packed, evidence[0], evidence[SIBLINGS:])

    def _score(
        self, packed: PackedWeights, constant: np.float32, present: Vector, links: Candidates
    ) -> Vector:
        rows = self._packed.records(links.x)
        products = packed.dot(rows)
        scores: Vector = products[:, 1] * products[:, 2]
        scores += products[:, 0]
        scores += self.evidence.dot(links.ids, rows["host"], present)
        scores += constant
        return scores

    @property
    def outdated(self) -> bool:
        """Whether the state that was loaded is of an earlier version."""
        return self._old is not None

    def upgrade(self, ids: Ids, x: Matrix) -> FeatureRows:
        """Rows of an earlier version, which kept the evidence on a link by page, as packed rows."""
        assert self._old is not None  # noqa: S101 it is outdated
        evidence, hosts = self._old["row"][ids], self._old["host"][ids]
        words = [np.flatnonzero(row) for row in x[:, self.dimensions : self.own_words]]
        vectors = np.hstack([x[:, : self.dimensions], evidence[:, EVIDENCE:]])
        mentions, numbers = self._old["mentions"][ids], evidence[:, 1 : 1 + STORED]
        return self._packed.pack(hosts, mentions, numbers, words, vectors)

    def state(self) -> State:
        """The evidence on each page so far."""
        return {"company": self.evidence.state(), "similarity": self._similarity.state()}

    def load(self, state: State) -> None:
        """Restore a saved state."""
        self.evidence.load(state["company"])
        self._similarity.load(state["similarity"])
        self._old = state["company"].get("pages")


def _of_parents(memory: MemoryView, ids: Ids) -> Matrix:
    """The stored numbers from PARENT on."""
    parents, relevant = memory.parent_count(ids), memory.relevant_parent_count(ids)
    return np.stack(
        [
            memory.parent_relevance(ids),
            memory.ancestor_relevance(ids),
            memory.distance(ids) / 9,
            relevant / np.maximum(parents, 1),
            0.3 * np.log1p(parents),  # 30 parents give about 1
            0.3 * np.log1p(relevant),
        ],
        axis=1,
    )
