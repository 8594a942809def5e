"""Figures of experiment liao2022, numbered as in Liao & Chang (2022)."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.harness.results import Results

Runs = Sequence[dict[str, Any]]


def numbers(runs: Runs, *path: str) -> list[float]:
    """List the number that each run has under nested keys."""
    found = []
    for run in runs:
        value: Any = run
        for key in path:
            value = value[key]
        found.append(float(value))
    return found


def mean(runs: Runs, *path: str) -> float:
    """Return the mean over runs of a number under nested keys."""
    return float(np.mean(numbers(runs, *path)))


def recall_by_epoch(results: Results, task: str, name: str) -> Figure:
    """Plot figure 5: recall after one, two and three clicks, by epoch of pre-training."""
    figure, axes = _empty("epochs of pre-training", "share of TESW sites found")
    curve = _curve(results.runs("finder", task, name), "epochs")
    for place, clicks in ((1, "one click"), (2, "two clicks"), (3, "three clicks")):
        axes.plot(curve[:, 0], curve[:, place], label=clicks)
    axes.legend()
    return figure


def first_by_epoch(results: Results, task: str, names: Sequence[str]) -> Figure:
    """Plot figure 7: first-click accuracy by epoch, for each kind of reward."""
    figure, axes = _empty("epochs of pre-training", "first click right, TESW")
    for name in names:
        curve = _curve(results.runs("finder", task, name), "epochs")
        label = "the scorer gives the reward" if name == "scorer as reward" else "labels do"
        axes.plot(curve[:, 0], curve[:, 1], label=label)
    axes.legend()
    return figure


def first_by_site(results: Results, task: str, name: str) -> Figure:
    """Plot figure 9: first-click accuracy by site of fine-tuning, for each run."""
    figure, axes = _empty("sites of fine-tuning", "first click right, TESW")
    for run in results.runs("finder", task, name):
        before = [0, run["before"]["tesw adaptive"]["first"]]
        points = np.array([before, *(row[:2] for row in run["curves"]["sites"])])
        axes.plot(points[:, 0], points[:, 1], label=f"run {run['trial'] + 1}")
    axes.legend()
    return figure


def steps(results: Results, task: str, ways: Sequence[str]) -> Figure:
    """Plot figures 6 and 10: adaptive and fixed steps, before and after fine-tuning."""
    figure, axes = _empty("", "source pages a click, Mixed")
    runs = results.runs("finder", task, results.entries("finder", task)[0])
    for offset, when in ((-0.2, "before"), (0.2, "after")):
        heights = [mean(runs, when, f"mixed {way}", "precision") for way in ways]
        axes.bar(np.arange(len(ways)) + offset, heights, 0.38, label=f"{when} fine-tuning")
    axes.set_xticks(range(len(ways)), ways)
    axes.legend()
    return figure


def layout(runs_of: Mapping[str, Runs]) -> Figure:
    """Plot figure 8: with and without the auxiliary task, before fine-tuning."""
    figure, axes = _empty("", "source pages a click, Mixed")
    for place, runs in enumerate(runs_of.values()):
        axes.bar(place, mean(runs, "before", "mixed adaptive", "precision"), 0.5)
    axes.set_xticks(range(len(runs_of)), list(runs_of))
    return figure


def _empty(below: str, beside: str) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(6, 3.5), layout="constrained")
    axes = figure.subplots()
    axes.set_xlabel(below)
    axes.set_ylabel(beside)
    return figure, axes


def _curve(runs: Runs, which: str) -> "np.ndarray[Any, np.dtype[np.float64]]":
    """Return the mean curve of the runs."""
    points = np.array([run["curves"][which] for run in runs], np.float64)
    curve: np.ndarray[Any, np.dtype[np.float64]] = points.mean(axis=0)
    return curve
