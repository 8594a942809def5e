"""Pages read in processes of their own make no difference to a crawl."""

import asyncio

import pytest

from honeyguide.contracts import UNASKED, Link, Response, Verdict
from honeyguide.errors import HoneyguideError
from honeyguide.plan import Plan
from honeyguide.web.parser_pool import NoProcessError
from honeyguide.web.pipeline import Pipeline
from honeyguide.worlds.web import WebWorld
from tests.test_live import PROGRAM, flags, rows, run, served

KEPT = "url, page_url, title, status, failure, relevance, relevant, text"


def test_pages_are_the_same_when_they_are_read_apart(tmp_path):
    with served(2000) as server:
        for parsers in ("0", "1"):
            # the default judge compares pages with those before, of which the clock decides
            fixed = ("--judge", "embedding", "--parsers", parsers)
            run(*flags(server, tmp_path / parsers, 80, *fixed))
    here, apart = (
        {url: page for url, *page in rows(tmp_path / parsers, KEPT)} for parsers in ("0", "1")
    )
    # which hosts are ready when, and so which pages come first, depends on the clock
    both = here.keys() & apart.keys()
    assert len(both) > 20
    assert [here[url] for url in both] == [apart[url] for url in both]


def test_a_replay_takes_the_same_decisions_whoever_reads(tmp_path):
    with served(2000) as server:
        run(*flags(server, tmp_path / "live", 60))
        seed = server.world.find("geology").url
    for parsers in ("0", "1", "2"):
        world = ("--world", f"archive:{tmp_path / 'live/warc'}", "--in-flight", "8")
        task = ("--topic", "geology", "--seed", seed, "--budget", "40")
        run(PROGRAM, "crawl", *world, *task, "--parsers", parsers, "--out", str(tmp_path / parsers))
    alone, one, two = (rows(tmp_path / parsers, KEPT) for parsers in ("0", "1", "2"))
    assert len(alone) > 20
    assert alone == one == two


def test_a_web_whose_pages_are_read_already_needs_no_parsers():
    plan = Plan(topic="geology", seeds=("geology",), world="synthetic:pages=500", parsers=1)
    with pytest.raises(HoneyguideError, match="read already"):
        plan.open()


class Fetcher:
    """Has the same answer to everything."""

    async def fetch(self, link, terms=None):
        return Response(link, link.url, 200, {}, b"<p>trouble")

    async def close(self):
        pass


class Defeated:
    """A reader to whom this happens before, or when it reads."""

    def __init__(self, before=None, then=None):
        self.before, self.then = before, then

    async def ready(self):
        if self.before:
            raise self.before

    async def read(self, body, url, content_type=""):
        if self.then:
            raise self.then

    async def close(self):
        pass


def visited(reader):
    world = WebWorld(lambda page: Verdict(1.0, True), Pipeline([Fetcher()]), reader)
    return asyncio.run(world.visit(Link("http://a.example/")))


def test_a_page_that_cannot_be_read_is_a_failed_visit():
    visit = visited(Defeated())
    assert (visit.page, visit.failure, visit.verdict.relevant) == (None, "unreadable", False)
    assert visit.response.body == b"<p>trouble"


@pytest.mark.parametrize("when", ["before", "then"])
def test_a_page_for_which_no_process_can_be_started_is_asked_for_again(when):
    visit = visited(Defeated(**{when: NoProcessError("too many open files")}))
    assert (visit.page, visit.failure, visit.again) == (None, "no process to read it", True)
    assert (visit.host_delay == UNASKED) == (when == "before")
