"""Linear Q-learning on the words of URLs (Friar 2017, §3.4 and 3.5)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from honeyguide.contracts import Agent, Candidates, Goal, Reasons, State, Step, Vector, Visit
from honeyguide.errors import HoneyguideError, unknown
from honeyguide.features.known_names import read_names
from honeyguide.features.segmenting import NONE, Names
from honeyguide.features.url_words import UrlWords
from honeyguide.learning.exploring import EPSILON, EpsilonDecay
from honeyguide.learning.rates import check_rates
from honeyguide.learning.replay import Experience, RankedReplay, Replay
from honeyguide.learning.step_price import StepPrice
from honeyguide.registry import part

VOCABULARY = 10_000  # the commonest words
BATCH = 10  # experiences of a gradient step
REPLAYS = {"none": None, "uniform": Replay, "ranked": RankedReplay}
Words = NDArray[np.uint16]  # rows of word numbers


@part("agent", "url_linear_q", files="known_names")
class UrlLinearQ(Agent):
    """Walks by values of URLs: the sum of a learnt weight for each of their words."""

    frontier = "walks"
    uses_encoder = False  # its policy fits any

    def __init__(  # noqa: PLR0913 each is a setting of users
        self,
        goal: Goal,
        rng: np.random.Generator,
        gamma: float = 0.75,  # discount
        step_size: float = 0.001,
        epsilon_steps: int = 100_000,  # until epsilon is 0
        replay: str = "none",  # none, uniform or ranked
        text: bool = False,  # whether anchors and titles are used too (§3.5.1)
        penalty: float = 0.0,  # of each step (§3.5.2); Friar (2017) tries 0.05
        *,
        second_price: float = 0.0,  # of a measured second of a page's host, in rewards (§4.2.3)
        last_epsilon: float = 0.0,  # share of random steps after epsilon_steps; 0.1: never less
        optimiser: str = "adam",  # or rmsprop (§3.4)
        known_names: str = "",  # a file of names that are not cut into words, one a line
    ) -> None:
        check_rates(
            "url_linear_q",
            gamma,
            step_size,
            last_epsilon=last_epsilon,
            epsilon_steps=epsilon_steps,
        )
        if replay not in REPLAYS:
            raise unknown("replay", replay, REPLAYS)
        if optimiser not in OPTIMISERS:
            raise unknown("optimiser", optimiser, OPTIMISERS)
        for_weights, for_steps, for_replay = rng.spawn(3)
        self.features: UrlWords = bag_of_words(goal, text, read_names(known_names))
        self.gamma, self.penalty = gamma, penalty
        self._price = StepPrice(second_price)
        self._exploration = EpsilonDecay(for_steps, EPSILON, epsilon_steps, last_epsilon)
        self._w = for_weights.normal(0.0, 0.001, VOCABULARY + 1).astype(np.float32)
        self._w[0] = 0.0  # no word
        self._optimiser = OPTIMISERS[optimiser](VOCABULARY + 1, step_size)
        kind = REPLAYS[replay]
        self._replay = kind(for_replay) if kind else None
        self._errors = np.zeros(1, np.float32)  # of the last step

    def score(self, links: Candidates) -> Vector:
        """v(s; w): the sum of the weights of its words."""
        return self._values(links.x.astype(np.uint16))

    def explain(self, links: Candidates) -> Reasons:
        """The weights of its words: exactly the score."""
        return self.features.column_names.summed(self._w[links.x.astype(np.intp)])

    def explores(self) -> bool:
        """Take a random link with probability epsilon, which falls to 0."""
        return self._exploration.explores()

    def reward(self, visit: Visit) -> float:
        """1 for a relevant page, less the penalty of a step and the price of its seconds."""
        return float(visit.verdict.relevant) - self.penalty - self._price.of(visit)

    def ends(self, visit: Visit) -> bool:
        """End the episode at a relevant page (Friar 2017, §3.2.3)."""
        return visit.verdict.relevant

    def learn(self, steps: Sequence[Step]) -> None:
        """Take a gradient step on equation 3.1 for each step of the walk."""
        for step in steps:
            now = Experience(self._words_of(step), step.reward, self._options(step))
            if self._replay is None:
                self._descend([now], np.ones(1, np.float32))
                continue
            self._replay.add(now)
            drawn = self._replay.draw(BATCH)
            chosen = [self._replay[place] for place in drawn.places]
            self._replay.set_errors(drawn.places, self._descend(chosen, drawn.weights))

    def _words_of(self, step: Step) -> Words:
        """The word numbers of the visited page, with its title if texts are used."""
        if not self.features.anchors or step.page is None:
            return self.features.row_of(step).astype(np.uint16)
        words: Words = self.features.rows([step.link.url], [step.page.title])[0].astype(np.uint16)
        return words

    def _options(self, step: Step) -> Words:
        """The word numbers of the next links; none after a relevant page."""
        options = step.options.x[:0] if step.verdict.relevant else step.options.x
        longest = int((options > 0).sum(axis=1).max(initial=1))
        rows = np.zeros((len(options), self.features.width), np.uint16)
        rows[:, :longest] = options[:, :longest]
        return rows

    def _values(self, words: Words) -> Vector:
        longest = int((words > 0).sum(axis=1).max(initial=1))
        values: Vector = self._w[words[:, :longest]].sum(axis=1)
        return values

    def _descend(self, batch: Sequence[Experience], weights: Vector) -> Vector:
        """One step on L(w) = (R + gamma max v(s'; w) - v(s; w))^2, targets fixed; the errors."""
        words = np.array([experience.x for experience in batch])
        errors = np.array([self._target(experience) for experience in batch], np.float32)
        errors -= self._values(words)
        gradient = np.zeros_like(self._w)
        np.add.at(gradient, words, (-2 * weights * errors / len(batch))[:, None])
        gradient[0] = 0.0
        self._w -= self._optimiser.step(gradient)
        self._errors = errors
        return errors

    def _target(self, experience: Experience) -> float:
        if not len(experience.options):
            return experience.reward
        return experience.reward + self.gamma * float(self._values(experience.options).max())

    def weights(self) -> dict[str, float]:
        """The weight of each word (figure 3.3 and table 3.2)."""
        values = self._w.tolist()
        return {word: values[number] for number, word in enumerate(self.features.words) if number}

    def policy(self) -> State:
        """The words and their weights."""
        return {"words": self.features.words[1:], "weights": self._w.copy()}

    def load_policy(self, state: State) -> None:
        """Start from the words and weights of an earlier crawl."""
        if np.shape(state["weights"]) != self._w.shape:
            raise HoneyguideError(
                f"{np.size(state['weights'])} weights do not fit {len(self._w)} words"
            )
        self.features.set_words(state["words"])
        self._w = np.array(state["weights"], np.float32)

    def log_figures(self) -> dict[str, float]:
        """Figures for the training log, by name."""
        return {"loss": float(np.mean(self._errors**2)), "epsilon": self._exploration.epsilon}

    def training_state(self) -> State:
        """The state from which training goes on in another crawl."""
        return self.state()

    def load_training_state(self, state: State) -> None:
        """Restore the state of an earlier training."""
        self.load(state)

    def state(self) -> State:
        """Everything that `load` restores."""
        return {
            "features": self.features.state(),
            "weights": self._w.copy(),
            "adam": self._optimiser.state(),  # of either kind
            "fading": self._exploration.state(),
            "replay": None if self._replay is None else self._replay.state(),
        } | self._price.state()

    def load(self, state: State) -> None:
        """Restore a saved state."""
        self.features.load(state["features"])
        self._w = state["weights"].copy()
        self._optimiser.load(state["adam"])
        self._exploration.load(state["fading"])
        if self._replay is not None:
            self._replay.load(state["replay"])
        self._price.load(state)


def bag_of_words(goal: Goal, anchors: bool = False, known: Names = NONE) -> UrlWords:
    """The features of a bag of URL words (§3.4)."""
    return UrlWords(
        vocabulary=VOCABULARY,
        anchors=anchors,
        repeats=False,
        surveyed=goal.surveyed(),
        known=known,
    )


class Adam:
    """The Adam optimiser, for numpy arrays."""

    def __init__(self, size: int, step_size: float) -> None:
        self.step_size = step_size
        self._mean = np.zeros(size, np.float32)
        self._square = np.zeros(size, np.float32)
        self._steps = 0

    def step(self, gradient: Vector) -> Vector:
        """The step to subtract from the parameters for a gradient."""
        self._steps += 1
        self._mean += 0.1 * (gradient - self._mean)
        self._square += 0.001 * (gradient * gradient - self._square)
        scale = self.step_size * np.sqrt(1 - 0.999**self._steps) / (1 - 0.9**self._steps)
        step = np.float32(scale) * self._mean / (np.sqrt(self._square) + np.float32(1e-8))
        return step.astype(np.float32)

    def state(self) -> dict[str, Any]:
        """The moments and the number of steps."""
        return {
            "mean": self._mean.copy(),
            "square": self._square.copy(),
            "steps": self._steps,
        }

    def load(self, state: dict[str, Any]) -> None:
        """Restore a saved state."""
        self._mean, self._square = state["mean"].copy(), state["square"].copy()
        self._steps = state["steps"]


class RmsProp:
    """The RMSProp optimiser of Hinton (2012), for numpy arrays."""

    def __init__(self, size: int, step_size: float) -> None:
        self.step_size = step_size
        self._square = np.zeros(size, np.float32)

    def step(self, gradient: Vector) -> Vector:
        """The step to subtract from the parameters for a gradient."""
        self._square += 0.1 * (gradient * gradient - self._square)
        step = np.float32(self.step_size) * gradient / (np.sqrt(self._square) + np.float32(1e-8))
        return step.astype(np.float32)

    def state(self) -> dict[str, Any]:
        """The mean squares."""
        return {"square": self._square.copy()}

    def load(self, state: dict[str, Any]) -> None:
        """Restore a saved state."""
        self._square = state["square"].copy()


OPTIMISERS: dict[str, type[Adam] | type[RmsProp]] = {"adam": Adam, "rmsprop": RmsProp}
