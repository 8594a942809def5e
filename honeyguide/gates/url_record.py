"""What became of URLs like this one: relevance associated with URL features (5.2.2, 5.2.4)."""

import math
from functools import lru_cache

from honeyguide import urls
from honeyguide.contracts import State
from honeyguide.features.url_signs import url_signs

RATE = 0.5  # of the first step; later ones are shorter
MOST = 50_000  # signs remembered; what comes later says nothing
START = -1.0  # log-odds of a relevant page before the first


class UrlRecord:
    """Logistic regression on a URL's words and looks, learnt page by page."""

    def __init__(self) -> None:
        self._weights: dict[str, float] = {}
        self._steps: dict[str, float] = {}  # sum of squared gradients
        self._base = START
        self._pages = 0

    def chance(self, url: str) -> float:
        """Of a relevant page."""
        weights = self._weights
        odds = self._base
        for sign in signs(url):
            odds += weights.get(sign, 0.0)
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, odds))))

    def learn(self, url: str, relevant: bool, weight: float = 1.0) -> None:
        """Adagrad, one page at a time."""
        self._pages += 1
        away = weight * (float(relevant) - self.chance(url))
        self._base += away * max(1 / self._pages, 0.01)
        for sign in signs(url):
            if sign not in self._weights and len(self._weights) >= MOST:
                continue
            step = self._steps.get(sign, 0.0) + away * away
            self._steps[sign] = step
            self._weights[sign] = self._weights.get(sign, 0.0) + RATE * away / math.sqrt(step + 1)

    def state(self) -> State:
        """What was learnt."""
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
def signs(url: str) -> tuple[str, ...]:
    """What a URL shows: its host, the words of its path, and its looks."""
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
