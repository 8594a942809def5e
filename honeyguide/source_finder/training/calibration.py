"""Choose when to stop and what to report, on walks over sites whose source pages are known.

Without a threshold a walk clicks the best link ten times. The same links are clicked in the same
order with any threshold, only fewer of them, so each rule is tried on the same walks.
"""

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from honeyguide.contracts import Page, Vector
from honeyguide.source_finder.stopping import Calibrated, Reporting, Stopping, logit
from honeyguide.source_finder.training.sources import same_site
from honeyguide.source_finder.training.value import SiteGraph

CLICKS = 10
LIKELY = 0.5  # least page score of a find
FIRSTS = (0.02, 0.03, 0.05, 0.08, 0.12, 0.16, 0.2, 0.25, 0.3)
GROWTHS = (0.0, 0.01, 0.02, 0.04)
AFTERS = (0.5, 0.6, 0.7, 0.8, 0.9)


@dataclass(frozen=True, slots=True)
class WalkedClick:
    """One click of a walk."""

    score: float  # of the link
    page: float  # of the page
    truth: float  # 1: a source page, 0: another, NaN: counts neither way


@dataclass(frozen=True, slots=True)
class FullWalk:
    """The clicks on one site, as many as are allowed."""

    clicks: tuple[WalkedClick, ...]
    has_source: bool


def walk(
    site: SiteGraph,
    links: Callable[[Page, Container[str]], Vector],
    score: Callable[[Page], float],
    most: int = CLICKS,
) -> FullWalk:
    """Walk over a site that was read; pages that were not read count as failures."""
    waiting: dict[str, float] = {}
    seen = {site.home}
    clicks: list[WalkedClick] = []
    page: Page | None = site.pages.get(site.home)
    while True:
        known = seen | waiting.keys()
        for link, worth in zip(page.links, links(page, known), strict=False) if page else ():
            if link.url not in seen and same_site(link.url, site.home):
                waiting[link.url] = max(float(worth), waiting.get(link.url, 0.0))
        if not waiting or len(clicks) == most:
            return FullWalk(tuple(clicks), any(worth == 1 for worth in site.worths.values()))
        url = max(waiting, key=lambda url: waiting[url])
        expected = waiting.pop(url)
        seen.add(url)
        page = site.pages.get(url)
        truth = site.worths.get(url, 0.0)
        clicks.append(WalkedClick(expected, score(page) if page else 0.0, truth))


def prefix(full: FullWalk, rule: Stopping) -> Iterator[WalkedClick]:
    """Yield the clicks that a rule allows."""
    found = 0
    for number, click in enumerate(full.clicks):
        if click.score <= rule.least(number, found):
            return
        yield click
        found += click.page >= LIKELY


def calibrated(walks: Sequence[FullWalk], price: float, weights: Sequence[float]) -> Calibrated:
    """Return the rule that finds most sites for what its clicks cost; `price` is of one click."""
    rules = [Calibrated(*numbers) for numbers in product(FIRSTS, GROWTHS, AFTERS)]
    return max(rules, key=lambda rule: _gain(walks, rule, price, weights))


def _gain(
    walks: Sequence[FullWalk], rule: Stopping, price: float, weights: Sequence[float]
) -> float:
    total = 0.0
    for full, weight in zip(walks, weights, strict=True):
        clicks = list(prefix(full, rule))
        found = any(click.truth == 1 and click.page >= LIKELY for click in clicks)
        total += weight * (found - price * len(clicks))
    return total


def reporting(walks: Sequence[FullWalk], rule: Stopping, weights: Sequence[float]) -> Reporting:
    """Fit the weights of page and link to what visited pages were (logistic regression)."""
    rows = [
        (logit(click.page), logit(click.score), click.truth, weight)
        for full, weight in zip(walks, weights, strict=True)
        for click in prefix(full, rule)
        if not np.isnan(click.truth)
    ]
    if not rows:
        return Reporting()
    page, link, truth, weight = np.array(rows).T
    x = np.stack([page, link, np.ones(len(page))], axis=1)
    start = np.array([1.0, 1.0, 0.0])  # odds multiplied, unless the walks say otherwise
    w = start.copy()
    for _ in range(50):  # Newton's method with a penalty on the distance from the start
        p = 1 / (1 + np.exp(-np.clip(x @ w, -30, 30)))
        gradient = x.T @ (weight * (p - truth)) + (w - start)
        hessian = (x * (weight * p * (1 - p))[:, None]).T @ x + np.eye(3)
        w -= np.clip(np.linalg.solve(hessian, gradient), -0.5, 0.5)
    return Reporting(float(max(w[0], 0.2)), float(max(w[1], 0.0)), float(w[2]))
