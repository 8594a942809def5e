"""Train the source finder on three universities of webkb and test it on the fourth."""

import asyncio
import tarfile
from collections.abc import Iterator
from dataclasses import asdict, replace
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import zstandard

from experiments.harness.experiment import Trial
from honeyguide.contracts import Judge, Page, Verdict
from honeyguide.plan import Plan
from honeyguide.recorded.graph import Graph
from honeyguide.registry import make
from honeyguide.web.html import parse

HOMES = {
    "cornell": "http://www.cs.cornell.edu/",
    "texas": "http://www.cs.utexas.edu/",
    "washington": "http://www.cs.washington.edu/",
    "wisconsin": "http://www.cs.wisc.edu/",
}
KINDS = ("course", "faculty")
BUDGETS = (20, 50)  # clicks
STARTS = 4  # start pages of a university besides its home page, in training
FEWEST_LINKS = 5  # of a start page
SHORT = {"step_size": 0.0005}
QUICK = 2  # epochs
TWICE = (  # entries with two runs; the others have one
    "links shown, feedback, five nets", "links shown, feedback", "links shown", "four texts",
)  # fmt: skip
# entry -> inputs of Anchor-Net and settings of its training
VARIANTS: dict[str, dict[str, Any]] = {
    "links shown, feedback, five nets": {
        "around": True,
        "learning": SHORT,
        "shown": True,
        "clicks": False,
        "feedback": True,
        "nets": 5,
    },
    "links shown, feedback": {
        "around": True,
        "learning": SHORT,
        "shown": True,
        "clicks": False,
        "feedback": True,
    },
    "links shown": {"around": True, "learning": SHORT, "shown": True, "clicks": False},
    "links shown, then clicks": {
        "around": True,
        "learning": {"lineage": 0.8, **SHORT},
        "shown": True,
    },
    "clicks alone": {"around": True, "learning": {"lineage": 0.8}},
    "anchors only": {"around": False, "learning": {"lineage": 0.8}},
    "no credit for the way": {"around": True, "learning": {}},
}


def run_finder(trial: Trial, world: str, random_seed: int) -> dict[str, Any]:
    """Train on three universities and count pages found on the fourth."""
    kind, test = trial.task.topic, trial.task.name.split()[1]
    quick = trial.task.name.endswith("quick")
    training = _Training(world, kind, test, random_seed, VARIANTS[trial.entry.name])
    found = asyncio.run(training.run(epochs=QUICK if quick else 12))
    rows = [[budget, *_others(world, kind, test, budget), found[budget]] for budget in BUDGETS]
    return {"clicks": rows, "relevant": found[max(BUDGETS)], "pages": max(BUDGETS)}


class _Training:
    """Train and test for one kind of page with one university held out."""

    def __init__(
        self, world: str, kind: str, test: str, random_seed: int, settings: dict[str, Any]
    ) -> None:
        from honeyguide.source_finder.inputs import anchors_only, with_surroundings  # noqa: PLC0415

        self.graph = Graph.open(world.removeprefix("graph:"))
        self.world = make("world", world, judge=make("judge", f"label:class:{kind}"))
        self.encoder = make("encoder", "wordllama")
        self.inputs = with_surroundings if settings["around"] else anchors_only
        self.settings, self.test, self.random_seed = settings, test, random_seed

    async def run(self, epochs: int) -> dict[int, int]:
        """Return the pages found within each budget of clicks."""
        from honeyguide.source_finder.inputs import AROUND  # noqa: PLC0415
        from honeyguide.source_finder.training.ensemble import Ensemble, joined  # noqa: PLC0415 needs an extra
        from honeyguide.source_finder.training.sources import (  # noqa: PLC0415
            EpisodeSettings,
            PreTraining,
            Sites,
            collect,
        )

        rng = np.random.default_rng(self.random_seed)
        known = {name: self._pages(name) for name in HOMES if name != self.test}
        inside = {self.graph.url(page) for pages in known.values() for page in pages}
        homes = [url for name, pages in known.items() for url in self._starts(name, pages, rng)]
        sites = Sites(self.world, homes, self.encoder, None, lambda url, _: url in inside)
        sites.inputs = self.inputs
        width = self.encoder.width * (AROUND if self.inputs.__name__ != "anchors_only" else 1)
        ensemble = Ensemble(
            nets=self.settings.get("nets", 1) if epochs > QUICK else 1,
            pre=PreTraining(epochs=epochs if self.settings.get("clicks", True) else 0, steps=20),
            learning=self.settings["learning"],
            random_seed=self.random_seed,
        )
        shown = sorted(inside) if self.settings.get("shown") else []
        nets = await ensemble.pre_train(sites, width, lambda _: lambda *news: None, known=shown)
        feedback = bool(self.settings.get("feedback"))
        if feedback:
            pages = [page for pages in known.values() for page in pages]
            self.world.judge = self._scored(pages, 30 if epochs > QUICK else 10)
        anywhere = Sites(self.world, homes, self.encoder, None, lambda url, home: True)
        anywhere.inputs = self.inputs
        settings = EpisodeSettings(steps=max(BUDGETS), threshold=-1.0, feedback=feedback)
        walk = await collect(anywhere, HOMES[self.test], joined(nets).policy, settings, rng)
        return {budget: sum(walk.found[:budget]) for budget in BUDGETS}

    def _scored(self, known: list[int], epochs: int) -> Judge:
        """Return a judge: relevance from a page scorer, the verdict from the labels."""
        from honeyguide.source_finder.training.finder import scoring  # noqa: PLC0415 needs an extra
        from honeyguide.source_finder.training.page_scorer import ScorerTraining  # noqa: PLC0415

        truth = self.world.judge
        pages = [self.graph.page(page) for page in known]
        sources = np.array([truth(page).relevant for page in pages])
        training = ScorerTraining(epochs=epochs, dropout=0.5)
        judge = scoring(training.run(pages, sources, self.encoder, self.random_seed), self.encoder)
        return lambda page: Verdict(judge(page).relevance, truth(page).relevant)

    def _pages(self, university: str) -> list[int]:
        pages: list[int] = self.graph.pages_with_label(f"univ:{university}").tolist()
        return pages

    def _starts(self, name: str, pages: list[int], rng: np.random.Generator) -> list[str]:
        """Return the home page and some other pages with links."""
        linked = [p for p in pages if len(self.graph.page(p, False).links) >= FEWEST_LINKS]
        chosen = rng.choice(linked, STARTS, replace=False).tolist()
        return [HOMES[name], *(self.graph.url(page) for page in chosen)]


@cache
def _others(world: str, kind: str, test: str, budget: int) -> tuple[int, int]:
    """Count what best_first, with the kind's name as topic, and the oracle find."""
    best, oracle = (
        Plan(
            topic=kind,
            seeds=(HOMES[test],),
            world=world,
            judge=f"label:class:{kind}",
            agent=agent,
            budget=budget + 1,
        )
        .simulate()
        .relevant
        for agent in ("best_first", "oracle")
    )
    return best, oracle


# --------------------------------------------------------------------------- the page scorer


def run_scorer(trial: Trial, world: str, random_seed: int) -> dict[str, Any]:
    """Train the page scorer on three universities and measure it on the fourth."""
    from honeyguide.source_finder.scorer import page_texts, whole_text  # noqa: PLC0415
    from honeyguide.source_finder.training.page_scorer import ScorerTraining  # noqa: PLC0415 needs an extra

    kind, test = trial.task.topic, trial.task.name.split()[1]
    training = ScorerTraining(
        texts=whole_text if trial.entry.name == "whole text" else page_texts,
        epochs=10 if trial.task.name.endswith("quick") else 30,
    )
    rows = university_pages(world)
    pages = [page for _, page in rows]
    held_out = np.array([university == test for university, _ in rows])
    truth = np.array([f"class:{kind}" in page.labels for page in pages])
    known = [page for page, out in zip(pages, held_out, strict=True) if not out]
    others = [page for page, out in zip(pages, held_out, strict=True) if out]
    encoder = make("encoder", "wordllama")
    scorer = training.run(known, truth[~held_out], encoder, random_seed)
    quality = asdict(training.measure(scorer, others, truth[held_out], encoder))
    return {"quality": quality, "pages": len(others), "relevant": int(truth[held_out].sum())}


@lru_cache(maxsize=1)
def university_pages(archive: str) -> list[tuple[str, Page]]:
    """List university and page, with its HTML, of the four universities."""
    rows = []
    for kind, university, body in _files(Path(archive)):
        if university in HOMES:
            html = body.partition(b"\n\n")[2] or body.partition(b"\r\n\r\n")[2]
            page = parse(html, HOMES[university]).page
            rows.append((university, replace(page, html=html, labels=(f"class:{kind}",))))
    return rows


def _files(archive: Path) -> Iterator[tuple[str, str, bytes]]:
    """Yield class, university and content of each file .../CLASS/UNIVERSITY/NAME."""
    with archive.open("rb") as packed:
        stream = zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(packed)
        with tarfile.open(fileobj=stream, mode="r|") as files:
            for entry in files:
                content = files.extractfile(entry) if entry.isfile() else None
                if content is not None:
                    kind, university = Path(entry.name).parts[-3:-1]
                    yield kind, university, content.read()
