"""Write a comparison as report.md, curves.png and results.json."""

import json
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from honeyguide.bench.compare import Comparison, Runs
from honeyguide.text.words import counted
from honeyguide.version import VERSION

POINTS = 200  # most points of a curve in results.json
REPORT, CURVES, RESULTS = FILES = ("report.md", "curves.png", "results.json")


def write_report(comparison: Comparison, out: Path, command: str) -> list[Path]:
    """Write the report into a folder and return its files; without matplotlib, no curves."""
    out.mkdir(parents=True, exist_ok=True)
    has_curves = draw(comparison, comparison.plan.topic, out / CURVES)
    (out / REPORT).write_text(as_markdown(comparison, command, has_curves))
    (out / RESULTS).write_text(json.dumps(as_results(comparison, command), indent=1) + "\n")
    return [out / name for name in FILES if has_curves or name != CURVES]


def draw(comparison: Comparison, title: str, path: Path) -> bool:
    """Draw the curves and return True; without matplotlib, remove the file of an earlier report."""
    if find_spec("matplotlib") is None:
        path.unlink(missing_ok=True)
        return False
    from honeyguide.bench.plots import draw_curves  # noqa: PLC0415 needs the extra "plots"

    draw_curves(comparison, title, path)
    return True


def as_results(comparison: Comparison, command: str) -> dict[str, Any]:
    """Return everything that was measured as data for JSON."""
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


def spread(numbers: Sequence[float]) -> float:
    """Return the sample standard deviation; 0 for a single run."""
    return float(np.std(numbers, ddof=1)) if len(numbers) > 1 else 0.0


def as_markdown(comparison: Comparison, command: str, has_curves: bool) -> str:
    """Return the report as Markdown."""
    plan = comparison.plan
    rows = "\n".join(
        f"| {' | '.join(cells(comparison, runs))} |" for runs in best_first(comparison)
    )
    curves = f"![relevant pages against pages fetched]({CURVES})\n\n" if has_curves else ""
    runs = counted(max(len(runs.pages) for runs in comparison.runs), "run")
    return f"""# {plan.topic}: relevant pages among {plan.budget} fetched

World `{plan.world}`, judge `{plan.judge}`, from {", ".join(plan.seeds)}; {runs} each.

| agent | relevant, mean | sd | share of the oracle | pages | seconds a run |
|---|---:|---:|---:|---:|---:|
{rows}

{curves}Made by `{command}` with honeyguide {VERSION}.
"""


def best_first(comparison: Comparison) -> list[Runs]:
    """Return the agents in order of relevant pages found, most first."""
    return sorted(comparison.runs, key=lambda runs: -float(np.mean(runs.relevant)))


def cells(comparison: Comparison, runs: Runs) -> list[str]:
    """Return an agent's row: name, relevant pages, sd, share of the oracle, pages, seconds."""
    return [
        runs.agent,
        f"{np.mean(runs.relevant):.1f}",
        f"{spread(runs.relevant):.1f}",
        percent(comparison.oracle_share(runs)),
        f"{np.mean(runs.pages):.0f}",
        f"{np.mean(runs.seconds):.2f}",
    ]


def percent(share: float | None) -> str:
    """Format a share as a percentage."""
    return "unknown" if share is None else f"{share:.0%}"
