"""Friar (2017, chapters 3 and 4): walks that see only URLs and look for target domains."""

from dataclasses import replace
from typing import Any

from experiments.friar2017_order import ORDER, histogram, order_tables
from experiments.friar2017_prices import AT, RECORDED_SHARE
from experiments.friar2017_walks import (
    FIELDS,
    HELD_OUT,
    SEED,
    TOPICS,
    all_rewards,
    rewards_and_held_out,
)
from experiments.harness.experiment import Entry, Experiment, Part, Task, Trial
from experiments.harness.report_page import Page
from experiments.harness.results import Results
from experiments.harness.sentences import times, told
from honeyguide.bench.report import spread

WALK, PRICED = "experiments.friar2017_walks:walk", "experiments.friar2017_prices:priced_walk"
PRICES = (0.0, 0.02, 0.1, 0.5)  # of a second, in rewards
# pages of the generated web; a walk takes a tenth as many steps, as in the paper
FULL, QUICK = 2_000_000, 20_000
BAG = "classifier, bag of words"
TABLE_4_1 = {"random_walk": "118.2", "url_async_dqn": "160.4"}
TABLE_4_3 = {"random_walk": "19.6", "url_async_dqn": "45.3"}
# articles among image pages, courses among pages of universities; a tenth of the pages as steps
RECORDED = {"schools-wiki": ("label:wp", 3000), "webkb": ("label:course", 800)}


def _agents(steps: int, names: tuple[str, ...] = ORDER) -> list[Entry]:
    """List the paper's agents; exploration falls over the first half of the steps."""
    fading = f"epsilon_steps={steps // 2}"
    settings = {
        "url_linear_q": f":{fading}",
        "url_cnn_dqn": f":{fading}",
        "url_async_dqn": f":{fading},actors=4",
    }
    return [Entry(name=name, agent=name + settings.get(name, "")) for name in names]


def _ablation(steps: int) -> list[Entry]:
    """List variants of the agents, each without a component or with one that the paper lacks."""
    fading = f"epsilon_steps={steps // 2}"
    specs = {
        "whole": f"url_cnn_dqn:{fading}",
        "without replay": f"url_cnn_dqn:{fading},replay=none",
        "ranked replay": f"url_cnn_dqn:{fading},replay=ranked",
        "without target network": f"url_cnn_dqn:{fading},target_every=0",
        "with double": f"url_cnn_dqn:{fading},double=true",
        "without convolution": f"url_linear_q:{fading}",
        "linear, uniform replay": f"url_linear_q:{fading},replay=uniform",
        "linear, ranked replay": f"url_linear_q:{fading},replay=ranked",
        "linear, a step costs 0.05": f"url_linear_q:{fading},penalty=0.05",
        "classifier": "url_classifier",
        "classifier, always the best": "url_classifier:temperature=0",
        BAG: "url_bag_classifier",
        "asynchronous": f"url_async_dqn:{fading},actors=4",
        "without asynchrony": f"url_async_dqn:{fading},actors=0",
    }
    entries = [Entry(name=name, agent=spec) for name, spec in specs.items()]
    return [*entries, Entry(name="with GloVe's vectors", agent=specs["whole"], encoder="glove")]


def _chapter_3(pages: int, topics: tuple[str, ...] = TOPICS) -> Task:
    task = _generated_task(
        pages,
        " and ".join(topics[:2]),
        f"{pages // 8} pages off targets",  # so many that few walks start at the same page
        all_rewards(pages, topics),
    )
    return replace(task, topic=" and ".join(topics))


def _chapter_4(pages: int, name: str, share: int = 10, seeds: str = "") -> Task:
    """Return the task of chapter 4, whose 1,100,000 start pages are 2 % of the web's."""
    seeds = seeds or f"{pages // 50} pages near targets"
    return _generated_task(pages, name, seeds, rewards_and_held_out(pages)[0], share)


def _generated_task(pages: int, name: str, seeds: str, rewards: list[str], share: int = 10) -> Task:
    """Return a task on a generated web with pages / share steps."""
    return Task(
        name=name,
        web=f"many links of synthetic:pages={pages},seed={SEED}",
        topic=" and ".join(TOPICS),
        judge="targets:" + ",".join(rewards),
        seeds=(seeds,),
        budget=pages // share,
    )


def _walks(part: str, task: Task, entries: list[Entry], runs: int) -> list[Trial]:
    return [
        Trial(part=part, task=task, entry=entry, number=number, function=WALK)
        for number in range(runs)
        for entry in entries
        if number < 2 or not entry.agent.startswith("url_async_dqn")  # four processes each
    ]


def _order(quick: bool) -> list[Trial]:
    """Give each run targets of its own: with one set of targets, chance decides the order."""
    pages = QUICK if quick else FULL
    tasks = [_chapter_3(pages, topics) for topics in FIELDS[: 1 if quick else 5]]
    return [
        Trial(part="order", task=task, entry=entry, number=number, function=WALK)
        for number, task in enumerate(tasks)
        for entry in _agents(task.budget)
    ]


def _held_out(quick: bool) -> list[Trial]:
    """List trials with 2 % and 10 % of the pages as steps; chapter 4 has 0.4 % and 2 %."""
    pages = QUICK if quick else FULL
    name = "start pages, steps: 2 % of the pages"
    tasks = [_chapter_4(pages, name, 50)]
    if not quick:
        tasks.append(_chapter_4(pages // 10, "start pages"))
    names = ("random_walk", "url_linear_q", "url_cnn_dqn", "url_async_dqn")
    return [
        trial
        for task in tasks
        for trial in _walks(
            HELD_OUT, task, _agents(task.budget, names)[: 2 if quick else 4], 1 if quick else 3
        )
    ]


def _ablations(quick: bool) -> list[Trial]:
    pages = QUICK if quick else FULL // 10
    task = _chapter_3(pages)
    entries = _ablation(task.budget)
    return _walks("ablation", task, entries[:3] if quick else entries, 1 if quick else 2)


def _recorded(quick: bool) -> list[Trial]:
    trials: list[Trial] = []
    for web, (judge, most) in RECORDED.items():
        steps = most // 10 if quick else most
        seeds = (f"{steps // 4} random pages",)
        task = Task(name=web, web=web, topic=web, judge=judge, seeds=seeds, budget=steps)
        agents = _agents(steps)
        texts = Entry(name="linear, anchors and titles too", agent=f"{agents[1].agent},text=true")
        entries = agents[:2] if quick else [*agents, texts]
        trials += _walks("recorded", task, entries, 1 if quick else 3)
    return trials


def _price(quick: bool) -> list[Trial]:
    pages = QUICK if quick else FULL // 10
    task = _chapter_4(pages, "half of the hosts recorded", seeds=f"{pages // 40} random pages")
    agent = f"url_linear_q:epsilon_steps={task.budget // 2}"
    entries = [
        Entry(name=f"a second costs {price}", agent=f"{agent}{AT}{price}")
        for price in (PRICES[:2] if quick else PRICES)
    ]
    return [
        Trial(part="price", task=task, entry=entry, number=number, function=PRICED)
        for number in range(1 if quick else 3)
        for entry in entries
    ]


# --------------------------------------------------------------------------- report


def _report(results: Results, page: Page) -> dict[str, Any]:
    page.text(
        "A walk follows links from page to page until it reaches a target or a dead end, or has "
        "taken 50 steps, then begins again; the last 50 pages are not visited again. Agents see "
        "the words of URLs only: linear ones the commonest that make up 80 % of all (3.4), "
        "networks rarer ones too, but no names. The generated web's pages have as many links as "
        "the paper's (table B.1). On it the targets are all hosts about two topics (chapter 3; "
        f"{TOPICS[0]} and {TOPICS[1]} where no others are named), or half of those about "
        f"{', '.join(TOPICS)}, the other half being held out and never rewarded (chapter 4); "
        "unique rewards are hosts. The classifier is shown the optimal values of half of all "
        "pages: an upper bound."
    )
    headline: dict[str, Any] = {}
    headline |= order_tables(results, page)
    for task in results.tasks(HELD_OUT):
        headline |= _held_out_table(results, page, task)
    for part, title in (("ablation", "What each component adds"), ("recorded", "Recorded webs")):
        for task in results.tasks(part):
            page.heading(f"{title}: {task}")
            _comparison(results, page, part, task)
            for run in results.runs(part, task, BAG)[:1]:  # figure 3.10
                drawn = histogram(run)
                if drawn is not None:
                    page.figure("values-bag.png", "a bag told the optimal values", drawn)
    for task in results.tasks("price"):
        headline |= _price_table(results, page, task)
    return headline


def _held_out_table(results: Results, page: Page, task: str) -> dict[str, Any]:
    page.heading(f"Tables 4.1 and 4.3, held-out rewards: {task}")
    names = results.entries(HELD_OUT, task)
    held_out = {name: results.mean(HELD_OUT, task, name, "held_out") for name in names}
    base = held_out.get("random_walk", 0)
    times = {name: found / base for name, found in held_out.items() if base}
    page.table(
        ["agent", "paper: rewards", "ours", "paper: held out", "ours", "times random"],
        [
            [
                name,
                TABLE_4_1.get(name, "–"),
                results.mean(HELD_OUT, task, name),
                TABLE_4_3.get(name, "–"),
                held_out[name],
                times.get(name, "–"),
            ]
            for name in names
        ],
    )
    return {
        f"{name} held out / random, {task}": ratio
        for name, ratio in times.items()
        if name != "random_walk"
    }


def _price_table(results: Results, page: Page, task: str) -> dict[str, Any]:
    page.heading("Section 4.2.3: a record first, the web where it is worth it")
    page.text(
        f"There is a record of {RECORDED_SHARE:.0%} of the hosts: a page of it costs 0.01 s, any "
        "other one 1 s. The linear agent walks until its seconds or its pages are spent; a link's "
        "value is lowered by the price of its seconds."
    )
    names = results.entries("price", task)
    columns = ("pages", "recorded_share", "simulated_seconds", "relevant", "rewards_an_hour")
    page.table(
        ["", "pages", "of the record", "seconds", "unique rewards", "unique rewards an hour"],
        [[name, *(results.mean("price", task, name, what) for what in columns)] for name in names],
    )
    free = results.mean("price", task, names[0], "rewards_an_hour")
    return {
        f"{name}, rewards an hour": results.mean("price", task, name, "rewards_an_hour") / free
        for name in names[1:]
    }


def _comparison(results: Results, page: Page, part: str, task: str) -> None:
    names = results.entries(part, task)
    base = results.mean(part, task, names[0])
    page.table(
        ["", "unique rewards", "sd", f"against {names[0]}", "separation of values"],
        [
            [
                name,
                results.mean(part, task, name),
                spread(results.found(part, task, name)),
                f"{results.mean(part, task, name) / base - 1:+.1%}" if base else "–",
                results.runs(part, task, name)[0].get("separation"),
            ]
            for name in names
        ],
    )


EXPERIMENT = Experiment(
    name="friar2017",
    title="Deep Q-learning on URLs, again",
    source="Friar (2017), chapters 3 and 4, tables 3.3, 3.4, 4.1 and 4.3.",
    paper_found="Agents that see only URLs find more unique rewards than a random walk: linear "
    "1.23, convolutional 1.35 and asynchronous 1.45 times as many, a classifier that is told the "
    "values 1.55 times (table 3.3).",
    we_found=lambda results: told(
        "On generated webs, times as many unique rewards as a random walk (95 % interval): {}.",
        times(
            results,
            "order",
            ("url_linear_q", "url_cnn_dqn", "url_async_dqn", "url_classifier"),
            "random_walk",
        ),
    ),
    why="The paper walks a cut of the real web and we walk a generated one, so that the order of "
    "the agents can be compared, the sizes cannot.",
    parts=(
        Part(name="order", trials=_order),
        Part(name=HELD_OUT, trials=_held_out),
        Part(name="ablation", trials=_ablations),
        Part(name="recorded", trials=_recorded),
        Part(name="price", trials=_price),
    ),
    report=_report,
)
