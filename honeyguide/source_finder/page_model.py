"""The page scorer: a small network over a page's structure and the document's network.

The document's network is that of Liao and Chang (2022, §IV.E), over data regions, title and text.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from honeyguide.contracts import Encoder, Matrix, Page, Vector
from honeyguide.errors import HoneyguideError
from honeyguide.source_finder.regions import regions
from honeyguide.source_finder.scorer import Scorer, encoded, region_texts
from honeyguide.source_finder.structure import STRUCTURE, structure
from honeyguide.source_finder.tag_tree import read_tags

HIDDEN = 16  # units of a net
LARGEST_LOGIT = 6.0  # the document's network is cut off here: it is too sure of itself
WIDTH = len(STRUCTURE) + 1  # the structure and the logit of the document's network


@dataclass(frozen=True)
class PageModel:
    """Perceptrons with one hidden layer, side by side; their logits are averaged."""

    document: Scorer
    weights: Mapping[str, Matrix]  # mean, scale, 0.weight, 0.bias, 2.weight, 2.bias

    def __post_init__(self) -> None:
        nets = len(self.weights.get("0.bias", ())) // HIDDEN
        wanted: dict[str, tuple[int, ...]] = {
            "mean": (WIDTH,),
            "scale": (WIDTH,),
            "0.weight": (HIDDEN * nets, WIDTH),
            "0.bias": (HIDDEN * nets,),
            "2.weight": (HIDDEN * nets,),
            "2.bias": (1,),
        }
        empty = np.empty(0, np.float32)
        if not nets or any(np.shape(self.weights.get(k, empty)) != v for k, v in wanted.items()):
            raise HoneyguideError("weights of the page model are missing or of the wrong shape")

    def __call__(self, page: Page, encoder: Encoder) -> float:
        """Return the probability that a page, with its HTML, is a source page."""
        return float(self.probabilities(self.row(page, encoder)[None])[0])

    def row(self, page: Page, encoder: Encoder) -> Vector:
        """Return the inputs of the small network for a page."""
        return page_row(page, self.document, encoder)

    def probabilities(self, rows: Matrix) -> Vector:
        """Return a (pages,) array of probabilities from rows of inputs."""
        w = self.weights
        x = np.clip((rows - w["mean"]) / w["scale"], -5, 5)
        hidden = np.maximum(x @ w["0.weight"].T + w["0.bias"], 0)
        logits = hidden @ w["2.weight"] + w["2.bias"][0]
        probabilities: Vector = (0.5 * np.tanh(0.5 * logits) + 0.5).astype(np.float32)
        return probabilities

    @cached_property
    def width(self) -> int:
        """Width of the encoder it was trained with."""
        return self.document.width


def page_row(page: Page, document: Scorer, encoder: Encoder) -> Vector:
    """Return structure and the logit of the document's network."""
    tags = read_tags(page.html, page.url) if page.html else None
    found = regions(tags) if tags else []
    texts = region_texts(page, tags, found)
    score = float(document(encoded([texts], encoder))[0])
    return np.append(structure(page, tags, found), document_logit(score)).astype(np.float32)


def document_logit(probability: float) -> float:
    """Return the logit of a probability, cut off."""
    low = 1 / (1 + np.exp(LARGEST_LOGIT))
    p = min(max(probability, low), 1 - low)
    return float(np.log(p / (1 - p)))
