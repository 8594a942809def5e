"""Plot a comparison; importing this module needs the extra "plots"."""

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from honeyguide.bench.compare import Comparison


def draw_curves(comparison: Comparison, path: Path) -> None:
    """Plot relevant pages against pages fetched: mean of the runs, band from least to most."""
    figure = Figure(figsize=(8, 5), layout="constrained")
    axes = figure.subplots()
    drawn = list(comparison.runs)
    if comparison.oracle is not None and comparison.oracle not in drawn:
        drawn.append(comparison.oracle)
    for runs in sorted(drawn, key=lambda runs: -float(np.mean(runs.relevant))):
        pages = np.arange(1, runs.curves.shape[1] + 1)
        style = "--" if runs.agent == "oracle" else "-"
        (line,) = axes.plot(pages, runs.curves.mean(axis=0), style, label=runs.agent)
        lowest, highest = runs.curves.min(axis=0), runs.curves.max(axis=0)
        axes.fill_between(pages, lowest, highest, alpha=0.2, color=line.get_color(), linewidth=0)
    axes.set(xlabel="pages fetched", ylabel="relevant pages", title=comparison.plan.topic)
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))  # pages are whole
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, format="png", dpi=100)
