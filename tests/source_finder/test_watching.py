"""Watching revisits source pages with conditional requests and respects Retry-After."""

import asyncio
from pathlib import Path
from xml.etree import ElementTree

from honeyguide.contracts import Verdict
from honeyguide.registry import make
from honeyguide.source_finder.watch import FIRST, Item, Watch, Watched, write_rss
from tests.web.servers import Server, page

DATE = "Tue, 14 Nov 2023 22:15:00 GMT"
ROWS = "".join(f"<li><a href='/e/{n}'>Event {n}</a> <span>May {n}</span></li>" for n in (1, 2, 3))


def looks(*answers, now=0.0):
    """Return the new items of each visit, the source afterwards and the requests."""
    waiting = iter(answers)

    async def answer(writer):
        writer.write(next(waiting))

    async def run():
        async with Server({"/events": answer}) as server:
            where = {"resolve": f"*=127.0.0.1:{server.port}", "allow_private": True, "delay": 0.0}
            world = make("world", "web", judge=lambda page: Verdict(0, False), **where)
            watch, watched = Watch(Path("nowhere"), []), Watched("http://x.example/events")
            found = [len(await watch.look(watched, world, now)) for _ in answers]
            await world.close()
            return found, watched, server.requests[1:]  # the first is for robots.txt

    return asyncio.run(run())


def test_a_source_that_has_not_changed_is_not_sent_again():
    whole = page(f"<ul>{ROWS}</ul>".encode(), etag='"1"', last_modified=DATE)
    found, watched, requests = looks(whole, page(b"", "304 Not Modified"))
    assert found == [3, 0]
    assert "if-none-match" not in requests[0]
    assert (requests[1]["if-none-match"], requests[1]["if-modified-since"]) == ('"1"', DATE)
    assert (watched.failure, watched.etag) == ("", '"1"')
    assert watched.interval > FIRST


def test_a_header_too_long_to_be_kept_is_not_sent_back():
    whole = page(f"<ul>{ROWS}</ul>".encode(), etag=f'"{"x" * 5_000}"')
    _, watched, requests = looks(whole, whole)
    assert watched.etag == ""
    assert "if-none-match" not in requests[1]


def test_a_retry_after_delays_the_next_visit_of_a_source():
    busy = page(b"", "503 Service Unavailable", retry_after="80000")
    _, watched, _ = looks(busy, now=1000.0)
    assert (watched.due, watched.failure) == (81_000.0, "status 503")


def test_a_feed_leads_its_readers_to_a_page_that_is_watched(tmp_path):
    home = "http://x.example/events?a=1&b=2"
    item = Item(home, "http://x.example/e/1", "Event 1", "On May 1", 0.0)
    write_rss(tmp_path / "feed.xml", [item], home)
    channel = ElementTree.parse(tmp_path / "feed.xml").getroot()[0]
    assert channel.findtext("link") == home
    assert channel.findtext("item/link") == item.url
