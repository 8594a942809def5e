"""What a link says about itself: URL words, anchor and surrounding text, against the topic."""

from collections.abc import Sequence

import numpy as np

from honeyguide import urls
from honeyguide.contracts import Encoder, Link, Matrix, MemoryView, Outlinks, Vector


def link_texts(links: Sequence[Link]) -> list[str]:
    """One text a link: the words of its URL, its anchor and its surroundings."""
    return [f"{urls.words(link.url)} {link.anchor} {link.context}" for link in links]


class TopicSimilarity:
    """One number a link: the cosine of its text and the topic."""

    width = 1

    def __init__(self, topic: str, encoder: Encoder) -> None:
        self.encoder = encoder
        self._topic = encoder([topic])[0]

    def __call__(self, memory: MemoryView, found: Outlinks) -> Matrix:
        if not found.links:
            return np.empty((0, 1), np.float32)
        similarity: Vector = self.encoder(link_texts(found.links)) @ self._topic
        return similarity[:, None]
