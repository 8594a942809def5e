"""Train the page model: the document's network first, then the small network over structure."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import nn

from honeyguide.contracts import Encoder, Mask, Matrix, Page, Vector
from honeyguide.errors import HoneyguideError
from honeyguide.learning.torch_threads import one_thread
from honeyguide.source_finder.page_model import HIDDEN, PageModel, document_logit
from honeyguide.source_finder.regions import regions
from honeyguide.source_finder.scorer import Scorer, encoded, region_texts
from honeyguide.source_finder.structure import structure
from honeyguide.source_finder.tag_tree import read_tags
from honeyguide.source_finder.training.page_scorer import ScorerTraining


@dataclass(frozen=True, slots=True)
class PageRows:
    """Pages as inputs of both networks."""

    structure: Matrix  # (pages, structure)
    texts: Matrix  # (pages, four texts encoded)
    truth: Mask
    sites: Sequence[int]  # the site of each page
    weights: Vector  # of each page in training


def page_rows(
    pages: Sequence[Page], truth: Sequence[bool], sites: Sequence[int], weights: Sequence[float],
    encoder: Encoder,
) -> PageRows:  # fmt: skip
    """Read pages with their HTML."""
    rows, texts = [], []
    for page in pages:
        tags = read_tags(page.html, page.url) if page.html else None
        found = regions(tags) if tags else []
        rows.append(structure(page, tags, found))
        texts.append(region_texts(page, tags, found))
    return PageRows(
        np.stack(rows), encoded(texts, encoder), np.array(truth, np.bool_), sites,
        np.array(weights, np.float32),
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class PageModelTraining:
    """Settings of the training; the document's network is seen out of fold, by site."""

    nets: int = 5
    steps: int = 250  # of all pages at once
    step_size: float = 0.01
    decay: float = 0.1  # weight decay
    dropout: float = 0.3
    document: ScorerTraining = field(default_factory=lambda: ScorerTraining(epochs=4, dropout=0.3))

    def run(self, rows: PageRows, encoder_width: int, random_seed: int = 0) -> PageModel:
        """Return a page model trained on these pages."""
        if not 0 < rows.truth.sum() < len(rows.truth):
            raise HoneyguideError("the page scorer needs source pages and others to learn from")
        one_thread()
        halves = np.array(rows.sites) % 2 == 0
        logits = np.zeros(len(rows.truth), np.float32)
        for test in (halves, ~halves):
            known = rows.truth[~test]
            if test.any() and 0 < known.sum() < len(known):
                scorer = self.document.fit(rows.texts[~test], known, random_seed)
                logits[test] = _logits(scorer, rows.texts[test])
        document = self.document.fit(rows.texts, rows.truth, random_seed)
        x = np.concatenate([rows.structure, logits[:, None]], axis=1)
        mean, scale = x.mean(axis=0), x.std(axis=0) + 0.05
        nets = [self._net((x - mean) / scale, rows, random_seed + n) for n in range(self.nets)]
        return PageModel(document, {"mean": mean, "scale": scale, **_merged(nets)})

    def _net(self, x: Matrix, rows: PageRows, random_seed: int) -> dict[str, Matrix]:
        inputs = torch.from_numpy(np.clip(x, -5, 5).astype(np.float32))
        wanted = torch.from_numpy(rows.truth.astype(np.float32))
        weights = torch.from_numpy(rows.weights)
        with torch.random.fork_rng():
            torch.manual_seed(random_seed)
            net = nn.Sequential(
                nn.Dropout(self.dropout), nn.Linear(x.shape[1], HIDDEN), nn.ReLU(),
                nn.Linear(HIDDEN, 1),
            )  # fmt: skip
            optimiser = torch.optim.AdamW(
                net.parameters(), lr=self.step_size, weight_decay=self.decay
            )
            for _ in range(self.steps):
                optimiser.zero_grad()
                loss = nn.functional.binary_cross_entropy_with_logits(
                    net(inputs)[:, 0], wanted, weight=weights
                )
                loss.backward()  # type: ignore[no-untyped-call]
                optimiser.step()
        named = net.state_dict()
        return {
            "0.weight": named["1.weight"].numpy().copy(),
            "0.bias": named["1.bias"].numpy().copy(),
            "2.weight": named["3.weight"][0].numpy().copy(),
            "2.bias": named["3.bias"].numpy().copy(),
        }


def small_rows(model: PageModel, rows: PageRows) -> Matrix:
    """Return the inputs of a model's small network."""
    logits = _logits(model.document, rows.texts)
    return np.concatenate([rows.structure, logits[:, None]], axis=1)


def _logits(scorer: Scorer, texts: Matrix) -> Vector:
    return np.array([document_logit(float(p)) for p in scorer(texts)], np.float32)


def _merged(nets: Sequence[dict[str, Matrix]]) -> dict[str, Matrix]:
    """Return the weights of one network whose logits are the mean of the nets' logits."""
    share = np.float32(1 / len(nets))
    return {
        "0.weight": np.concatenate([net["0.weight"] for net in nets]),
        "0.bias": np.concatenate([net["0.bias"] for net in nets]),
        "2.weight": share * np.concatenate([net["2.weight"] for net in nets]),
        "2.bias": np.mean([net["2.bias"] for net in nets], axis=0, dtype=np.float32),
    }
