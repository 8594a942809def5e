"""What a crawl is to do, in words: the same as the flags of the command line."""

import math
from dataclasses import dataclass

import numpy as np

from honeyguide.contracts import Agent, Encoder, Frontier, Goal, Judge, Link, World
from honeyguide.crawl import Observer, Outcome, simulate
from honeyguide.errors import HoneyguideError
from honeyguide.judges.closeness import check_topic
from honeyguide.judges.remembered import Remembered
from honeyguide.navigator import Navigator
from honeyguide.registry import accepts, make


@dataclass(frozen=True, slots=True)
class Plan:
    """A crawl described by the names of its parts; parts take settings: "name:key=value"."""

    topic: str = ""
    seeds: tuple[str, ...] = ()
    world: str = "synthetic"
    judge: str = "topic"
    encoder: str = "wordllama"
    agent: str = "best_first"
    budget: int = 1000  # pages to fetch
    in_flight: int = 1  # visits at once
    delay: float = 0.0  # seconds between two requests to a host
    patience: float = 0.0  # seconds worth waiting for a much better link
    random_seed: int = 0

    def __post_init__(self) -> None:
        if not self.topic:
            object.__setattr__(self, "topic", _topic_of(self.judge))
        if not self.seeds:
            raise HoneyguideError("a crawl needs at least one seed page to start from")
        for name in ("budget", "in_flight"):
            if getattr(self, name) < 1:
                raise HoneyguideError(f"{name.replace('_', ' ')} must be at least 1")
        for name in ("delay", "patience"):
            if not 0 <= getattr(self, name) < math.inf:
                raise HoneyguideError(f"{name} must be a number of seconds, zero or more")

    def open(self, remember: bool = False) -> "OpenPlan":
        """Make its encoder, judge and world, and find its seeds."""
        encoder: Encoder = make("encoder", self.encoder)
        if accepts("judge", self.judge, "encoder"):
            check_topic(self.topic, encoder)
        judge: Judge = make("judge", self.judge, topic=self.topic, encoder=encoder)
        world: World = make("world", self.world, judge=Remembered(judge) if remember else judge)
        return OpenPlan(self, encoder, world, tuple(world.find(name) for name in self.seeds))

    def simulate(self, observer: Observer | None = None) -> Outcome:
        """Crawl a recorded or generated web."""
        opened = self.open()
        return simulate(
            opened.navigator(self),
            opened.world,
            opened.seeds,
            self.budget,
            self.in_flight,
            observer,
        )


@dataclass(frozen=True, slots=True)
class OpenPlan:
    """A plan with its world at hand: good for many crawls, each with a navigator of its own."""

    plan: Plan
    encoder: Encoder
    world: World
    seeds: tuple[Link, ...]

    def navigator(self, plan: Plan | None = None) -> Navigator:
        """A fresh navigator, for this plan or one that differs in its agent or random seed."""
        plan = plan or self.plan
        for_agent, for_frontier = np.random.default_rng(plan.random_seed).spawn(2)
        goal = Goal(plan.topic, self.encoder, self.world.truth)
        agent: Agent = make("agent", plan.agent, goal=goal, rng=for_agent)
        frontier: Frontier = make(
            "frontier",
            agent.frontier,
            width=agent.features.width,
            rng=for_frontier,
            delay=plan.delay,
            patience=plan.patience,
        )
        return Navigator(agent, frontier)


def _topic_of(judge: str) -> str:
    """A label's own words, when no topic was given."""
    name, _, label = judge.partition(":")
    words = label.replace(":", ".").split(".")[-1].replace("_", " ").strip()
    if name != "label" or not words:
        raise HoneyguideError("a crawl needs a topic: a few words on what to look for")
    return words
