"""The crawler of Lim (2016) whole: key phrases, modified depth-first search and the gate."""

import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from experiments.harness.experiment import Entry, Task, Trial
from experiments.harness.report_page import Page
from experiments.harness.results import Results
from honeyguide.assemble import Assembled
from honeyguide.contracts import Gate, Link, MemoryView, Step, Visit
from honeyguide.engine.loop import Crawl, run_simulated
from honeyguide.engine.navigator import Navigator
from honeyguide.plan import Plan

RUN = "experiments.lim2016_composite:run_composite"
# relevance as in §5.2.2; a page is found if any of its key phrases matches, as in §5.1, step 5
SCORE = "keyphrases:low=0.6666666666666666,specific=no,threshold=1e-9"
SIZES = (5, 50, 500)  # iterations, as in §7.3.1
MODIFIED, BREADTH = "host_limited_depth_first", "breadth_first"
LIM = f"{MODIFIED} + parse_or_skip_document"
# no page has a mean relevance of 2/3 by the paper's score: these bounds are within its reach
REACHED = "parse_or_skip:printed=yes,source_bound=0.01,host_bound=0.01,url_bound=0.3"
ENTRIES = (
    Entry(name=BREADTH, agent=BREADTH),
    Entry(name=MODIFIED, agent=MODIFIED),
    Entry(name=LIM, agent=MODIFIED, gate="parse_or_skip_document"),
    Entry(name=f"{MODIFIED} + printed features", agent=MODIFIED, gate="parse_or_skip:printed=yes"),
    Entry(name=f"{MODIFIED} + the same, lower bounds", agent=MODIFIED, gate=REACHED),
    Entry(name=f"{MODIFIED} + parse_or_skip", agent=MODIFIED, gate="parse_or_skip"),
    Entry(name=f"{BREADTH} + parse_or_skip", agent=BREADTH, gate="parse_or_skip"),
    Entry(name="best_first", agent="best_first"),
    Entry(name="guide", agent="guide"),
)
POPULAR = ("travel", "used textbooks", "free", "car", "music")  # printed in §7.3.3, without names
SEARCHES = {
    "synthetic:pages=20000,seed=1": ("geology", "volcanoes", "astronomy"),
    "synthetic:pages=20000,seed=2": ("wine", "botany", "robotics"),
    "webkb": ("homework", "lecture", "exam"),
    "wikispeedia": POPULAR,
}


def composite(quick: bool) -> list[Trial]:
    """List trials of the paper's crawler and of ours, judged by the paper's score."""
    tasks = composite_tasks(quick)
    return [
        Trial(part="composite", task=task, entry=entry, function=RUN)
        for task in tasks
        for entry in ENTRIES
    ]


def composite_tasks(quick: bool) -> list[Task]:
    """List tasks that look for several words, from the pages with most links of each web."""
    webs = list(SEARCHES)[:1] if quick else list(SEARCHES)
    return [
        Task(
            name=f"{', '.join(SEARCHES[web])} in {web}",
            web=web,
            topic=", ".join(SEARCHES[web]),
            judge=SCORE,
            seeds=("hubs",),
            budget=SIZES[1] if quick else SIZES[-1],
        )
        for web in webs
    ]


def plan_of(trial: Trial, world: str, random_seed: int) -> Plan:
    """Return the plan of a trial, with its search words one by one."""
    return Plan(
        topic=trial.task.topic,
        search=SEARCHES[trial.task.web],
        judge=trial.task.judge,
        seeds=trial.task.seeds,
        world=world,
        agent=trial.entry.agent,
        gate=trial.entry.gate,
        budget=trial.task.budget,
        random_seed=random_seed,
    )


def run_composite(trial: Trial, world: str, random_seed: int) -> dict[str, Any]:
    """Crawl and return the criteria of §5.4, at the end and after the paper's iterations."""
    opened = plan_of(trial, world, random_seed).open()
    watch = Watch(opened)
    run_simulated(watch.crawl.run(opened.seeds))
    return watch.figures()


class CountedSkips:
    """A gate that counts what it skips: a skipped link is an iteration without a page."""

    def __init__(self, gate: Gate) -> None:
        self._gate = gate
        self.skipped = 0

    def opens(self, memory: MemoryView, id: int, link: Link, foreseen: float | None) -> bool:
        """As the gate decides."""
        opens = self._gate.opens(memory, id, link, foreseen)
        self.skipped += not opens
        return opens

    def __getattr__(self, name: str) -> Any:
        return getattr(self._gate, name)


class Watch:
    """A crawl, and what it has found and cost after the paper's numbers of iterations."""

    def __init__(self, opened: Assembled, stops_after: float = float("inf")) -> None:
        self.navigator: Navigator = opened.navigator()
        self.gate = CountedSkips(self.navigator.gate)
        self.navigator.gate = cast(Gate, self.gate)
        self.crawl: Crawl = opened.crawl(self.navigator, self._note)
        self._stops_after = stops_after  # iterations
        self._begin = time.perf_counter(), time.process_time()
        self._now: dict[str, float] = dict.fromkeys(self._row(), 0.0)
        self._at = dict.fromkeys(SIZES, self._now)

    def figures(self) -> dict[str, Any]:
        """Return figures at the end, and with the number of iterations after their names."""
        found = dict(self._now)
        for size, row in self._at.items():
            found |= {f"{name}_{size}": value for name, value in row.items()}
        pages = max(self._now["pages"], 1)
        return found | {
            "mean_relevance": round(self._now["relevance"] / pages, 4),
            "urls": len(self.navigator.memory),
            "waiting": len(self.navigator.frontier),
        }

    def _note(self, visit: Visit, step: Step, now: float) -> None:
        relevance = self._now["relevance"] + step.verdict.relevance
        self._now = self._row() | {"relevance": round(relevance, 4)}
        for size in SIZES:
            if self._now["iterations"] <= size:
                self._at[size] = self._now
        if self._now["iterations"] >= self._stops_after:
            self.crawl.stop("enough iterations")

    def _row(self) -> dict[str, float]:
        memory = self.navigator.memory
        seconds, processor_seconds = self._begin
        return {
            "iterations": memory.visits + self.gate.skipped,
            "pages": memory.visits,
            "relevant": memory.relevant_found,
            "relevance": 0.0,  # sum over pages
            "seconds": round(time.perf_counter() - seconds, 3),
            "processor_seconds": round(time.process_time() - processor_seconds, 3),
        }


COLUMNS = {
    "iterations": "iterations",
    "pages": "pages parsed",
    "urls": "URLs parsed",
    "relevant": "pages with a match",
    "relevance": "sum of relevance",
    "mean_relevance": "mean relevance",
    "processor_seconds": "processor seconds",
}


def report_composite(results: Results, page: Page) -> dict[str, Any]:
    """Write the criteria of §5.4 for each task, and what each entry finds in as many iterations."""
    page.heading("The paper's crawler whole, judged by its own score")
    page.text(
        "Modified depth-first search with the paper's gate, judged by the mean similarity of a "
        "page's key phrases to the search words (§5.2.2: RAKE; similarities below 2/3 count as 0; "
        "no upper bound, no rule of specificity), from the ten pages of a web with most links "
        "(`--seed hubs`). An iteration is a link whose turn has come, fetched or skipped. The "
        "criteria are those of §5.4. *Lower bounds* are 0.01 for hosts and 0.3 for URLs instead "
        "of 2/3, which no page reaches."
    )
    page.text(
        "Taken at its word the paper's gate parses nothing but the seeds. What its crawler gathers "
        "beyond them comes of honeyguide's rule that skipped links return when no other waits, "
        "those with the most promising URLs first: the gate decides nothing, the URLs do."
    )
    headline: dict[str, Any] = {}
    for task in results.tasks("composite"):
        page.text(f"**{task}**")
        page.table(
            ["crawler", *COLUMNS.values(), *_at_columns(results, task)],
            [_row(results, task, entry) for entry in results.entries("composite", task)],
        )
        headline[task] = {
            entry: round(results.mean("composite", task, entry, "relevance"), 3)
            for entry in results.entries("composite", task)
        }
    return headline


def _at_columns(results: Results, task: str) -> list[str]:
    size = _largest(results, task)
    return [f"in {size} iterations: pages", "pages with a match", "sum of relevance"]


def _largest(results: Results, task: str) -> int:
    budget = results.runs("composite", task, BREADTH)[0]["budget"]
    return max(size for size in SIZES if size <= budget)


def _row(results: Results, task: str, entry: str) -> list[object]:
    size = _largest(results, task)
    names: Sequence[str] = [*COLUMNS, *(f"{n}_{size}" for n in ("pages", "relevant", "relevance"))]
    numbers = (results.mean("composite", task, entry, name) for name in names)
    return [entry, *map(_cell, names, numbers)]


def _cell(name: str, number: float) -> object:
    """A mean relevance with four digits: it is small by this score; counts without any."""
    if name == "mean_relevance":
        return f"{number:.4f}"
    return int(number) if number == int(number) else number


def live_plan(plan: Plan, seed: str, port: int) -> Plan:
    """Return the same plan for a web that is served on this machine, one request at a time."""
    return replace(
        plan,
        world="web",
        seeds=(seed,),
        resolve=f"*=127.0.0.1:{port}",
        allow_private=True,
        guard="none",
        delay=0.0,
        patience=0.0,
        in_flight=1,
    )
