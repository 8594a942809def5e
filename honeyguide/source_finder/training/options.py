"""What can be clicked in an episode, and what that seems worth."""

from collections.abc import Callable, Sequence

import numpy as np

from honeyguide.contracts import Vector
from honeyguide.source_finder.inputs import PageInputs
from honeyguide.source_finder.similar_links import SimilarLinks

Weigh = Callable[[PageInputs], Vector]  # a policy: the probability of each link


class Options:
    """All unclicked links seen so far, each at the likeliest of its mentions."""

    def __init__(self, policy: Weigh, feedback: bool) -> None:
        self.pages: list[PageInputs] = []
        self.places: dict[str, tuple[int, int]] = {}  # unclicked link -> page and link of the page
        self._policy, self._kin = policy, SimilarLinks() if feedback else None
        self._clicked: set[str] = set()
        self._said: list[Vector] = []  # by the policy, of each page's links
        self._starts: list[int] = []  # of each page's links among all

    def click(self, url: str) -> None:
        """Never offer this one again."""
        self._clicked.add(url)
        self.places.pop(url, None)

    def show(self, url: str, page: PageInputs, targets: Sequence[str]) -> None:
        """Offer what a page shows; targets are empty for links that leave the site."""
        number, said = len(self.pages), self._policy(page)
        self._starts.append(sum(map(len, self.pages)))
        self.pages.append(page)
        self._said.append(said)
        for place, (target, worth) in enumerate(zip(targets, said, strict=True)):
            if target and target not in self._clicked and worth > self._said_of(target):
                self.places[target] = number, place
        if self._kin is not None:
            ways = [row.tobytes().hex() for row in page.tags]
            inside = np.array([bool(target) for target in targets], np.bool_)
            self._kin.show(url, targets, ways, np.where(inside, said, np.float32(0)))

    def tell(self, url: str, expected: float, score: float) -> None:
        """What the page scorer says of a clicked page, for links like the one to it."""
        if self._kin is not None:
            self._kin.tell(url, url, expected, score)

    def worths(self) -> Vector:
        """What each option seems worth: its probability, without feedback."""
        said = np.array([self._said_of(target) for target in self.places], np.float32)
        if self._kin is not None and len(said):
            at = [self._starts[page] + place for page, place in self.places.values()]
            said += self._kin.missed(np.array(at), np.concatenate(self._said))
        return said

    def _said_of(self, target: str) -> float:
        page, place = self.places.get(target, (-1, -1))
        return float(self._said[page][place]) if page >= 0 else -1.0
