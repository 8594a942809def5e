"""Lim (2016): orders of traversal that need little memory, and whether to fetch a link at all."""

from statistics import mean
from typing import Any

from experiments.harness.experiment import Entry, Experiment, Part, Task, Trial
from experiments.harness.report_page import Page
from experiments.harness.results import Results
from experiments.harness.sentences import times, told
from experiments.lim2016_gate import (
    AGENTS,
    GATE,
    Q,
    change,
    gated,
    many_hosts,
    needed,
    one_host,
    report_gate,
)
from experiments.lim2016_lists import LISTS, QUEUE, STACK

SIZES = (5, 50, 500)  # iterations, as in §7.3.1
WEBS = (1, 2, 3, 4, 5)  # random seeds of generated webs; only the first has all sizes
# live web: pages -> links waiting breadth-first, modified depth-first; seconds of both
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


def _ways(quick: bool) -> list[Trial]:
    tasks = _ways_tasks(quick)
    return [Trial(part="ways", task=task, entry=entry) for task in tasks for entry in WAYS]


def _ways_tasks(quick: bool) -> list[Task]:
    webs: list[tuple[str, str, tuple[str, ...]]] = [
        (f"synthetic:pages=20000,seed={seed}", "geology", ("geology",)) for seed in WEBS
    ]
    webs = webs[:1] if quick else [*webs, ("webkb", "course", DEPARTMENTS)]
    return [
        Task(
            name=f"{size} pages of {web}",
            web=web,
            topic=topic,
            judge=f"label:{topic}",
            seeds=seeds,
            budget=size,
        )
        for number, (web, topic, seeds) in enumerate(webs)
        for size in (SIZES[:2] if quick else SIZES[-1:] if 0 < number < len(WEBS) else SIZES)
    ]


def _lists(quick: bool) -> list[Trial]:
    entries = (Entry(name="queue", agent=QUEUE), Entry(name="stack", agent=STACK))
    return [
        Trial(
            part="lists",
            task=task,
            entry=entry,
            number=number,
            function=LISTS,
        )
        for task in _ways_tasks(quick)
        for entry in entries
        for number in range(1 if quick else 5)
    ]


def _features(quick: bool) -> list[Trial]:
    gates = (GATE, Q, f"{GATE}:printed=yes", f"{Q}:printed=yes", "parse_or_skip_document")
    tasks = many_hosts(quick)
    return gated("features", tasks if quick else tasks[::2], AGENTS[:1], gates)


# --------------------------------------------------------------------------- report


def _report(results: Results, page: Page) -> dict[str, Any]:
    page.text(
        "Two questions: in which order to go through an unknown graph with little memory, and "
        "whether a link deserves to be fetched. Relevant is a page with the task's label."
    )
    headline: dict[str, Any] = {}
    if results.tasks("ways"):
        headline["ways"] = _report_ways(results, page)
    if results.tasks("lists"):
        headline["lists"] = _report_lists(results, page)
    for part, title in (
        ("gate", "Parse or skip, on webs of many hosts"),
        ("one_host", "Parse or skip, on webs of one host"),
    ):
        if results.tasks(part):
            headline[part] = report_gate(results, page, part, title)
    if results.tasks("features"):
        headline["features"] = _report_features(results, page)
    return headline


def _report_ways(results: Results, page: Page) -> dict[str, Any]:
    page.heading("Ways through a graph")
    page.text(
        "The paper's table of section 7.3.1 is of the live web, where a page has far more "
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


def _report_lists(results: Results, page: Page) -> dict[str, Any]:
    page.heading("Waiting links as the paper counts them")
    page.text(
        "The paper's own two loops (§5.1, §6.2): a link waits as often as it is found, links of a "
        "page are pushed in any order, the queue is not checked against visited pages. Means of "
        "five runs that differ in that order."
    )
    rows, headline = [], dict[str, float]()
    for task in results.tasks("lists"):
        waiting, hosts = (
            [results.mean("lists", task, name, what) for name in ("queue", "stack")]
            for what in ("waiting", "all_hosts")
        )
        rows.append([task, *waiting, waiting[1] / waiting[0], *hosts])
        headline[task] = round(waiting[1] / waiting[0], 3)
    page.table(["", "queue", "stack", "ratio", "hosts: queue", "stack"], rows)
    most = [task for task in headline if task.startswith(f"{SIZES[-1]} pages of synthetic")]
    if most:
        headline["generated webs"] = round(mean(headline[task] for task in most), 3)
        page.text(f"The ratio's mean over {len(most)} generated webs: {headline['generated webs']}")
    return headline


def _report_features(results: Results, page: Page) -> dict[str, Any]:
    page.heading("Features as printed and as corrected, three solvers; breadth_first")
    tasks, base = results.tasks("features"), "breadth_first"
    gates = [name for name in results.entries("features") if name != base]
    pairs = {
        gate: [needed(results, "features", task, gate, base) for task in tasks] for gate in gates
    }
    most = results.mean("features", tasks[0], base, "budget")
    page.table(
        ["task", *(name.removeprefix(f"{base} + ") for name in gates)],
        [
            [task, *(change([pairs[gate][place]], most) for gate in gates)]
            for place, task in enumerate(tasks)
        ],
    )
    return {gate: change(pairs[gate], most) for gate in gates}


EXPERIMENT = Experiment(
    name="lim2016",
    title="Ways through a graph, and parse or skip",
    source="Lim (2016): Reinforcement Learning and the Web Crawling Problem.",
    paper_found="Modified depth-first search keeps 0.77, 0.64 and 0.39 times as many links waiting "
    "as breadth-first search after 5, 50 and 500 pages (§7.3.1).",
    we_found=lambda results: told(
        "Counted as the paper counts, over all webs and sizes, times as many links waiting as in "
        "breadth-first search's queue (95 % interval): {}.",
        times(results, "lists", ("stack",), "queue", "waiting"),
    ),
    why="The direction is the same; the paper crawls the live web, whose pages have far more links "
    "than ours.",
    parts=(
        Part(name="ways", trials=_ways),
        Part(name="lists", trials=_lists),
        Part(name="gate", trials=lambda quick: gated("gate", many_hosts(quick), AGENTS, (GATE,))),
        Part(
            name="one_host",
            trials=lambda quick: gated("one_host", one_host(quick), AGENTS, (GATE,)),
        ),
        Part(name="features", trials=_features),
    ),
    report=_report,
)
