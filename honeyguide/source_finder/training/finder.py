"""Train a complete source finder from sites whose source pages are known."""

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from honeyguide.contracts import Encoder, Judge, Link, Mask, Page, Vector, Verdict, World
from honeyguide.errors import HoneyguideError
from honeyguide.source_finder.inputs import input_width, with_signs
from honeyguide.source_finder.model import SourceModel
from honeyguide.source_finder.page_model import PageModel
from honeyguide.source_finder.policy import Policy
from honeyguide.source_finder.scorer import Scorer, encoded, page_texts
from honeyguide.source_finder.training.calibration import (
    CLICKS,
    FullWalk,
    calibrated,
    reporting,
    walk,
)
from honeyguide.source_finder.training.page_model import (
    PageModelTraining,
    PageRows,
    page_rows,
    small_rows,
)
from honeyguide.source_finder.training.page_scorer import Quality, quality
from honeyguide.source_finder.training.sources import Report, same_site
from honeyguide.source_finder.training.value import (
    Example,
    SiteGraph,
    ValueTraining,
    Worth,
    read_site,
)

MOST_LINKS = 80  # pages per labelled site that the document's page scorer is trained on
SEEDS, STEPS = 40, 3  # sites and clicks of equation 5 (Liao and Chang 2022, tables I and III)
HELD_OUT = 4  # every fourth site is held out to choose rules and to measure


@dataclass(frozen=True, slots=True, kw_only=True)
class SiteGroup:
    """Sites of one origin to learn from."""

    world: World
    homes: Sequence[str]
    worth: Worth
    weight: float = 1.0  # of its pages and walks
    most_pages: int = 60  # of a site that are visited
    pages_of_site: int = 30  # of a site that the page model learns from, source pages first


@dataclass(frozen=True, slots=True)
class TrainedFinder:
    """A trained model and figures of its training."""

    model: SourceModel
    sites: int
    pages: int  # number of pages that the page scorer was trained on
    held_out: Quality  # of a page scorer trained on three quarters of the sites, on the others
    eta: float  # equation 5, over the sites that were trained on

    def summary(self) -> dict[str, Any]:
        """Return the figures by name."""
        rule, report = self.model.calibrated, self.model.reporting
        return {
            "kind": self.model.kind,
            "sites": self.sites,
            "pages": self.pages,
            "held_out_accuracy": round(self.held_out.accuracy, 3),
            "held_out_precision": round(self.held_out.precision, 3),
            "held_out_recall": round(self.held_out.recall, 3),
            "stopping": [rule.first, rule.growth, rule.after] if rule else None,
            "reporting": [round(x, 2) for x in (report.page, report.link, report.bias)],
            "equation_5": round(self.eta, 3),
        }


@dataclass(slots=True)
class _Material:
    """What was read of the sites."""

    graphs: list[SiteGraph] = field(default_factory=list)
    examples: list[list[Example]] = field(default_factory=list)  # by site
    weights: list[float] = field(default_factory=list)  # by site
    pages: list[Page] = field(default_factory=list)
    truth: list[bool] = field(default_factory=list)
    sites: list[int] = field(default_factory=list)  # of each page
    page_weights: list[float] = field(default_factory=list)


@dataclass(frozen=True, slots=True, kw_only=True)
class FinderTraining:
    """Settings of the training: values of clicks, page model, rules."""

    kind: str
    encoder_name: str
    encoder: Encoder
    value: ValueTraining = field(default_factory=ValueTraining)
    pages: PageModelTraining = field(default_factory=PageModelTraining)
    price: float = 0.04  # of a click, where finding a site is worth 1
    random_seed: int = 0

    async def run(
        self, groups: Sequence[SiteGroup], report: Callable[[str], Report]
    ) -> TrainedFinder:
        """Train on groups of labelled sites."""
        material = await self._read(groups, report("sites"))
        rows = page_rows(
            material.pages, material.truth, material.sites, material.page_weights, self.encoder
        )
        held = np.arange(len(material.graphs)) % HELD_OUT == 0
        if not rows.truth.any():
            raise HoneyguideError("no source page was found on the labelled sites")
        rules, held_out = self._calibrate(material, rows, held, report)
        policy = self._policy(material, ~np.zeros(len(held), np.bool_), self.value, report("net"))
        page = self.pages.run(rows, self.encoder.width, self.random_seed)
        seeds = np.cumsum(~held) <= SEEDS
        eta = equation_5(self._walks(material, policy, page, ~held & seeds, STEPS))
        model = SourceModel(self.kind, self.encoder_name, policy, eta, page.document, page, *rules)
        return TrainedFinder(model, len(material.graphs), len(rows.truth), held_out, eta)

    async def _read(self, groups: Sequence[SiteGroup], report: Report) -> _Material:
        material, rng = _Material(), np.random.default_rng(self.random_seed)
        count = sum(len(group.homes) for group in groups)
        for group in groups:
            for home in group.homes:
                site = await read_site(group.world, home, group.worth, group.most_pages)
                number = len(material.graphs)
                material.graphs.append(site)
                material.examples.append(self.value.examples(site, self.encoder, rng))
                material.weights.append(group.weight)
                for page in chosen_pages(site, group.pages_of_site, rng):
                    material.pages.append(page)
                    material.truth.append(site.worths[page.url] == 1)
                    material.sites.append(number)
                    material.page_weights.append(_page_weight(group, site.worths[page.url]))
                report(number + 1, count, "")
        return material

    def _calibrate(
        self, material: _Material, rows: PageRows, held: Mask, report: Callable[[str], Report]
    ) -> tuple[Any, Quality]:
        """Train on some sites; choose rules, and measure, on the others."""
        one = replace(self.value, nets=1)
        policy = self._policy(material, ~held, one, report("net for calibration"))
        of_held = held[np.array(rows.sites)]
        known = _some(rows, ~of_held)
        if not 0 < known.truth.sum() < len(known.truth):
            raise HoneyguideError("there are too few labelled sites: name at least eight")
        page = replace(self.pages, nets=1).run(known, self.encoder.width, self.random_seed)
        walks = self._walks(material, policy, page, held)
        weights = [material.weights[at] for at in np.flatnonzero(held)]
        rule = calibrated(walks, self.price, weights)
        scores = page.probabilities(small_rows(page, _some(rows, of_held)))
        measured = quality(scores, rows.truth[of_held])
        return (rule, reporting(walks, rule, weights)), measured

    def _policy(
        self, material: _Material, chosen: Mask, value: ValueTraining, report: Report
    ) -> Policy:
        examples = [
            example
            for at in np.flatnonzero(chosen)
            for example in material.examples[at] * max(1, round(material.weights[at]))
        ]
        return value.run(examples, input_width(self.encoder), report)

    def _walks(
        self,
        material: _Material,
        policy: Policy,
        page: PageModel,
        chosen: Mask,
        most: int = CLICKS,
    ) -> list[FullWalk]:
        def links(seen: Page, known: Container[str]) -> Vector:
            return policy(with_signs(seen, self.encoder, known))

        def score(seen: Page) -> float:
            return page(seen, self.encoder)

        return [walk(material.graphs[at], links, score, most) for at in np.flatnonzero(chosen)]


def chosen_pages(site: SiteGraph, most: int, rng: np.random.Generator) -> list[Page]:
    """Return source pages first, then the home page, pages one click away, and others."""
    order = [url for url in site.pages if not np.isnan(site.worths[url])]
    order = [order[at] for at in rng.permutation(len(order)).tolist()]
    order.sort(key=lambda url: (site.worths[url] != 1, min(site.depths[url], 2)))
    return [site.pages[url] for url in order[:most]]


def _page_weight(group: SiteGroup, worth: float) -> float:
    return group.weight * (3.0 if worth == 1 else 1.0)


def _some(rows: PageRows, chosen: Mask) -> PageRows:
    sites = [site for site, taken in zip(rows.sites, chosen, strict=True) if taken]
    return PageRows(
        rows.structure[chosen], rows.texts[chosen], rows.truth[chosen], sites, rows.weights[chosen]
    )


def equation_5(walks: Sequence[FullWalk]) -> float:
    """Return eta: the mean over sites of their clicks' scores, weighted by page scores."""
    means = []
    for full in walks:
        weights = [click.page for click in full.clicks]
        if sum(weights) > 0:
            means.append(np.average([click.score for click in full.clicks], weights=weights))
    return float(np.mean(means)) if means else 0.5


def scoring(scorer: Scorer, encoder: Encoder) -> Judge:
    """Return a judge whose relevance is the page scorer's probability."""

    def judge(page: Page) -> Verdict:
        score = float(scorer(encoded([page_texts(page)], encoder))[0])
        return Verdict(score, score >= 0.5)

    return judge


async def linked_pages(
    world: World, homes: Sequence[str], report: Report
) -> tuple[list[Page], Mask, list[int]]:
    """Return home pages and the pages they link to, whether each is a source, and its site."""
    pages: list[Page] = []
    truth: list[bool] = []
    sites: list[int] = []
    for number, home in enumerate(homes):
        waiting, known = [home], {home}
        for place, url in enumerate(waiting):
            visit = await world.visit(Link(url))
            if visit.page is None:
                continue
            body = visit.page.html or (visit.response.body if visit.response else b"")
            pages.append(replace(visit.page, html=body))
            truth.append(visit.verdict.relevant)
            sites.append(number)
            for link in visit.page.links if place == 0 else ():
                if link.url not in known and same_site(link.url, home):
                    known.add(link.url)
                    waiting.append(link.url)
            del waiting[MOST_LINKS:]
        report(number + 1, len(homes), "")
    return pages, np.array(truth, np.bool_), sites
