"""How similar to its topic the relevant pages are that crawlers find (Pertejo 2021, §5.2).

Pertejo proposes it as a further measure: the distribution of the cosines between the vectors of
topic and page, over the relevant pages found. It is what the stored runs of entries with
`cosine=True` have as `intervals`: relevant pages by tenth of relevance.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from experiments.harness.plots import intervals
from experiments.harness.report_page import Page, percent
from experiments.harness.results import Results

# tenths of cosines: below what pays, then by the reward that a page without the word would get
RANGES = {"below 0.4": (0, 4), "0.4 to 0.5": (4, 5), "0.5 to 0.6": (5, 6), "from 0.6": (6, 10)}


def report_similarities(
    results: Results, page: Page, part: str, entries: Sequence[str]
) -> dict[str, Any]:
    """Write the cosines of the relevant pages that each entry found, as table and picture."""
    page.heading("How similar the pages found are to their topic (proposed in §5.2)")
    page.text(
        "Cosines between the vectors of topic and page, over the relevant pages found. A page is "
        "relevant if it has the topic's word, whatever its cosine. The mean is that of the "
        "middles of tenths."
    )
    rows, means = [], {}
    for task in results.tasks(part):
        for entry in entries:
            counts = tenths(results, part, task, entry)
            if counts.sum():
                shares = [percent(float(share)) for share in in_ranges(counts)]
                means[f"{task}, {entry}"] = mean_cosine(counts)
                rows.append([task, entry, float(counts.sum()), mean_cosine(counts), *shares])
    page.table(["topic", "crawler", "relevant pages", "mean cosine", *RANGES], rows)
    page.figure(
        f"{part}-similarities.png",
        "relevant pages found by tenth of their cosine to the topic",
        intervals(results, part, entries),
    )
    return means


def tenths(results: Results, part: str, task: str, entry: str) -> np.ndarray[Any, Any]:
    """Return relevant pages by tenth of their cosine, the mean over runs; zeros without runs."""
    runs = [run["intervals"] for run in results.runs(part, task, entry)]
    return np.mean(runs, axis=0) if runs else np.zeros(10)


def in_ranges(counts: np.ndarray[Any, Any]) -> list[float]:
    """Return the share of pages in each of RANGES."""
    return [float(counts[low:high].sum() / counts.sum()) for low, high in RANGES.values()]


def mean_cosine(counts: np.ndarray[Any, Any]) -> float:
    """Return the mean cosine, taking the middle of each tenth."""
    return float(counts @ (np.arange(len(counts)) + 0.5) / len(counts) / counts.sum())
