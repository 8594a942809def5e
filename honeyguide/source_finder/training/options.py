"""The links that can be clicked in an episode, and their scores."""

from collections.abc import Callable, Sequence

import numpy as np

from honeyguide.contracts import Vector
from honeyguide.source_finder.inputs import PageInputs
from honeyguide.source_finder.similar_links import SimilarLinks

LinkPolicy = Callable[[PageInputs], Vector]  # (links,) probabilities of a page's links


class Options:
    """All links seen so far that were not clicked, each with its most probable mention."""

    def __init__(self, policy: LinkPolicy, feedback: bool) -> None:
        self.pages: list[PageInputs] = []
        self.places: dict[str, tuple[int, int]] = {}  # URL -> page, and link of the page
        self._policy, self._similar = policy, SimilarLinks() if feedback else None
        self._clicked: set[str] = set()
        self._probabilities: list[Vector] = []  # of each page's links
        self._starts: list[int] = []  # index of each page's first link among all links

    def click(self, url: str) -> None:
        """Remove a link for good."""
        self._clicked.add(url)
        self.places.pop(url, None)

    def add_page(self, url: str, page: PageInputs, targets: Sequence[str]) -> None:
        """Add the links of a page; `targets` are their URLs, empty for links off the site."""
        number, probabilities = len(self.pages), self._policy(page)
        self._starts.append(sum(map(len, self.pages)))
        self.pages.append(page)
        self._probabilities.append(probabilities)
        for place, (target, worth) in enumerate(zip(targets, probabilities, strict=True)):
            if target and target not in self._clicked and worth > self._probability(target):
                self.places[target] = number, place
        if self._similar is not None:
            paths = [row.tobytes().hex() for row in page.tags]
            inside = np.array([bool(target) for target in targets], np.bool_)
            known = np.where(inside, probabilities, np.float32(0))
            self._similar.add_page(url, targets, paths, known)

    def observe_click(self, url: str, expected: float, score: float) -> None:
        """Correct the scores of links similar to a clicked one by the score of its page."""
        if self._similar is not None:
            self._similar.observe_click(url, url, expected, score)

    def worths(self) -> Vector:
        """Return the probability of each option, corrected by feedback if enabled."""
        worths = np.array([self._probability(target) for target in self.places], np.float32)
        if self._similar is not None and len(worths):
            at = [self._starts[page] + place for page, place in self.places.values()]
            worths += self._similar.corrections(np.array(at), np.concatenate(self._probabilities))
        return worths

    def _probability(self, target: str) -> float:
        page, place = self.places.get(target, (-1, -1))
        return float(self._probabilities[page][place]) if page >= 0 else -1.0
