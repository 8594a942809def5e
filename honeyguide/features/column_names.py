"""Names of feature columns in plain words, to say what speaks for and against a link."""

from collections.abc import Iterator, Sequence

import numpy as np

from honeyguide.contracts import Candidates, Mask, Matrix, Reasons, Scorer, Vector


class ColumnNames:
    """The name of each column; columns with the same name are one group."""

    def __init__(self, columns: Sequence[str]) -> None:
        self.names = tuple(dict.fromkeys(columns))
        places = {name: place for place, name in enumerate(self.names)}
        self._group = np.array([places[name] for name in columns], np.intp)

    def summed(self, products: Matrix) -> Reasons:
        """The parts of linear scores: products of features and weights, added up by group."""
        rows = [np.bincount(self._group, row, len(self.names)) for row in products]
        parts = np.array(rows, np.float32).reshape(len(products), len(self.names))
        return Reasons(self.names, parts)

    def left_out(self, score: Scorer, links: Candidates, blank: Vector | float = 0.0) -> Reasons:
        """The parts of any other scores: what each loses when a group of features is left out.

        `blank` is what its columns are set to.
        """
        without = [np.where(group, blank, links.x) for group in self._groups()]
        x = np.concatenate([links.x, *without])
        ids = np.tile(links.ids, len(self.names) + 1)
        scores = score(Candidates(ids, x.astype(np.float32))).reshape(
            len(self.names) + 1, len(links)
        )
        return Reasons(self.names, (scores[0] - scores[1:]).T, adds_up=False)

    def _groups(self) -> Iterator[Mask]:
        return (self._group == place for place in range(len(self.names)))
