"""Supervised training on sites whose pages are all labelled: every link is an example.

Liao and Chang (2022) learn from clicks alone. Where the label of each page is known, as in webkb,
links that no episode clicks are examples too.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from honeyguide.contracts import Vector
from honeyguide.source_finder.inputs import PageInputs
from honeyguide.source_finder.learning import PolicyGradient
from honeyguide.source_finder.training.sources import Seen, Sites

UNKNOWN = np.float32(np.nan)
Lesson = tuple[PageInputs, Vector]  # a page, and what its links are worth


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownLinks:
    """Fits the policy to the worth of links: 1 to a source page, less to a list of such pages.

    Steps are as long as the learner's own.
    """

    epochs: int = 8
    batch: int = 20  # pages
    dropout: float = 0.3  # share of a link's numbers that are hidden at each look
    whole_list: int = 5  # source pages on a page that is worth a full list
    of_list: float = 0.9  # worth of a full list

    async def run(
        self, sites: Sites, known: Sequence[str], learner: PolicyGradient, rng: np.random.Generator
    ) -> float:
        """Train on all links between known pages; the last epoch's mean loss."""
        seen = {url: page for url in known if (page := await sites.look(url, url)) is not None}
        worth = {url: self._worth(page, seen) for url, page in seen.items()}
        lessons = [(page.inputs, _told(page, worth)) for page in seen.values()]
        lessons = [lesson for lesson in lessons if not np.isnan(lesson[1]).all()]
        losses: list[float] = []
        for _ in range(self.epochs):
            parts = np.array_split(
                rng.permutation(len(lessons)), max(1, len(lessons) // self.batch)
            )
            losses = [self._step([lessons[at] for at in part], learner, rng) for part in parts]
        return float(np.mean(losses)) if losses else 0.0

    def _worth(self, page: Seen, seen: dict[str, Seen]) -> float:
        if page.relevant:
            return 1.0
        listed = sum(target in seen and seen[target].relevant for target in set(page.targets))
        return self.of_list * min(1.0, listed / self.whole_list)

    def _step(
        self, lessons: Sequence[Lesson], learner: PolicyGradient, rng: np.random.Generator
    ) -> float:
        pages = [self._hidden(page, rng) for page, _ in lessons]
        return learner.imitate(pages, [worths for _, worths in lessons])

    def _hidden(self, page: PageInputs, rng: np.random.Generator) -> PageInputs:
        """The page with some numbers of its links hidden, the others larger to make up for it."""
        kept = rng.random(page.anchors.shape, np.float32) >= self.dropout
        return replace(page, anchors=page.anchors * kept / np.float32(1 - self.dropout))


def _told(page: Seen, worth: dict[str, float]) -> Vector:
    """What each link of a page is worth, where that is known."""
    return np.array([worth.get(target, UNKNOWN) for target in page.targets], np.float32)
