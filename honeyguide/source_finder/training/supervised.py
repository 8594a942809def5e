"""Supervised training of the policy on sites whose pages are all labelled.

Liao and Chang (2022) learn from clicks alone. Where every page has a label, as in webkb, links
that no episode clicks are training examples too.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from honeyguide.contracts import Vector
from honeyguide.source_finder.inputs import PageInputs
from honeyguide.source_finder.learning import PolicyGradient
from honeyguide.source_finder.training.sources import SeenPage, Sites

UNKNOWN = np.float32(np.nan)
Example = tuple[PageInputs, Vector]  # a page and the target values of its links, NaN if unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class SupervisedTraining:
    """Fits the policy to target values of links: 1 to a source page, less to a list of them.

    The step size is the learner's own.
    """

    epochs: int = 8
    batch: int = 20  # pages
    dropout: float = 0.3  # share of a link's inputs set to zero in each step
    whole_list: int = 5  # linked source pages that make a page a full list
    of_list: float = 0.9  # worth of a full list

    async def run(
        self, sites: Sites, known: Sequence[str], learner: PolicyGradient, rng: np.random.Generator
    ) -> float:
        """Train on all links between known pages and return the last epoch's mean loss."""
        seen = {url: page for url in known if (page := await sites.look(url, url)) is not None}
        worth = {url: self._worth(page, seen) for url, page in seen.items()}
        examples = [(page.inputs, _targets(page, worth)) for page in seen.values()]
        examples = [example for example in examples if not np.isnan(example[1]).all()]
        losses: list[float] = []
        for _ in range(self.epochs):
            parts = np.array_split(
                rng.permutation(len(examples)), max(1, len(examples) // self.batch)
            )
            losses = [self._step([examples[at] for at in part], learner, rng) for part in parts]
        return float(np.mean(losses)) if losses else 0.0

    def _worth(self, page: SeenPage, seen: dict[str, SeenPage]) -> float:
        if page.relevant:
            return 1.0
        listed = sum(target in seen and seen[target].relevant for target in set(page.targets))
        return self.of_list * min(1.0, listed / self.whole_list)

    def _step(
        self, examples: Sequence[Example], learner: PolicyGradient, rng: np.random.Generator
    ) -> float:
        pages = [self._dropped_out(page, rng) for page, _ in examples]
        return learner.fit(pages, [targets for _, targets in examples])

    def _dropped_out(self, page: PageInputs, rng: np.random.Generator) -> PageInputs:
        """Return a page after dropout: some inputs zero, the others scaled up to compensate."""
        kept = rng.random(page.anchors.shape, np.float32) >= self.dropout
        return replace(page, anchors=page.anchors * kept / np.float32(1 - self.dropout))


def _targets(page: SeenPage, worth: dict[str, float]) -> Vector:
    """Return the target value of each link of a page; NaN where it is unknown."""
    return np.array([worth.get(target, UNKNOWN) for target in page.targets], np.float32)
