"""Features of links for learners outside honeyguide."""

from typing import cast

import numpy as np

from honeyguide.contracts import Goal, Ids, Matrix, MemoryView, Outlinks, State, Vector
from honeyguide.engine.memory import FARTHEST, Memory
from honeyguide.features.link_text import TopicSimilarity


class LinkRows:
    """Eight numbers per link, scaled to about 1: from its text, its parents and its position."""

    NAMES = (
        "topic similarity",  # cosine of the topic and the link's URL words, anchor and context
        "parent relevance",  # mean over all pages known to link to it
        "relevant-parent relevance",  # mean over the relevant ones
        "relevant-parent share",
        "parents",  # log(1 + n)
        "distance",  # hops from the last relevant page, in ninths
        "depth",  # hops from a seed, log(1 + n)
        "page relevance",  # of the last page that linked to it
    )
    width = len(NAMES)

    def __init__(self, goal: Goal) -> None:
        self._similarity = TopicSimilarity(goal.topic, goal.encoder)

    def __call__(self, memory: MemoryView, found: Outlinks) -> Matrix:
        ids = found.ids
        x = np.empty((len(ids), self.width), np.float32)
        parents = memory.parent_count(ids)
        x[:, 0] = self._similarity(memory, found)[:, 0]
        x[:, 1] = memory.parent_relevance(ids)
        x[:, 2] = memory.relevant_parent_relevance(ids)
        x[:, 3] = memory.relevant_parent_count(ids) / np.maximum(parents, 1)
        x[:, 4] = np.log1p(parents)
        x[:, 5] = memory.distance(ids) / FARTHEST
        x[:, 6] = np.log1p(_depths(memory, ids))
        x[:, 7] = memory.relevance(np.array([found.source], np.int32)) if found.source >= 0 else 0
        return x

    @property
    def nbytes(self) -> int:
        """Bytes of what was read of each link."""
        return self._similarity.nbytes

    def state(self) -> State:
        """Return the encoded texts of all links."""
        return self._similarity.state()

    def load(self, state: State) -> None:
        """Resume from a saved state."""
        self._similarity.load(state)


def _depths(memory: MemoryView, ids: Ids) -> Vector:
    depth = cast(Memory, memory).depth  # the view has no depths
    return np.array([depth(id) for id in ids.tolist()], np.float32)
