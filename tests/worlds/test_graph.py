import asyncio

import numpy as np
import pytest

from honeyguide.contracts import Link, Verdict
from honeyguide.errors import HoneyguideError
from honeyguide.recorded.writer import GraphWriter
from honeyguide.registry import make


class BirdJudge:
    def __init__(self):
        self.judged = 0

    def __call__(self, page):
        self.judged += 1
        return Verdict(0.5, "bird" in page.labels, (page.title,))


@pytest.fixture
def world(tmp_path):
    with GraphWriter(tmp_path / "web") as writer:
        writer.add("a", "", "Home", "see b", [("b", "b"), ("http://out.example/", "out")], [])
        writer.add("b", "", "Kiwi", "", [("a", "a"), ("c", "c")], ["bird"])
        writer.add("c", "", "Bat", "", [], ["mammal"])
    return make("world", f"graph:{tmp_path / 'web'}", judge=BirdJudge())


def test_a_crawl_can_walk_from_a_named_page(world):
    home = asyncio.run(world.visit(world.find("home")))
    assert not home.verdict.relevant
    (link,) = home.page.links
    kiwi = asyncio.run(world.visit(link))
    assert kiwi.link is link
    assert (kiwi.page.title, kiwi.page.labels, kiwi.verdict.relevant) == ("Kiwi", ("bird",), True)
    assert kiwi.failure == ""


def test_a_page_that_was_not_recorded_is_a_failed_visit(world):
    visit = asyncio.run(world.visit(Link("http://out.example/")))
    assert (visit.page, visit.failure, visit.verdict.relevant) == (None, "not recorded", False)


def test_links_outside_are_shown_on_request(world):
    shown = make("world", f"graph:path={world.graph.path},outside=yes", judge=BirdJudge())
    visit = asyncio.run(shown.visit(shown.find("a")))
    assert visit.page.links[1].url == "http://out.example/"


def test_the_truth_is_judged_once_and_knows_every_link(world):
    progress = []
    truth = world.truth(lambda done, total: progress.append((done, total)))
    assert progress == [(1, 3), (2, 3), (3, 3)]
    assert world.truth() is truth
    assert world.judge.judged == 3
    assert truth.relevant.tolist() == [False, True, False]
    assert truth.offsets.tolist() == [0, 1, 3, 3]
    assert truth.targets.tolist() == [1, 0, 2]
    assert truth.index(world.find("kiwi").url) == 1
    assert truth.index("http://out.example/") == -1


@pytest.mark.parametrize("reads_links", [True, False])
def test_the_truth_shows_links_to_judges_that_may_look_at_them(world, reads_links):
    seen = []

    class Looks:
        def __call__(self, page):
            seen.append((page.url, page.title, page.text, page.labels, len(page.links)))
            return Verdict(0.0, False)

    judge = world.judge = Looks()
    if not reads_links:
        judge.reads_links = False
    world.truth()
    pages = [world.graph.page(number) for number in range(3)]
    counts = [len(page.links) if reads_links else 0 for page in pages]
    said = [(page.url, page.title, page.text, page.labels) for page in pages]
    assert seen == [(*page, count) for page, count in zip(said, counts, strict=True)]
    assert sum(counts) == (3 if reads_links else 0)


def test_labels_are_counted(world):
    assert world.labels() == {"bird": 1, "mammal": 1}


def test_an_unknown_seed_is_refused_in_a_sentence(world):
    with pytest.raises(HoneyguideError, match="did you mean 'Kiwi'"):
        world.find("kiwis")


def test_more_random_pages_than_there_are_cannot_be_drawn(world):
    assert len(world.sample(3, np.random.default_rng(1))) == 3
    with pytest.raises(HoneyguideError, match="are more than the 3 of this web"):
        world.sample(99_999_999_999, np.random.default_rng(1))


def test_a_visit_takes_the_time_it_is_told_to(world):
    slow = make("world", f"graph:path={world.graph.path},latency=0.2", judge=BirdJudge())

    async def timed():
        loop = asyncio.get_running_loop()
        started = loop.time()
        await asyncio.gather(*(slow.visit(slow.find(name)) for name in "abc"))
        return loop.time() - started

    assert 0.2 <= asyncio.run(timed()) < 0.59  # at once, not one by one
