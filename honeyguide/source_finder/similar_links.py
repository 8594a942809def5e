"""Links like those clicked: what became of a click is passed on to its kin.

Not in Liao and Chang (2022), but its signal: equation 4's reward, the page scorer's probability.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from honeyguide.columns import Columns
from honeyguide.contracts import State, Vector
from honeyguide.source_finder.scorer import both

SHARED = 4  # what links may share: their page, a list on it, a folder, the form of their addresses
MOST = 400  # mentions of clicked pages that are learnt from: the latest


@dataclass(frozen=True, slots=True, kw_only=True)
class Kinship:
    """How far a click speaks for links like it."""

    variance: float = 0.1  # of what links have in common, for each thing they share
    noise: float = 0.2  # variance of what each has for itself
    doubt: float = 0.12  # the scorer is never believed beyond this, nor beyond one less this
    likely: float = 0.3  # links of a page that count as something to find there
    whole_list: float = 5.0  # of them, expected, that make a page worth a full list
    of_list: float = 0.9  # worth of a full list, as in training/shown.py


class SimilarLinks:
    """How far clicks on links like a link were better or worse than the policy had said.

    A Gaussian process over what the policy missed: links covary by how much they share.
    """

    def __init__(self, kinship: Kinship | None = None) -> None:
        self.kinship = kinship or Kinship()
        self._links = Columns(target=np.uint64, shared=(np.uint64, SHARED))  # in order of showing
        self._promised: dict[int, float] = {}  # page -> sources expected behind its new links
        self._worths: dict[int, float] = {}  # clicked page -> what it was worth
        self._observed: list[int] = []  # links whose pages were clicked, here or elsewhere
        self._outdated = False
        self._names: NDArray[np.uint64] = np.empty(0, np.uint64)  # sorted; what clicked links share
        self._effects: NDArray[np.float64] = np.empty(0)  # of each

    def show(
        self, page: str, targets: Sequence[str], paths: Sequence[str], probabilities: Vector
    ) -> None:
        """Take in a page's links, by address and tag path, and what the policy says of them."""
        numbers = np.array([_number(url) for url in targets], np.uint64)
        known = np.isin(numbers, self._links["target"])
        fresh: dict[int, float] = {}
        for number, old, probability in zip(numbers.tolist(), known, probabilities, strict=True):
            if not old and probability > self.kinship.likely:
                fresh[number] = max(float(probability), fresh.get(number, 0.0))
        self._promised[_number(page)] = sum(fresh.values())
        shared = [_shared(page, url, path) for url, path in zip(targets, paths, strict=True)]
        rows = self._links.add(
            len(numbers), target=numbers, shared=shared or np.empty((0, SHARED), np.uint64)
        )
        told = [
            place for place, to in enumerate(numbers.tolist(), rows.start) if to in self._worths
        ]
        self._observe(told)

    def tell(self, url: str, page: str, expected: float, score: float) -> None:
        """What became of a click: the page it led to, and what the page scorer says of that.

        A page that shows links which promise much is worth it, whatever it is itself.
        """
        kinship = self.kinship
        score = min(max(score, kinship.doubt), 1 - kinship.doubt)
        itself = both(min(max(expected, 0.02), 0.98), score)
        promised = self._promised.pop(_number(page), 0.0)
        worth = max(itself, kinship.of_list * min(1.0, promised / kinship.whole_list))
        targets = self._links["target"]
        for number in {_number(url), _number(page)} - self._worths.keys():
            self._worths[number] = worth
            self._observe(np.flatnonzero(targets == np.uint64(number)).tolist())

    def refresh(self) -> None:
        """The policy says other things of the links now."""
        self._outdated = True

    def missed(self, places: NDArray[np.int64], probabilities: Vector) -> Vector:
        """What to add to the policy's probabilities, given for all links, of links at places."""
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
        """All of it."""
        return {
            "links": self._links.state(),
            "promised": _columns(self._promised),
            "worths": _columns(self._worths),
            "observed": list(self._observed),
        }

    def load(self, state: State) -> None:
        """Become what was saved."""
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
        mentions = (targets[:, None] == targets[None]).sum(axis=1)  # of one click
        covariance = self.kinship.variance * alike + np.diag(self.kinship.noise * mentions)
        weights = np.linalg.solve(covariance, worths - probabilities[links])
        self._names, at = np.unique(shared, return_inverse=True)
        sums = np.bincount(at.ravel(), np.repeat(weights, SHARED), len(self._names))
        self._effects = np.multiply(self.kinship.variance, sums)


def _shared(page: str, url: str, path: str) -> list[int]:
    """Names of what a link may share with others, as numbers."""
    parts = urlsplit(url)
    places = [part for part in parts.path.split("/") if part]
    folder = "/".join(places[:-1])
    top = "" if not folder else places[0]
    if places and places[0].startswith("~"):
        top = "~"  # a person's own pages, whoever that is
    last = parts.path.rpartition("/")[2]
    ending = last.rpartition(".")[2] if "." in last else "" if last else "/"
    form = f"{parts.netloc} {top} {len(places)} {ending}"
    named = (f"<{page}", f"{path}<{page}", f"{parts.netloc}/{folder}>", form)
    return [_number(name) for name in named]


def _number(name: str) -> int:
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "little")


def _columns(told: dict[int, float]) -> State:
    return {
        "page": np.array(list(told), np.uint64),
        "value": np.array(list(told.values()), np.float64),
    }


def _rows(state: State) -> dict[int, float]:
    return dict(zip(state["page"].tolist(), state["value"].tolist(), strict=True))
