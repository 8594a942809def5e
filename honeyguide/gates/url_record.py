"""Predicts relevance from URL features, learnt in the crawl (Lim 2016, §5.2.2 and 5.2.4)."""

import math
from functools import lru_cache

from honeyguide import urls
from honeyguide.contracts import State
from honeyguide.features.url_signs import url_signs

RATE = 0.5  # learning rate of Adagrad
MOST = 50_000  # features with a weight; later ones have none
START = -1.0  # log-odds of a relevant page before the first


class UrlRecord:
    """Online logistic regression on the features of URLs."""

    def __init__(self) -> None:
        self._weights: dict[str, float] = {}
        self._steps: dict[str, float] = {}  # sum of squared gradients
        self._base = START
        self._pages = 0

    def predict(self, url: str) -> float:
        """The probability that the page at a URL is relevant."""
        weights = self._weights
        odds = self._base
        for feature in url_features(url):
            odds += weights.get(feature, 0.0)
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, odds))))

    def learn(self, url: str, relevant: bool, weight: float = 1.0) -> None:
        """Take one step of Adagrad for a page."""
        self._pages += 1
        error = weight * (float(relevant) - self.predict(url))
        self._base += error * max(1 / self._pages, 0.01)
        for feature in url_features(url):
            if feature not in self._weights and len(self._weights) >= MOST:
                continue
            step = self._steps.get(feature, 0.0) + error * error
            self._steps[feature] = step
            self._weights[feature] = self._weights.get(feature, 0.0) + RATE * error / math.sqrt(
                step + 1
            )

    def state(self) -> State:
        """The weights and the number of pages."""
        return {
            "weights": dict(self._weights),
            "steps": dict(self._steps),
            "base": self._base,
            "pages": self._pages,
        }

    def load(self, state: State) -> None:
        """Restore a saved state."""
        self._weights, self._steps = dict(state["weights"]), dict(state["steps"])
        self._base, self._pages = state["base"], state["pages"]


@lru_cache(1 << 17)
def url_features(url: str) -> tuple[str, ...]:
    """The features of a URL as strings: its host, path words, depth, length and the like."""
    looks = url_signs(url)
    host = urls.host(url)
    words = urls.words("x://" + url.partition("://")[2].partition("/")[2]).split()
    return (
        f"host:{host}",
        f"depth:{min(looks.depth, 8)}",
        f"type:{looks.file_type}",
        f"query:{min(looks.parameters, 3)}",
        f"long:{min(looks.length // 40, 5)}",
        f"home:{'~' in url}",
        f"gibberish:{looks.gibberish_host or looks.gibberish_path}",
        *dict.fromkeys(f"word:{word}" for word in words[:12]),
    )
