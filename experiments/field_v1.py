"""guide in the field: webs of many hosts, several start pages, against the guide of 0.2.0."""

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from experiments.field_v1_crawl import BUDGETS, JUDGED, RIDGES
from experiments.harness.experiment import Entry, Experiment, Part, Task, Trial
from experiments.harness.plots import curves
from experiments.harness.ratios import Interval, paired_bootstrap, ratio
from experiments.harness.report_page import Page, cell
from experiments.harness.results import Results
from honeyguide.text.words import counted

BUDGET = BUDGETS[-1]
WEBKB, SCHOOLS = "markup of webkb", "hosts of schools-wiki"
DEPARTMENTS = tuple(
    f"http://www.cs.{name}.edu/" for name in ("cornell", "utexas", "washington", "wisc")
)
_SCHOOLS = "http://schools-wiki.example/wp"  # ids of pages keep the one host of their source
ARTICLES = tuple(
    f"{_SCHOOLS}/{page}.htm" for page in ("index/subject", "e/England", "s/Science", "l/London")
)
FAR = ("music", "weather", "cycling")  # start pages of generated webs, besides the topic's own


def _webkb(label: str, topic: str) -> Task:
    return _task(f"webkb {label}", WEBKB, topic, f"class:{label}", DEPARTMENTS)


def _schools(subject: str, topic: str) -> Task:
    return _task(f"schools {subject}", SCHOOLS, topic, f"subject:{subject}", ARTICLES)


def _synthetic(seed: int, topic: str) -> Task:
    web = f"synthetic:pages=50000,seed={seed}"
    return _task(f"synthetic {seed} {topic}", web, topic, f"topic:{topic}", (topic, *FAR))


def _readable(seed: int, topic: str, sub: str = "") -> Task:
    web = f"readable:pages=30000,seed={seed}"
    label = f"subtopic:{sub}" if sub else f"topic:{topic}"
    return _task(f"readable {seed} {sub or topic}", web, sub or topic, label, (topic, *FAR))


def _task(name: str, web: str, topic: str, label: str, starts: tuple[str, ...]) -> Task:
    judge = f"label:{label}"
    return Task(name=name, web=web, topic=topic, judge=judge, seeds=starts, budget=BUDGET)


# The split: webs and topics on which guide was changed, and those that are reported. It was made
# before any of these tasks had been run.
TASKS = {
    "dev labels": (
        _webkb("student", "student"),
        _webkb("project", "research project"),
        _synthetic(21, "wine"),
        _synthetic(21, "robotics"),
        _readable(21, "baking", "bread"),
        _readable(21, "sailing"),
        _schools("Biology", "biology"),
        _schools("British_History", "British history"),
    ),
    "dev judge": (
        _webkb("project", "research project"),
        _synthetic(22, "cheese"),
        _readable(22, "astronomy", "telescopes"),
        _schools("Music", "music"),
    ),
    "labels": (  # kinds of webs take turns, so that a part of the runs has all of them
        _webkb("course", "course"),
        _synthetic(31, "geology"),
        _readable(31, "birds", "birds of prey"),
        _schools("Physics", "physics"),
        _webkb("faculty", "faculty"),
        _synthetic(32, "aviation"),
        _readable(32, "railways"),
        _schools("Religion", "religion"),
        _synthetic(31, "chess"),
        _readable(32, "pottery", "glazes"),
        _schools("Everyday_life", "everyday life"),
        _synthetic(32, "baking"),
        _readable(31, "gardening"),
    ),
    JUDGED: (
        _webkb("course", "course"),
        _synthetic(32, "photography"),
        _readable(32, "beekeeping", "honey and wax"),
        _schools("Chemistry", "chemistry"),
    ),
}
REPORTED = ("labels", JUDGED)
WITHIN = tuple(f"relevant_{pages}" for pages in BUDGETS)
GUIDE = Entry(name="guide", agent="guide")
BEFORE = Entry(name="guide of 0.2.0", agent="experiments.guide_020:Guide020")
PLAIN = Entry(name="best_first", agent="best_first")


def _trials(part: str, quick: bool) -> list[Trial]:
    tasks = [_short(task) for task in TASKS[part][:1]] if quick else TASKS[part]
    return [
        Trial(
            part=part,
            task=task,
            entry=entry,
            number=number,
            function="experiments.field_v1_crawl:crawl",
        )
        for task in tasks
        for entry in (GUIDE, BEFORE, PLAIN)
        for number in range(_perturbations(task, entry, quick))
    ]


def _perturbations(task: Task, entry: Entry, quick: bool) -> int:
    if quick:
        return 2
    return len(task.seeds) * (1 if entry is PLAIN else len(RIDGES))  # best_first has no variances


def _short(task: Task) -> Task:
    return Task(
        name=task.name,
        web=task.web,
        topic=task.topic,
        judge=task.judge,
        seeds=task.seeds[:2],
        budget=200,
    )


def compared(results: Results, parts: Sequence[str], entry: str, base: str) -> Interval | None:
    """The ratio of two entries' relevant pages, over tasks of these parts and both budgets."""
    pairs = [
        pair
        for part in parts
        for what in WITHIN
        for pair in _pairs(results, part, entry, base, what)
    ]
    return paired_bootstrap(pairs, np.random.default_rng(0)) if pairs else None


def _pairs(
    results: Results, part: str, entry: str, base: str, what: str
) -> list[tuple[list[float], list[float]]]:
    """The runs of two entries on each task of a part, by perturbation: those that both have."""
    found = [
        [
            {run["trial"]: float(run[what]) for run in results.runs(part, task, name)}
            for name in (entry, base)
        ]
        for task in results.tasks(part)
    ]
    both = [(ours, theirs, sorted(ours.keys() & theirs.keys())) for ours, theirs in found]
    return [([o[n] for n in shared], [t[n] for n in shared]) for o, t, shared in both if shared]


def _found(results: Results) -> str:
    against = compared(results, REPORTED, GUIDE.name, BEFORE.name)
    if against is None:
        return ""
    tasks = sum(len(results.tasks(part)) for part in REPORTED)
    return (
        f"guide finds {cell(against)} times as many relevant pages as the guide of 0.2.0 "
        f"(geometric mean over {counted(tasks, 'task')} and both budgets, 95 % interval)."
    )


def _report(results: Results, page: Page) -> dict[str, Any]:
    page.text(
        "A task is run from four start pages, each with prior variances 2 % larger and 2 % "
        "smaller: eight perturbations, the same for both agents. Intervals come from resampling "
        "tasks and, in each, perturbations, both agents' runs together. Relevant is what has the "
        "task's label. In parts with `judge` in their name, agents are told the verdicts of the "
        "default judge instead. Parts that begin with `dev` are those on which guide was changed."
    )
    headline: dict[str, Any] = {}
    page.heading("guide against the guide of 0.2.0")
    rows = []
    for name, parts in {"reported, all": REPORTED, **{part: (part,) for part in TASKS}}.items():
        if all(results.tasks(part) for part in parts):
            against = [compared(results, parts, GUIDE.name, e.name) for e in (BEFORE, PLAIN)]
            rows.append([name, *_by_budget(results, parts), against[0], against[1]])
            headline[name] = against[0]
    within = [f"{pages} pages" for pages in BUDGETS]
    page.table(["tasks", *within, "both", "both, against best_first"], rows)
    for part in TASKS:
        if results.tasks(part):
            _table(results, page, part)
    return headline


def _by_budget(results: Results, parts: Sequence[str]) -> list[Interval | None]:
    """The ratio to the guide of 0.2.0 with each budget."""
    generator = np.random.default_rng(0)
    found = [
        [p for part in parts for p in _pairs(results, part, GUIDE.name, BEFORE.name, what)]
        for what in WITHIN
    ]
    return [paired_bootstrap(pairs, generator) if pairs else None for pairs in found]


def _table(results: Results, page: Page, part: str) -> None:
    page.heading(f"Part {part}")
    columns = [f"{entry} {pages}" for pages in BUDGETS for entry in ("guide", "0.2.0", "ratio")]
    rows = [
        [task, *(figure for what in WITHIN for figure in _row(results, part, task, what))]
        for task in results.tasks(part)
    ]
    page.table(["task", *columns], rows)
    entries = (GUIDE.name, BEFORE.name, PLAIN.name)
    page.figure(f"{part.replace(' ', '-')}.png", f"{part}: curves", curves(results, part, entries))


def _row(results: Results, part: str, task: str, what: str) -> list[float]:
    ours, theirs = (results.found(part, task, e.name, what) for e in (GUIDE, BEFORE))
    if not (ours and theirs):
        return [float("nan")] * 3
    return [float(np.mean(ours)), float(np.mean(theirs)), ratio(ours, theirs)]


EXPERIMENT = Experiment(
    name="field-v1",
    title="guide in the field: webs of many hosts",
    source="Our own: no paper.",
    paper_found="There is no paper: the bar is 1.10 times the guide of 0.2.0.",
    we_found=_found,
    why=(
        "The gain is in the first 500 pages. Within 2,000 both find nearly all relevant links that "
        "they ever see: what is missing was not discovered by either."
    ),
    parts=tuple(Part(name=part, trials=functools.partial(_trials, part)) for part in TASKS),
    report=_report,
)
