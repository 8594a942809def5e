"""Several encoders side by side."""

from collections.abc import Sequence

import numpy as np

from honeyguide.contracts import Encoder, Matrix
from honeyguide.encoders.vectors import unit
from honeyguide.errors import HoneyguideError
from honeyguide.registry import make, part


@part("encoder", "joined", argument="parts")
class JoinedEncoder:
    """The vectors of several encoders in one: "joined:wordllama+ngrams"."""

    def __init__(self, parts: str = "wordllama+ngrams") -> None:
        names = [name.strip() for name in parts.split("+") if name.strip()]
        if not names:
            raise HoneyguideError("encoder 'joined' needs names with + between")
        self._parts: list[Encoder] = [make("encoder", name) for name in names]
        self.width = sum(encoder.width for encoder in self._parts)

    def __call__(self, texts: Sequence[str]) -> Matrix:
        """Unit vectors, one row a text."""
        rows: Matrix = np.concatenate([encoder(texts) for encoder in self._parts], axis=1)
        return unit(rows)

    def knows(self, text: str) -> bool:
        """Whether any of them knows a word."""
        return any(encoder.knows(text) for encoder in self._parts)
