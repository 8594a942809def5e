"""When a search of one site ends, and which of the visited pages are reported."""

from dataclasses import dataclass

import numpy as np

LEAST_LOGIT, MOST_LOGIT = -6.0, 6.0


@dataclass(frozen=True, slots=True)
class Equation5:
    """Liao and Chang's rule: stop when no link is as likely as their clicks were on average.

    The average is over the last pre-training trajectories, weighted (equation 5).
    """

    eta: float

    def least(self, clicks: int, found: int) -> float:
        """Return the least score that is clicked."""
        return self.eta


@dataclass(frozen=True, slots=True)
class Calibrated:
    """Demand little before the first source page, a bit more with each click, much after it.

    The numbers are chosen on sites with known source pages (training/calibration.py).
    """

    first: float  # least score of the first click
    growth: float  # added for each click without a find
    after: float  # least score once a source page was found

    def least(self, clicks: int, found: int) -> float:
        """Return the least score that is clicked."""
        if found:
            return self.after
        return min(self.first + self.growth * clicks, self.after)

    def thorough(self) -> "Calibrated":
        """Return a rule that clicks on until a source page is found."""
        return Calibrated(0.0, 0.0, self.after)


Stopping = Equation5 | Calibrated


@dataclass(frozen=True, slots=True)
class Reporting:
    """The probability of a visited page from its link's score and its own: odds with weights.

    The page's weight is the larger one, so that the page can veto its link.
    """

    page: float = 1.0
    link: float = 1.0
    bias: float = 0.0

    def __call__(self, link: float, page: float) -> float:
        """Return the probability that a visited page is a source page."""
        total = self.page * logit(page) + self.link * logit(link) + self.bias
        return float(0.5 * np.tanh(0.5 * total) + 0.5)


def logit(probability: float) -> float:
    """Return log odds, cut off at both ends."""
    p = min(max(probability, 1e-6), 1 - 1e-6)
    return float(np.clip(np.log(p / (1 - p)), LEAST_LOGIT, MOST_LOGIT))
