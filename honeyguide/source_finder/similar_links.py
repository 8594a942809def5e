"""Feedback: the result of a click corrects the scores of links similar to the clicked one.

This is not in Liao and Chang (2022), but uses the reward of their equation 4.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from honeyguide.columns import Columns
from honeyguide.contracts import State, Vector
from honeyguide.source_finder.scorer import combined_probability

SHARED = 4  # groups of a link: its page, a list on it, a folder, the form of its URL
MOST = 400  # latest mentions of clicked pages that are learnt from


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackSettings:
    """How strongly a click corrects the scores of similar links."""

    variance: float = 0.1  # prior variance of a group's effect
    noise: float = 0.2  # variance of a link's own deviation
    doubt: float = 0.12  # page scores are clipped to [doubt, 1 - doubt]
    likely: float = 0.3  # least probability of links that make their page worth more
    whole_list: float = 5.0  # expected source pages behind such links on a full list
    of_list: float = 0.9  # worth of a full list, as in training/supervised.py


class SimilarLinks:
    """Estimates the error of the policy's probability of a link from clicks on similar links.

    The estimate is a Gaussian process; the covariance of two links grows with shared groups.
    """

    def __init__(self, settings: FeedbackSettings | None = None) -> None:
        self.settings = settings or FeedbackSettings()
        self._links = Columns(
            target=np.uint64, shared=(np.uint64, SHARED)
        )  # in the order in which they were added
        self._promised: dict[int, float] = {}  # page -> expected source pages behind its new links
        self._worths: dict[int, float] = {}  # clicked page -> its worth
        self._observed: list[
            int
        ] = []  # links to clicked pages, also the mentions that were not clicked
        self._outdated = False
        self._names: NDArray[np.uint64] = np.empty(0, np.uint64)  # sorted: groups of clicked links
        self._effects: NDArray[np.float64] = np.empty(0)  # of each group

    def add_page(
        self, page: str, targets: Sequence[str], paths: Sequence[str], probabilities: Vector
    ) -> None:
        """Add the links of a page: their URLs, tag paths and probabilities by the policy."""
        numbers = np.array([_number(url) for url in targets], np.uint64)
        known = np.isin(numbers, self._links["target"])
        fresh: dict[int, float] = {}
        for number, old, probability in zip(numbers.tolist(), known, probabilities, strict=True):
            if not old and probability > self.settings.likely:
                fresh[number] = max(float(probability), fresh.get(number, 0.0))
        self._promised[_number(page)] = sum(fresh.values())
        shared = [_shared(page, url, path) for url, path in zip(targets, paths, strict=True)]
        rows = self._links.add(
            len(numbers), target=numbers, shared=shared or np.empty((0, SHARED), np.uint64)
        )
        clicked = [
            place for place, to in enumerate(numbers.tolist(), rows.start) if to in self._worths
        ]
        self._observe(clicked)

    def observe_click(self, url: str, page: str, expected: float, score: float) -> None:
        """Record a click on a URL: the page it led to, the probability before and the page score.

        A page with many probable links is worth a click even if it is no source page itself.
        """
        settings = self.settings
        score = min(max(score, settings.doubt), 1 - settings.doubt)
        itself = combined_probability(min(max(expected, 0.02), 0.98), score)
        promised = self._promised.pop(_number(page), 0.0)
        worth = max(itself, settings.of_list * min(1.0, promised / settings.whole_list))
        targets = self._links["target"]
        for number in {_number(url), _number(page)} - self._worths.keys():
            self._worths[number] = worth
            self._observe(np.flatnonzero(targets == np.uint64(number)).tolist())

    def refresh(self) -> None:
        """Note that the policy's probabilities have changed."""
        self._outdated = True

    def corrections(self, places: NDArray[np.int64], probabilities: Vector) -> Vector:
        """Return what to add to the probabilities of some links; `probabilities` has all links'."""
        if self._outdated:
            self._solve(probabilities)
            self._outdated = False
        if not len(self._names):
            return np.zeros(len(places), np.float32)
        shared = self._links["shared"][places]
        at = np.minimum(np.searchsorted(self._names, shared), len(self._names) - 1)
        effects = np.where(self._names[at] == shared, self._effects[at], 0.0)
        more: Vector = effects.sum(axis=1).astype(np.float32)
        return more

    def state(self) -> State:
        """Return everything needed to resume."""
        return {
            "links": self._links.state(),
            "promised": _columns(self._promised),
            "worths": _columns(self._worths),
            "observed": list(self._observed),
        }

    def load(self, state: State) -> None:
        """Resume from a saved state."""
        self._links.load(state["links"])
        self._promised, self._worths = _rows(state["promised"]), _rows(state["worths"])
        self._observed, self._outdated = list(state["observed"]), True

    def _observe(self, links: list[int]) -> None:
        self._observed = [*self._observed, *links][-MOST:]
        self._outdated = self._outdated or bool(links)

    def _solve(self, probabilities: Vector) -> None:
        links = np.array(self._observed, np.int64)
        shared, targets = self._links["shared"][links], self._links["target"][links]
        worths = np.array([self._worths[number] for number in targets.tolist()])
        alike = (shared[:, None] == shared[None]).sum(axis=2)
        mentions = (targets[:, None] == targets[None]).sum(axis=1)  # of the same page
        covariance = self.settings.variance * alike + np.diag(self.settings.noise * mentions)
        weights = np.linalg.solve(covariance, worths - probabilities[links])
        self._names, at = np.unique(shared, return_inverse=True)
        sums = np.bincount(at.ravel(), np.repeat(weights, SHARED), len(self._names))
        self._effects = np.multiply(self.settings.variance, sums)


def _shared(page: str, url: str, path: str) -> list[int]:
    """Return the hashes of a link's four groups."""
    parts = urlsplit(url)
    places = [part for part in parts.path.split("/") if part]
    folder = "/".join(places[:-1])
    top = "" if not folder else places[0]
    if places and places[0].startswith("~"):
        top = "~"  # home pages of all persons form one group
    last = parts.path.rpartition("/")[2]
    ending = last.rpartition(".")[2] if "." in last else "" if last else "/"
    form = f"{parts.netloc} {top} {len(places)} {ending}"
    named = (f"<{page}", f"{path}<{page}", f"{parts.netloc}/{folder}>", form)
    return [_number(name) for name in named]


def _number(name: str) -> int:
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "little")


def _columns(values: dict[int, float]) -> State:
    return {
        "page": np.array(list(values), np.uint64),
        "value": np.array(list(values.values()), np.float64),
    }


def _rows(state: State) -> dict[int, float]:
    return dict(zip(state["page"].tolist(), state["value"].tolist(), strict=True))
