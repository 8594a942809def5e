"""A comparison as results.json, report.md and curves.png."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from honeyguide.bench.compare import Comparison, Runs
from honeyguide.text.words import counted
from honeyguide.version import VERSION

POINTS = 200  # of a curve, in results.json


def write_report(comparison: Comparison, out: Path, command: str) -> None:
    """Write all three files into a folder."""
    out.mkdir(parents=True, exist_ok=True)
    results = as_results(comparison, command)
    (out / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    (out / "report.md").write_text(as_markdown(comparison, command))
    draw_curves(comparison, out / "curves.png")


def as_results(comparison: Comparison, command: str) -> dict[str, Any]:
    """Everything that was measured, as data."""
    plan = comparison.plan
    return {
        "agents": {runs.agent: _figures(comparison, runs) for runs in comparison.runs},
        "oracle": None if comparison.oracle is None else comparison.oracle.relevant[0],
        "task": {name: getattr(plan, name) for name in plan.__slots__ if name != "agent"},
        "command": command,
        "version": VERSION,
    }


def _figures(comparison: Comparison, runs: Runs) -> dict[str, Any]:
    share = comparison.oracle_share(runs)
    pages = np.unique(np.linspace(1, runs.curves.shape[1], POINTS).astype(int))
    return {
        "relevant": runs.relevant,
        "mean": round(float(np.mean(runs.relevant)), 2),
        "sd": round(spread(runs.relevant), 2),
        "oracle_share": None if share is None else round(share, 4),
        "pages": round(float(np.mean(runs.pages)), 1),
        "seconds": round(float(np.mean(runs.seconds)), 3),
        "curve": {
            "pages": pages.tolist(),
            "relevant": runs.curves[:, pages - 1].mean(axis=0).round(2).tolist(),
        },
    }


def spread(numbers: list[int]) -> float:
    """The sample's standard deviation, 0 for a single run."""
    return float(np.std(numbers, ddof=1)) if len(numbers) > 1 else 0.0


def as_markdown(comparison: Comparison, command: str) -> str:
    """A page to read."""
    plan = comparison.plan
    rows = "\n".join(
        f"| {' | '.join(cells(comparison, runs))} |" for runs in best_first(comparison)
    )
    runs = counted(max(len(runs.pages) for runs in comparison.runs), "run")
    return f"""# {plan.topic}: relevant pages among {plan.budget} fetched

World `{plan.world}`, judge `{plan.judge}`, from {", ".join(plan.seeds)}; {runs} each.

| agent | relevant, mean | sd | share of the oracle | pages | seconds a run |
|---|---:|---:|---:|---:|---:|
{rows}

![relevant pages against pages fetched](curves.png)

Made by `{command}` with honeyguide {VERSION}.
"""


def best_first(comparison: Comparison) -> list[Runs]:
    """The agents in the order of what they found."""
    return sorted(comparison.runs, key=lambda runs: -float(np.mean(runs.relevant)))


def cells(comparison: Comparison, runs: Runs) -> list[str]:
    """One agent's row: name, relevant pages, spread, share of the oracle, pages, seconds."""
    return [
        runs.agent,
        f"{np.mean(runs.relevant):.1f}",
        f"{spread(runs.relevant):.1f}",
        percent(comparison.oracle_share(runs)),
        f"{np.mean(runs.pages):.0f}",
        f"{np.mean(runs.seconds):.2f}",
    ]


def percent(share: float | None) -> str:
    """A share as people read it."""
    return "unknown" if share is None else f"{share:.0%}"


def draw_curves(comparison: Comparison, path: Path) -> None:
    """Relevant pages against pages fetched, the mean over runs in a band from least to most."""
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
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))  # there is no half page
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, format="png", dpi=100)
