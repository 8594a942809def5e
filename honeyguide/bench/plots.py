"""Plot a comparison; importing this module needs the extra "plots"."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from honeyguide.bench.compare import Comparison, Runs

COLOURS = ("#0b6e4f", "#d1495b", "#edae49", "#30638e", "#8d6a9f", "#5c5c5c")  # in order of agents
ORACLE = "#222222"
GAP = 0.045  # of the height: labels closer than this are moved apart


def draw_curves(comparison: Comparison, title: str, path: Path) -> None:
    """Plot relevant pages against pages fetched: mean of the runs, band of one sd either side."""
    figure = Figure(figsize=(8, 4.6), layout="constrained")
    axes = figure.subplots()
    drawn = _drawn(comparison)
    for runs, colour in zip(drawn, _colours(drawn), strict=True):
        _draw(axes, runs, colour)
    axes.set_title(title, loc="left", fontsize=12, fontweight="bold")
    axes.set(xlabel="pages fetched", ylabel="relevant pages")
    axes.set_xlim(0, comparison.plan.budget)
    axes.set_ylim(bottom=0)
    _label(axes, drawn)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))  # pages are whole
    axes.grid(alpha=0.25)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, format="png", dpi=110)


def draw_link_curves(outlinks: NDArray[np.int64], inlinks: NDArray[np.int64], path: Path) -> None:
    """Plot links of pages against their rank, as figures 4.1 and 4.2 of Pertejo (2021)."""
    figure = Figure(figsize=(8, 3.6), layout="constrained")
    curves = {"inlinks": inlinks, "outlinks": outlinks}
    for axes, (name, counts), colour in zip(
        figure.subplots(1, 2), curves.items(), COLOURS, strict=False
    ):
        axes.plot(np.arange(1, len(counts) + 1), counts, color=colour, linewidth=2.2)
        axes.set_title(name, loc="left", fontsize=12, fontweight="bold")
        axes.set(xlabel="pages, by rank", ylabel="links")
        axes.set_ylim(bottom=0)
        axes.grid(alpha=0.25)
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, format="png", dpi=110)


def _drawn(comparison: Comparison) -> list[Runs]:
    """The agents and the oracle, the best first."""
    drawn = list(comparison.runs)
    if comparison.oracle is not None and comparison.oracle not in drawn:
        drawn.append(comparison.oracle)
    return sorted(drawn, key=lambda runs: -float(np.mean(runs.relevant)))


def _colours(drawn: Sequence[Runs]) -> list[str]:
    names = [runs.agent for runs in drawn if runs.agent != "oracle"]
    chosen = {name: COLOURS[place % len(COLOURS)] for place, name in enumerate(names)}
    return [chosen.get(runs.agent, ORACLE) for runs in drawn]


def _draw(axes: Axes, runs: Runs, colour: str) -> None:
    pages = np.arange(1, runs.curves.shape[1] + 1)
    mean, sd = runs.curves.mean(axis=0), runs.curves.std(axis=0)
    is_oracle = runs.agent == "oracle"
    style, width = ("--", 1.5) if is_oracle else ("-", 2.2)
    axes.plot(pages, mean, style, color=colour, linewidth=width)
    if not is_oracle:  # its band would hide the others'
        axes.fill_between(pages, mean - sd, mean + sd, alpha=0.13, color=colour, linewidth=0)


def _label(axes: Axes, drawn: Sequence[Runs]) -> None:
    """Name each curve at its end, the names apart from one another."""
    height = axes.get_ylim()[1]
    place = np.inf
    for runs, colour in zip(drawn, _colours(drawn), strict=True):
        mean = float(np.mean(runs.relevant))
        place = min(mean, place - GAP * height)
        axes.annotate(
            f"{runs.agent}  {mean:.0f}",
            (runs.curves.shape[1], place),
            xytext=(6, 0),
            textcoords="offset points",
            va="center",
            color=colour,
            fontsize=10,
            fontweight="bold" if runs is drawn[0] or runs.agent == "guide" else "normal",
            annotation_clip=False,
        )
