"""Train a complete source finder: page scorer, pre-training, fine-tuning."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from honeyguide.contracts import Encoder, Judge, Link, Mask, Page, Verdict, World
from honeyguide.source_finder.model import SourceModel
from honeyguide.source_finder.scorer import Scorer, encoded, page_texts
from honeyguide.source_finder.training.ensemble import Ensemble, TrainedPolicy, joined
from honeyguide.source_finder.training.page_scorer import Quality, ScorerTraining
from honeyguide.source_finder.training.sources import (
    Boxes,
    FineTuning,
    PreTraining,
    Report,
    Sites,
    same_site,
)

MOST_LINKS = 80  # pages per labelled site that the page scorer is trained on


@dataclass(frozen=True, slots=True)
class SiteSet:
    """Home pages of sites, and a function that opens their world with a judge."""

    open: Callable[[Judge], World]
    homes: Sequence[str]


@dataclass(frozen=True, slots=True)
class TrainedFinder:
    """A trained model and figures of its training."""

    model: SourceModel
    before: SourceModel  # the same without fine-tuning
    pages: int  # number of pages that the page scorer was trained on
    held_out: Quality  # of a page scorer trained on four fifths of the sites, on the others


@dataclass(frozen=True, slots=True, kw_only=True)
class FinderTraining:
    """Settings of the training of Liao and Chang (2022), with several policies merged."""

    kind: str
    encoder_name: str
    encoder: Encoder
    pre: PreTraining = field(default_factory=PreTraining)
    fine: FineTuning = field(default_factory=FineTuning)
    scorer: ScorerTraining = field(default_factory=ScorerTraining)
    nets: int = 5  # trained separately, then merged
    boxes: Boxes | None = None
    shown: bool = (
        False  # whether to begin with supervised training, which needs labels of all pages
    )
    random_seed: int = 0

    async def run(
        self,
        labelled: SiteSet,
        judge: Judge,
        unlabelled: SiteSet | None,
        report: Callable[[str], Report],
    ) -> TrainedFinder:
        """Train on labelled sites, then, if given, fine-tune on unlabelled ones."""
        world = labelled.open(judge)
        pages, truth, sites = await linked_pages(world, labelled.homes, report("pages"))
        scorer = self.scorer.run(pages, truth, self.encoder, self.random_seed)
        held_out = self._held_out(pages, truth, sites)
        ensemble = Ensemble(
            nets=self.nets, pre=self.pre, fine=self.fine, random_seed=self.random_seed
        )
        seen = Sites(world, labelled.homes, self.encoder, self.boxes)
        known = [page.url for page in pages] if self.shown else []
        nets = await ensemble.pre_train(seen, self.encoder.width, report, known=known)
        before = self._model(joined(nets), scorer)
        await world.close()
        if unlabelled is None:
            return TrainedFinder(before, before, len(pages), held_out)
        other = unlabelled.open(scoring(scorer, self.encoder))
        seen = Sites(other, unlabelled.homes, self.encoder, self.boxes)
        nets = await ensemble.fine_tune(seen, nets, report)
        await other.close()
        return TrainedFinder(self._model(joined(nets), scorer), before, len(pages), held_out)

    def _held_out(self, pages: Sequence[Page], truth: Mask, sites: Sequence[int]) -> Quality:
        test = np.array(sites) % 5 == 0
        known = [page for page, is_test in zip(pages, test, strict=True) if not is_test]
        others = [page for page, is_test in zip(pages, test, strict=True) if is_test]
        if not others or not 0 < truth[~test].sum() < len(known):
            return Quality(0.0, 0.0, 0.0)
        scorer = self.scorer.run(known, truth[~test], self.encoder, self.random_seed)
        return self.scorer.measure(scorer, others, truth[test], self.encoder)

    def _model(self, net: TrainedPolicy, scorer: Scorer) -> SourceModel:
        return SourceModel(self.kind, self.encoder_name, net.policy, net.eta, scorer)


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
