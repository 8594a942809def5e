"""Run one walk of Friar (2017) and measure rewards, learnt values and time."""

import functools
import re
import time
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from experiments.friar2017_values import histograms, separation
from experiments.friar2017_web import specialist_hosts
from experiments.harness.experiment import Task, Trial
from experiments.harness.trials import points
from honeyguide.agents.url_linear_q import UrlLinearQ
from honeyguide.assemble import Assembled
from honeyguide.contracts import Candidates, Page, Step, Visit
from honeyguide.engine.loop import run_simulated
from honeyguide.engine.navigator import Navigator
from honeyguide.features.url_words import UrlWords
from honeyguide.frontiers.walks import Walks
from honeyguide.judges.targets import Targets
from honeyguide.learning.optimal import UNREACHABLE, hops_to_reward, optimal_values
from honeyguide.plan import Plan
from honeyguide.registry import make
from honeyguide.training.actors import Actors
from honeyguide.urls.spelling import host

GAMMA = 0.75
UNSEEN = 20_000  # unvisited pages whose learnt values are compared with the optimal ones
SURVEYED = 100_000  # URLs whose words are counted before a walk, as in the paper's source
SEED = 1  # of the generated web
# three topics each, as accountancy, tax and law; settings were chosen on birds, insects, weather
FIELDS = (
    ("geology", "volcanoes", "oceans"),
    ("astronomy", "spaceflight", "optics"),
    ("programming", "networks", "robotics"),
    ("painting", "music", "theatre"),
    ("baking", "cheese", "wine"),
)
TOPICS = FIELDS[0]
# seeds of a task: a number of pages, drawn at random
OFF = re.compile(r"(\d+) pages off targets")
NEAR = re.compile(r"(\d+) pages near targets")
HOPS = 2  # most links from a start page "near targets" to a target
HELD_OUT = "held-out"  # the part in which some relevant hosts are never rewarded
FAR = "far"  # the same, with few links to these hosts
HEAVIEST = 20  # words whose weights are stored (figure 3.3)


def all_rewards(pages: int, topics: tuple[str, ...] = TOPICS) -> list[str]:
    """List the targets of chapter 3: all hosts about two topics, 1 % of random steps."""
    return [host for topic in topics[:2] for host in specialist_hosts(pages, SEED, topic)]


def rewards_and_held_out(pages: int) -> tuple[list[str], list[str]]:
    """Split hosts about three topics into targets and held-out ones (chapter 4)."""
    hosts = [specialist_hosts(pages, SEED, topic) for topic in TOPICS]
    return [h for some in hosts for h in some[::2]], [h for some in hosts for h in some[1::2]]


@dataclass
class _Walked:
    """Figures of a walk, updated after each page."""

    by_host: bool  # count unique rewards by host, else by page
    held_out: Targets | None
    curve: list[int] = field(default_factory=list)
    rewards: int = 0  # visits that were rewarded
    unique: set[str] = field(default_factory=set)
    others: set[str] = field(default_factory=set)  # held-out hosts
    links: int = 0

    def what(self, url: str) -> str:
        """Return what identifies a unique reward."""
        return host(url) if self.by_host else url

    def note(self, visit: Visit, step: Step) -> None:
        url = visit.page.url if visit.page else visit.link.url
        if visit.verdict.relevant:
            self.rewards += 1
            self.unique.add(self.what(url))
        elif self.held_out and visit.page and self.held_out(visit.page).relevant:
            self.others.add(host(url))
        self.curve.append(len(self.unique))
        self.links += len(step.options)


def walk(trial: Trial, world: str, random_seed: int) -> dict[str, Any]:
    """Run one agent and return its figures; targets count by host, labelled pages by page."""
    task = trial.task
    plan = Plan(
        topic=task.topic,
        seeds=task.seeds,
        world=world,
        judge=task.judge,
        agent=trial.entry.agent,
        encoder=trial.entry.encoder,
        budget=task.budget,
    )
    opened = _opened(plan)
    plan = opened.plan
    navigator = opened.navigator(replace(plan, random_seed=random_seed))
    walks = navigator.frontier
    assert isinstance(walks, Walks)  # noqa: S101 for the type checker
    by_host = task.judge.startswith("targets:")
    walked = _Walked(by_host, _held_out(task) if trial.part in (HELD_OUT, FAR) else None)
    begin, begin_processor = time.perf_counter(), time.process_time()
    with Actors(plan, navigator.agent, random_seed) as actors:

        def note(visit: Visit, step: Step, now: float) -> None:
            walked.note(visit, step)
            actors.keep_pace(len(walked.curve))

        crawl = opened.crawl(navigator, note)
        crawl.limits = plan.limits
        run_simulated(crawl.run(opened.seeds))
    seconds, processor = time.perf_counter() - begin, time.process_time() - begin_processor
    together = walked.unique | {walked.what(url) for url in actors.rewards}
    found = {
        "relevant": len(walked.unique),
        "hosts": len(walked.unique if by_host else set(map(host, walked.unique))),
        "pages": len(walked.curve),
        "area": float(np.mean(walked.curve)),
        "curve": [walked.curve[n - 1] for n in points(task.budget)],
        "held_out": len(walked.others),
        "all_actors": len(together),
        "reward_rate": walked.rewards / len(walked.curve),
        "episode_length": len(walked.curve) / walks.begun,
        "links": walked.links / len(walked.curve),
        "milliseconds": 1000 * seconds / len(walked.curve),
        "processor_milliseconds": 1000 * processor / len(walked.curve),
    }
    if trial.number:
        return found
    return found | _values(opened, navigator, actors.visited) | _heaviest(navigator)


def _heaviest(navigator: Navigator) -> dict[str, Any]:
    """Return the words of the largest weights, for agents that have one for each word."""
    agent = navigator.agent
    if not isinstance(agent, UrlLinearQ):
        return {}
    ranked = sorted(agent.weights().items(), key=lambda pair: -abs(pair[1]))
    return {"weights": dict(ranked[:HEAVIEST])}


def _held_out(task: Task) -> Targets:
    pages = int(task.web.partition("pages=")[2].partition(",")[0])
    return Targets(",".join(rewards_and_held_out(pages)[1]))


@functools.lru_cache(maxsize=1)
def _opened_world(judge: str, world: str, seeds: tuple[str, ...], topic: str) -> Assembled:
    plan = Plan(topic=topic, seeds=seeds, world=world, judge=judge)
    for pattern, starts in ((OFF, _off_targets), (NEAR, _near_targets)):
        asked = pattern.fullmatch(seeds[0])
        if asked:
            return starts(plan, int(asked[1]))
    return plan.open()


def _off_targets(plan: Plan, count: int) -> Assembled:
    """Start at pages that are no targets, as nearly all of the paper's walks do."""
    targets = Targets(plan.judge.partition(":")[2])
    opened = replace(plan, seeds=(f"{count + count // 4} random pages",)).open()
    others = [link.url for link in opened.seeds if not targets(Page(link.url)).relevant]
    return _beginning_at(others[:count], opened)


def _near_targets(plan: Plan, count: int) -> Assembled:
    """Start within two links of a target (§4.1)."""
    opened = replace(plan, seeds=("1 random page",)).open()
    truth = opened.world.truth()
    assert truth.url is not None  # noqa: S101 for the type checker
    hops = hops_to_reward(truth, truth.relevant)
    near = np.flatnonzero((hops != UNREACHABLE) & (hops <= HOPS))
    drawn = np.random.default_rng(0).permutation(near)[:count].tolist()
    return _beginning_at(list(map(truth.url, drawn)), opened)


def _beginning_at(urls: list[str], opened: Assembled) -> Assembled:
    plan = replace(opened.plan, seeds=tuple(urls))
    return replace(opened, plan=plan, seeds=tuple(map(opened.world.find, urls)))


def _opened(plan: Plan) -> Assembled:
    """Open a web once for all agents of a task, since computing its truth takes long."""
    opened = _opened_world(plan.judge, plan.world, plan.seeds, plan.topic)
    plan = replace(plan, seeds=opened.plan.seeds)
    return surveyed(replace(opened, plan=plan, encoder=make("encoder", plan.encoder)))


def surveyed(opened: Assembled) -> Assembled:
    """Survey URLs before each walk, at most half of the web's."""
    pages = len(opened.world.truth().relevant)
    return replace(opened, plan=replace(opened.plan, survey=min(SURVEYED, pages // 2)))


def _values(opened: Assembled, navigator: Navigator, by_actors: frozenset[str]) -> dict[str, Any]:
    """Compare learnt values of pages that no actor has visited with the optimal ones."""
    agent, memory = navigator.agent, navigator.memory
    if not isinstance(agent.features, UrlWords):
        return {}
    truth = opened.world.truth()
    assert truth.url is not None  # noqa: S101 for the type checker
    drawn = np.random.default_rng(0).permutation(len(truth.relevant))[: 4 * UNSEEN].tolist()
    urls = {page: truth.url(page) for page in drawn}
    known = memory.urls.find(list(urls.values()))
    shown = set(getattr(agent, "seen", np.empty(0, int)).tolist())  # by the classifier (§3.7)
    fresh = {
        page: number
        for page, number in zip(urls, known.tolist(), strict=True)
        if page not in shown
        and urls[page] not in by_actors
        and (number < 0 or not memory.visited(np.array([number]))[0])
    }
    pages = list(fresh)[:UNSEEN]
    if not pages:
        return {}
    rows = agent.features.rows([urls[page] for page in pages])
    ids = np.array([fresh[page] for page in pages], np.int32)  # -1: not even linked to
    values = agent.score(Candidates(ids, rows))
    optimal = optimal_values(truth, GAMMA)[pages]
    return {"separation": separation(values, optimal), "histograms": histograms(values, optimal)}
