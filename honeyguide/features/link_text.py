"""What a link says about itself: URL words, anchor and surrounding text, against the topic."""

from collections.abc import Sequence

import numpy as np

from honeyguide import urls
from honeyguide.columns import Columns
from honeyguide.contracts import Encoder, Ids, Link, Matrix, MemoryView, Outlinks, State, Vector


def link_texts(links: Sequence[Link]) -> list[str]:
    """One text a link: the words of its URL, its anchor and its surroundings."""
    return [f"{urls.words(link.url)} {link.anchor} {link.context}" for link in links]


class TopicSimilarity:
    """One number a link: the cosine of the topic and its text, at the best of its first mentions.

    Later mentions are not read: a menu names the same links on every page of a site.
    """

    width = 1

    def __init__(self, topic: str, encoder: Encoder, mentions: int = 3) -> None:
        self.encoder = encoder
        self.mentions = mentions
        self._topic = encoder([topic])[0]
        self._said = Columns(times=np.uint8, best=np.float32)  # by page

    def __call__(self, memory: MemoryView, found: Outlinks) -> Matrix:
        ids, said = found.ids, self._said
        said.grow(int(ids.max(initial=-1)) + 1)
        unread = np.flatnonzero(said["times"][ids] < self.mentions)
        if len(unread):
            links = [found.links[place] for place in unread.tolist()]
            self._read(ids[unread], self.encoder(link_texts(links)) @ self._topic)
        similarity: Matrix = said["best"][ids, None]
        return similarity

    def state(self) -> State:
        """What was read of each link so far."""
        return self._said.state()

    def load(self, state: State) -> None:
        """Go on from there."""
        self._said.load(state)

    def _read(self, ids: Ids, similarity: Vector) -> None:
        times, best = self._said["times"], self._said["best"]
        best[ids] = np.where(times[ids] > 0, np.maximum(best[ids], similarity), similarity)
        times[ids] += 1
