"""Sitemaps are asked for as politely as pages."""

import asyncio

from honeyguide.contracts import Link, Verdict
from honeyguide.registry import make
from tests.web.servers import Server, page


def test_a_host_that_asks_for_patience_at_its_sitemap_gets_it_from_pages_too():
    busy = page(b"", "429 Too Many Requests", retry_after="3600")
    answers = {"/": page(), "/next": page(), "/sitemap.xml": busy}

    async def run():
        async with Server(answers) as server:
            where = {"resolve": f"*=127.0.0.1:{server.port}", "allow_private": True, "delay": 0.0}
            judge = lambda page: Verdict(0.0, False)  # noqa: E731
            world = make("world", "web", judge=judge, sitemaps=True, **where)
            await world.visit(Link("http://a.test/"))
            following = await world.visit(Link("http://a.test/next"))
            await world.close()
            return following, server.asked

    following, asked = asyncio.run(run())
    assert (following.failure, following.again) == ("resting", True)
    assert 3500 < following.host_delay <= 3600
    assert asked == ["a.test /robots.txt", "a.test /", "a.test /sitemap.xml"]
