"""The agent of Liao and Chang (2022), which learns by policy gradient which links to click."""

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from honeyguide import urls
from honeyguide.contracts import Agent, Candidates, State, Step, Vector, Visit
from honeyguide.errors import HoneyguideError, unknown
from honeyguide.learning.rates import check_rates
from honeyguide.registry import part
from honeyguide.source_finder.inputs import Choice, Episode
from honeyguide.source_finder.links import ProbableLinks
from honeyguide.source_finder.model import RULES, SourceModel, is_shipped, model_of, shared_encoder
from honeyguide.source_finder.policy import Policy
from honeyguide.source_finder.similar_links import SimilarLinks
from honeyguide.source_finder.stopping import Stopping

if TYPE_CHECKING:
    from honeyguide.source_finder.learning import PolicyGradient

FIRST_ENCODER = "joined:wordllama+ngrams:1024"  # of models before 0.3.0
LIKELY = 0.5  # least page score of a find
SEEDS = 40  # sites in the model's mean of equation 5
MOST_OPTIONS = 2_000  # links of one choice


@dataclass(slots=True)
class Clicks:
    """The running episode on one site; links are named by their index in the probability table."""

    options: list[int] = field(default_factory=list)  # links not clicked yet
    choices: list[list[Any]] = field(default_factory=list)  # options, the one taken, reward


@part("agent", "source_finder", argument="model", files="model", is_name=is_shipped)
class SourceFinder(Agent):
    """Click links that are likely to lead to a site's list of events; stop when none is."""

    uses_encoder = False  # but that of its model

    def __init__(  # noqa: PLR0913, PLR0917 each is a setting of users
        self,
        rng: np.random.Generator,
        model: str | SourceModel = "events",  # a model that comes with honeyguide, or a file
        threshold: float | None = None,  # eta, least probability of a click; None: the model's own
        epsilon: float = 0.0,  # share of clicks at random; 0.1 while fine-tuning
        batch: int = 10,  # episodes per update; 0: no learning
        steps: int = 3,  # clicks per episode
        feedback: bool = False,  # whether results of clicks change the scores of similar links
        stopping: str = "calibrated",  # when to stop: calibrated, thorough, or equation5
        one_site: bool = False,  # whether the crawl is of one site, which a find may end
    ) -> None:
        check_rates("source_finder", epsilon=epsilon)
        if batch and importlib.util.find_spec("torch") is None:
            raise HoneyguideError(
                "agent 'source_finder' needs an extra to learn: pip install 'honeyguide[deep]', "
                "or turn learning off with source_finder:batch=0"
            )
        if stopping not in RULES:
            raise unknown("rule to stop", stopping, RULES)
        found = model_of(model)
        self._encoder_name = found.encoder
        self.rule: Stopping = found.stopping(stopping)
        self.one_site = one_site
        self.features: ProbableLinks = ProbableLinks(
            shared_encoder(found.encoder), found.policy, SimilarLinks() if feedback else None
        )
        self.threshold = self.rule.least(0, 0) if threshold is None else threshold
        self.fixed = threshold is not None
        self._clicks, self._finds = 0, 0
        self.best_refused: float | None = None  # score of the link at which it stopped
        self.epsilon, self.batch, self.steps = epsilon, batch, steps
        self._rng, self._seed = rng, int(rng.integers(1 << 31))
        self._learner: PolicyGradient | None = None
        self._sites: dict[str, Clicks] = {}
        self._done: list[list[list[Any]]] = []
        self._means = [
            self.threshold,
            float(SEEDS),
        ]  # mean of equation 5, and the number of sites in it
        self._is_stale = False

    def score(self, links: Candidates) -> Vector:
        """Return pi(a), the probability that a link leads to a source page, with feedback."""
        return self.features.worths(links.x)

    def stops(self, best_score: float) -> bool:
        """Return whether no link is likely enough (algorithm 3, lines 4 to 7)."""
        stops = best_score <= self.least()
        self.best_refused = float(best_score) if stops and np.isfinite(best_score) else None
        return stops

    def least(self) -> float:
        """Return the score that a link must have to be clicked now."""
        if self.fixed or not self.one_site:
            return self.threshold
        return self.rule.least(self._clicks, self._finds)

    def explores(self) -> bool:
        """Return True with probability epsilon (algorithm 3, line 8)."""
        return bool(self.epsilon and self._rng.random() < self.epsilon)

    def reward(self, visit: Visit) -> float:
        """Return the relevance that the page scorer or another judge gave (equation 4)."""
        return visit.verdict.relevance

    def learn(self, steps: Sequence[Step]) -> None:
        """Record each click with its alternatives; update the policy after a batch of episodes."""
        self._observe_clicks(steps)
        self._count(steps)
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
        """Return True after an update and, with feedback, after each click."""
        stale, self._is_stale = self._is_stale, False
        return stale

    def policy(self) -> State:
        """Return the weights and the threshold."""
        weights = {name: value.copy() for name, value in self.features.policy.weights.items()}
        return {"weights": weights, "threshold": self.threshold, "encoder": self._encoder_name}

    def load_policy(self, state: State) -> None:
        """Use the weights and, unless it is fixed, the threshold that were learnt earlier."""
        policy = Policy(state["weights"])
        if (
            state.get("encoder", FIRST_ENCODER) != self._encoder_name
            or policy.width != self.features.policy.width
        ):
            raise HoneyguideError("it was trained with another encoder")
        self.features.policy = policy
        if not self.fixed:
            self.threshold = float(state["threshold"])
            self._means = [self.threshold, float(SEEDS)]

    def state(self) -> State:
        """Return everything needed to resume."""
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
            "counts": [self._clicks, self._finds],
            "encoder": self._encoder_name,
        }

    def load(self, state: State) -> None:
        """Resume from a saved state, also of an older version, with the encoder that it used."""
        self._encoder_name = state.get("encoder", FIRST_ENCODER)
        self.features.encoder = shared_encoder(self._encoder_name)
        self._clicks, self._finds = state.get("counts", (0, 0))
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

    def _count(self, steps: Sequence[Step]) -> None:
        """Count clicks and finds, for the rule that ends a search."""
        for step in steps:
            if self.features.places(step.x[None])[0] >= 0:
                self._clicks += 1
                self._finds += step.reward >= LIKELY

    def _observe_clicks(self, steps: Sequence[Step]) -> None:
        """Correct the scores of links similar to the clicked ones."""
        similar = self.features.similar
        if similar is None:
            return
        for step in steps:
            x = step.x[None]
            if self.features.places(x)[0] >= 0:
                page = step.page.url if step.page else step.link.url
                similar.observe_click(
                    step.link.url, page, float(self.features.worths(x)[0]), step.reward
                )
                self._is_stale = True

    def _gradient(self) -> "PolicyGradient":
        if self._learner is None:
            from honeyguide.source_finder.learning import PolicyGradient  # noqa: PLC0415 slow

            policy = self.features.policy
            self._learner = PolicyGradient(
                policy.width, self._seed, ensemble_size=policy.ensemble_size
            )
            self._learner.load(self.features.policy)
        return self._learner

    def _update(self) -> None:
        """Update policy (algorithm 2, line 6) and threshold (equation 5, weighted by rewards)."""
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
        """Return an episode as training input, without links whose pages are no longer kept."""
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
