"""Run several agents on the same task, several times each."""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from honeyguide.assemble import Assembled
from honeyguide.contracts import Step, Visit, World
from honeyguide.engine.loop import run_simulated
from honeyguide.errors import HoneyguideError
from honeyguide.plan import Plan, spec_of

Progress = Callable[[str, int], None]  # agent, pages fetched since the last call


@dataclass(frozen=True, slots=True)
class Runs:
    """Results of one agent, by run."""

    agent: str
    curves: NDArray[np.int32]  # runs x budget: relevant pages after each page fetched
    pages: tuple[int, ...]
    seconds: tuple[float, ...]  # wall time
    failures: Counter[str] = field(default_factory=Counter)  # failed fetches of all runs, by kind

    @property
    def relevant(self) -> list[int]:
        """Relevant pages found by the end of each run."""
        return [int(curve[-1]) for curve in self.curves]

    def __repr__(self) -> str:
        return f"<{self.agent}: {np.mean(self.relevant):.1f} relevant pages, {self.relevant}>"


@dataclass(frozen=True, slots=True)
class Comparison:
    """Results of all agents on one task."""

    plan: Plan
    runs: tuple[Runs, ...]
    oracle: Runs | None  # None where relevant pages are not known in advance

    @property
    def failures(self) -> Counter[str]:
        """Failed fetches of all agents, by kind."""
        return sum((runs.failures for runs in self.runs), Counter())

    def oracle_share(self, runs: Runs) -> float | None:
        """Return the relevant pages of an agent as a share of the oracle's; None without oracle."""
        best = 0.0 if self.oracle is None else float(np.mean(self.oracle.relevant))
        return float(np.mean(runs.relevant)) / best if best else None

    def __repr__(self) -> str:
        """A table: each agent's relevant pages, their spread, and its share of the oracle's."""
        width = max(len(runs.agent) for runs in self.runs)
        lines = [f"{'agent':{width}}  relevant of {self.plan.budget:,}  oracle's share"]
        for runs in self.runs:
            share = self.oracle_share(runs)
            mean, spread = np.mean(runs.relevant), _spread(runs.relevant)
            said = "" if share is None else f"{share:.0%}"
            lines.append(f"{runs.agent:{width}}  {mean:8.1f} ± {spread:<5.1f}  {said:>6}")
        return "\n".join(lines)


def _spread(relevant: Sequence[int]) -> float:
    """The standard deviation of a sample; 0 for one run."""
    return float(np.std(relevant, ddof=1)) if len(relevant) > 1 else 0.0


def compare(
    plan: Plan,
    agents: Sequence[str | type] | str,
    runs: int = 5,
    progress: Progress = lambda agent, pages: None,
) -> Comparison:
    """Run each agent on the plan's task; run number n has the plan's random seed plus n."""
    if runs < 1:
        raise HoneyguideError("a comparison needs at least one run")
    opened = plan.open(remember=True)
    opened.refuse_live()
    listed = [agents] if isinstance(agents, str) else agents
    names = list(dict.fromkeys(spec_of("agent", agent) for agent in listed))
    if not names:
        raise HoneyguideError("a comparison needs at least one agent")
    for name in names:  # fail on a wrong name before anything runs
        opened.navigator(replace(plan, agent=name))
    oracle = _run(opened, "oracle", 1, progress) if _truth_is_known(opened.world) else None
    results = {name: _run(opened, name, runs, progress) for name in names if name != "oracle"}
    if oracle is not None:
        results["oracle"] = oracle
    return Comparison(plan, tuple(results[name] for name in names), oracle)


def _truth_is_known(world: World) -> bool:
    try:
        world.truth()
    except HoneyguideError:
        return False
    return True


def _run(opened: Assembled, agent: str, runs: int, progress: Progress) -> Runs:
    plan = replace(opened.plan, agent=agent)
    failures: Counter[str] = Counter()
    each = [
        _run_once(opened, replace(plan, random_seed=plan.random_seed + run), progress, failures)
        for run in range(runs)
    ]
    curves, pages, seconds = zip(*each, strict=True)
    return Runs(agent, np.stack(curves), pages, seconds, failures)


def _run_once(
    opened: Assembled, plan: Plan, progress: Progress, failures: Counter[str]
) -> tuple[NDArray[np.int32], int, float]:
    navigator = opened.navigator(plan)
    curve = np.zeros(plan.budget, np.int32)

    def note(visit: Visit, step: Step, now: float) -> None:
        # fill to the end: a crawl that stops early keeps its count
        curve[navigator.memory.visits - 1 :] = navigator.memory.relevant_found
        if visit.failure:
            failures[visit.failure] += 1
        progress(plan.agent, 1)

    begin = time.perf_counter()
    outcome = run_simulated(opened.crawl(navigator, note).run(opened.seeds))
    return curve, outcome.pages, time.perf_counter() - begin
