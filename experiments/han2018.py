"""Han et al. (2018, section 4): their three figures, on a recorded and a generated web."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from experiments.harness.experiment import ORACLE, Entry, Experiment, Part, Task, Trial
from experiments.harness.plots import by_repeat, curves, intervals, learning
from experiments.harness.report_page import Page, percent
from experiments.harness.results import Results
from experiments.harness.sentences import times, told
from experiments.topics import (
    GLOVE,
    LINEAR,
    TOPICS,
    WHY_NOT,
    WIKISPEEDIA,
    Topic,
    han_entries,
    keyword_task,
)
from honeyguide.bench.report import spread
from honeyguide.text.words import counted

GENERATED = "synthetic:pages=60000,seed=1"
# topics of the generated web that are nearest to the paper's
GENERATED_TOPICS = (
    Topic("geology", "geology", "earth+science"),
    Topic("photography", "photography", "movies+arts"),
    Topic("football", "football", "sports", 0.0005),
)
ALL = ("best_first", *LINEAR)
ONE_ROW, FOUND, NONE = ", one row", ", categories found", ", no categories"
# parts that vary one thing: title, text, and the ratios of entries that are told
VARIED: dict[str, tuple[str, str, tuple[tuple[str, str], ...]]] = {
    "frontier": (
        "Pairs, or one row a link",
        "Algorithm 1 keeps a link under every pair of page and link, so that its best pair counts, "
        "and what it knows of parents is kept up to date. With one row a link, the newest page "
        "that shows a link overwrites what older pages said of it.",
        (
            ("linear_sync", "linear_async"),
            ("linear_moderated", "linear_async"),
            (f"linear_sync{ONE_ROW}", f"linear_async{ONE_ROW}"),
            (f"linear_moderated{ONE_ROW}", f"linear_async{ONE_ROW}"),
            *((name, f"{name}{ONE_ROW}") for name in LINEAR),
        ),
    ),
    "categories": (
        "Categories given or found",
        "The paper's categories are chosen by hand, and it leaves open how to choose them "
        "otherwise. Found are the three words most typical of the first 20 relevant pages; they "
        "are kept with the weights from task to task.",
        (
            (f"linear_sync{FOUND}", "linear_sync"),
            (f"linear_sync{NONE}", "linear_sync"),
            ("linear_sync", "best_first"),
        ),
    ),
}
# section 4: ratio of learning to no learning, and the method that finds most
PUBLISHED = {
    "cancer": ("2.5", "linear_sync"),
    "fiction": ("1.2 to 1.6", "linear_sync"),
    "olympics": ("1.2 to 1.6", "linear_sync"),
    "camera": ("1.2 to 1.6", "linear_moderated"),
    "geology": ("1.2 to 1.6", "linear_moderated"),
    "poetry": ("1.2 to 1.6", "linear_moderated"),
}


def _trials(
    part: str, pairs: list[tuple[Task, list[Entry]]], trials: int, repeats: int
) -> list[Trial]:
    """List trials by number first, so that unfinished runs cover every topic."""
    return [
        Trial(part=part, task=task, entry=entry, number=number, repeats=repeats if learns else 1)
        for number in range(trials)
        for task, entries in pairs
        for entry in entries
        if (learns := entry.name.startswith(LINEAR)) or number == 0  # the others are deterministic
    ]


def _wikispeedia(part: str, encoder: str, size: tuple[int, int], quick: bool) -> list[Trial]:
    topics = TOPICS[:2] if quick else TOPICS
    budget, (trials, repeats) = (300, (2, 3)) if quick else (1000, size)
    pairs = [
        (keyword_task(topic, budget), [*han_entries(topic, encoder), ORACLE]) for topic in topics
    ]
    return _trials(part, pairs, trials, repeats)


def _generated(quick: bool) -> list[Trial]:
    topics = GENERATED_TOPICS[:1] if quick else GENERATED_TOPICS
    web, budget, trials, repeats = (
        ("synthetic:pages=2000,seed=1", 200, 1, 2) if quick else (GENERATED, 10_000, 1, 3)
    )
    pairs = [
        (keyword_task(topic, budget, web), [*han_entries(topic, GLOVE), ORACLE]) for topic in topics
    ]
    return _trials("generated", pairs, trials, repeats)


def _varied(part: str, vary: Callable[[Topic], list[Entry]], quick: bool) -> list[Trial]:
    topics, budget = (TOPICS[4:5], 200) if quick else (TOPICS, 1000)
    pairs = [(keyword_task(topic, budget), vary(topic)) for topic in topics]
    return _trials(part, pairs, *((1, 2) if quick else (5, 5)))


def _frontiers(topic: Topic) -> list[Entry]:
    """List the crawlers on pairs, and with one row a link, which the newest page overwrites."""
    overwritten = han_entries(topic, GLOVE, frontier="")[1:]
    alone = [replace(entry, name=f"{entry.name}{ONE_ROW}") for entry in overwritten]
    return [*han_entries(topic, GLOVE), *alone]


def _categories(topic: Topic) -> list[Entry]:
    """List the synchronous crawler with the paper's categories, with those it finds, with none."""
    basic, given = han_entries(topic, GLOVE)[:2]
    others = {FOUND: topic._replace(categories="auto"), NONE: topic._replace(categories="")}
    rivals = [
        replace(han_entries(other, GLOVE)[1], name=f"linear_sync{name}")
        for name, other in others.items()
    ]
    return [basic, given, *rivals]


TITLES = {
    "glove": f"On {WIKISPEEDIA}, with GloVe",
    "wordllama": f"On {WIKISPEEDIA}, with the encoder of honeyguide's own agents",
    "generated": "On a generated web, with GloVe and the paper's 10,000 pages",
}


def _report(results: Results, page: Page) -> dict[str, Any]:
    page.text(
        "Relevant is a page that contains the topic's word. As in the paper, a link waits once for "
        "each page that shows it. Each crawler's task is repeated with "
        "its weights kept, everything else forgotten; figures are means over all tasks and trials. "
        "The paper crawls Simple English Wikipedia, 10,000 pages a task, 100 tasks; its exact "
        "counts are only drawn, so its words stand here: learning finds 1.2 to 1.6 times as much "
        "as no learning, 2.5 times for cancer; the synchronous method finds most for the three "
        "abundant topics, the moderated one for the three sparse topics (camera, geology, poetry)."
    )
    page.text(WHY_NOT)
    told = {part: _part(results, page, part) for part in TITLES if results.tasks(part)}
    return told | {part: _compared(results, page, part) for part in VARIED if results.tasks(part)}


def _compared(results: Results, page: Page, part: str) -> dict[str, Any]:
    title, text, ratios = VARIED[part]
    page.heading(title)
    page.text(text)
    names = results.entries(part)
    page.table(
        ["topic", *names],
        [
            [task, *(results.mean(part, task, name) for name in names)]
            for task in results.tasks(part)
        ],
    )
    found = {f"{one} / {other}": results.interval(part, one, other) for one, other in ratios}
    page.table(["relevant pages against", "ratio (95 % interval over tasks and runs)"],
               [[name, ratio] for name, ratio in found.items()])  # fmt: skip
    return found


def _part(results: Results, page: Page, part: str) -> dict[str, Any]:
    page.heading(TITLES[part])
    page.text(_setting(results, part))
    page.table(
        ["topic", "paper: learning / none", "ours: sync", "async", "moderated",
         "paper: best", "ours: best", "none, pages", "oracle, pages"],
        [_row(results, part, task) for task in results.tasks(part)],
    )  # fmt: skip
    page.text(_ordering(results, part))
    ratios = {name: results.interval(part, name, "best_first") for name in LINEAR}
    against = results.interval(part, "linear_sync", "linear_async")
    page.table(
        ["relevant pages against", "ratio (95 % interval over tasks and runs)"],
        [[f"{name} / best_first", ratio] for name, ratio in ratios.items()]
        + [["linear_sync / linear_async", against]],
    )
    _figures(results, page, part)
    page.table(
        ["topic, agent", "first task", "last five tasks", "sd", "seconds a task"],
        [
            [f"{task}, {name}", *_learnt(results, part, task, name)]
            for task in results.tasks(part)
            for name in LINEAR
            if results.runs(part, task, name)
        ],
    )
    return {name: ratio for name, ratio in ratios.items() if ratio} | {"sync/async": against}


def _ordering(results: Results, part: str) -> str:
    """Say on how many topics the paper's order of methods holds."""
    tasks = results.tasks(part)

    def holds(name: str, other: str) -> int:
        return sum(results.mean(part, t, name) >= results.mean(part, t, other) for t in tasks)

    learnt = sum(_best(results, part, task) != "best_first" for task in tasks)
    return (
        f"Of {counted(len(tasks), 'topic')}, the best of the learning agents finds at least as "
        f"much as no learning on {learnt}; the synchronous one at least as much as the "
        f"asynchronous on {holds('linear_sync', 'linear_async')}; the moderated one at least "
        f"as much as the asynchronous on {holds('linear_moderated', 'linear_async')}."
    )


def _best(results: Results, part: str, task: str) -> str:
    return max(
        ("linear_sync", "linear_moderated", "linear_async", "best_first"),
        key=lambda name: float(np.nan_to_num(results.mean(part, task, name))),
    )


def _setting(results: Results, part: str) -> str:
    task = results.tasks(part)[0]
    web, budget = results.web(part, task), results.runs(part, task, "best_first")
    if not web or not budget:
        return ""
    pages = budget[0]["budget"]
    return (
        f"{pages:,} pages a task; the first topic's seed reaches {web['reachable']:,} of "
        f"{web['pages']:,} pages, so that is {percent(pages / web['reachable'])} of them."
    )


def _row(results: Results, part: str, task: str) -> list[object]:
    ratios = [results.ratio(part, task, name, "best_first") for name in LINEAR]
    published = PUBLISHED.get(task, ("–", "–")) if part != "generated" else ("–", "–")
    return [
        task, published[0], *ratios, published[1], _best(results, part, task),
        results.mean(part, task, "best_first"), results.mean(part, task, "oracle"),
    ]  # fmt: skip


def _learnt(results: Results, part: str, task: str, name: str) -> list[object]:
    series = by_repeat(results, part, task, name)
    runs = results.runs(part, task, name)
    ends = [run["relevant"] for run in runs if run["repeat"] >= len(series) - 5]
    seconds = results.mean(part, task, name, "seconds")
    return [series[0], float(np.mean(series[-5:])), spread(ends), seconds]


def _figures(results: Results, page: Page, part: str) -> None:
    drawn = (
        ("curves", "figure 1: relevant pages against pages fetched", curves, (*ALL, "oracle")),
        ("intervals", "figure 2: relevant pages in each tenth of relevance", intervals, ALL),
        ("learning", "figure 3: relevant pages a task as tasks repeat", learning, ALL),
    )
    for kind, caption, draw, entries in drawn:
        page.figure(f"{part}-{kind}.png", caption, draw(results, part, entries))


EXPERIMENT = Experiment(
    name="han2018",
    title="Linear SARSA of Han, Wuillemin and Senellart, again",
    source="Han, Wuillemin and Senellart (2018): Focused Crawling through Reinforcement Learning, "
    "ICWE, section 4.",
    paper_found="Learning finds 1.2 to 1.6 times as many relevant pages as no learning, 2.5 times "
    "for cancer; the synchronous or the moderated method finds most on each topic.",
    we_found=lambda results: told(
        "On wikispeedia with GloVe, times as many relevant pages as no learning (95 % interval): "
        "{}; times as many as the asynchronous method: {}.",
        times(results, "glove", LINEAR, "best_first"),
        times(results, "glove", ("linear_sync", "linear_moderated"), "linear_async"),
    ),
    why="The paper crawls 10,000 pages of Simple English Wikipedia, we 1,000 of the 4,604 pages of "
    "wikispeedia, where a crawler without learning is strong already; the reasons that could be "
    "measured follow.",
    parts=(
        Part(name="glove", trials=lambda quick: _wikispeedia("glove", GLOVE, (5, 30), quick)),
        Part(
            name="wordllama",
            trials=lambda quick: _wikispeedia("wordllama", "wordllama", (3, 5), quick),
        ),
        Part(name="generated", trials=_generated),
        Part(name="frontier", trials=lambda quick: _varied("frontier", _frontiers, quick)),
        Part(name="categories", trials=lambda quick: _varied("categories", _categories, quick)),
    ),
    report=_report,
)
