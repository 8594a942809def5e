"""The similarity of a link's text (URL words, anchor, surrounding words) to the topic."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from honeyguide import urls
from honeyguide.columns import Columns
from honeyguide.contracts import (
    Encoder,
    Ids,
    Link,
    Matrix,
    MemoryView,
    Outlinks,
    Page,
    State,
    Vector,
)

Places = NDArray[np.intp]


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkText:
    """Which words make up the text of a link."""

    host_words: bool | None = None  # whether those of its host count; None: if it is not the only
    join_mentions: bool = False  # whether all mentions on the page count, instead of one

    def __call__(self, links: Sequence[Link], page: Page | None, hosts: int) -> list[str]:
        """One text a link: the words of its URL, its anchor and the words around it.

        The words of the only host would be in every text: Pertejo (2021, §3.2) has the title of a
        page in place of its URL. `hosts` is the number of hosts known.
        """
        counts = hosts > 1 if self.host_words is None else self.host_words
        inside = "" if page is None or counts else urls.host(page.url)
        mentions = _mentions(page) if page is not None and self.join_mentions else {}
        return [
            " ".join((_url_words(link.url, inside), *mentions.get(link.url, (_mention(link),))))
            for link in links
        ]


def _url_words(url: str, inside: str) -> str:
    return urls.path_words(url) if inside and urls.host(url) == inside else urls.words(url)


def _mention(link: Link) -> str:
    return f"{link.anchor} {link.context}"


def _mentions(page: Page) -> dict[str, dict[str, None]]:
    """The different mentions of each URL on a page, in order (Pertejo 2021, A.4)."""
    found: dict[str, dict[str, None]] = {}
    for link in page.links:
        found.setdefault(link.url, {})[_mention(link)] = None
    return found


CLOSE = "its own words and those around it are close to the topic"
PATHS, WHOLE_URLS = LinkText(), LinkText(host_words=True)


class TopicSimilarity:
    """One feature a link: the highest cosine to the topic over its first mentions.

    Later mentions are not encoded: a menu repeats the same links on every page of a site.
    """

    width = 1

    def __init__(
        self,
        topic: str,
        encoder: Encoder,
        mentions: int = 3,
        text: LinkText = WHOLE_URLS,
    ) -> None:
        self.encoder = encoder
        self.mentions = mentions
        self._text = text
        self._topic = encoder([topic])[0]
        self._seen = Columns(times=np.uint8, best=np.float32)  # by page: mentions, highest cosine

    def __call__(self, memory: MemoryView, found: Outlinks) -> Matrix:
        def cosines(unread: Places) -> Vector:
            links = [found.links[place] for place in unread.tolist()]
            return self.of_texts(self._text(links, found.page, memory.urls.host_count))

        return self.updated(found.ids, cosines)

    def updated(self, ids: Ids, cosines: Callable[[Places], Vector]) -> Matrix:
        """The feature of links after one more mention of each.

        `cosines` gives those of the mentions at these places; it is asked for the first ones.
        """
        seen = self._seen
        seen.grow(int(ids.max(initial=-1)) + 1)
        unread: Places = np.flatnonzero(seen["times"][ids] < self.mentions)
        if len(unread):
            self._update(ids[unread], cosines(unread))
        similarity: Matrix = seen["best"][ids, None]
        return similarity

    def of_texts(self, texts: Sequence[str]) -> Vector:
        """The cosine of texts to the topic."""
        cosines: Vector = self.encoder(texts) @ self._topic
        return cosines

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
