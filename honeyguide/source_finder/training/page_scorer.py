"""Train the page scorer of Liao and Chang (2022, §IV.E)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

from honeyguide.contracts import Encoder, Mask, Matrix, Page, Vector
from honeyguide.errors import HoneyguideError
from honeyguide.learning.torch_threads import one_thread
from honeyguide.source_finder.scorer import HIDDEN, Scorer, encoded, page_texts


@dataclass(frozen=True, slots=True)
class Quality:
    """Figures of a scorer on pages that it was not trained on."""

    accuracy: float
    precision: float
    recall: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ScorerTraining:
    """Settings of the training; the network is a perceptron on a page's four encoded texts."""

    epochs: int = 60
    batch: int = 32
    step_size: float = 0.002
    decay: float = 0.001  # weight decay
    dropout: float = 0.0  # share of inputs set to zero in each step
    texts: Callable[[Page], list[str]] = page_texts

    def run(
        self, pages: Sequence[Page], sources: Mask, encoder: Encoder, random_seed: int = 0
    ) -> Scorer:
        """Return a scorer trained on pages and whether each is a source."""
        if not 0 < sources.sum() < len(pages):
            raise HoneyguideError("the page scorer needs source pages and others to learn from")
        rows = encoded([self.texts(page) for page in pages], encoder)
        return self.fit(rows, sources, random_seed)

    def fit(self, rows: Matrix, sources: Mask, random_seed: int = 0) -> Scorer:
        """Return a scorer trained on rows of `encoded` and whether each page is a source."""
        one_thread()
        x = torch.from_numpy(rows)
        y = torch.from_numpy(sources.astype(np.float32))
        with torch.random.fork_rng():
            torch.manual_seed(random_seed)
            net = nn.Sequential(nn.Linear(x.shape[1], HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, 1))
            seen = nn.Sequential(nn.Dropout(self.dropout), net) if self.dropout else net
            self._fit(seen, x, y, np.random.default_rng(random_seed))
        return Scorer({name: value.numpy().copy() for name, value in net.state_dict().items()})

    def _fit(
        self, net: nn.Module, x: torch.Tensor, y: torch.Tensor, rng: np.random.Generator
    ) -> None:
        optimiser = torch.optim.Adam(net.parameters(), lr=self.step_size, weight_decay=self.decay)
        # weighted as if a third of the pages were sources (Liao and Chang 2022, table II)
        weight = (len(y) - y.sum()) / (2 * y.sum())
        losses = nn.BCEWithLogitsLoss(pos_weight=weight)
        for _ in range(self.epochs):
            order = torch.from_numpy(rng.permutation(len(x)))
            for start in range(0, len(x), self.batch):
                rows = order[start : start + self.batch]
                optimiser.zero_grad()
                losses(net(x[rows])[:, 0], y[rows]).backward()
                optimiser.step()

    def measure(
        self, scorer: Scorer, pages: Sequence[Page], sources: Mask, encoder: Encoder
    ) -> Quality:
        """Return accuracy, precision and recall of a scorer at a threshold of 0.5."""
        return quality(scorer(encoded([self.texts(page) for page in pages], encoder)), sources)


def quality(probabilities: Vector, sources: Mask) -> Quality:
    """Return accuracy, precision and recall of probabilities at a threshold of 0.5."""
    accepted = probabilities >= 0.5
    hits = int((accepted & sources).sum())
    return Quality(
        float((accepted == sources).mean()),
        hits / max(int(accepted.sum()), 1),
        hits / max(int(sources.sum()), 1),
    )
