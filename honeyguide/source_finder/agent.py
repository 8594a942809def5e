"""The agent of Liao and Chang (2022): policy gradient over the links of a site."""

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from honeyguide import urls
from honeyguide.contracts import Agent, Candidates, State, Step, Vector, Visit
from honeyguide.errors import HoneyguideError
from honeyguide.registry import part
from honeyguide.source_finder.inputs import Choice, Episode
from honeyguide.source_finder.links import ProbableLinks
from honeyguide.source_finder.model import is_shipped, read_model, shared_encoder
from honeyguide.source_finder.policy import Policy
from honeyguide.source_finder.similar_links import SimilarLinks

if TYPE_CHECKING:
    from honeyguide.source_finder.learning import PolicyGradient

SEEDS = 40  # sites that the threshold of equation 5 was first taken over
MOST_OPTIONS = 2_000  # of one choice


@dataclass(slots=True)
class Clicks:
    """An episode on one site, by the places of its links."""

    options: list[int] = field(default_factory=list)  # that wait
    choices: list[list[Any]] = field(default_factory=list)  # options, the one taken, reward


@part("agent", "source_finder", argument="model", files="model", is_name=is_shipped)
class SourceFinder(Agent):
    """Clicks on what leads to a site's list of events, and stops when nothing seems to."""

    def __init__(
        self,
        rng: np.random.Generator,
        model: str = "events",  # one that comes with honeyguide, or a file
        threshold: float | None = None,  # eta: links below are not worth a click; the model's own
        epsilon: float = 0.0,  # share of clicks at random; 0.1 while fine-tuning
        batch: int = 10,  # episodes of an update; 0: learns nothing
        steps: int = 3,  # clicks of an episode
        feedback: bool = False,  # whether what was found speaks for links like those clicked
    ) -> None:
        if batch and importlib.util.find_spec("torch") is None:
            raise HoneyguideError(
                "agent 'source_finder' learns with an extra: pip install 'honeyguide[deep]', "
                "or say source_finder:batch=0"
            )
        found = read_model(model)
        self.features: ProbableLinks = ProbableLinks(
            shared_encoder(found.encoder), found.policy, SimilarLinks() if feedback else None
        )
        self.threshold = found.threshold if threshold is None else threshold
        self.fixed = threshold is not None
        self.epsilon, self.batch, self.steps = epsilon, batch, steps
        self._rng, self._seed = rng, int(rng.integers(1 << 31))
        self._learner: PolicyGradient | None = None
        self._sites: dict[str, Clicks] = {}
        self._done: list[list[list[Any]]] = []
        self._means = [self.threshold, float(SEEDS)]  # mean of equation 5, over so many sites
        self._is_stale = False

    def score(self, links: Candidates) -> Vector:
        """pi(a): the probability that a link leads to a source page; with feedback, its worth."""
        return self.features.worths(links.x)

    def stops(self, best_score: float) -> bool:
        """Algorithm 3, lines 4 to 7: nothing seems likely enough."""
        return best_score <= self.threshold

    def explores(self) -> bool:
        """Line 8: anything, with probability epsilon."""
        return bool(self.epsilon and self._rng.random() < self.epsilon)

    def reward(self, visit: Visit) -> float:
        """Equation 4: what the page scorer, or any other judge, says."""
        return visit.verdict.relevance

    def learn(self, steps: Sequence[Step]) -> None:
        """Note each click among the choices there were; after a batch of episodes, learn."""
        self._hear(steps)
        for step in steps if self.batch else ():
            site = self._sites.setdefault(urls.host(step.link.url), Clicks())
            taken = int(self.features.places(step.x[None])[0])
            if taken >= 0:
                options = list(dict.fromkeys([taken, *site.options]))[:MOST_OPTIONS]
                site.choices.append([options, 0, step.reward])
                site.options = [place for place in site.options if place != taken]
            site.options.extend(self.features.places(step.options.x).tolist())
            if len(site.choices) >= self.steps:
                self._done.append(site.choices)
                site.choices = []
        if len(self._done) >= self.batch:
            self._update()

    def stale(self) -> bool:
        """After an update, and after each click with feedback."""
        stale, self._is_stale = self._is_stale, False
        return stale

    def policy(self) -> State:
        """Weights and threshold."""
        weights = {name: value.copy() for name, value in self.features.policy.weights.items()}
        return {"weights": weights, "threshold": self.threshold}

    def load_policy(self, state: State) -> None:
        """Start from what an earlier crawl, or a training, has learnt."""
        policy = Policy(state["weights"])
        if policy.width != self.features.policy.width:
            raise HoneyguideError("it was trained with another encoder")
        self.features.policy = policy
        if not self.fixed:
            self.threshold = float(state["threshold"])
            self._means = [self.threshold, float(SEEDS)]

    def state(self) -> State:
        """All of it."""
        return {
            **self.policy(),
            "rng": self._rng.bit_generator.state,
            "seed": self._seed,
            "features": self.features.state(),
            "learner": self._learner.state() if self._learner else None,
            "sites": {
                host: {"options": site.options, "choices": site.choices}
                for host, site in self._sites.items()
            },
            "done": self._done,
            "means": self._means,
            "stale": self._is_stale,
        }

    def load(self, state: State) -> None:
        """Go on from a saved state."""
        self.features.policy = Policy(state["weights"])
        self.threshold = state["threshold"]
        self._rng.bit_generator.state = state["rng"]
        self._seed = state["seed"]
        self.features.load(state["features"])
        self._sites = {
            host: Clicks(list(site["options"]), [list(choice) for choice in site["choices"]])
            for host, site in state["sites"].items()
        }
        self._done = [[list(choice) for choice in episode] for episode in state["done"]]
        self._means, self._is_stale = list(state["means"]), state["stale"]
        self._learner = None
        if state["learner"] is not None:
            self._gradient().load_state(state["learner"])

    def _hear(self, steps: Sequence[Step]) -> None:
        """Pass what became of clicks on to links like them."""
        kin = self.features.kin
        if kin is None:
            return
        for step in steps:
            x = step.x[None]
            if self.features.places(x)[0] >= 0:
                page = step.page.url if step.page else step.link.url
                kin.tell(step.link.url, page, float(self.features.worths(x)[0]), step.reward)
                self._is_stale = True

    def _gradient(self) -> "PolicyGradient":
        if self._learner is None:
            from honeyguide.source_finder.learning import PolicyGradient  # noqa: PLC0415 slow

            policy = self.features.policy
            self._learner = PolicyGradient(policy.width, self._seed, times=policy.times)
            self._learner.load(self.features.policy)
        return self._learner

    def _update(self) -> None:
        """Algorithm 2, line 6, and equation 5 with the rewards as weights."""
        episodes = [self._episode(choices) for choices in self._done]
        for choices in self._done:
            rewards = np.array([reward for *_, reward in choices])
            if rewards.sum() > 0:
                worths = self.features.known([options[taken] for options, taken, _ in choices])
                mean, count = self._means
                new = float(np.average(worths, weights=rewards))
                self._means = [(mean * count + new) / (count + 1), count + 1]
        self._done = []
        learner = self._gradient()
        learner.update(episodes)
        self.features.policy = learner.policy()
        self.features.refresh()
        if not self.fixed:
            self.threshold = self._means[0]
        self._is_stale = True

    def _episode(self, choices: list[list[Any]]) -> Episode:
        """The inputs of all links of an episode that are still at hand."""
        pages: dict[int, int] = {}  # page of the features -> page of the episode
        rows = []
        for options, taken, reward in choices:
            at = [self.features.link(place) for place in options]
            if at[taken] is None:
                continue
            held = [link for link in at if link is not None]
            numbered = tuple((pages.setdefault(page, len(pages)), link) for page, link in held)
            place = sum(link is not None for link in at[:taken])
            rows.append(Choice(numbered, place, reward))
        return Episode(tuple(self.features.inputs(page) for page in pages), tuple(rows))
