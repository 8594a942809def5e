"""A crawl of a recorded or generated web as a Gymnasium environment (Pertejo 2021, §3.3)."""

from collections.abc import Callable, Sequence
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
BOUND = 1e6  # rows are cut off here: learners like spaces that end somewhere
DEFAULT_PLAN = {
    "topic": "geology",
    "seeds": ("geology",),
    "world": "synthetic:pages=3000",
    "agent": "best_first",
}
BARREN = 100  # pages in a row without a relevant one that count as very many

Observation = dict[str, NDArray[Any]]
Info = dict[str, Any]


def register() -> None:
    """Let gymnasium.make know the environment by its name."""
    if ID not in gymnasium.registry:
        gymnasium.register(id=ID, entry_point=f"{__name__}:CrawlEnv")


def relevance(visit: Visit) -> float:
    """What a visit is worth by default: how relevant its page is."""
    return visit.verdict.relevance


class CrawlEnv(gymnasium.Env[Observation, np.int64]):
    """Choose the next link out of those that wait; the reward is the page behind it.

    Its keywords are those of a Plan, whose agent ranks the waiting links. The best of them are
    offered; an action is the place of one in the offer, and costs one page of the budget.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 Gymnasium's own form

    def __init__(
        self,
        offers: int = 64,  # waiting links to choose from
        features: Callable[[Goal], Features] = LinkRows,
        reward: Callable[[Visit], float] = relevance,
        oracle: bool = True,  # whether info says what the oracle would do: judges the whole web
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
            raise HoneyguideError("only a recorded or generated web can be an environment")
        if self.plan.gate != "none":
            raise HoneyguideError("an environment has no gate: whoever acts decides on it")
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
        """Begin a crawl; options may name other "seeds" than the plan's."""
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
        """Visit the chosen link; a place where nothing is offered is a wasted turn."""
        place = int(action)
        if not 0 <= place < self._offers:
            raise HoneyguideError(f"an action is a number below {self._offers}, not {place}")
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
        """A navigator whose choices are made by actions."""
        self._opened.vocabulary()  # first: agents weigh the topic's words as they are made
        rng = np.random.default_rng(int(self.np_random.integers(2**63)))
        base: Agent = make("agent", self.plan.agent, goal=self._goal, rng=rng)
        if self.plan.policy:
            load_policy(Path(self.plan.policy), self.plan.agent, base)
        advisers = [base, Oracle(self._goal)] if self._oracle else [base]
        # made anew: what they remember goes by numbers that pages had in an earlier crawl
        self._agent = Ranked(self._features(self._goal), *advisers)
        self._frontier = CandidateFrontier(self._agent.features.width)
        self._navigator = self._opened.navigator_for(self._agent, self._frontier)

    def _visit(self, id: int) -> tuple[float, Info]:
        self._frontier.imposed = id
        link = self._navigator.choose(0.0)
        if link is None:  # the guard has seen enough of its kind
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
        """The place of the link that the oracle would take; -1 when nothing is offered."""
        if not len(offer.ids):
            return -1
        return int(self._agent.ask(1, offer).argmax())

    def _url(self, id: int) -> str:
        return self._navigator.memory.urls.url(id)


def _visited(world: World, link: Link) -> Visit:
    """Visit a page; most worlds need no event loop for that, which costs more than the visit."""
    visit = world.visit(link)
    try:
        visit.send(None)
    except StopIteration as done:
        return cast(Visit, done.value)
    except RuntimeError:  # it sleeps: visits are pure, so it can begin again
        pass
    visit.close()
    return run_simulated(world.visit(link))
