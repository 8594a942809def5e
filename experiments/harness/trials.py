"""Run trials in this process or in workers, and store each result as soon as it is known."""

import functools
import importlib
import multiprocessing
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence, Set
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from io import BytesIO
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from experiments.harness.experiment import Task, Trial
from experiments.harness.ledger import Ledger, Record, key
from honeyguide.assemble import Assembled
from honeyguide.contracts import Step, Trainable, Truth, Visit
from honeyguide.disk.serialise import write_state
from honeyguide.engine.loop import run_simulated
from honeyguide.engine.navigator import Navigator
from honeyguide.errors import HoneyguideError
from honeyguide.learning.policies import load_policy, save_policy
from honeyguide.plan import Plan
from honeyguide.recorded.graph import Graph
from honeyguide.registry.registration import EXTRAS
from honeyguide.version import VERSION
from honeyguide.worlds.synthetic.truth import reachable

POINTS = 100  # most points of a stored curve
INTERVALS = 10  # bins of relevance, from 0 to 1
RANDOM_PAGE = "random page "
Done = Set[tuple[Any, ...]]  # keys of stored runs
Progress = Callable[[Trial], None]  # called with each trial that has ended


@dataclass(frozen=True, slots=True)
class Place:
    """Where trials find their webs and store their results."""

    worlds: dict[str, str]  # by the name of the web
    out: Path
    commit: str

    @property
    def ledger(self) -> Ledger:
        """The file of finished runs."""
        return Ledger(self.out / "runs.jsonl")

    def policy(self, trial: Trial, repeat: int) -> Path:
        """Return the file of what a trial has learnt after a repeat."""
        name = f"{trial.digest}-{trial.number}-{repeat}.policy"
        return self.out / "policies" / name


def run_trials(
    trials: Sequence[Trial], place: Place, workers: int, progress: Progress
) -> dict[str, HoneyguideError]:
    """Run the trials that the ledger lacks; results do not depend on the number of workers.

    An extra or a file that is missing stops its part only: returns the error by part.
    """
    done = {key(record) for record in place.ledger.read()}
    left = [trial for trial in trials if any(k not in done for k in _keys(trial))]
    for trial in trials:
        if trial not in left:
            progress(trial)
    stopped: dict[str, HoneyguideError] = {}
    with _outcomes(left, place, workers, done) as outcomes:
        for trial, outcome in outcomes:
            if trial.part in stopped:
                continue
            try:
                outcome()
            except HoneyguideError as error:
                stopped[trial.part] = error
            progress(trial)
    return stopped


@contextmanager
def _outcomes(
    trials: Sequence[Trial], place: Place, workers: int, done: Done
) -> Iterator[list[tuple[Trial, Callable[[], None]]]]:
    """Give for each trial a function that runs it here, or waits for the worker that does."""
    if workers == 1:
        yield [(trial, functools.partial(run_trial, trial, place, done)) for trial in trials]
        return
    # spawn, not fork: a fork copies locks that other threads hold
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(workers, context, end_with_parent) as pool:
        try:
            yield [(trial, pool.submit(run_trial, trial, place, done).result) for trial in trials]
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def end_with_parent() -> None:
    """End this process at once when the process that started it is killed."""
    parent = multiprocessing.parent_process()

    def wait() -> None:
        if parent is not None:
            parent.join()
            os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def _keys(trial: Trial) -> list[tuple[str, int, int]]:
    return [(trial.digest, trial.number, repeat) for repeat in range(trial.repeats)]


def run_trial(trial: Trial, place: Place, done: Done) -> None:
    """Run the repeats of a trial that are not done."""
    try:
        (_call_function if trial.function else _crawl)(trial, place, done)
    except ModuleNotFoundError as error:
        extra = EXTRAS.get((error.name or "").partition(".")[0])
        if extra is None:
            raise
        raise HoneyguideError(
            f"{error.name} is needed: pip install 'honeyguide[{extra}]'"
        ) from None


def _crawl(trial: Trial, place: Place, done: Done) -> None:
    """Crawl with the trial's agent; each repeat begins with what the one before has learnt."""
    opened = _open(
        trial.task,
        trial.entry.encoder,
        trial.entry.judge(trial.task),
        place.worlds[trial.task.web],
    )
    for repeat, its_key in enumerate(_keys(trial)):
        if its_key in done:
            continue
        plan = replace(
            opened.plan,
            agent=trial.entry.agent,
            gate=trial.entry.gate,
            random_seed=trial.random_seed(repeat),
        )
        navigator = opened.navigator(plan)
        before = place.policy(trial, repeat - 1)
        if repeat and isinstance(navigator.agent.learner, Trainable):
            load_policy(before, plan.agent, navigator.agent)
        record = _record(trial, repeat, crawl_once(opened, navigator, trial.task.budget))
        if trial.entry.agent == "oracle":
            record["web"] = _facts(opened)
        if repeat + 1 < trial.repeats:
            place.policy(trial, repeat).parent.mkdir(parents=True, exist_ok=True)
            save_policy(place.policy(trial, repeat), plan.agent, navigator.agent)
        place.ledger.append(record | {"commit": place.commit})
        before.unlink(missing_ok=True)


def _call_function(trial: Trial, place: Place, done: Done) -> None:
    """Call the trial's function and store the figures that it returns."""
    module, _, name = trial.function.partition(":")
    function = getattr(importlib.import_module(module), name)
    for repeat, its_key in enumerate(_keys(trial)):
        if its_key in done:
            continue
        found = Found(np.zeros(trial.task.budget, np.int32))
        begin, begin_processor = time.perf_counter(), time.process_time()
        details = function(trial, place.worlds[trial.task.web], trial.random_seed(repeat))
        found.seconds = time.perf_counter() - begin
        found.processor_seconds = time.process_time() - begin_processor
        place.ledger.append(_record(trial, repeat, found) | details | {"commit": place.commit})


@functools.lru_cache(maxsize=1)  # trials come task by task
def _open(task: Task, encoder: str, judge: str, world: str) -> Assembled:
    seeds = tuple(_seed(name, world) for name in task.seeds)
    plan = Plan(
        topic=task.topic,
        seeds=seeds,
        world=world,
        judge=judge,
        encoder=encoder,
        budget=task.budget,
    )
    return plan.open(remember=True)


def _seed(name: str, world: str) -> str:
    """Return the seed itself, or the URL drawn for "random page N" of a recorded web."""
    if not name.startswith(RANDOM_PAGE):
        return name
    graph = Graph.open(world.removeprefix("graph:"))
    generator = np.random.default_rng(int(name.removeprefix(RANDOM_PAGE)))
    return graph.url(int(generator.integers(len(graph))))


@dataclass(slots=True)
class Found:
    """Figures of one crawl, updated after each page."""

    curve: np.ndarray[Any, np.dtype[np.int32]]
    pages: int = 0
    hosts: set[str] = field(default_factory=set)  # of relevant pages
    all_hosts: set[str] = field(default_factory=set)  # of all pages
    relevance: float = 0.0  # sum over all pages
    waiting: int = 0  # links at the end
    most_waiting: int = 0
    seen: int = 0  # URLs parsed from pages
    megabytes: float = 0.0  # of the frontier at the end
    intervals: list[int] = field(default_factory=lambda: [0] * INTERVALS)
    seconds: float = 0.0
    processor_seconds: float = 0.0
    ended: str = ""


def crawl_once(opened: Assembled, navigator: Navigator, budget: int) -> Found:
    """Crawl with a fresh navigator; the last count fills the curve to the end of the budget."""
    found = Found(np.zeros(budget, np.int32))
    memory = navigator.memory

    def note(visit: Visit, step: Step, now: float) -> None:
        new = memory.relevant_found > found.curve[-1]
        # fill to the end: a crawl that stops early neither gains nor loses by it
        found.curve[memory.visits - 1 :] = memory.relevant_found
        found.relevance += visit.verdict.relevance
        found.most_waiting = max(found.most_waiting, len(navigator.frontier))
        if visit.page is not None:
            found.all_hosts.add(urlsplit(visit.page.url).netloc)
        if new and visit.page is not None:
            found.hosts.add(urlsplit(visit.page.url).netloc)
            found.intervals[min(INTERVALS - 1, int(visit.verdict.relevance * INTERVALS))] += 1

    begin, begin_processor = time.perf_counter(), time.process_time()
    outcome = run_simulated(opened.crawl(navigator, note).run(opened.seeds))
    found.seconds = time.perf_counter() - begin
    found.processor_seconds = time.process_time() - begin_processor
    found.pages, found.ended = outcome.pages, outcome.reason
    found.waiting, found.seen = len(navigator.frontier), len(memory)
    found.megabytes = write_state(BytesIO(), navigator.frontier.state()) / 1e6
    return found


def points(budget: int) -> list[int]:
    """Return the numbers of pages at which a curve is stored."""
    pages: list[int] = np.unique(np.linspace(1, budget, POINTS).astype(int)).tolist()
    return pages


def _record(trial: Trial, repeat: int, found: Found) -> Record:
    some = np.flatnonzero(found.curve)
    return {
        "part": trial.part,
        "task": trial.task.name,
        "entry": trial.entry.name,
        "trial": trial.number,
        "repeat": repeat,
        "digest": trial.digest,
        "random_seed": trial.random_seed(repeat),
        "budget": trial.task.budget,
        "relevant": int(found.curve[-1]),
        "area": round(float(found.curve.mean()), 3),
        "first": int(some[0]) + 1 if len(some) else None,  # pages until something relevant
        "hosts": len(found.hosts),
        "all_hosts": len(found.all_hosts),
        "mean_relevance": round(found.relevance / max(found.pages, 1), 4),
        "waiting": found.waiting,
        "most_waiting": found.most_waiting,
        "urls": found.seen,
        "frontier_megabytes": round(found.megabytes, 4),
        "hits": _hits(found.curve),
        "pages": found.pages,
        "ended": found.ended,
        "intervals": found.intervals,
        "curve": found.curve[np.array(points(trial.task.budget)) - 1].tolist(),
        "seconds": round(found.seconds, 3),
        "processor_seconds": round(found.processor_seconds, 3),  # of this process, all threads
        "part_version": trial.version,
        "honeyguide": VERSION,
    }


def _hits(curve: np.ndarray[Any, np.dtype[np.int32]]) -> list[int]:
    """Return for each relevant page after how many pages it was found."""
    first: list[int] = np.searchsorted(curve, np.arange(1, curve[-1] + 1)).tolist()
    return [place + 1 for place in first]


def _facts(opened: Assembled) -> dict[str, int]:
    """Count all and relevant pages of the web, and those that the seeds can reach."""
    truth: Truth = opened.world.truth()
    seen = reachable(truth, [truth.index(seed.url) for seed in opened.seeds])
    return {
        "pages": len(truth.relevant),
        "reachable": int(seen.sum()),
        "relevant": int(truth.relevant.sum()),
        "relevant_reachable": int((truth.relevant & seen).sum()),
    }
