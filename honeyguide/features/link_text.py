"""The similarity of a link's text (URL words, anchor, surrounding words) to the topic."""

from collections.abc import Sequence

import numpy as np

from honeyguide import urls
from honeyguide.columns import Columns
from honeyguide.contracts import Encoder, Ids, Link, Matrix, MemoryView, Outlinks, State, Vector


def link_texts(links: Sequence[Link]) -> list[str]:
    """One text a link: the words of its URL, its anchor and the words around it."""
    return [f"{urls.words(link.url)} {link.anchor} {link.context}" for link in links]


class TopicSimilarity:
    """One feature a link: the highest cosine to the topic over its first mentions.

    Later mentions are not encoded: a menu repeats the same links on every page of a site.
    """

    width = 1

    def __init__(self, topic: str, encoder: Encoder, mentions: int = 3) -> None:
        self.encoder = encoder
        self.mentions = mentions
        self._topic = encoder([topic])[0]
        self._seen = Columns(times=np.uint8, best=np.float32)  # by page: mentions, highest cosine

    def __call__(self, memory: MemoryView, found: Outlinks) -> Matrix:
        ids, seen = found.ids, self._seen
        seen.grow(int(ids.max(initial=-1)) + 1)
        unread = np.flatnonzero(seen["times"][ids] < self.mentions)
        if len(unread):
            links = [found.links[place] for place in unread.tolist()]
            self._update(ids[unread], self.encoder(link_texts(links)) @ self._topic)
        similarity: Matrix = seen["best"][ids, None]
        return similarity

    @property
    def nbytes(self) -> int:
        """Size of its table in bytes."""
        return self._seen.nbytes

    def state(self) -> State:
        """The mentions and the highest cosine of each link so far."""
        return self._seen.state()

    def load(self, state: State) -> None:
        """Restore a saved state."""
        self._seen.load(state)

    def _update(self, ids: Ids, similarity: Vector) -> None:
        times, best = self._seen["times"], self._seen["best"]
        best[ids] = np.where(times[ids] > 0, np.maximum(best[ids], similarity), similarity)
        times[ids] += 1
