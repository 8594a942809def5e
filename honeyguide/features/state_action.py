"""Features of a page and a link on it that do not depend on the topic (Pertejo 2021, §3.7.1)."""

import numpy as np

from honeyguide import urls
from honeyguide.columns import Columns
from honeyguide.contracts import START, Goal, Ids, Matrix, MemoryView, Outlinks, State, Vector
from honeyguide.features.column_names import ColumnNames

STATE = 5  # first features of a row: those of the page; the others are of the link
FARTHEST = 9  # hops: the memory counts no further
COSINES = slice(STATE, STATE + 3)  # of the topic with the link's URL, anchor and surrounding words
NAMES = (  # column by column
    "its page is relevant",
    "the pages before its page are relevant",
    "the pages before its page are relevant",
    "hops since a relevant page",
    START,
    "the words of its URL",
    "its anchor",
    "the words around it",
    "its parents are relevant",
    "its parents are relevant",
    "how many pages link to it",
    "its ancestors are relevant",
    "hops since a relevant page",
    "its depth",
    "what its host has brought",
    "what its host has brought",
    "its anchor",
)


class StateAction:
    """A row a link: its page's state, cosines to the topic, parents and its host's record."""

    width = STATE + 12
    column_names = ColumnNames(NAMES)

    def __init__(self, goal: Goal) -> None:
        self._encoder = goal.encoder
        self._topic = goal.encoder([goal.topic])[0]
        self._hosts = Columns(64, pages=np.float32, relevance=np.float32)

    def __call__(self, memory: MemoryView, found: Outlinks) -> Matrix:
        ids = found.ids
        hosts = memory.host(ids)
        self._add_page(memory, found.source, hosts)
        x = np.zeros((len(ids), self.width), np.float32)
        if found.source >= 0:
            x[:, :STATE] = _state(memory, np.array([found.source], np.int32))
        parents = memory.parent_count(ids)
        x[:, COSINES] = self._cosines(found)
        columns = (
            memory.parent_relevance(ids),
            memory.relevant_parent_count(ids) / np.maximum(parents, 1),
            np.log1p(parents) / 5,
            memory.ancestor_relevance(ids),
            memory.distance(ids) / FARTHEST,
            np.array([min(link.depth, 20) / 20 for link in found.links], np.float32),
            *self._record(hosts),
            np.array([bool(link.anchor) for link in found.links], np.float32),
        )
        x[:, COSINES.stop :] = np.stack(columns, axis=1)
        return x

    def _cosines(self, found: Outlinks) -> Matrix:
        texts = [
            text
            for link in found.links
            for text in (urls.words(link.url), link.anchor, link.context)
        ]
        cosines: Matrix = (self._encoder(texts) @ self._topic).reshape(-1, 3)
        return cosines

    def _record(self, hosts: Ids) -> tuple[Vector, Vector]:
        """The smoothed mean relevance of each host's pages, and the log of their number."""
        pages = self._hosts["pages"][hosts]
        return (self._hosts["relevance"][hosts] + 0.1) / (pages + 1), np.log1p(pages) / 5

    def _add_page(self, memory: MemoryView, source: int, hosts: Ids) -> None:
        page = np.array([source] if source >= 0 else [], np.int32)
        its_host = memory.host(page)
        top = max(int(hosts.max(initial=-1)), int(its_host.max(initial=-1))) + 1
        self._hosts.grow(top)
        self._hosts["pages"][its_host] += 1
        self._hosts["relevance"][its_host] += memory.relevance(page)

    @property
    def nbytes(self) -> int:
        """Size of its table in bytes."""
        return self._hosts.nbytes

    def state(self) -> State:
        """Pages and relevance of each host."""
        return self._hosts.state()

    def load(self, state: State) -> None:
        """Restore a saved state."""
        self._hosts.load(state)


def _state(memory: MemoryView, page: Ids) -> Vector:
    return np.concatenate(
        [
            memory.relevance(page),
            memory.ancestor_relevance(page),
            memory.parent_relevance(page),
            memory.distance(page) / FARTHEST,
            np.ones(1, np.float32),
        ]
    )
