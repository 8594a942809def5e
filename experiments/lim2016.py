"""Lim (2016): orders of traversal that need little memory, and whether to fetch a link at all."""

from statistics import mean
from typing import Any

from experiments.harness.experiment import Entry, Experiment, Part, Task, Trial
from experiments.harness.report_page import Page
from experiments.harness.results import Results
from experiments.lim2016_composite import (
    LIM,
    MODIFIED,
    SIZES,
    composite,
    report_composite,
)
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
from experiments.lim2016_policy import report_policy
from experiments.lim2016_time import PUBLISHED, live, loops, pairs, report_time, time_ratios

WEBS = (1, 2, 3, 4, 5)  # random seeds of generated webs; only the first has all sizes
BOUNDED = "host_limited_depth_first, 1,500 waiting"
WAYS = (
    Entry(name="breadth_first", agent="breadth_first"),
    Entry(name="depth_first", agent="depth_first"),
    Entry(name="host_limited_depth_first", agent="host_limited_depth_first"),
    Entry(name=BOUNDED, agent="beam:agent=host_limited_depth_first,width=1500"),
    Entry(name="iterative_deepening", agent="iterative_deepening"),
    Entry(name="iterative_deepening, 3 a step", agent="iterative_deepening:3"),
    Entry(name="iterative_deepening, at most 3 deep", agent="iterative_deepening:deepest=3"),
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

PAPER_FOUND = (
    "A modified depth-first search keeps fewer links waiting than breadth-first search "
    "(26,864 against 68,615 after 500 pages of the live web) and takes less "
    "time (1,881 s against 4,459 s); policy iteration over 16 states says to skip every "
    "page, whatever the penalty and the discount."
)
WHY = (
    "The paper's seconds follow the size of the pages that each order happened "
    "to visit, 51 to 70 ms for each waiting link, and are spent on requests and on comparing "
    "phrases one pair at a time, not on the order; and its reward counts features, so that "
    "relevance has no part in its policy."
)


def we_found(results: Results) -> str:
    """Say in a sentence what our runs show, with their figures."""
    said = [_found_in_lists(results), _found_in_time(results), _found_by_composite(results)]
    sentence = "; ".join(filter(None, said))
    return f"{sentence[:1].upper()}{sentence[1:]}." if sentence else ""


def _found_in_lists(results: Results) -> str:
    ratios = list(_list_ratios(results).values())
    if not ratios:
        return ""
    return (
        "counted as the paper counts, its stack holds "
        f"{min(ratios):.2f} to {max(ratios):.2f} of what its queue holds after {SIZES[-1]} pages"
    )


def _found_in_time(results: Results) -> str:
    ratios = time_ratios(results)
    if not ratios:
        return ""
    return (
        f"it takes {min(ratios):.1f} to {max(ratios):.1f} times the processor seconds for as many "
        "iterations"
    )


def _found_by_composite(results: Results) -> str:
    names = (LIM, MODIFIED, "guide")
    tasks = results.tasks("composite")
    sums = [sum(results.mean("composite", task, n, "relevance") for task in tasks) for n in names]
    if not tasks or not all(total > 0 for total in sums):
        return ""
    return (
        "its gate, taken at its word, parses nothing but the seeds, while with our rule that "
        "skipped links may return its whole crawler gathers "
        f"{sums[0] / sums[1]:.1f} times the relevance, by its own score, of its search without "
        f"the gate in as many pages, and `guide` {sums[2] / sums[1]:.1f} times"
    )


def _list_ratios(results: Results) -> dict[str, float]:
    """The links that wait in the paper's stack against its queue, on tasks of most pages."""
    waiting = {
        task: [results.mean("lists", task, name, "waiting") for name in ("queue", "stack")]
        for task in results.tasks("lists")
        if task.startswith(f"{SIZES[-1]} pages")
    }
    return {task: stack / queue for task, (queue, stack) in waiting.items()}


def _report(results: Results, page: Page) -> dict[str, Any]:
    page.text(
        "Two questions: in which order to go through an unknown graph with little memory, and "
        "whether a link deserves to be fetched. Relevant is a page with the task's label, except "
        "where the paper's own score judges."
    )
    headline: dict[str, Any] = {}
    if results.tasks("ways"):
        headline["ways"] = _report_ways(results, page)
    if results.tasks("lists"):
        headline["lists"] = _report_lists(results, page)
    if results.tasks("composite"):
        headline["composite"] = report_composite(results, page)
    if results.tasks("time"):
        headline["time"] = report_time(results, page)
    headline["policy"] = report_policy(page)
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
    "processor_seconds": "processor seconds",
    "seconds": "wall seconds",
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
    paper_found=PAPER_FOUND,
    we_found=we_found,
    why=WHY,
    parts=(
        Part(name="ways", trials=_ways),
        Part(name="lists", trials=_lists),
        Part(name="composite", trials=composite),
        Part(name="time", trials=loops),
        Part(name="pairs", trials=pairs),
        Part(name="live", trials=live),
        Part(name="gate", trials=lambda quick: gated("gate", many_hosts(quick), AGENTS, (GATE,))),
        Part(
            name="one_host",
            trials=lambda quick: gated("one_host", one_host(quick), AGENTS, (GATE,)),
        ),
        Part(name="features", trials=_features),
    ),
    report=_report,
)
