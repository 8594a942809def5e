"""Han et al. (2018, section 4): their three figures, on a recorded and a generated web."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from experiments.harness.experiment import ORACLE, Entry, Experiment, Part, Task, Trial
from experiments.harness.plots import by_repeat, curves, intervals, learning
from experiments.harness.ratios import Interval
from experiments.harness.report_page import Page, cell, percent
from experiments.harness.results import Results
from experiments.harness.sentences import times, told
from experiments.linear_reasons import MEASURED, changed_crawlers, function_of
from experiments.linear_reasons_report import report_reasons
from experiments.topics import (
    GLOVE,
    LINEAR,
    REASONS,
    TOPICS,
    WHY,
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
PAYING = ("best_first", "linear_sync")  # whose crawls show which pages are paid
LATER = 5  # last tasks of a series that are compared with its first
# part -> trials, and tasks in a row of each
SIZES = {"glove": (2, 8), "wordllama": (2, 3), "frontier": (2, 3), "categories": (2, 3)}
# entries of the reasons that take no random choice, and one that crawls twice
FIXED = ("best_first, bucketed", "linear_sync, never random", "weights fitted in hindsight")
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


def _wikispeedia(part: str, encoder: str, quick: bool) -> list[Trial]:
    topics = TOPICS[:2] if quick else TOPICS
    budget, (trials, repeats) = (300, (2, 3)) if quick else (1000, SIZES[part])
    pairs = [
        (keyword_task(topic, budget), [*han_entries(topic, encoder), ORACLE]) for topic in topics
    ]
    return _trials(part, pairs, trials, repeats)


def _generated(quick: bool) -> list[Trial]:
    topics = GENERATED_TOPICS[:1] if quick else GENERATED_TOPICS
    web, budget, trials, repeats = (
        ("synthetic:pages=2000,seed=1", 200, 1, 2) if quick else (GENERATED, 10_000, 2, 1)
    )
    pairs = [
        (keyword_task(topic, budget, web), [*han_entries(topic, GLOVE), ORACLE]) for topic in topics
    ]
    measured = [
        Trial(part="generated", task=task, entry=_paying(entry), function=MEASURED)
        for task, crawlers in pairs
        for entry in crawlers
        if entry.name in PAYING
    ]
    return _trials("generated", pairs, trials, repeats) + measured


def _paying(entry: Entry) -> Entry:
    return replace(entry, name=f"{entry.name}, pages paid")


def _reasons(quick: bool) -> list[Trial]:
    topics, budget = (TOPICS[4:5], 200) if quick else (TOPICS, 1000)
    return [
        Trial(
            part=REASONS,
            task=keyword_task(topic, budget),
            entry=entry,
            number=number,
            function=function_of(entry),
        )
        for number in range(1 if quick else 2)
        for topic in topics
        for entry in changed_crawlers(topic)
        if number == 0 or not entry.name.startswith(FIXED)
    ]


def _varied(part: str, vary: Callable[[Topic], list[Entry]], quick: bool) -> list[Trial]:
    topics, budget = (TOPICS[4:5], 200) if quick else (TOPICS, 1000)
    pairs = [(keyword_task(topic, budget), vary(topic)) for topic in topics]
    return _trials(part, pairs, *((1, 2) if quick else SIZES[part]))


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
        "The paper crawls Simple English Wikipedia, 10,000 pages a task, 100 tasks, 10 trials; its "
        "exact counts are only drawn, so its words stand here: learning finds 1.2 to 1.6 times as "
        "much as no learning, 2.5 times for cancer; the synchronous method finds most for the "
        "three abundant topics, the moderated one for the three sparse topics (camera, geology, "
        f"poetry). {_sizes()}"
    )
    for sentence in _plainly(results):
        page.text(sentence)
    told = {part: _part(results, page, part) for part in TITLES if results.tasks(part)}
    told |= {part: _compared(results, page, part) for part in VARIED if results.tasks(part)}
    if results.tasks(REASONS):
        told[REASONS] = report_reasons(results, page)
    return told


def _sizes() -> str:
    said = ", ".join(f"{part} {trials} × {tasks}" for part, (trials, tasks) in SIZES.items())
    return (
        "Here, as many trials, and tasks in a row, as a few hours of one processor allow: "
        f"{said}, generated 2 × 1."
    )


CLAIMS = (  # of the paper, by the part that shows each best
    ("glove", "linear_sync", "best_first", "learning (synchronous) finds more than no learning"),
    (
        "frontier",
        "linear_sync",
        "linear_async",
        "the synchronous method finds more than the asynchronous one",
    ),
    (
        "frontier",
        "linear_moderated",
        "linear_async",
        "the moderated method finds more than the asynchronous one",
    ),
    (
        "frontier",
        f"linear_sync{ONE_ROW}",
        f"linear_async{ONE_ROW}",
        "the synchronous method finds more, if a link has one row",
    ),
    (
        "frontier",
        f"linear_moderated{ONE_ROW}",
        f"linear_async{ONE_ROW}",
        "the moderated method finds more, if a link has one row",
    ),
)


def _plainly(results: Results) -> list[str]:
    """Say which of the paper's claims hold here, by intervals."""
    found = [(said, results.interval(part, one, other)) for part, one, other, said in CLAIMS]
    lines = [f"- {said}: {_verdict(ratio)}, {cell(ratio)}" for said, ratio in found if ratio]
    if not lines:
        return []
    whole = "\n".join(lines)
    return [f"What of the paper holds here (ratio, 95 % interval over tasks and runs):\n\n{whole}"]


def _verdict(ratio: Interval) -> str:
    """Say whether a ratio is above 1."""
    if ratio.low > 1:
        return "holds"
    return "the contrary holds" if ratio.high < 1 else "cannot be told from no difference"


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
    against = {
        f"{name} / linear_async": results.interval(part, name, "linear_async")
        for name in ("linear_sync", "linear_moderated")
    }
    page.table(
        ["relevant pages against", "ratio (95 % interval over tasks and runs)"],
        [[f"{name} / best_first", ratio] for name, ratio in ratios.items()]
        + [[name, ratio] for name, ratio in against.items()],
    )
    _figures(results, page, part)
    page.text(_series(results, part))
    page.table(
        ["topic, agent", "first task", "later tasks", "sd", "how many", "wall seconds a task",
         "processor seconds a task"],
        [
            [f"{task}, {name}", *_learnt(results, part, task, name)]
            for task in results.tasks(part)
            for name in ALL
            if results.runs(part, task, name)
        ],
    )  # fmt: skip
    if part == "generated":
        _report_paid(results, page)
    return {name: ratio for name, ratio in (ratios | against).items() if ratio}


def _series(results: Results, part: str) -> str:
    """Say which tasks are compared with the first."""
    most = max(
        (run["repeat"] for task in results.tasks(part) for run in _of(results, part, task)),
        default=0,
    )
    later = min(LATER, most)
    return (
        f"A series has {counted(most + 1, 'task')}; the first is compared with the last "
        f"{counted(later, 'task')}, none of which is the first. No learning (`best_first`) has "
        "one task, since all are equal. "
        "The paper names 654 seconds for a synchronous task, 55 for an asynchronous one and 28 "
        "without learning (olympics, 10,000 pages)."
    )


def _of(results: Results, part: str, task: str) -> list[dict[str, Any]]:
    return [run for name in LINEAR for run in results.runs(part, task, name)]


def _report_paid(results: Results, page: Page) -> None:
    """Print how many of the pages without the topic's word earn 20 or 30."""
    rows = [
        [
            task,
            *(_paid(results, task, name) for name in PAYING),
            results.ratio("generated", task, "linear_sync", "best_first"),
        ]
        for task in results.tasks("generated")
        if results.runs("generated", task, f"{PAYING[0]}, pages paid")
    ]
    if not rows:
        return
    page.text(
        "How many of the pages without the topic's word that a crawler visits earn 20 or 30, by "
        "crawler:"
    )
    page.table(["topic", *PAYING, "linear_sync / best_first, relevant pages"], rows)
    page.text(
        "Where nearly all of them are paid, rewards do not tell relevant pages from others, and "
        "neither can what is learnt from them; `best_first` does not use rewards."
    )


def _paid(results: Results, task: str, name: str) -> str:
    return percent(results.mean("generated", task, f"{name}, pages paid", "paid_share"))


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
    later = min(LATER, len(series) - 1)  # none of them is the first
    runs = results.runs(part, task, name)
    ends = [run["relevant"] for run in runs if run["repeat"] >= len(series) - later]
    costs = [results.mean(part, task, name, f"{kind}seconds") for kind in ("", "processor_")]
    if not later:
        return [series[0], None, None, 0, *costs]
    return [series[0], float(np.mean(ends)), spread(ends), later, *costs]


def _figures(results: Results, page: Page, part: str) -> None:
    drawn = (
        ("curves", "figure 1: relevant pages against pages fetched", curves, (*ALL, "oracle")),
        ("intervals", "figure 2: relevant pages in each tenth of relevance", intervals, ALL),
        ("learning", "figure 3: relevant pages a task as tasks repeat", learning, ALL),
    )
    for kind, caption, draw, entries in drawn:
        page.figure(f"{part}-{kind}.png", caption, draw(results, part, entries))


def _we_found(results: Results) -> str:
    return told(
        "On wikispeedia with GloVe and the paper's frontier of pairs, times as many relevant pages "
        "as no learning (95 % interval): {}; times as many as the asynchronous method: {}.",
        times(results, "glove", LINEAR, "best_first"),
        times(results, "glove", ("linear_sync", "linear_moderated"), "linear_async"),
    )


EXPERIMENT = Experiment(
    name="han2018",
    title="Linear SARSA of Han, Wuillemin and Senellart, again",
    source="Han, Wuillemin and Senellart (2018): Focused Crawling through Reinforcement Learning, "
    "ICWE, section 4.",
    paper_found="Learning finds 1.2 to 1.6 times as many relevant pages as no learning, 2.5 times "
    "for cancer; the synchronous or the moderated method finds most on each topic.",
    we_found=_we_found,
    why=WHY,
    parts=(
        Part(
            name="glove",
            trials=lambda quick: _wikispeedia("glove", GLOVE, quick),
            version=2,
        ),
        Part(
            name="frontier",
            trials=lambda quick: _varied("frontier", _frontiers, quick),
            version=2,
        ),
        Part(name=REASONS, trials=_reasons),
        Part(
            name="wordllama",
            trials=lambda quick: _wikispeedia("wordllama", "wordllama", quick),
            version=2,
        ),
        Part(
            name="categories",
            trials=lambda quick: _varied("categories", _categories, quick),
            version=2,
        ),
        Part(name="generated", trials=_generated, version=2),
    ),
    report=_report,
)
