"""Concatenates the vectors of several encoders."""

from collections.abc import Sequence

import numpy as np

from honeyguide.contracts import Encoder, Matrix
from honeyguide.errors import HoneyguideError
from honeyguide.registry import make, part
from honeyguide.text.vectors import unit


@part("encoder", "joined", argument="parts")
class JoinedEncoder:
    """The concatenated vectors of several encoders: "joined:wordllama+ngrams"."""

    def __init__(self, parts: str = "wordllama+ngrams") -> None:
        names = [name.strip() for name in parts.split("+") if name.strip()]
        if not names:
            raise HoneyguideError(
                "encoder 'joined' needs names of encoders with + between: joined:wordllama+ngrams"
            )
        self._parts: list[Encoder] = [make("encoder", name) for name in names]
        self.width = sum(encoder.width for encoder in self._parts)

    def __call__(self, texts: Sequence[str]) -> Matrix:
        """Unit vectors, one row a text."""
        rows: Matrix = np.concatenate([encoder(texts) for encoder in self._parts], axis=1)
        return unit(rows)

    def knows(self, text: str) -> bool:
        """Whether any of the encoders knows a word of the text."""
        return any(encoder.knows(text) for encoder in self._parts)
