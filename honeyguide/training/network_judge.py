"""Train a small network as page classifier with torch: the extra "deep"."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from honeyguide.contracts import Mask, Vector
from honeyguide.judges.network_model import NetworkModel
from honeyguide.learning.logistic import Numbers, Rows
from honeyguide.learning.parameters import Parameters, Views
from honeyguide.learning.torch_threads import one_thread
from honeyguide.training.judge import Examples, Source

HIDDEN = 32
DROPOUT = 0.5
EPOCHS = 15
BATCH = 32
STEP_SIZE = 0.003
DECAY = 1e-4  # of the hidden layer's weights
WORD_SCALE = 5.0  # words' weights are learnt as much faster than the others


@dataclass(frozen=True, slots=True)
class FittedNetwork:
    """A network before its calibration."""

    logits: Numbers
    hidden: NDArray[np.float32]
    hidden_offset: Vector
    out: Vector
    words: Vector
    idf: Vector
    bias: float

    def model(self, source: Source, slope: float, offset: float) -> NetworkModel:
        """The classifier whose logit is slope * logit + offset."""
        return NetworkModel(
            source.name,
            probe=source.probe,
            hidden=self.hidden,
            hidden_offset=self.hidden_offset,
            out=(slope * self.out).astype(np.float32),
            words=(slope * self.words).astype(np.float32),
            idf=self.idf,
            bias=slope * self.bias + offset,
        )


def fit_network(
    examples: Examples, chosen: Mask, target: Mask, random_seed: int = 0
) -> FittedNetwork:
    """Train a network on the chosen pages; the same random seed gives the same network."""
    one_thread()
    idf = examples.idf(chosen)
    rows = examples.rows(idf)
    training = _Training(rows, random_seed)
    training.run(np.flatnonzero(chosen), torch.from_numpy(target.astype(np.float32)))
    learnt = training.parameters.arrays()
    words = np.zeros(rows.buckets, np.float32)
    words[training.used] = WORD_SCALE * learnt["words"][:, 0]
    return FittedNetwork(
        training.logits(),
        hidden=learnt["hidden"].copy(),
        hidden_offset=learnt["hidden_offset"].copy(),
        out=learnt["out"][:, 0].copy(),
        words=words,
        idf=idf,
        bias=float(learnt["bias"][0]),
    )


class _Training:
    """A network and the pages that it reads, as torch needs them."""

    def __init__(self, rows: Rows, random_seed: int) -> None:
        self._rng = np.random.default_rng(random_seed)
        self._dropout_rng = torch.Generator().manual_seed(random_seed)
        self.used = np.flatnonzero(np.bincount(rows.bucket, minlength=rows.buckets))
        few = rows.with_buckets(self.used)
        self._dense = torch.from_numpy(np.asarray(few.dense, np.float32))
        self._bucket = torch.from_numpy(few.bucket.astype(np.int64))
        self._value = torch.from_numpy(few.value)
        self._starts = np.searchsorted(few.row, np.arange(len(few) + 1))
        shapes: dict[str, tuple[int, ...]] = {
            "hidden": (self._dense.shape[1], HIDDEN), "hidden_offset": (HIDDEN,),
            "out": (HIDDEN, 1), "bias": (1,), "words": (len(self.used), 1),
        }  # fmt: skip
        self.parameters = Parameters(shapes, self._rng, STEP_SIZE)
        with torch.no_grad():
            self.parameters.views(self.parameters.block[0])["words"].zero_()

    def run(self, pages: NDArray[np.intp], target: torch.Tensor) -> None:
        """Go through the pages EPOCHS times, in random order."""
        for _ in range(EPOCHS):
            order = self._rng.permutation(pages)
            for start in range(0, len(order), BATCH):
                batch = order[start : start + BATCH]
                self._descend(batch, target[batch])

    def _descend(self, batch: NDArray[np.intp], target: torch.Tensor) -> None:
        p = self.parameters.views()
        logits = self._logits(p, batch, dropout=True)
        loss = torch.nn.functional.binary_cross_entropy_with_logits(logits, target)
        loss = loss + DECAY * ((p["hidden"] ** 2).sum() + (p["out"] ** 2).sum())
        self.parameters.descend(self.parameters.gradient(loss))

    def logits(self) -> Numbers:
        """The logits of all pages."""
        p = self.parameters.views(self.parameters.data)
        every = np.arange(len(self._starts) - 1)
        with torch.no_grad():
            return self._logits(p, every).numpy().astype(np.float64)

    def _logits(self, p: Views, pages: NDArray[np.intp], dropout: bool = False) -> torch.Tensor:
        hidden = torch.relu(self._dense[pages] @ p["hidden"] + p["hidden_offset"])
        if dropout:
            kept = torch.rand(hidden.shape, generator=self._dropout_rng) >= DROPOUT
            hidden = hidden * kept / (1 - DROPOUT)
        return (hidden @ p["out"])[:, 0] + p["bias"] + WORD_SCALE * self._of_words(p, pages)

    def _of_words(self, p: Views, pages: NDArray[np.intp]) -> torch.Tensor:
        """The sum of the weights of each page's words, times their tf-idf."""
        spans = [np.arange(self._starts[page], self._starts[page + 1]) for page in pages.tolist()]
        starts = np.cumsum([0, *map(len, spans[:-1])])
        places = np.concatenate(spans)
        sums = torch.nn.functional.embedding_bag(
            self._bucket[places],
            p["words"],
            torch.from_numpy(starts),
            mode="sum",
            per_sample_weights=self._value[places],
        )
        return sums[:, 0]
