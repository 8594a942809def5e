"""Linear SARSA on the frontier: Algorithm 1 of Han et al. (2018), and Pertejo's variant (2021)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from honeyguide.agents.rewards import tiered
from honeyguide.contracts import (
    Agent,
    Candidates,
    Goal,
    Matrix,
    Reasons,
    State,
    Step,
    Vector,
    Visit,
)
from honeyguide.errors import HoneyguideError, unknown
from honeyguide.features.categories import Categories
from honeyguide.features.discrete import HAN, PERTEJO, Buckets, Discrete, category_words
from honeyguide.features.link_text import LinkText
from honeyguide.learning.exploring import epsilon_greedy
from honeyguide.learning.rates import check_rates
from honeyguide.registry import part

Weights = NDArray[np.float64]

AUTO = "auto"  # categories: words that are typical of the relevant pages found
AUTO_COUNT = 3  # categories that are chosen so; the papers give one to four
AUTO_AFTER = 20  # relevant pages until they are chosen, once
AUTO_AMONG = 30  # words from which those that the encoder knows are taken
# by setting: the frontier, and whether rows of waiting links follow changes of their parents
FRONTIERS = {
    "best_first": ("best_first", False),  # a link waits once, as a link of the newest page
    "pairs": ("pairs", False),  # it waits once for each page that shows it
    "fresh_pairs": ("pairs", True),  # both papers' frontier
}
LARGEST = 1e34  # of a weight: where learning diverges, scores still fit into float32


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """Settings in which Han et al. (2018, the defaults) and Pertejo (2021) differ."""

    gamma: float = 0.9  # discount of what comes later
    step_size: float = 0.001  # alpha; 0.0005 for Han et al.'s (2018) topics olympics and fiction
    epsilon: float = 0.1  # share of choices made at random
    thresholds: tuple[float, float] = (0.5, 0.4)  # relevance that earns 30, that earns 20
    first_weights: float = 0.0  # upper end of uniform draws; Han et al. (2018) do not say
    relevant_ends: bool = True  # whether a relevant page ends an episode (line 33)
    dead_ends_teach: bool = True  # whether pages without new links are learnt from
    buckets: Buckets = HAN

    def __post_init__(self) -> None:
        check_rates("a linear agent", self.gamma, self.step_size, epsilon=self.epsilon)


VARIANTS = {
    "han2018": Variant(),
    "pertejo2021": Variant(
        gamma=0.3,
        thresholds=(0.6, 0.5),
        first_weights=1.0,
        relevant_ends=False,
        dead_ends_teach=False,
        buckets=PERTEJO,
    ),
}


class Linear(Agent):
    """Base of the three linear agents: values, rewards and the update of the weights."""

    def __init__(  # noqa: PLR0913 each is a setting of users
        self,
        goal: Goal,
        rng: np.random.Generator,
        categories: str = "",  # related words with + between: "earth+science"; or "auto"
        variant: str | Variant = "han2018",
        gamma: float | None = None,  # this and the next two: None for the variant's
        step_size: float | None = None,
        epsilon: float | None = None,
        *,
        last_epsilon: float = 0.0,  # that epsilon falls to in epsilon_steps choices
        epsilon_steps: int = 0,  # 0: epsilon stays as it is
        host_words: bool | None = None,  # in the text of links; None: not in a web of one host
        join_mentions: bool = False,  # whether all mentions of a link on a page count, not one
        frontier: str = "best_first",  # or "pairs", "fresh_pairs": see FRONTIERS
    ) -> None:
        usual = _variant(variant)
        self.variant = replace(
            usual,
            gamma=usual.gamma if gamma is None else gamma,
            step_size=usual.step_size if step_size is None else step_size,
            epsilon=usual.epsilon if epsilon is None else epsilon,
        )
        check_rates("a linear agent", last_epsilon=last_epsilon, epsilon_steps=epsilon_steps)
        self._choices = epsilon_greedy(rng, self.variant.epsilon, last_epsilon, epsilon_steps)
        text = LinkText(host_words=host_words, join_mentions=join_mentions)
        if frontier not in FRONTIERS:
            raise unknown("frontier", frontier, FRONTIERS)
        self.frontier, self.refreshes = FRONTIERS[frontier]
        self._finder = Categories(goal.topic) if categories == AUTO else None
        words, later = ([], AUTO_COUNT) if self._finder else (category_words(categories), 0)
        self.features: Discrete = Discrete(
            goal.topic, goal.encoder, words, self.variant.buckets, text, later
        )
        self._rng = rng
        self._w: Weights = self.variant.first_weights * rng.random(self.features.width)  # line 2

    def score(self, links: Candidates) -> Vector:
        """q(s, a, w) = w . x(s, a): equation (2)."""
        return links.x @ self._w.astype(np.float32)

    def explain(self, links: Candidates) -> Reasons:
        """The summands of w . x(s, a), added up by name: exactly the score."""
        return self.features.column_names.summed(links.x * self._w.astype(np.float32))

    def explores(self) -> bool:
        """Take a random link with probability epsilon (lines 16 to 20)."""
        return self._choices.explores()

    def reward(self, visit: Visit) -> float:
        """Section 4: 30 for the topic word, 30 or 20 for being close to it, else -1."""
        return tiered(visit.verdict, *self.variant.thresholds)

    def learn(self, steps: Sequence[Step]) -> None:
        """Lines 32 to 39, for each step: w <- w + alpha error x(s, a)."""
        for step in steps:
            self._find_categories(step)
            if not len(step.options) and not self.variant.dead_ends_teach:
                continue
            x = step.x.astype(np.float64)  # the gradient of q(s, a, w)
            q = float(self._w @ x)
            if step.verdict.relevant and self.variant.relevant_ends:
                error = step.reward - q  # line 33
            else:
                error = self._error(step.reward, self._next_value(step.options.x), q)
            self._w = np.clip(self._w + self.variant.step_size * error * x, -LARGEST, LARGEST)

    def _find_categories(self, step: Step) -> None:
        """Count the words of a page, and choose the categories after AUTO_AFTER relevant ones."""
        if self._finder is None or self.features.chosen or step.page is None:
            return
        self._finder.note(step.page, step.verdict.relevant)
        if step.verdict.relevant and self._finder.relevant_pages >= AUTO_AFTER:
            self.features.choose(self._finder.top(AUTO_AMONG))

    def _next_value(self, options: Matrix) -> float:
        """Line 35: q(s', a', w) of an a' chosen epsilon-greedily among the page's links."""
        if not len(options):
            return 0.0
        values = options @ self._w
        chosen = self._rng.integers(len(values)) if self._choices.is_random() else values.argmax()
        return float(values[chosen])

    def _error(self, reward: float, q_next: float, q: float) -> float:
        """Equation (3), lines 36 and 37: r + gamma q(s', a', w) - q(s, a, w)."""
        return reward + self.variant.gamma * q_next - q

    def policy(self) -> State:
        """The weights, which both papers keep from task to task, and the categories found."""
        return {"weights": self._w.copy(), **self._found()}

    def _found(self) -> State:
        return {} if self._finder is None else {"chosen": list(self.features.chosen)}

    def load_policy(self, state: State) -> None:
        """Start from the weights of an earlier crawl."""
        weights = state["weights"]
        if np.shape(weights) != (self.features.width,):
            raise HoneyguideError(
                f"{np.size(weights)} weights do not fit {self.features.width} features"
            )
        self._w = np.array(weights, np.float64)
        if self._finder is not None:
            self.features.choose(state.get("chosen", []))

    def state(self) -> State:
        """Weights, choices made, generator; with automatic categories, these and word counts."""
        finder = {} if self._finder is None else {"finder": self._finder.state()}
        rng = self._rng.bit_generator.state
        own = {"weights": self._w.copy(), "rng": rng, "choices": self._choices.taken}
        return {**own, **self._found(), **finder}

    def load(self, state: State) -> None:
        """Restore a saved state."""
        if self._finder is not None:
            self._finder.load(state["finder"])
            self.features.choose(state["chosen"])
        self._w = np.array(state["weights"], np.float64)
        self._rng.bit_generator.state = state["rng"]
        self._choices.set_steps(state.get("choices", 0))  # older crawls did not store it


@part("agent", "linear_sync")
class LinearSync(Linear):
    """Linear SARSA of Han et al. 2018; all waiting links get new scores after each page."""

    def stale(self) -> bool:
        """Lines 40 to 43: always."""
        return True


@part("agent", "linear_async")
class LinearAsync(Linear):
    """Linear SARSA of Han et al. 2018; only the links of the last page get new scores."""

    # lines 44 to 47 are what every crawl does


@part("agent", "linear_moderated")
class LinearModerated(Linear):
    """Linear SARSA of Han et al. 2018, as linear_async, with smaller steps."""

    def _error(self, reward: float, q_next: float, q: float) -> float:
        """Equation (4), line 38: as (3), with q(s', a', w) reduced by the error of (3)."""
        delta = super()._error(reward, q_next, q)
        return super()._error(reward, q_next - delta, q)


def _variant(named: str | Variant) -> Variant:
    if isinstance(named, Variant):
        return named
    if named not in VARIANTS:
        raise unknown("variant", named, VARIANTS)
    return VARIANTS[named]
