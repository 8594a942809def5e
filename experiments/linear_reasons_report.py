"""The section of a report that says why linear SARSA finds no more than no learning."""

import math
from typing import Any

from experiments.found_early import mean_within, ratio_within
from experiments.harness.ratios import Interval
from experiments.harness.report_page import Page, percent
from experiments.harness.results import Results
from experiments.topics import REASONS

EARLY = (150, 400)  # pages
RANKED = (
    "AUC of score",
    "AUC of the link's cosine",
    "AUC of its page's relevance",
    "AUC of its parents' relevance",
)
WEIGHED = (
    "weight of the link's cosine",
    "weight of its page's relevance",
    "weight of its parents' relevance",
    "weight of its page's distance",
)
HINDSIGHT = "weights fitted in hindsight"
SYNC, BASIC = "linear_sync", "best_first"


def report_reasons(results: Results, page: Page) -> dict[str, Any]:
    """Write what each change brings, and how well waiting links are ranked."""
    page.heading("Why learning finds no more than no learning")
    page.text(
        "From `best_first` to `linear_sync`, one thing changed at a time, one task without "
        "earlier weights. Least squares learns from the same rows and rewards, but fits all pages "
        "so far instead of moving towards the last one. Weights in hindsight are fitted to "
        "whether the links that `linear_sync` was shown lead to relevant pages, which no crawler "
        "knows: they show how much the rows are able to say in a weighted sum."
    )
    names = results.entries(REASONS)
    found = {name: _ratios(results, name) for name in names}
    pages = _stops(results)
    page.table(
        [f"relevant pages against {BASIC}", *(f"at {count:,} pages" for count in pages)],
        [[name, *ratios.values()] for name, ratios in found.items()],
    )
    page.text(_told_apart({name: ratios[pages[-1]] for name, ratios in found.items()}))
    tasks = results.tasks(REASONS)
    page.table(
        [f"relevant pages at {', '.join(f'{count:,}' for count in pages)} pages", *tasks],
        [[name, *(_counts(results, task, name, pages) for task in tasks)] for name in names],
    )
    _report_ranking(results, page)
    _report_weights(results, page)
    return {name: ratios[pages[-1]] for name, ratios in found.items() if ratios[pages[-1]]}


def _report_ranking(results: Results, page: Page) -> None:
    page.text(
        "How well the waiting links are ranked: the probability that a link to a relevant page "
        "stands before one to another page (AUC, mean of ten measurements a crawl), in crawls of "
        f"`{SYNC}`, by its score and by single features of the same rows; beside it the cosine "
        f"of `{BASIC}` in its own crawl. Moved is the share of its error by which the value of "
        "a page's row changes after each page: 0.15 means that a page counts for half after four "
        "others like it. Paid are pages without the topic's word that earn 20 or 30."
    )
    tasks = [task for task in results.tasks(REASONS) if results.runs(REASONS, task, SYNC)]
    page.table(
        ["topic", *(name.removeprefix("AUC of ") for name in RANKED), f"{BASIC}'s score", "moved",
         "paid"],
        [_ranking(results, task) for task in tasks],
    )  # fmt: skip
    worse = sum(_mean(results, task, RANKED[0]) < _mean(results, task, RANKED[1]) for task in tasks)
    page.text(
        f"On {worse} of {len(tasks)} topics the learnt score ranks the waiting links worse than "
        "the link's own cosine, one of the features that it is made of."
    )


def _report_weights(results: Results, page: Page) -> None:
    page.text(
        "Weights at the end of a task, as shares of the sum of all weights' sizes (both indexes of "
        "a value together; the distance is 0 on a relevant page), as learnt and as fitted in "
        "hindsight:"
    )
    page.table(
        ["topic, weights", *(name.removeprefix("weight of ") for name in WEIGHED)],
        [
            [f"{task}, {name}", *(results.mean(REASONS, task, name, what) for what in WEIGHED)]
            for task in results.tasks(REASONS)
            for name in (SYNC, HINDSIGHT)
            if results.runs(REASONS, task, name)
        ],
    )


def _ranking(results: Results, task: str) -> list[object]:
    basic = results.mean(REASONS, task, BASIC, RANKED[0])
    shares = _mean(results, task, "moved"), percent(_mean(results, task, "paid_share"))
    return [task, *(_mean(results, task, name) for name in RANKED), basic, *shares]


def _mean(results: Results, task: str, what: str) -> float:
    return results.mean(REASONS, task, SYNC, what)


def _told_apart(found: dict[str, Interval | None]) -> str:
    """Say which crawlers differ from no learning at the end, by their intervals."""
    others = {name: ratio for name, ratio in found.items() if ratio and name != BASIC}
    more = [name for name, ratio in others.items() if ratio.low > 1]
    fewer = [name for name, ratio in others.items() if ratio.high < 1]
    rest = [name for name in others if name not in more + fewer]
    return (
        f"At the end, more than `{BASIC}` find: {'; '.join(more) or 'none'}. Fewer: "
        f"{'; '.join(fewer) or 'none'}. Not to be told from it: {'; '.join(rest) or 'none'}."
    )


def _ratios(results: Results, name: str) -> dict[int, Interval | None]:
    stops = _stops(results)
    return {count: ratio_within(results, REASONS, (name, BASIC), count) for count in stops}


def _counts(results: Results, task: str, name: str, pages: list[int]) -> str:
    found = [mean_within(results, REASONS, task, name, count) for count in pages]
    return ", ".join("–" if math.isnan(count) else f"{count:.0f}" for count in found)


def _stops(results: Results) -> list[int]:
    """Return the numbers of pages at which crawls are compared: early ones, and the end."""
    budget = max(int(run["budget"]) for run in results.of_part(REASONS))
    return [*(count for count in EARLY if count < budget), budget]
