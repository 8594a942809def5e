"""The page scorer: it separates lists of events from other pages, and can be trained."""

import asyncio
from dataclasses import replace

import numpy as np
import pytest

from honeyguide.contracts import Link, Response
from honeyguide.encoders.ngrams import NgramEncoder
from honeyguide.errors import HoneyguideError
from honeyguide.registry import make
from honeyguide.source_finder.model import read_model
from honeyguide.source_finder.scorer import page_texts, whole_text
from honeyguide.source_finder.training.finder import linked_pages
from honeyguide.source_finder.training.page_scorer import ScorerTraining, quality
from honeyguide.web.judge_spec import JudgeSpec
from honeyguide.web.parser_pool import ParserPool
from honeyguide.web.pipeline import Pipeline
from honeyguide.worlds.web import WebWorld


def pages_of(set, count):
    world = make(
        "world",
        f"organisations:set={set},sites={count}",
        judge=make("judge", "label:source:events"),
    )
    pages, truth, _ = asyncio.run(linked_pages(world, world.homes, lambda *news: None))
    return pages, truth


def test_the_shipped_scorer_knows_lists_of_events_on_sites_it_never_saw():
    judge = make("judge", "event_source")
    pages, truth = pages_of("tesw", 12)
    said = quality(np.array([judge(page).relevance for page in pages]), truth)
    assert said.accuracy >= 0.9
    assert said.recall >= 0.5
    assert said.precision >= 0.7
    assert (
        "list of events"
        in judge(
            next(p for p, t in zip(pages, truth, strict=True) if t and judge(p).relevant)
        ).reasons[0]
    )


def test_a_page_is_its_two_largest_lists_its_title_and_its_middle():
    pages, truth = pages_of("train", 1)
    source = pages[int(np.argmax(truth))]
    largest, second, title, middle = page_texts(source)
    assert largest.count("\n") >= 4
    assert second
    assert title == source.title
    assert middle
    bare = page_texts(replace(source, html=b""))
    assert bare[0] == source.text[:2000]
    assert len(whole_text(source)) == 4


def test_a_scorer_learns_another_kind_from_examples():
    judge = make("judge", "label:source:news")
    world = make("world", "organisations:set=train,sites=14", judge=judge)
    pages, truth, sites = asyncio.run(linked_pages(world, world.homes, lambda *news: None))
    known = np.array(sites) < 11
    training, encoder = ScorerTraining(epochs=20), NgramEncoder(256)
    scorer = training.run(
        [p for p, k in zip(pages, known, strict=True) if k], truth[known], encoder
    )
    others = [p for p, k in zip(pages, known, strict=True) if not k]
    assert training.measure(scorer, others, truth[~known], encoder).accuracy > 0.9
    with pytest.raises(HoneyguideError, match="source pages and others"):
        training.run(others, np.ones(len(others), np.bool_), encoder)


def test_a_saved_model_reads_back_the_same(tmp_path):
    model = read_model()
    model.save(tmp_path / "copy.model")
    again = read_model(str(tmp_path / "copy.model"))
    assert (again.kind, again.encoder, again.threshold) == (
        model.kind,
        model.encoder,
        model.threshold,
    )
    assert all(
        np.array_equal(again.policy.weights[n], model.policy.weights[n])
        for n in model.policy.weights
    )
    assert (tmp_path / "copy.model").stat().st_size < 10_000_000


@pytest.mark.parametrize("parsers", [0, 1])
def test_on_the_live_web_it_is_given_the_html(parsers):
    judge = make("judge", "event_source")
    pages, truth = pages_of("tesw", 1)
    source = pages[int(np.argmax(truth))]

    class Fetcher:
        async def fetch(self, link, terms=None):
            return Response(link, link.url, 200, {"content-type": "text/html"}, source.html)

        async def close(self):
            pass

    async def visit():
        spec = JudgeSpec("event_source")
        pool = ParserPool(parsers, spec=spec) if parsers else None
        world = WebWorld(judge, Pipeline([Fetcher()]), pool)
        try:
            return await world.visit(Link(source.url))
        finally:
            await world.close()

    found = asyncio.run(visit())
    assert found.verdict == judge(source)
    assert found.verdict != judge(replace(source, html=b""))
    assert found.page.html == b""  # nobody keeps it
