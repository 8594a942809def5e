"""What `honeyguide demo` compares: agents on several readable webs, each with its own topic."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from honeyguide.bench.compare import Comparison, Runs
from honeyguide.bench.report import CURVES, REPORT, RESULTS, best_first, draw, percent, spread
from honeyguide.plan import Plan
from honeyguide.version import VERSION
from honeyguide.worlds.readable.vocabulary import EVERYDAY, vocabulary

AGENTS = ("guide", "best_first", "linear_sync", "breadth_first", "oracle")
PAGES = 6000  # of each web
BUDGET = 300  # pages that each agent fetches: one in twenty
TABLE = "table.txt"
COLUMNS = ("agent", "relevant", "sd", "lowest", "highest", "of the oracle")
REASONS = {
    "status 404": "not found",
    "timeout": "timed out",
    "status 500": "server errors",
    "status 410": "gone",
}


def topics() -> tuple[str, ...]:
    """The topics of the readable web; what is everyday is its noise."""
    return tuple(topic.name for topic in vocabulary().topics if topic.family != EVERYDAY)


def tasks(webs: int, budget: int) -> list[Plan]:
    """One task for each web: web number n has seed n and the n-th topic."""
    return [
        Plan(
            topic=topic,
            seeds=(topic,),
            world=f"readable:pages={PAGES},seed={seed}",
            judge=f"label:topic:{topic}",
            budget=budget,
        )
        for seed, topic in enumerate(topics()[:webs], 1)
    ]


def merged(comparisons: Sequence[Comparison]) -> Comparison:
    """One comparison of all webs: each of them counts as a run."""
    together = zip(*(comparison.runs for comparison in comparisons), strict=True)
    runs = {of_agent[0].agent: _merged(of_agent) for of_agent in together}
    return Comparison(comparisons[0].plan, tuple(runs.values()), runs.get("oracle"))


def _merged(runs: Sequence[Runs]) -> Runs:
    return Runs(
        runs[0].agent,
        np.concatenate([each.curves for each in runs]),
        tuple(pages for each in runs for pages in each.pages),
        tuple(seconds for each in runs for seconds in each.seconds),
        sum((each.failures for each in runs), Counter()),
    )


def title(comparison: Comparison) -> str:
    """What the table and the picture show."""
    webs = len(comparison.runs[0].pages)
    return f"Relevant pages among {comparison.plan.budget} fetched, mean of {webs} webs"


def rows(comparison: Comparison) -> list[list[str]]:
    """A row of cells for each agent, the best first."""
    return [
        [
            runs.agent,
            f"{np.mean(runs.relevant):.1f}",
            f"{spread(runs.relevant):.1f}",
            str(min(runs.relevant)),
            str(max(runs.relevant)),
            percent(comparison.oracle_share(runs)),
        ]
        for runs in best_first(comparison)
    ]


def explained() -> str:
    """What the columns mean."""
    return """relevant: pages that the web itself labels as being about the topic
sd, lowest, highest: over the webs
of the oracle: as a share of what a crawler finds that knows every page"""


def failures(comparison: Comparison) -> str:
    """One sentence on how many fetches failed and why."""
    fetches = sum(sum(runs.pages) for runs in comparison.runs)
    failed = comparison.failures
    if not failed:
        return f"None of {fetches:,} fetches failed."
    why = ", ".join(f"{count:,} {REASONS.get(what, what)}" for what, count in failed.most_common())
    return f"{failed.total():,} of {fetches:,} fetches failed: {why}."


def write(comparison: Comparison, plans: Sequence[Plan], table: str, out: Path) -> list[Path]:
    """Write the table, the picture, a report and all figures; return the files."""
    has_curves = draw(comparison, title(comparison), out / CURVES)
    (out / TABLE).write_text(table)
    (out / REPORT).write_text(_as_markdown(comparison, plans, has_curves))
    (out / RESULTS).write_text(json.dumps(figures(comparison, plans), indent=1) + "\n")
    written = [TABLE, REPORT, CURVES, RESULTS]
    return [out / name for name in written if has_curves or name != CURVES]


def figures(comparison: Comparison, plans: Sequence[Plan]) -> dict[str, Any]:
    """Everything that was measured, as data for JSON."""
    return {
        "agents": {
            runs.agent: {
                "relevant": runs.relevant,
                "mean": round(float(np.mean(runs.relevant)), 2),
                "sd": round(spread(runs.relevant), 2),
                "oracle_share": comparison.oracle_share(runs),
                "pages": list(runs.pages),
                "seconds": [round(seconds, 3) for seconds in runs.seconds],
                "failures": dict(runs.failures),
            }
            for runs in comparison.runs
        },
        "tasks": [_task(plan) for plan in plans],
        "command": "honeyguide demo",
        "version": VERSION,
    }


def _task(plan: Plan) -> dict[str, Any]:
    return {key: asdict(plan)[key] for key in ("topic", "seeds", "world", "judge", "budget")}


def _as_markdown(comparison: Comparison, plans: Sequence[Plan], has_curves: bool) -> str:
    named = ", ".join(plan.topic for plan in plans)
    head = f"| {' | '.join(COLUMNS)} |\n|---|{'---:|' * (len(COLUMNS) - 1)}"
    body = "\n".join(f"| {' | '.join(row)} |" for row in rows(comparison))
    lines = explained().replace("\n", "\n- ")
    picture = f"![relevant pages against pages fetched]({CURVES})\n\n" if has_curves else ""
    return f"""# {title(comparison)}

Each web has {PAGES:,} pages and its own topic: {named}.

{head}
{body}

- {lines}

{failures(comparison)}

{picture}Made by `honeyguide demo` with honeyguide {VERSION}.
"""
