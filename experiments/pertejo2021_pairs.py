"""The frontier of Pertejo (2021) as in its code: pairs of page and link.

A page waits as often as it is linked to. A pair whose page was visited meanwhile is learnt from
and counts as no page (appendix A.8 returns before n_visited_pages; algorithm 3 prints "continue"
there). The state of an action is the page visited before it, as in Keras-RL, not the page that has
the link.
"""

import asyncio
import heapq
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from experiments.harness.experiment import Trial
from experiments.harness.trials import points
from experiments.trained_networks import in_test, opened_task
from honeyguide.contracts import (
    Agent,
    Candidates,
    Link,
    Outlinks,
    State,
    Step,
    Trainable,
    Vector,
    Verdict,
    Vocabulary,
    World,
)
from honeyguide.engine.memory import Memory

REHEARSED_ON_PAIRS = "experiments.pertejo2021_pairs:rehearsed_on_pairs"
ON_PAIRS = "dqn_outputs on pairs"


def rehearsed_on_pairs(trial: Trial, world: str, random_seed: int) -> dict[str, Any]:
    """Train on the task, then crawl it again without learning, both on pairs."""
    task, entry = trial.task, trial.entry
    opened = opened_task(task, world, entry.encoder, entry.judge(task))
    policy: State | None = None
    curves = []
    for number, agent_spec in enumerate((entry.agent, in_test(entry.agent))):
        plan = replace(opened.plan, agent=agent_spec, random_seed=random_seed + number)
        navigator = opened.navigator(plan)
        agent = navigator.agent
        assert isinstance(agent, Trainable)  # noqa: S101 for the type checker
        if policy is not None:
            agent.load_policy(policy)
        rng = np.random.default_rng(plan.random_seed)
        crawl = _Crawl(agent, opened.world, rng, navigator.vocabulary)
        curves.append(asyncio.run(crawl.run(opened.seeds, task.budget)))
        policy = agent.policy()
    return {
        "relevant": curves[1][-1],
        "training": curves[0][-1],
        "area": round(float(np.mean(curves[1])), 3),
        "pages": crawl.memory.visits,
        "wasted": crawl.wasted,
        "curve": [curves[1][n - 1] for n in points(task.budget)],
    }


class Pair(NamedTuple):
    """A link of one page."""

    id: int
    url: str
    x: Vector
    reward: float  # of the page that has the link


class _Pairs:
    """Waiting pairs: gives the best, or one at random."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng
        self._pairs: list[Pair | None] = []
        self._heap: list[tuple[float, int]] = []
        self._waiting: list[int] = []  # indices to draw from; some are taken already

    def add(self, pair: Pair, score: float) -> None:
        place = len(self._pairs)
        self._pairs.append(pair)
        self._waiting.append(place)
        heapq.heappush(self._heap, (-score, place))

    def pop(self, at_random: bool) -> Pair | None:
        while self._heap and self._waiting:
            place = self._draw() if at_random else heapq.heappop(self._heap)[1]
            pair = self._pairs[place]
            if pair is not None:
                self._pairs[place] = None
                return pair
        return None

    def _draw(self) -> int:
        at = int(self._rng.integers(len(self._waiting)))
        self._waiting[at], self._waiting[-1] = self._waiting[-1], self._waiting[at]
        return self._waiting.pop()


class _Crawl:
    """The loop of appendix A.8."""

    def __init__(
        self,
        agent: Agent,
        world: World,
        rng: np.random.Generator,
        vocabulary: Vocabulary | None = None,  # of an encoder that weighs words by pages fetched
    ) -> None:
        self.agent, self.world, self.vocabulary = agent, world, vocabulary
        self.memory = Memory()
        self._pairs = _Pairs(rng)
        self.wasted = 0  # steps that visited no page
        self._place: Vector | None = None  # the state: features of the current page

    async def run(self, seeds: Sequence[Link], pages: int) -> list[int]:
        """Crawl and return the relevant pages found after each page besides the seeds."""
        curve: list[int] = []
        for seed, id in zip(seeds, self.memory.seed(seeds).ids.tolist(), strict=True):
            await self._fetch(id, seed.url)
        while len(curve) < pages:
            pair = self._pairs.pop(self.agent.explores())
            if pair is None:
                break
            if self.memory.visited(np.array([pair.id], np.int32))[0]:
                self._waste(pair)
                continue
            await self._fetch(pair.id, pair.url, pair.x)
            curve.append(self.memory.relevant_found)
        return curve + [self.memory.relevant_found] * (pages - len(curve))

    def _waste(self, pair: Pair) -> None:
        """Learn from a step that visits nothing: the pair's page gives its reward again."""
        self.wasted += 1
        link, nothing = Link(pair.url), Verdict(0.0, False)
        x = self._acted(pair.x)
        again = Candidates(np.array([pair.id], np.int32), pair.x[None])
        self.agent.learn([Step(link, pair.id, x, pair.reward, nothing, None, again, pair.id)])
        self._place = pair.x[:-1]

    def _acted(self, x: Vector) -> Vector:
        """Return the features of an action in the current state."""
        return x if self._place is None else np.concatenate([self._place, x[-1:]])

    async def _fetch(self, id: int, url: str, x: Vector | None = None) -> None:
        """Visit a page, learn from it unless it is a seed, and add its links."""
        visit = await self.world.visit(Link(url))
        page, reward = self.memory.visit(id, visit), self.agent.reward(visit)
        none = np.empty((0, self.agent.features.width), np.float32)
        options = Candidates(np.empty(0, np.int32), none)
        if visit.page is not None:
            if self.vocabulary is not None:
                self.vocabulary.observe(visit.page.text)
            found = self.memory.link(page, visit.page)
            options = Candidates(found.ids, self.agent.features(self.memory, found))
        if x is not None:
            link, verdict = visit.link, visit.verdict
            x = self._acted(x)
            self.agent.learn([Step(link, page, x, reward, verdict, visit.page, options, id)])
        if len(options):
            self._place = options.x[0, :-1]
            self._add(found, options, reward)

    def _add(self, found: Outlinks, options: Candidates, reward: float) -> None:
        scores, visited = self.agent.score(options).tolist(), self.memory.visited(found.ids)
        ids = found.ids.tolist()
        together = zip(ids, found.links, options.x, scores, visited.tolist(), strict=True)
        for id, link, row, score, known in together:
            if not known:
                self._pairs.add(Pair(id, link.url, row, reward), score)
