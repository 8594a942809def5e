"""What iterations cost: the seconds of Lim (2016, §7.3.1) and ours, recorded and over HTTP."""

import asyncio
import multiprocessing
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from multiprocessing.connection import Connection
from typing import Any

import numpy as np

from experiments.harness.experiment import Entry, Task, Trial
from experiments.harness.report_page import Page
from experiments.harness.results import Results
from experiments.lim2016_composite import (
    BREADTH,
    ENTRIES,
    LIM,
    MODIFIED,
    SIZES,
    Watch,
    composite_tasks,
    live_plan,
    plan_of,
)
from experiments.lim2016_lists import QUEUE, STACK, loop_once
from honeyguide.contracts import Verdict
from honeyguide.recorded.graph import Graph
from honeyguide.registry import make
from honeyguide.text.rake import rake
from honeyguide.text.similarity import Searches
from honeyguide.text.words import terms
from honeyguide.worlds.synthetic.serve import Server
from honeyguide.worlds.synthetic.world import SyntheticWorld

LOOP = "experiments.lim2016_time:run_loop"
LIVE = "experiments.lim2016_time:run_live"
PAIRS = "experiments.lim2016_time:run_pairs"
LATENCY = 0.05  # seconds before each answer of the served web
LONGEST = 120.0  # seconds of a crawl over HTTP
LIVE_ENTRIES = (
    BREADTH,
    MODIFIED,
    LIM,
    f"{BREADTH} + parse_or_skip",
    f"{MODIFIED} + parse_or_skip",
)
COMPARED = 100  # pages whose key phrases are compared one pair at a time
# live web: pages -> links waiting breadth-first, modified depth-first; seconds of both
PUBLISHED = {
    5: (1205, 923, 65.6, 47.4),
    50: (9522, 6096, 535.2, 411.1),
    500: (68_615, 26_864, 4459.3, 1881.0),
}
# all search words that §7.3.3 prints
PRINTED = (
    "jennifer aniston",
    "jessica simpson",
    "emma watson",
    "justin bieber",
    "lisa ann",
    "brooke burke",
    "casey anthony",
    "amanda knox",
    "alexis texas",
    "jenny mccarthy",
    "pamela anderson",
    "jennifer walcott",
    "sarah palin",
    "travel",
    "used textbooks",
    "free",
    "car",
    "music",
)


def loops(quick: bool) -> list[Trial]:
    """List trials of the paper's two loops with its own score."""
    entries = (Entry(name="queue", agent=QUEUE), Entry(name="stack", agent=STACK))
    return [
        Trial(part="time", task=_sized(task, size), entry=entry, function=LOOP)
        for task in composite_tasks(quick)
        for size in SIZES
        if size <= task.budget
        for entry in entries
    ]


def live(quick: bool) -> list[Trial]:
    """List trials on the first web, served over HTTP."""
    task = composite_tasks(quick)[0]
    entries = [entry for entry in ENTRIES if entry.name in LIVE_ENTRIES]
    return [
        Trial(part="live", task=task, entry=entry, function=LIVE)
        for entry in (entries[:2] if quick else entries)
    ]


def pairs(quick: bool) -> list[Trial]:
    """List trials of the paper's comparison of phrases, on recorded webs."""
    entry = Entry(name="pairs", agent=BREADTH)
    tasks = [task for task in composite_tasks(quick=False) if "synthetic" not in task.web]
    return [
        Trial(part="pairs", task=task, entry=entry, function=PAIRS)
        for task in (tasks[:1] if quick else tasks)
    ]


def _sized(task: Task, size: int) -> Task:
    return replace(task, name=f"{size} iterations: {task.name}", budget=size)


def run_loop(trial: Trial, world: str, random_seed: int) -> dict[str, Any]:
    """Run one of the paper's loops with its own score, and return what it cost."""
    plan = plan_of(trial, world, random_seed)
    return loop_once(plan, trial.task.budget, trial.entry.agent == STACK, random_seed)


# --------------------------------------------------------------------------- over HTTP


def run_live(trial: Trial, world: str, random_seed: int) -> dict[str, Any]:
    """Crawl the web over HTTP, where every answer takes a while; only the crawler is measured."""
    settings = world.partition(":")[2]
    with served(settings) as (port, seed):
        plan = live_plan(plan_of(trial, world, random_seed), seed, port)
        return asyncio.run(_crawl_live(replace(plan, max_seconds=LONGEST)))


async def _crawl_live(plan: Any) -> dict[str, Any]:
    opened = plan.open()
    requests = list[str]()
    opened.world.observe(lambda request: requests.append(request.url))
    watch = Watch(opened, stops_after=plan.budget)
    try:
        await watch.crawl.run(opened.seeds)
    finally:
        await opened.world.close()
    return watch.figures() | {"requests": len(requests)}


@contextmanager
def served(settings: str) -> Iterator[tuple[int, str]]:
    """Serve a generated web in a process of its own; yield its port and the page to begin with."""
    here, there = multiprocessing.get_context("spawn").Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_serve, args=(settings, there))
    process.start()
    try:
        yield here.recv()
    finally:
        process.terminate()
        process.join()


def _serve(settings: str, pipe: Connection) -> None:
    asyncio.run(_serve_until_ended(settings, pipe))


async def _serve_until_ended(settings: str, pipe: Connection) -> None:
    numbers = {key: int(value) for key, value in (s.split("=") for s in settings.split(","))}
    web = SyntheticWorld(lambda page: Verdict(0.0, False), numbers["pages"], numbers["seed"])
    async with Server(web, latency=LATENCY) as server:
        pipe.send((server.port, web.hubs(1)[0].url))
        await asyncio.Event().wait()


# --------------------------------------------------------------------------- pairs of phrases


def run_pairs(trial: Trial, world: str, random_seed: int) -> dict[str, Any]:
    """Compare key phrases with search words one pair at a time, as §6.2 does, and all at once."""
    graph = Graph.open(world.removeprefix("graph:"))
    chosen = np.random.default_rng(random_seed).permutation(len(graph))[:COMPARED].tolist()
    texts = [graph.page_without_links(page).text for page in chosen]
    encoder = make("encoder", "wordllama")
    phrases, of_rake = _measured(lambda: [[p.text for p in rake(text)] for text in texts])
    vectors = _word_vectors([*PRINTED, *(p for page in phrases for p in page)], encoder)
    _, one_by_one = _measured(lambda: [_compare(page, vectors) for page in phrases])
    searches = Searches(PRINTED, encoder, specific=False)
    _, at_once = _measured(lambda: [searches.relevance(page) for page in phrases])
    count = sum(map(len, phrases))
    pairs = count * len(PRINTED)
    return {
        "phrases_per_page": round(count / len(texts), 1),
        "rake_milliseconds": round(1e3 * of_rake / len(texts), 3),
        "pair_microseconds": round(1e6 * one_by_one / pairs, 3),
        "pair_microseconds_at_once": round(1e6 * at_once / pairs, 3),
    }


def _measured(work: Any) -> tuple[Any, float]:
    begin = time.process_time()
    return work(), time.process_time() - begin


def _word_vectors(texts: Sequence[str], encoder: Any) -> dict[str, Any]:
    words = sorted({word for text in texts for word in terms(text)})
    return dict(zip(words, encoder(words), strict=True))


def _compare(phrases: Sequence[str], vectors: dict[str, Any]) -> list[float]:
    """The cosine of the mean word vectors, for each phrase and each search word."""
    return [
        _similarity(terms(search), terms(phrase), vectors)
        for phrase in phrases
        for search in PRINTED
    ]


def _similarity(one: Sequence[str], other: Sequence[str], vectors: dict[str, Any]) -> float:
    if not one or not other:
        return 0.0
    means = [np.mean([vectors[word] for word in words], axis=0) for words in (one, other)]
    lengths = [float(np.linalg.norm(mean)) or 1.0 for mean in means]
    return float(np.dot(means[0] / lengths[0], means[1] / lengths[1]))


# --------------------------------------------------------------------------- report


def report_time(results: Results, page: Page) -> dict[str, Any]:
    """Write the paper's seconds, ours for as many iterations, and why they differ."""
    page.heading("What the same iterations cost")
    _report_published(page)
    headline: dict[str, Any] = {"loops": _report_loops(results, page)}
    if results.tasks("pairs"):
        headline["pairs"] = _report_pairs(results, page)
    if results.tasks("live"):
        headline["live"] = _report_live(results, page)
    return headline


def _report_published(page: Page) -> None:
    page.text(
        "The paper's seconds (§7.3.1), one request after the other on the live web. They follow "
        "the links that were pushed, and so the size of the pages, in all six cells: 51 to 70 "
        "milliseconds for each link that waits. As printed (§6.2.2) the rule of three pages of a "
        "host never holds, since the last host is never set; if that code was measured, the "
        "modified search took less time because it came to other and smaller pages, not because "
        "it left out work."
    )
    rows: list[list[object]] = []
    for size, (queue, stack, queue_seconds, stack_seconds) in PUBLISHED.items():
        both = ((queue, queue_seconds), (stack, stack_seconds))
        rows.append(
            [
                size,
                *(s for _, s in both),
                stack_seconds / queue_seconds,
                stack / queue,
                *(s / size for _, s in both),
                *(1e3 * s / links for links, s in both),
            ]
        )
    page.table(
        ["iterations", "breadth-first, s", "modified depth-first, s", "ratio", "ratio of links",
         "s a page: breadth-first", "modified", "ms a waiting link: breadth-first", "modified"],
        rows,
    )  # fmt: skip


def _report_loops(results: Results, page: Page) -> dict[str, float]:
    page.text(
        "The paper's two loops again (queue and stack, as above), with its score, and our agents "
        "of the same order; recorded and generated webs, so that no second is spent waiting. "
        "*Processor* seconds can be compared; wall seconds are those of a busy machine. Here the "
        "seconds follow the texts of the pages that an order comes to, whatever their links: where "
        "the stack's pages have fewer links but longer texts, it takes longer."
    )
    rows: list[list[object]] = []
    ratios: dict[str, float] = {}
    for task in results.tasks("time"):
        both = [results.runs("time", task, name)[0] for name in ("queue", "stack")]
        ratios[task] = round(_ratio(both, "processor_seconds"), 3)
        size, whole = task.split(" iterations: ")
        ours = [
            results.mean("composite", whole, name, f"processor_seconds_{size}")
            for name in (BREADTH, MODIFIED)
        ]
        rows.append(
            [
                task,
                *(run["processor_seconds"] for run in both),
                *(run["seconds"] for run in both),
                ratios[task],
                _ratio(both, "links"),
                _ratio(both, "characters"),
                *(1e3 * run["processor_seconds"] / max(run["links"], 1) for run in both),
                *ours,
            ]
        )
    page.table(
        ["", "queue, processor s", "stack", "queue, wall s", "stack", "ratio of processor s",
         "ratio of links", "ratio of characters", "queue, ms a link", "stack",
         "breadth_first, processor s", MODIFIED],
        rows,
    )  # fmt: skip
    return ratios


def time_ratios(results: Results) -> list[float]:
    """The processor seconds of the paper's stack against its queue, for most iterations."""
    pairs_of_runs = [
        [results.runs("time", task, name)[0] for name in ("queue", "stack")]
        for task in results.tasks("time")
        if task.startswith(f"{SIZES[-1]} iterations") and len(results.entries("time", task)) > 1
    ]
    return [_ratio(both, "processor_seconds") for both in pairs_of_runs]


def _ratio(both: Sequence[dict[str, Any]], what: str) -> float:
    return float(both[1][what]) / max(float(both[0][what]), 1e-9)


def _report_pairs(results: Results, page: Page) -> dict[str, Any]:
    page.text(
        "Most of the paper's time cannot be the order's. §6.2 compares every key phrase with "
        "every search word by a call of its own. The same done here on 100 pages of each web, one "
        f"pair at a time, with the {len(PRINTED)} search words that §7.3.3 prints (the paper does "
        "not say how many it had), beside one product of matrices for all of them; the last "
        "column says with how many search words this alone would take the paper's 3.8 s a page "
        "(modified depth-first, 500 iterations)."
    )
    rows, headline = [], dict[str, Any]()
    for task in results.tasks("pairs"):
        run = results.runs("pairs", task, "pairs")[0]
        seconds = PUBLISHED[500][3] / 500
        per_word = run["phrases_per_page"] * run["pair_microseconds"] / 1e6
        headline[task] = round(seconds / per_word)
        rows.append(
            [
                task,
                run["phrases_per_page"],
                run["rake_milliseconds"],
                run["pair_microseconds"],
                run["pair_microseconds_at_once"],
                headline[task],
            ]
        )
    page.table(
        ["", "key phrases a page", "RAKE, ms a page", "a pair alone, µs", "in one product, µs",
         "search words for 3.8 s"],
        rows,
    )  # fmt: skip
    return headline


def _report_live(results: Results, page: Page) -> dict[str, Any]:
    [task] = results.tasks("live")
    budget = results.runs("live", task, BREADTH)[0]["budget"]
    page.text(
        f"**Over HTTP**, {task}, served on this machine with {LATENCY:g} s before every answer, "
        f"robots.txt included; one request at a time, {budget} iterations or {LONGEST:g} s. What "
        "is skipped is not fetched, and costs some 14 µs (`benchmarks/gate.py`): the seconds "
        "follow the requests. The modified search sees more hosts, so it asks for more robots.txt."
    )
    rows, headline = [], dict[str, Any]()
    for entry in results.entries("live", task):
        run = results.runs("live", task, entry)[0]
        sized = {name: run[f"{name}_{budget}"] for name in LIVE_COLUMNS}
        per_page = sized["seconds"] / max(sized["pages"], 1)
        per_find = sized["seconds"] / sized["relevant"] if sized["relevant"] else None
        rows.append([entry, *sized.values(), run["requests"], per_page, per_find])
        headline[entry] = sized["seconds"]
    page.table(
        ["crawler", *LIVE_COLUMNS.values(), "requests", "s a page", "s a page with a match"], rows
    )
    return headline


LIVE_COLUMNS = {
    "iterations": "iterations",
    "pages": "pages parsed",
    "relevant": "pages with a match",
    "relevance": "sum of relevance",
    "seconds": "wall seconds",
    "processor_seconds": "processor seconds",
}
