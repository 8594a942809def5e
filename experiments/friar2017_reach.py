"""What optimal values depend on: why learnt values of the generated web do not separate."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.friar2017_walks import GAMMA
from experiments.harness.experiment import Trial
from experiments.harness.report_page import Page
from experiments.harness.results import Results
from honeyguide.contracts import Vector
from honeyguide.learning.optimal import optimal_values
from honeyguide.plan import Plan
from honeyguide.urls.spelling import host

PART, FUNCTION = "reach", "experiments.friar2017_reach:reach"
LINKS = (1, 6, 22, 67)  # classes of the number of links: none, and quartiles of table B.1


def explained(groups: Sequence[Any] | NDArray[Any], values: Vector) -> float:
    """Share of the variance of values that the mean of the others of a group explains.

    A value is guessed from the other members of its group, so that it is below 0 for groups that
    mean nothing. Values that are alone in their group are left out.
    """
    _, group = np.unique(np.asarray(groups), return_inverse=True)
    sizes, sums = np.bincount(group), np.bincount(group, values)
    some = sizes[group] > 1
    guessed = (sums[group] - values)[some] / (sizes[group][some] - 1)
    spread = ((values[some] - values[some].mean()) ** 2).sum()
    return float(1 - ((values[some] - guessed) ** 2).sum() / spread)


def reach(trial: Trial, world: str, random_seed: int) -> dict[str, Any]:
    """Count optimal values, and what explains those of pages that are no targets."""
    task = trial.task
    truth = (
        Plan(topic=task.topic, seeds=task.seeds, world=world, judge=task.judge).open().world.truth()
    )
    assert truth.url is not None  # noqa: S101 for the type checker
    values = optimal_values(truth, GAMMA)
    links: NDArray[np.int64] = np.diff(truth.offsets)
    others = np.flatnonzero(~truth.relevant)
    hosts = [host(truth.url(page)) for page in others.tolist()]
    return {
        "relevant": int(truth.relevant.sum()),
        "pages_there": len(values),
        "shares": {f"{level:.2f}": float(np.mean(values == level)) for level in np.unique(values)},
        "by_host": explained(hosts, values[others]),
        "by_links": explained(np.digitize(links[others], LINKS), values[others]),
        "dead_ends": float(np.mean(links[values == 0] == 0)),
    }


def reach_text(results: Results, page: Page, real: dict[str, float] | None) -> None:
    """Write why the histograms of the generated web do not separate."""
    for task in results.tasks(PART):
        run = results.runs(PART, task, results.entries(PART, task)[0])[0]
        shares = ", ".join(f"{share:.0%} have {level}" for level, share in run["shares"].items())
        page.text(
            "**Why these histograms do not separate.** Targets themselves are told apart, but "
            "the values of all other pages lie in one heap, and no agent is to blame. Of "
            f"{run['pages_there']:,} pages (targets: {task}) {shares}. Of the variance of v* among "
            "pages that are no targets, the number of links on a page explains "
            f"{run['by_links']:.0%}, the other pages of its host {max(0, run['by_host']):.0%}: "
            f"{run['dead_ends']:.0%} of the pages with value 0 are dead ends, and which pages are "
            "dead ends is drawn by chance. A URL says whose page it is, not how many links it has. "
            + _of_ablation(results)
            + _of_real(real)
        )


def _of_ablation(results: Results) -> str:
    """Compare the separation by a classifier with that by agents that walked."""
    told, walked = "classifier", "whole"
    for task in results.tasks("ablation"):
        runs = [results.runs("ablation", task, name) for name in (told, walked)]
        if all(some and "separation" in some[0] for some in runs):
            by_told, by_walking = (some[0]["separation"] for some in runs)
            return (
                "So a network that is told the values of half of all pages has a rank correlation "
                f"of only {by_told:.2f} with the values of the others, one that walked "
                f"{by_walking:.2f}. "
            )
    return ""


def _of_real(real: dict[str, float] | None) -> str:
    if real is None:
        return ""
    return (
        f"On Friar's real URLs the domain explains {real['by_host']:.0%} and .uk alone "
        f"{real['by_uk']:.0%}: part `companies` below shows what the same networks do there."
    )
