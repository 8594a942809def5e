"""Figures with one small plot for each task."""

from collections.abc import Callable, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from experiments.harness.results import Results

WIDE = 3  # plots in a row
TICKS = 5  # most steps of an axis: labels such as 200,000 must not overlap
Draw = Callable[[Axes, str], None]  # draws the plot of a task


def grid(tasks: Sequence[str], draw: Draw, x: str, y: str) -> Figure:
    """Draw a plot for each task, with one legend for all."""
    wide = min(WIDE, max(1, len(tasks)))
    rows = max(1, -(-len(tasks) // wide))
    width, height = (12, 2.8) if wide > 1 else (8, 4)  # inches, of a row
    figure = Figure(figsize=(width, height * rows + 0.4), layout="constrained")
    all_axes = figure.subplots(rows, wide, squeeze=False).ravel()
    for axes, task in zip(all_axes, tasks, strict=False):
        draw(axes, task)
        axes.set_title(task, fontsize=9)
        axes.tick_params(labelsize=8)
        axes.set_ylim(bottom=0)
        axes.xaxis.set_major_locator(MaxNLocator(TICKS, integer=True))  # no half page or task
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(_number)
        axes.grid(alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
    for axes in all_axes[len(tasks) :]:
        axes.set_axis_off()
    figure.supxlabel(x, fontsize=9)
    figure.supylabel(y, fontsize=9)
    lines, labels = max(
        (axes.get_legend_handles_labels() for axes in all_axes), key=lambda p: len(p[1])
    )
    figure.legend(
        lines,
        labels,
        loc="outside upper center",
        ncols=6 if wide > 1 else 4,
        frameon=False,
        fontsize=8,
    )
    return figure


def _number(value: float, _: object) -> str:
    return f"{value:,.0f}" if value == round(value) else f"{value:g}"


def curves(results: Results, part: str, entries: Sequence[str]) -> Figure:
    """Plot relevant pages against pages fetched."""

    def draw(axes: Axes, task: str) -> None:
        for number, entry in enumerate(entries):
            if results.runs(part, task, entry):
                pages, relevant = results.curve(part, task, entry)
                style = "--" if entry == "oracle" else "-"
                axes.plot(
                    pages, relevant, style, color=f"C{number % 10}", label=entry, linewidth=1.2
                )

    return grid(results.tasks(part), draw, "pages fetched", "relevant pages")


def intervals(results: Results, part: str, entries: Sequence[str]) -> Figure:
    """Plot how many relevant pages fall into each tenth of relevance."""

    def draw(axes: Axes, task: str) -> None:
        there = [entry for entry in entries if results.runs(part, task, entry)]
        for number, entry in enumerate(there):
            runs = [run["intervals"] for run in results.runs(part, task, entry)]
            heights = np.mean(runs, axis=0)
            left = np.arange(len(heights)) + number / (len(there) + 1)
            axes.bar(
                left, heights, 1 / (len(there) + 1), align="edge", label=entry, color=f"C{number}"
            )

    return grid(results.tasks(part), draw, "tenth of relevance", "relevant pages")


def learning(results: Results, part: str, entries: Sequence[str]) -> Figure:
    """Plot relevant pages of each repeat of a task, while the agent keeps what it learnt."""

    def draw(axes: Axes, task: str) -> None:
        for number, entry in enumerate(entries):
            series = by_repeat(results, part, task, entry)
            if len(series) == 1:  # an agent that does not learn
                axes.axhline(series[0], color=f"C{number}", label=entry, linewidth=1.2)
            elif series:
                tasks = range(1, len(series) + 1)
                axes.plot(tasks, series, color=f"C{number}", label=entry, linewidth=1.2)

    return grid(results.tasks(part), draw, "task", "relevant pages")


def by_repeat(results: Results, part: str, task: str, entry: str) -> list[float]:
    """Return the mean of relevant pages over trials, for each repeat."""
    runs = results.runs(part, task, entry)
    repeats = sorted({run["repeat"] for run in runs})
    return [
        float(np.mean([run["relevant"] for run in runs if run["repeat"] == repeat]))
        for repeat in repeats
    ]
