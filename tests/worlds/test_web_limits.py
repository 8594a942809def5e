"""A crawl of the live web ends when it has done enough, whatever servers do."""

import asyncio

from honeyguide.plan import Plan
from honeyguide.storage.crawl_folder import create_crawl, run_crawl
from honeyguide.storage.exports import status
from tests.web.servers import page, served

BODY = b'<a href="/1">1</a><a href="/2">2</a><a href="/3">3</a>' + b"word " * 200


def crawl(folder, answers, **limits):
    """How a crawl from the first page ends, and what the server was asked for."""
    with served(answers) as server:
        plan = Plan(
            topic="geology",
            judge="keywords:geology",
            encoder="ngrams",
            agent="breadth_first",
            seeds=("http://a.test/",),
            world="web",
            resolve=f"*=127.0.0.1:{server.port}",
            allow_private=True,
            delay=0.0,
            in_flight=1,
            **limits,
        )
        create_crawl(folder, plan)
        return run_crawl(folder, lambda *_: None).outcome, server.asked


def test_a_crawl_that_has_read_enough_bytes_ends_and_says_so(tmp_path):
    answers = {path: page(BODY) for path in ("/", "/1", "/2", "/3")}
    outcome, _ = crawl(tmp_path, answers, max_bytes=2 * len(BODY))
    assert (outcome.pages, outcome.reason) == (2, "bytes spent")
    assert status(tmp_path)["stopped"] == "bytes spent"


def test_a_crawl_whose_time_is_spent_does_not_wait_for_a_server(tmp_path):
    async def never(writer):
        await asyncio.sleep(600)

    outcome, asked = crawl(tmp_path, {"/": page(BODY), "/1": never}, max_seconds=1.0)
    assert (outcome.pages, outcome.reason) == (1, "time spent")
    assert asked[-1] == "a.test /1"
    with served({f"/{n}": page() for n in (1, 2, 3)}) as server:
        where = {"resolve": f"*=127.0.0.1:{server.port}", "max_seconds": None}
        again = run_crawl(tmp_path, lambda *_: None, **where).outcome
        assert (again.pages, again.reason) == (4, "no link left")
        assert next(line for line in server.asked if "robots" not in line) == "a.test /1"
