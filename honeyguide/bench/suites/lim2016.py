"""Document 002: ways through a graph, and whether a link deserves to be fetched at all."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from honeyguide.bench.page import Page, percent
from honeyguide.bench.plots import curves
from honeyguide.bench.results import Results
from honeyguide.bench.suite import Entry, Part, Suite, Task, Trial

SIZES = (5, 50, 500)  # iterations of section 7.3.1
# pages -> links waiting breadth-first, in modified depth-first; seconds of both, on the live web
PUBLISHED = {
    5: (1205, 923, 65.6, 47.4),
    50: (9522, 6096, 535.2, 411.1),
    500: (68_615, 26_864, 4459.3, 1881.0),
}
BOUNDED = "host_limited_depth_first, 1,500 waiting"
WAYS = (
    Entry(name="breadth_first", agent="breadth_first"),
    Entry(name="depth_first", agent="depth_first"),
    Entry(name="host_limited_depth_first", agent="host_limited_depth_first"),
    Entry(name=BOUNDED, agent="beam:agent=host_limited_depth_first,width=1500"),
    Entry(name="iterative_deepening", agent="iterative_deepening"),
    Entry(name="iterative_deepening, 3 a step", agent="iterative_deepening:3"),
    Entry(name="beam of best_first, 500 waiting", agent="beam:agent=best_first,width=500"),
)
DEPARTMENTS = tuple(
    f"http://www.cs.{name}.edu/" for name in ("cornell", "wisc", "utexas", "washington")
)
WEBKB = (
    ("course", "http://www.cs.cornell.edu/"),
    ("student", "http://www.cs.wisc.edu/"),
    ("faculty", "http://www.cs.washington.edu/"),
    ("project", "http://www.cs.utexas.edu/"),
    ("course", "http://www.cs.wisc.edu/"),
)
GENERATED = (("geology", 1), ("baking", 2), ("astronomy", 3), ("birds", 4), ("music", 5))
# of one host each: the gate has little to go by, and must do no harm
ONE_HOST = (
    ("wikispeedia", "Birds", "Dog"),
    ("wikispeedia", "Mathematics", "Germany"),
    ("mdn", "WebRTC", "Web"),
    ("mdn", "WebGL", "Web"),
)
GATE, Q = "parse_or_skip", "parse_or_skip_q"
AGENTS = ("breadth_first", "best_first", "guide")
# results on these changed a setting; those of others were seen only afterwards
TUNED = {
    *(f"{label} from {seed.split('.')[2]}" for label, seed in WEBKB),
    "geology on web 1",
    "astronomy on web 3",
    "birds on web 4",
    "Mathematics of wikispeedia",
}


def _tasks(quick: bool) -> list[Task]:
    kb = [
        Task(
            name=f"{label} from {seed.split('.')[2]}",
            web="webkb",
            topic=label,
            judge=f"label:{label}",
            seeds=(seed,),
            budget=400 if quick else 2000,
        )
        for label, seed in WEBKB
    ]
    made = [
        Task(
            name=f"{topic} on web {seed}",
            web=f"synthetic:pages={3000 if quick else 20_000},seed={seed}",
            topic=topic,
            judge=f"label:{topic}",
            seeds=(topic,),
            budget=300 if quick else 2000,
        )
        for topic, seed in GENERATED
    ]
    return [*kb[:1], *made[:1]] if quick else [*kb, *made]


def _one_host(quick: bool) -> list[Task]:
    tasks = [
        Task(
            name=f"{label} of {web}",
            web=web,
            topic=label,
            judge=f"label:{label}",
            seeds=(seed,),
            budget=300 if quick else 1000,
        )
        for web, label, seed in ONE_HOST
    ]
    return tasks[:1] if quick else tasks


def _gated(agents: Sequence[str], gates: Sequence[str]) -> list[Entry]:
    bare = [Entry(name=agent, agent=agent) for agent in agents]
    return [
        entry if gate == "none" else replace(entry, name=f"{entry.name} + {gate}", gate=gate)
        for entry in bare
        for gate in ("none", *gates)
    ]


def _ways(quick: bool) -> list[Trial]:
    sizes = SIZES[:2] if quick else SIZES
    webs: list[tuple[str, str, tuple[str, ...]]] = [
        ("synthetic:pages=20000,seed=1", "geology", ("geology",))
    ]
    if not quick:
        webs += [
            ("synthetic:pages=20000,seed=2", "geology", ("geology",)),
            ("webkb", "course", DEPARTMENTS),
        ]
    tasks = [
        Task(
            name=f"{size} pages of {web}",
            web=web,
            topic=topic,
            judge=f"label:{topic}",
            seeds=seeds,
            budget=size,
        )
        for web, topic, seeds in webs
        for size in sizes
    ]
    return [Trial(part="ways", task=task, entry=entry) for task in tasks for entry in WAYS]


def _all(part: str, tasks: Sequence[Task], entries: Sequence[Entry]) -> list[Trial]:
    return [Trial(part=part, task=task, entry=entry) for task in tasks for entry in entries]


def _features(quick: bool) -> list[Trial]:
    gates = (GATE, Q, f"{GATE}:printed=yes", f"{Q}:printed=yes", "parse_or_skip_document")
    return _all("features", _tasks(quick), _gated(AGENTS[:1], gates))


# --------------------------------------------------------------------------- report


def _report(results: Results, page: Page) -> dict[str, Any]:
    page.text(
        "Two questions: in which order to go through an unknown graph with little memory, and "
        "whether a link deserves to be fetched. Relevant is a page with the task's label."
    )
    headline: dict[str, Any] = {}
    if results.tasks("ways"):
        headline["ways"] = _report_ways(results, page)
    for part, title in (
        ("gate", "Parse or skip, on webs of many hosts"),
        ("one_host", "Parse or skip, on webs of one host"),
    ):
        if results.tasks(part):
            headline[part] = _report_gate(results, page, part, title)
    if results.tasks("features"):
        headline["features"] = _report_features(results, page)
    return headline


def _report_ways(results: Results, page: Page) -> dict[str, Any]:
    page.heading("Ways through a graph")
    page.text(
        "The document's table of section 7.3.1 is of the live web, where a page has far more "
        "links, and counts a link each time that it is found; ours counts it once."
    )
    page.table(
        ["pages", "breadth-first: waiting", "modified depth-first", "ratio", "seconds", "seconds"],
        [[n, b, d, d / b, bs, ds] for n, (b, d, bs, ds) in PUBLISHED.items()],
    )
    for task in results.tasks("ways"):
        rows = [
            [name, *(_only(results, task, name, what) for what in WAY_COLUMNS)]
            for name in results.entries("ways", task)
        ]
        page.text(f"**{task}**")
        page.table(["agent", *WAY_COLUMNS.values()], rows)
    return {
        task: {
            name: {
                "waiting": _against(results, task, name, "most_waiting"),
                "hosts": _against(results, task, name, "all_hosts"),
            }
            for name in ("host_limited_depth_first", BOUNDED)
        }
        for task in results.tasks("ways")
        if task.startswith("500")
    }


WAY_COLUMNS = {
    "pages": "pages",
    "most_waiting": "most waiting",
    "all_hosts": "hosts",
    "relevant": "relevant",
    "frontier_megabytes": "frontier, MB",
    "seconds": "seconds",
}


def _only(results: Results, task: str, entry: str, what: str) -> float:
    return results.mean("ways", task, entry, what)


def _against(results: Results, task: str, entry: str, what: str) -> float:
    base = _only(results, task, "breadth_first", what)
    return round(_only(results, task, entry, what) / base, 3)


def needed(results: Results, part: str, task: str, entry: str, base: str) -> float:
    """Pages for what the base found with its whole budget, as a share of the pages it took."""
    runs, others = results.runs(part, task, entry), results.runs(part, task, base)
    if not runs or not others or not others[0]["hits"]:
        return float("nan")
    target, hits = len(others[0]["hits"]), runs[0]["hits"]
    if len(hits) < target:
        return float("inf")
    return float(hits[target - 1] / others[0]["hits"][-1])


def _report_gate(results: Results, page: Page, part: str, title: str) -> dict[str, Any]:
    page.heading(title)
    page.text(
        "Pages needed with the gate to find as many relevant ones as without it in the whole "
        "budget, less those needed without it; beside it the document's three criteria (5.4): "
        "URLs parsed, pages parsed and the mean relevance of parsed pages, at the end of the "
        "budget. Settings were chosen while looking at "
        f"{', '.join(sorted(TUNED))}; the others were looked at only afterwards."
    )
    headline: dict[str, Any] = {}
    for agent in AGENTS:
        gated = f"{agent} + {GATE}"
        rows = [_gate_row(results, part, task, agent, gated) for task in results.tasks(part)]
        page.text(f"**{agent}**")
        page.table(
            ["task", "relevant", "with the gate", "pages needed", "URLs", "with the gate",
             "pages", "with the gate", "mean relevance", "with the gate"],
            rows,
        )  # fmt: skip
        shares = [needed(results, part, task, gated, agent) for task in results.tasks(part)]
        known = [share for share in shares if not np.isnan(share)]
        headline[agent] = {
            "worst": _change(max(known, default=float("nan"))),
            "median": _change(float(np.median(known)) if known else float("nan")),
        }
        page.text(
            f"Pages needed: {headline[agent]['median']} in the median task,"
            f" {headline[agent]['worst']} in the worst."
        )
    entries = [name for agent in AGENTS for name in (agent, f"{agent} + {GATE}")]
    page.figure(
        f"{part}-curves.png", "relevant pages against pages", curves(results, part, entries)
    )
    return headline


def _gate_row(results: Results, part: str, task: str, agent: str, gated: str) -> list[object]:
    def both(what: str) -> list[object]:
        return [results.mean(part, task, agent, what), results.mean(part, task, gated, what)]

    change = _change(needed(results, part, task, gated, agent))
    found, urls, pages, relevance = map(both, ("relevant", "urls", "pages", "mean_relevance"))
    return [task, *found, change, *urls, *pages, *relevance]


def _change(share: float) -> str:
    if np.isnan(share):
        return "–"
    return "more than the budget" if np.isinf(share) else f"{share - 1:+.0%}"


def _report_features(results: Results, page: Page) -> dict[str, Any]:
    page.heading("Features as printed and as corrected, three solvers; breadth_first")
    gates = [name for name in results.entries("features") if name != "breadth_first"]
    page.table(
        ["task", *(name.removeprefix("breadth_first + ") for name in gates)],
        [
            [task, *(_change(needed(results, "features", task, g, "breadth_first")) for g in gates)]
            for task in results.tasks("features")
        ],
    )
    return {
        gate: percent(
            float(
                np.median(
                    [
                        needed(results, "features", task, gate, "breadth_first")
                        for task in results.tasks("features")
                    ]
                )
            )
        )
        for gate in gates
    }


SUITE = Suite(
    name="lim2016",
    version=1,
    title="Ways through a graph, and parse or skip",
    source="Document 002: Reinforcement Learning and the Web Crawling Problem, 2016.",
    parts=(
        Part(name="ways", trials=_ways),
        Part(
            name="gate", trials=lambda quick: _all("gate", _tasks(quick), _gated(AGENTS, (GATE,)))
        ),
        Part(
            name="one_host",
            trials=lambda quick: _all("one_host", _one_host(quick), _gated(AGENTS, (GATE,))),
        ),
        Part(name="features", trials=_features),
    ),
    report=_report,
)
