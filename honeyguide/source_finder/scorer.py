"""The page scorer of Liao and Chang (2022, §IV.E): the probability that a page is a source."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from honeyguide.contracts import Encoder, Matrix, Page, Vector
from honeyguide.errors import HoneyguideError
from honeyguide.source_finder.regions import Region, regions
from honeyguide.source_finder.tag_tree import TagTree, read_tags

FEATURES = 4  # texts per page
LONGEST = 2_000  # characters of each
HIDDEN = 64  # units


def page_texts(page: Page) -> list[str]:
    """Return the largest region, the second-largest, the title and the middle half of the text."""
    tags = read_tags(page.html, page.url) if page.html else None
    return region_texts(page, tags, regions(tags) if tags else ())


def region_texts(page: Page, tags: TagTree | None, found: Sequence[Region]) -> list[str]:
    """Return `page_texts` of a page whose tag tree and regions were found already."""
    if tags is None:
        quarter = len(page.text) // 4
        middle = page.text[quarter : len(page.text) - quarter]
        return [page.text[:LONGEST], "", page.title, middle[:LONGEST]]
    largest, second = [*(region.text[:LONGEST] for region in found[:2]), "", ""][:2]
    return [largest, second, page.title or tags.title, tags.middle()[:LONGEST]]


def whole_text(page: Page) -> list[str]:
    """Return the whole text four times: an input for comparison with `page_texts`."""
    return [page.text[: FEATURES * LONGEST]] * FEATURES


@dataclass(frozen=True, slots=True)
class Scorer:
    """A perceptron with one hidden layer over the four encoded texts."""

    weights: Mapping[str, Matrix]

    def __post_init__(self) -> None:
        first = self.weights.get("0.weight", np.empty((0, 0)))
        wanted = {
            "0.weight": (HIDDEN, np.shape(first)[-1]),
            "0.bias": (HIDDEN,),
            "2.weight": (1, HIDDEN),
            "2.bias": (1,),
        }
        empty = np.empty(0, np.float32)
        if any(self.weights.get(name, empty).shape != shape for name, shape in wanted.items()):
            raise HoneyguideError("weights of the page scorer are missing or of the wrong shape")

    @property
    def width(self) -> int:
        """Width of the encoder it was trained with."""
        return int(self.weights["0.weight"].shape[1]) // FEATURES

    def __call__(self, rows: Matrix) -> Vector:
        """Return a (pages,) array of probabilities from rows of `encoded`."""
        hidden = np.maximum(rows @ self.weights["0.weight"].T + self.weights["0.bias"], 0)
        logits = hidden @ self.weights["2.weight"][0] + self.weights["2.bias"][0]
        probabilities: Vector = (0.5 * np.tanh(0.5 * logits) + 0.5).astype(np.float32)
        return probabilities


def combined_probability(link: float, page: float) -> float:
    """Combine two independent probabilities by multiplying their odds."""
    yes, no = link * page, (1 - link) * (1 - page)
    return yes / (yes + no) if yes + no else 0.5


def encoded(texts: list[list[str]], encoder: Encoder) -> Matrix:
    """Return a row per page: the vectors of its texts, concatenated."""
    rows = encoder([text for page in texts for text in page])
    return rows.reshape(len(texts), -1)
