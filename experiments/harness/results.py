"""Finished runs of an experiment, by part, task and entry."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from experiments.harness.experiment import Trial
from experiments.harness.ledger import Record
from experiments.harness.ratios import Interval, bootstrap, ratio
from experiments.harness.trials import points
from honeyguide.bench.report import spread

Floats = list[float]
# fields that identify a run or are reported elsewhere: no mean is taken of them
NOT_AVERAGED = ("trial", "repeat", "random_seed", "budget", "relevant", "part_version")
FROM_FIRST_RUN = ("web", "histograms")  # equal in all runs, or too large to store for each


@dataclass(frozen=True)
class Results:
    """The records of an experiment's own trials among all that are stored."""

    trials: Sequence[Trial]
    records: Sequence[Record]

    @cached_property
    def _by_place(self) -> dict[tuple[str, str, str], list[Record]]:
        wanted = {trial.digest for trial in self.trials}
        found: dict[tuple[str, str, str], list[Record]] = {}
        for record in self.records:
            if record["digest"] in wanted:
                place = record["part"], record["task"], record["entry"]
                found.setdefault(place, []).append(record)
        for runs in found.values():
            runs.sort(key=lambda record: (record["trial"], record["repeat"]))
        return found

    def tasks(self, part: str) -> list[str]:
        """List the tasks of a part that have results, in their order."""
        names = dict.fromkeys(t.task.name for t in self.trials if t.part == part)
        return [name for name in names if self.entries(part, name)]

    def entries(self, part: str, task: str | None = None) -> list[str]:
        """List the entries that have results on a task, or on any task, in their order."""
        names = dict.fromkeys(t.entry.name for t in self.trials if t.part == part)
        there = {e for p, t, e in self._by_place if p == part and task in (None, t)}
        return [name for name in names if name in there]

    def runs(self, part: str, task: str, entry: str) -> list[Record]:
        """List the runs of an entry on a task."""
        return self._by_place.get((part, task, entry), [])

    def found(self, part: str, task: str, entry: str, what: str = "relevant") -> Floats:
        """List one figure of each run."""
        return [float(run[what]) for run in self.runs(part, task, entry)]

    def mean(self, part: str, task: str, entry: str, what: str = "relevant") -> float:
        """Return the mean of a figure over runs; NaN if there is none."""
        numbers = self.found(part, task, entry, what)
        return float(np.mean(numbers)) if numbers else float("nan")

    def curve(self, part: str, task: str, entry: str) -> tuple[list[int], Floats]:
        """Return numbers of pages, and the mean of relevant pages found within each."""
        runs = self.runs(part, task, entry)
        mean = np.mean([run["curve"] for run in runs], axis=0)
        return points(runs[0]["budget"]), mean.tolist()

    def web(self, part: str, task: str) -> dict[str, int]:
        """Return the counts of pages of a task's web; empty if the oracle has not run."""
        runs = self.runs(part, task, "oracle")
        facts: dict[str, int] = runs[0]["web"] if runs else {}
        return facts

    def interval(
        self, part: str, entry: str, base: str | Callable[[str], str], what: str = "relevant"
    ) -> Interval | None:
        """Compare with a baseline, or one chosen for each task, over the tasks that both ran."""
        pairs = []
        for task in self.tasks(part):
            other = base if isinstance(base, str) else base(task)
            pair = self.found(part, task, entry, what), self.found(part, task, other, what)
            if all(pair):
                pairs.append(pair)
        return bootstrap(pairs, np.random.default_rng(0)) if pairs else None

    def ratio(self, part: str, task: str, entry: str, base: str) -> float:
        """Return the ratio of two entries' means on one task."""
        found, other = self.found(part, task, entry), self.found(part, task, base)
        return ratio(found, other) if found and other else float("nan")

    def of_part(self, part: str) -> list[Record]:
        """List all runs of a part."""
        return [run for place, runs in self._by_place.items() if place[0] == part for run in runs]

    def figures(self) -> dict[str, Any]:
        """Return all figures as data, by part, task and entry."""
        out: dict[str, Any] = {}
        for (part, task, entry), runs in self._by_place.items():
            place = out.setdefault(part, {}).setdefault(task, {})
            place[entry] = _figures(runs, self.web(part, task), self.mean(part, task, "oracle"))
        return out

    def complete(self, part: str) -> tuple[int, int]:
        """Count the stored runs of a part, and the runs that it has in all."""
        asked = sum(trial.repeats for trial in self.trials if trial.part == part)
        return len(self.of_part(part)), asked


def _figures(runs: Sequence[Record], web: dict[str, int], oracle: float) -> dict[str, Any]:
    relevant = [run["relevant"] for run in runs]
    mean = float(np.mean(relevant))
    total = web.get("relevant_reachable")
    figures = {
        "relevant": relevant,
        "mean": round(mean, 2),
        "sd": round(spread(relevant), 2),
        "oracle_share": round(mean / oracle, 4) if oracle > 0 else None,
        "recall": round(mean / total, 4) if total else None,
        "budget": runs[0]["budget"],
        "random_seeds": [run["random_seed"] for run in runs],
    }
    figures |= {name: _mean(runs, name) for name in _numbers(runs) if name not in NOT_AVERAGED}
    shown = {name: runs[0][name] for name in FROM_FIRST_RUN if name in runs[0]}
    return figures | shown


def _numbers(runs: Sequence[Record]) -> list[str]:
    """List the fields that are a number in every run."""
    names = runs[0].keys() if runs else ()
    return [n for n in names if all(isinstance(run.get(n), int | float) for run in runs)]


def _mean(runs: Sequence[Record], what: str) -> float:
    return round(float(np.mean([run[what] for run in runs])), 3)
