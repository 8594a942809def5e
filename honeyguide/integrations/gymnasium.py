"""A crawl of a recorded or generated web as a Gymnasium environment (Pertejo 2021, §3.3)."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from honeyguide.agents.oracle import Oracle
from honeyguide.contracts import Agent, Candidates, Features, Goal, Link, Visit, World
from honeyguide.engine.loop import run_simulated
from honeyguide.errors import HoneyguideError
from honeyguide.integrations.candidate_frontier import CandidateFrontier, Ranked
from honeyguide.integrations.link_rows import LinkRows
from honeyguide.learning.policies import load_policy
from honeyguide.plan import Plan
from honeyguide.registry import make

ID = "honeyguide/Crawl-v0"
BOUND = 1e6  # observations are clipped here, as learners prefer bounded spaces
DEFAULT_PLAN = {
    "topic": "geology",
    "seeds": ("geology",),
    "world": "synthetic:pages=3000",
    "agent": "best_first",
}
BARREN = 100  # pages in a row without a relevant one, at which that input is 1

Observation = dict[str, NDArray[Any]]
Info = dict[str, Any]


def register() -> None:
    """Register the environment for gymnasium.make."""
    if ID not in gymnasium.registry:
        gymnasium.register(id=ID, entry_point=f"{__name__}:CrawlEnv")


def relevance(visit: Visit) -> float:
    """Return the default reward: the relevance of the visited page."""
    return visit.verdict.relevance


class CrawlEnv(gymnasium.Env[Observation, np.int64]):
    """An environment whose actions choose the next link; the reward is the page's relevance.

    Keyword arguments are those of a Plan, whose agent ranks the waiting links. The best of them
    are offered; an action is the index of one of them and uses one page of the budget.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 Gymnasium's own form

    def __init__(
        self,
        offers: int = 64,  # links to choose from in each step
        features: Callable[[Goal], Features] = LinkRows,
        reward: Callable[[Visit], float] = relevance,
        oracle: bool = True,  # whether info has the oracle's choice, which judges the whole web
        render_mode: str | None = None,
        **plan: Any,
    ) -> None:
        if offers < 1:
            raise HoneyguideError("offers must be at least 1")
        self.render_mode = render_mode
        self._opened = Plan(**(DEFAULT_PLAN | plan)).open(remember=True)
        self.plan = self._opened.plan
        self._world: World = self._opened.world
        if self._world.live:
            raise HoneyguideError(
                "an environment needs a recorded or generated web, not a live one"
            )
        if self.plan.gate != "none":
            raise HoneyguideError(
                "an environment has no gate: its actions decide which links are visited"
            )
        self._goal = self._opened.goal
        self._features = features
        self._width = features(self._goal).width
        self._reward = reward
        self._oracle = oracle
        self._offers = offers
        self.action_space = spaces.Discrete(offers)
        links = spaces.Box(-BOUND, BOUND, (offers, self._width), np.float32)
        state = spaces.Box(0.0, BOUND, (5,), np.float32)
        both = spaces.Dict({"links": links, "state": state})
        self.observation_space = cast(spaces.Space[Observation], both)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, Info]:
        """Begin a crawl; options["seeds"] replaces the plan's seeds."""
        super().reset(seed=seed)
        names: Sequence[str] | None = (options or {}).get("seeds")
        seeds = self._opened.seeds if names is None else tuple(map(self._world.find, names))
        self._start()
        self._navigator.seed(seeds)
        self._spent = 0
        self._last = 0.0
        self._offer = self._frontier.best_few(self._offers)
        return self._observation(), self._info()

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, Info]:
        """Visit the chosen link; an action beyond the offered links only uses the budget."""
        place = int(action)
        if not 0 <= place < self._offers:
            raise HoneyguideError(f"an action must be from 0 to {self._offers - 1}, not {place}")
        self._spent += 1
        reward, news = 0.0, Info(url="", relevant=False)
        if place < len(self._offer.ids):
            reward, news = self._visit(int(self._offer.ids[place]))
            self._offer = self._frontier.best_few(self._offers)
        terminated = not len(self._offer.ids)
        truncated = self._spent >= self.plan.budget
        return self._observation(), reward, terminated, truncated, self._info() | news

    # ------------------------------------------------------------------ driving

    def _start(self) -> None:
        """Create a navigator whose choices are made by actions."""
        self._opened.vocabulary()  # first: agents read the word weights when they are created
        rng = np.random.default_rng(int(self.np_random.integers(2**63)))
        goal = replace(self._goal, has_policy=bool(self.plan.policy))
        base: Agent = make("agent", self.plan.agent, goal=goal, rng=rng)
        if self.plan.policy:
            load_policy(Path(self.plan.policy), self.plan.agent, base, self.plan.encoder)
        advisers = [base, Oracle(self._goal)] if self._oracle else [base]
        # new objects: the old ones refer to page ids of an earlier crawl
        self._agent = Ranked(self._features(self._goal), *advisers)
        self._frontier = CandidateFrontier(self._agent.features.width)
        self._navigator = self._opened.navigator_for(self._agent, self._frontier)

    def _visit(self, id: int) -> tuple[float, Info]:
        self._frontier.imposed = id
        link = self._navigator.choose(0.0)
        if link is None:  # the guard has refused it
            return 0.0, Info(url=self._url(id), relevant=False)
        visit = _visited(self._world, link)
        memory = self._navigator.memory
        before = memory.relevant_found
        self._navigator.absorb(visit, 0.0)
        self._last = visit.verdict.relevance
        again = visit.verdict.relevant and memory.relevant_found == before
        reward = 0.0 if again else float(self._reward(visit))  # a page found twice counts once
        return reward, Info(url=link.url, relevant=visit.verdict.relevant and not again)

    # ------------------------------------------------------------------ showing

    def _observation(self) -> Observation:
        rows = np.zeros((self._offers, self._width), np.float32)
        rows[: len(self._offer.ids)] = self._agent.shown(self._offer.x)
        return {"links": rows.clip(-BOUND, BOUND), "state": self._state()}

    def _state(self) -> NDArray[np.float32]:
        memory = self._navigator.memory
        numbers = [
            self._last,  # relevance of the page visited last
            memory.relevant_found / max(1, memory.visits),
            min(memory.barren, BARREN) / BARREN,
            self._spent / self.plan.budget,
            np.log1p(len(self._frontier)) / 10,
        ]
        return np.array(numbers, np.float32)

    def _info(self) -> Info:
        offered = len(self._offer.ids)
        mask = np.zeros(self._offers, np.int8)
        mask[:offered] = 1
        memory = self._navigator.memory
        info = Info(
            action_mask=mask,
            urls=[self._url(id) for id in self._offer.ids.tolist()],
            pages=memory.visits,
            relevant_found=memory.relevant_found,
        )
        if self._oracle:
            info["oracle"] = self._oracle_choice(self._offer)
        return info

    def _oracle_choice(self, offer: Candidates) -> int:
        """Return the action that the oracle would take; -1 if nothing is offered."""
        if not len(offer.ids):
            return -1
        return int(self._agent.ask(1, offer).argmax())

    def _url(self, id: int) -> str:
        return self._navigator.memory.urls.url(id)


def _visited(world: World, link: Link) -> Visit:
    """Visit a link; without an event loop if the world allows, which is much faster."""
    visit = world.visit(link)
    try:
        visit.send(None)
    except StopIteration as done:
        return cast(Visit, done.value)
    except RuntimeError:  # it needs a loop: visits are pure, so it can be repeated
        pass
    visit.close()
    return run_simulated(world.visit(link))
