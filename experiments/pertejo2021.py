"""Pertejo (2021, chapter 4): gamma, topics, synchronous or not, recall; and a cold start."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from experiments.found_early import mean_within, ratio_within
from experiments.harness.experiment import ORACLE, Entry, Experiment, Part, Task, Trial, runs_of
from experiments.harness.plots import curves, intervals
from experiments.harness.ratios import Interval
from experiments.harness.report_page import Page, cell, percent
from experiments.harness.results import Results
from experiments.harness.sentences import told
from experiments.harness.trials import points
from experiments.pertejo2021_pairs import ON_PAIRS, REHEARSED_ON_PAIRS
from experiments.topics import (
    GLOVE,
    PAIRS,
    TOPICS,
    WHY,
    WIKISPEEDIA,
    Topic,
    keyword_task,
    pertejo_entry,
)
from experiments.trained_networks import REHEARSED
from honeyguide.bench.report import spread

BY_WORD = {topic.word: topic for topic in TOPICS}
GAMMAS = [tenth / 10 for tenth in range(1, 10)]
SWEPT = ("fiction", "geology")  # the paper sweeps gamma on fiction alone
SWEPT_AT = (200, 500, 1000)  # pages: of table 4.2 on wikispeedia
SWEPT_GENERATED = (2000, 5000, 10_000)
LOW, HIGH = (0.1, 0.5), (0.9, 0.9)  # gammas that are compared
COMPARED_AT = (150, 400, 1000)  # pages: of table 4.3
ARTICLES = 4604  # pages of wikispeedia; as in figure 4.6, a crawl ends when none is left
SITE, SITE_PAGES = "schools-wiki", 29_949  # about as many pages as the paper's reduced dump
GENERATED = "synthetic:pages=60000,seed=1"
GENERATED_PAGES = 30_000
GENERATED_NETWORK = f"synthetic:pages={GENERATED_PAGES},seed=1"
GENERATED_GEOLOGY = Topic("geology", "geology", "earth+science")

# table 4.2: final accumulated relevance, topic fiction, reduced dump, 10,000 steps
TABLE_4_2 = dict(zip(GAMMAS, [1636, 1600, 1573, 1603, 1618, 1617, 1494, 1422, 1300], strict=True))
# table 4.3: relevant pages of the basic and the asynchronous linear crawler, 10,000 steps
TABLE_4_3 = {
    "camera": (80, 104),
    "cancer": (538, 648),
    "fiction": (850, 1590),
    "geology": (597, 823),
    "poetry": (250, 409),
}
EXHAUSTED = ("cancer", "fiction", "geology", "poetry")  # figure 4.6
COLD = ("fiction", "geology", "cancer")
BASIC = Entry(name="best_first", agent="best_first", encoder=GLOVE, cosine=True)
UNLEARNED = (
    Entry(name="breadth_first", agent="breadth_first"),
    Entry(name="random", agent="random"),
)
GUIDE = Entry(name="guide", agent="guide")


def _sweep(part: str, topic: Topic, task: Task, gammas: list[float], runs: int) -> list[Trial]:
    entries = [
        pertejo_entry("linear_async", topic, f",gamma={gamma}{PAIRS}", f"gamma {gamma}")
        for gamma in gammas
    ]
    return runs_of(part, [task], [*entries, ORACLE], runs)


def _gamma(quick: bool) -> list[Trial]:
    topics = [BY_WORD[word] for word in (SWEPT[:1] if quick else SWEPT)]
    budget, gammas, runs = (200, GAMMAS[::4], 1) if quick else (1000, GAMMAS, 4)
    return [
        trial
        for topic in topics
        for trial in _sweep("gamma", topic, keyword_task(topic, budget), gammas, runs)
    ]


def _gamma_generated(quick: bool) -> list[Trial]:
    web, budget = ("synthetic:pages=2000,seed=1", 200) if quick else (GENERATED, 10_000)
    task = keyword_task(GENERATED_GEOLOGY, budget, web)
    gammas = GAMMAS[::4] if quick else GAMMAS[::2]
    return _sweep("gamma-generated", GENERATED_GEOLOGY, task, gammas, 1 if quick else 2)


def _topics(quick: bool) -> list[Trial]:
    return _compared(
        "topics", ["geology"] if quick else list(TABLE_4_3), ["linear_async"],
        200 if quick else 1000, 1 if quick else 5,
    )  # fmt: skip


def _exhausted(quick: bool) -> list[Trial]:
    return _compared(
        "exhausted", ["geology"] if quick else list(EXHAUSTED), ["linear_async", "linear_sync"],
        400 if quick else ARTICLES, 1 if quick else 3,
    )  # fmt: skip


def _compared(
    part: str, words: list[str], agents: list[str], budget: int, runs: int
) -> list[Trial]:
    trials: list[Trial] = []
    for word in words:
        topic = BY_WORD[word]
        task = keyword_task(topic, budget)
        linear = [pertejo_entry(agent, topic) for agent in agents]
        trials += runs_of(part, [task], [BASIC, ORACLE, *linear], runs)
    return trials


def _cold(quick: bool) -> list[Trial]:
    trials: list[Trial] = []
    for word in COLD[:1] if quick else COLD:
        topic = BY_WORD[word]
        tasks = [
            _cold_task(topic, number, 200 if quick else 500) for number in range(2 if quick else 10)
        ]
        linear = [pertejo_entry(agent, topic) for agent in ("linear_async", "linear_sync")]
        trials += runs_of("cold", tasks, [BASIC, *linear, *UNLEARNED, GUIDE, ORACLE], 1)
    return trials


def _cold_task(topic: Topic, number: int, budget: int) -> Task:
    return Task(
        name=f"{topic.word} {number}",
        web=WIKISPEEDIA,
        topic=topic.word,
        seeds=(f"random page {number}",),
        budget=budget,
    )


def _network(quick: bool) -> list[Trial]:
    """List trials of figure 4.4: training and test have a sixth of the web's pages each."""
    topic, generated = BY_WORD["geology"], GENERATED_GEOLOGY
    tasks = [(keyword_task(topic, 100 if quick else ARTICLES // 6), ARTICLES, 1 if quick else 3)]
    if not quick:
        site = replace(keyword_task(topic, 5000, SITE), name=f"geology, {SITE}")
        web = replace(keyword_task(generated, 5000, GENERATED_NETWORK), name="geology, generated")
        tasks += [(site, SITE_PAGES, 1), (web, GENERATED_PAGES, 1)]
    trials: list[Trial] = []
    for each, pages, count in tasks:
        agent = f"dqn_outputs:pages={pages},categories={topic.categories}"
        entry = Entry(name="dqn_outputs", agent=agent, encoder=GLOVE, cosine=True)
        trials += runs_of("network", [each], [BASIC, *UNLEARNED[1:]], count)
        ways = {REHEARSED: entry, REHEARSED_ON_PAIRS: replace(entry, name=ON_PAIRS)}
        trials += [
            Trial(part="network", task=each, entry=network, number=number, function=way)
            for way, network in ways.items()
            for number in range(count)
        ]
    return trials


def _report(results: Results, page: Page) -> dict[str, Any]:
    page.text(
        "The linear crawler with the paper's settings (`variant=pertejo2021`, GloVe with tf-idf "
        "weights, a link waits once for each page that shows it) and the crawler without learning "
        "(`best_first` with the same encoder). Relevant "
        "is a page with the topic's word. The paper crawls Simple English Wikipedia, 323,198 "
        "pages, 10,000 steps, once; here the web is wikispeedia, 4,604 pages, and a crawl has "
        "1,000. Runs: gamma 4 (generated web 2), topics 5, exhausted 3, cold 10 starting pages, "
        "network 3 on wikispeedia and 1 on the larger webs."
    )
    sections = {
        "gamma": _report_gamma,
        "gamma-generated": _report_gamma,
        "topics": _report_topics,
        "exhausted": _report_exhausted,
        "cold": _report_cold,
        "network": _report_network,
    }
    return {
        part: write(results, page, part) for part, write in sections.items() if results.tasks(part)
    }


def _report_gamma(results: Results, page: Page, part: str) -> dict[str, Any]:
    where = "wikispeedia" if part == "gamma" else "a generated web, 10,000 pages"
    page.heading(f"Gamma, table 4.2: {where}")
    return {task: _report_sweep(results, page, part, task) for task in results.tasks(part)}


def _report_sweep(results: Results, page: Page, part: str, task: str) -> dict[str, Any]:
    """Write table 4.2 for one topic, early and late in the crawl."""
    at = _reached(results, part, (*SWEPT_AT, *SWEPT_GENERATED))
    there = [gamma for gamma in GAMMAS if results.runs(part, task, _named(gamma))]
    means = {
        gamma: [mean_within(results, part, task, _named(gamma), count) for count in at]
        for gamma in there
    }
    page.text(f"Topic {task}; relevant pages within so many pages, means of runs:")
    page.table(
        ["gamma", "paper, fiction", "of its best", *(f"{count:,}" for count in at), "sd, end"],
        [
            [str(g), TABLE_4_2[g], TABLE_4_2[g] / max(TABLE_4_2.values()), *means[g],
             spread(results.found(part, task, _named(g)))]
            for g in there
        ],
    )  # fmt: skip
    ratios = dict(zip(map(str, at), _drops(means, len(at)), strict=True))
    said = ", ".join(f"{percent(ratio)} within {int(count):,}" for count, ratio in ratios.items())
    page.text(
        f"Gamma 0.9 against the mean of 0.1 to 0.5: {said} pages (paper, 10,000 steps: "
        f"{percent(_published_drop())})."
    )
    return {"means": {str(gamma): found for gamma, found in means.items()}, "0.9 / low": ratios}


def _reached(results: Results, part: str, counts: Sequence[int]) -> list[int]:
    """Return the numbers of pages that crawls of a part reach, and that are not few for them."""
    budget = max((int(run["budget"]) for run in results.of_part(part)), default=0)
    return [count for count in counts if budget / 10 <= count <= budget]


def _named(gamma: float) -> str:
    return f"gamma {gamma}"


def _drops(means: dict[float, list[float]], count: int) -> list[float]:
    """Return what gamma 0.9 finds against the mean of gammas up to 0.5, at each number of pages."""
    low = [found for gamma, found in means.items() if LOW[0] <= gamma <= LOW[1]]
    high = means.get(HIGH[0])
    if not low or high is None:
        return [float("nan")] * count
    return [float(high[at] / np.mean([found[at] for found in low])) for at in range(count)]


def _published_drop() -> float:
    low = [count for gamma, count in TABLE_4_2.items() if LOW[0] <= gamma <= LOW[1]]
    return float(TABLE_4_2[HIGH[0]] / np.mean(low))


def _report_topics(results: Results, page: Page, part: str) -> dict[str, Any]:
    page.heading("Topics and recall, table 4.3 and figure 4.5")
    rows = []
    for task in results.tasks(part):
        basic, linear = (results.mean(part, task, name) for name in ("best_first", "linear_async"))
        total = results.web(part, task).get("relevant_reachable", 0) or float("nan")
        theirs = TABLE_4_3[task]
        rows.append([
            task, *theirs, theirs[1] / theirs[0], basic, linear, linear / basic,
            percent(basic / total), percent(linear / total),
        ])  # fmt: skip
    page.table(
        ["topic", "paper: basic", "linear", "ratio", "ours: basic", "linear", "ratio",
         "recall, basic", "recall, linear"],
        rows,
    )  # fmt: skip
    early = _early(results, part)
    page.table(
        ["linear / basic within", "ratio (95 % interval over tasks and runs)"],
        [[f"{count} pages", ratio] for count, ratio in early.items()],
    )
    page.figure(
        "topics-curves.png", "figure 4.5: relevant pages against pages fetched",
        curves(results, part, ("best_first", "linear_async", "oracle")),
    )  # fmt: skip
    page.figure(
        "topics-intervals.png", "relevant pages in each tenth of cosine (proposed in section 5.2)",
        intervals(results, part, ("best_first", "linear_async")),
    )  # fmt: skip
    return {"linear_async/best_first": early}


def _early(results: Results, part: str) -> dict[str, Interval]:
    """Return the linear crawler against the basic one, early and late in the crawl."""
    pair = ("linear_async", "best_first")
    at = _reached(results, part, COMPARED_AT)
    found = {str(count): ratio_within(results, part, pair, count) for count in at}
    return {count: ratio for count, ratio in found.items() if ratio}


def _report_exhausted(results: Results, page: Page, part: str) -> dict[str, Any]:
    page.heading("Synchronous or not, until nothing is left: figure 4.6")
    page.text(
        "All crawlers end with the same pages; what differs is how early they find them. The area "
        "is the mean number of relevant pages found over the whole crawl, as a share of the "
        "oracle's. The paper sees the synchronous method first for fiction and poetry, the "
        "asynchronous one between it and the basic crawler, and the three level for cancer."
    )
    names = ("best_first", "linear_async", "linear_sync")
    rows = []
    for task in results.tasks(part):
        best = results.mean(part, task, "oracle", "area")
        shares = [results.mean(part, task, name, "area") / best for name in names]
        rows.append([task, *map(percent, shares), results.mean(part, task, "oracle")])
    page.table(["topic", "basic, area", "async", "sync", "relevant pages in all"], rows)
    page.figure(
        "exhausted-curves.png", "figure 4.6: relevant pages against pages fetched",
        curves(results, part, (*names, "oracle")),
    )  # fmt: skip
    return {
        "sync/async, area": results.interval(part, "linear_sync", "linear_async", "area"),
        "async/basic, area": results.interval(part, "linear_async", "best_first", "area"),
    }


def _report_cold(results: Results, page: Page, part: str) -> dict[str, Any]:
    page.heading("A cold start, from pages drawn at random")
    page.text(
        "The paper proposes to measure how long a crawler takes to begin finding anything when "
        "it starts far from its topic. Medians over starting pages of the pages fetched until the "
        "first and the tenth relevant page (the whole budget and one when it never came), and "
        "means of relevant pages at the end."
    )
    rows, summary = [], {}
    for word in COLD:
        tasks = [task for task in results.tasks(part) if task.startswith(f"{word} ")]
        for entry in results.entries(part):
            runs = [run for task in tasks for run in results.runs(part, task, entry)]
            if runs:
                first, tenth = (np.median([_until(run, n) for run in runs]) for n in (1, 10))
                mean = float(np.mean([run["relevant"] for run in runs]))
                rows.append([word, entry, float(first), float(tenth), mean, len(runs)])
                summary[f"{word}, {entry}"] = {"first": first, "tenth": tenth, "mean": mean}
    page.table(
        ["topic", "agent", "until the first", "until the tenth", "at the end", "starts"], rows
    )
    return summary


def _report_network(results: Results, page: Page, part: str) -> dict[str, Any]:
    page.heading("A network with an output for each page, figure 4.4")
    page.text(
        "Topic geology: the network crawls to learn, then anew to be tested. The paper trains "
        f"and tests for 5,000 steps each in about 30,000 pages; so it is on {SITE} and on the "
        f"generated web here, and wikispeedia has {ARTICLES // 6} steps for its {ARTICLES:,}. It "
        "finds the crawler without learning almost four times as good."
    )
    rows, ratios = [], {}
    for task in results.tasks(part):
        basic, random = (results.mean(part, task, name) for name in ("best_first", "random"))
        for name in ("dqn_outputs", ON_PAIRS):
            if not results.runs(part, task, name):
                continue
            found = [results.mean(part, task, name, when) for when in ("training", "relevant")]
            against = [basic / count if count else float("nan") for count in found]
            ratios[f"{task}: {name}"] = dict(zip(("training", "test"), against, strict=True))
            rows.append([task, name, basic, random, *found, *against])
    page.table(
        ["task", "network", "best_first", "random", "training", "test",
         "best_first / training", "best_first / test"],
        rows,
    )  # fmt: skip
    page.text(
        "Its code (appendix A.8) keeps a link once for each page that it stands on; a pair whose "
        "page was visited meanwhile is learnt from again, and counts as no page. "
        f"{_by_steps(results, part)}By its code, too, what an action brought is learnt for the "
        "page visited before, not for the page that the link stands on. "
        f"Each page has an output of its own. `{ON_PAIRS}` follows the code, "
        "`dqn_outputs` the algorithm, on a frontier that holds a page once, like best_first's. "
        "Four times less than best_first would be less than a crawl at random finds on these webs."
    )
    return {"best_first/dqn_outputs": ratios}


def _by_steps(results: Results, part: str) -> str:
    """Say what the test would be if steps that visit nothing counted as pages."""
    said = []
    for task in results.tasks(part):
        runs, basic = results.runs(part, task, ON_PAIRS), results.mean(part, task, "best_first")
        if runs:
            found = float(np.mean([_found_by_steps(run) for run in runs]))
            said.append(f"{basic / found:.2f} ({task})")
    return f"If such steps counted, best_first / test would be {', '.join(said)}. " if said else ""


def _found_by_steps(run: dict[str, Any]) -> float:
    """Return the relevant pages of a test that ends after as many steps as it has pages."""
    pages = run["budget"] * run["budget"] / (run["budget"] + run["wasted"])
    return float(np.interp(pages, points(run["budget"]), run["curve"]))


def _until(run: dict[str, Any], count: int) -> int:
    """Return pages fetched until n relevant ones; exact for n = 1, else to a curve's point."""
    if count == 1:
        return int(run["first"] or run["budget"] + 1)
    pages = points(run["budget"])
    reached = [page for page, found in zip(pages, run["curve"], strict=True) if found >= count]
    return reached[0] if reached else int(run["budget"]) + 1


def _we_found(results: Results) -> str:
    early = ", ".join(f"{cell(r)} within {count}" for count, r in _early(results, "topics").items())
    return told(
        "On wikispeedia the linear crawler finds so many times the relevant pages of the basic "
        "one (95 % interval): {} pages; gamma 0.9 against 0.1 to 0.5 finds {}.",
        early,
        _gammas_found(results),
    )


def _gammas_found(results: Results) -> str:
    """Say what gamma 0.9 finds on each topic, early and late."""
    said, stops = [], _reached(results, "gamma", SWEPT_AT)
    for task in results.tasks("gamma"):
        means = {
            gamma: [mean_within(results, "gamma", task, _named(gamma), at) for at in stops]
            for gamma in GAMMAS
            if results.runs("gamma", task, _named(gamma))
        }
        drops = ", ".join(map(percent, _drops(means, len(stops))))
        said.append(f"{drops} within {', '.join(map(str, stops))} pages ({task})")
    return "; ".join(said)


EXPERIMENT = Experiment(
    name="pertejo2021",
    title="The linear crawler of Pertejo, again",
    source="Pertejo (2021), master's thesis, chapter 4.",
    paper_found="The linear crawler finds 1.2 to 1.9 times as many relevant pages as the basic one "
    "(table 4.3), a gamma of 0.9 finds 19 % fewer than 0.1 to 0.5 (table 4.2), and the basic "
    "crawler finds almost four times as many as a network with an output for each page.",
    we_found=_we_found,
    why=f"{WHY} The reasons were counted with the settings of Han et al. (2018).",
    parts=(
        Part(name="topics", trials=_topics, version=2),
        Part(name="gamma", trials=_gamma, version=2),
        Part(name="network", trials=_network, version=2),
        Part(name="exhausted", trials=_exhausted, version=2),
        Part(name="cold", trials=_cold, version=2),
        Part(name="gamma-generated", trials=_gamma_generated, version=2),
    ),
    report=_report,
)
