"""Vectors of texts that were asked for before, within a bound of memory."""

from collections.abc import Callable, Sequence

import numpy as np

from honeyguide.contracts import Matrix

LONGEST = 1000  # bytes; longer texts are pages, which are seldom asked for twice
ENTRY = LONGEST + 160  # bytes of a text, its place and its share of the tables


class Cached:
    """Another encoder's vectors, kept by text; when there is no room left the oldest go first."""

    def __init__(
        self, encode: Callable[[Sequence[str]], Matrix], width: int, megabytes: float
    ) -> None:
        self._encode = encode
        self._room = int(megabytes * 2**20) // (4 * width + ENTRY)
        self._rows: Matrix = np.empty((self._room, width), np.float32)  # no memory until written
        self._place: dict[str, int] = {}
        self._texts: list[str] = []  # by place
        self._next = 0

    def __call__(self, texts: Sequence[str]) -> Matrix:
        """One row a text."""
        place = self._place
        try:
            return self._rows[[place[text] for text in texts]]
        except KeyError:
            return self._with_new(texts)
        except IndexError:  # there are no texts
            return np.empty((0, self._rows.shape[1]), np.float32)

    def clear(self) -> None:
        """Forget everything."""
        self._place.clear()
        self._texts.clear()
        self._next = 0

    def __len__(self) -> int:
        return len(self._place)

    def _with_new(self, texts: Sequence[str]) -> Matrix:
        place, kept = self._place, self._rows
        new = [text for text in dict.fromkeys(texts) if text not in place]
        fresh = self._encode(new)
        if len(new) < len(texts):
            row = dict(zip(new, fresh, strict=True))
            all_rows = np.array(
                [row[text] if text in row else kept[place[text]] for text in texts], np.float32
            )
        else:
            all_rows = fresh.copy()
        self._keep(new, fresh)
        return all_rows

    def _keep(self, texts: list[str], vectors: Matrix) -> None:
        for text, vector in zip(texts, vectors, strict=True):
            if text.__sizeof__() > LONGEST or not self._room:
                continue
            at = self._next
            if at < len(self._texts):
                del self._place[self._texts[at]]
                self._texts[at] = text
            else:
                self._texts.append(text)
            self._place[text] = at
            self._rows[at] = vector
            self._next = (at + 1) % self._room
