"""Several requests at once to a host that allows it: counted at a server."""

import asyncio

import pytest

from honeyguide.errors import HoneyguideError
from honeyguide.plan import Plan
from honeyguide.storage.crawl_folder import create_crawl, run_crawl
from honeyguide.web.host_schedule import Limits
from tests.web.servers import page, served

PAGES = 24


class Site:
    """A site whose pages take a moment; it counts the requests that are under way."""

    def __init__(self, robots=b"", trouble=None):
        self.under_way, self.most, self.late = 0, 0, 0
        self.trouble = trouble  # the number of the request that is answered with 429
        self.asked = 0
        links = b"".join(b'<a href="/%d">geology %d</a>' % (n, n) for n in range(PAGES))
        self.answers = {f"/{n}": self.answer for n in range(PAGES)}
        self.answers |= {"/": page(links), "/robots.txt": page(robots, content_type="text/plain")}

    async def answer(self, writer):
        self.asked += 1
        turn = self.asked
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        if self.trouble and turn > self.trouble + 3:  # those under way at that time have ended
            self.late = max(self.late, self.under_way)
        await asyncio.sleep(0.03)
        self.under_way -= 1
        said = {"status": "429 Too Many Requests", "retry_after": "0"}
        writer.write(page(b"", **said) if turn == self.trouble else page(b"<p>geology</p>"))


def crawl(folder, site, **settings):
    with served(site.answers) as server:
        plan = Plan(
            topic="geology",
            judge="keywords:geology",
            encoder="ngrams",
            agent="breadth_first",
            world="web",
            seeds=("http://a.test/",),
            resolve=f"*=127.0.0.1:{server.port}",
            allow_private=True,
            guard="none",
            **{"delay": 0.0, "in_flight": 16, "budget": PAGES + 1} | settings,
        )
        create_crawl(folder, plan)
        return run_crawl(folder, lambda *_: None)


@pytest.mark.parametrize("per_host", [1, 4])
def test_a_host_gets_so_many_requests_at_once_and_no_more(tmp_path, per_host):
    site = Site()
    assert crawl(tmp_path, site, per_host=per_host).outcome.pages == PAGES + 1
    assert site.most == per_host


def test_a_crawl_delay_means_one_request_at_a_time(tmp_path):
    site = Site(robots=b"User-agent: *\nCrawl-delay: 0.05")
    crawl(tmp_path, site, per_host=4, budget=8)
    assert site.most == 1


def test_after_too_many_requests_a_host_gets_one_at_a_time(tmp_path):
    site = Site(trouble=6)
    crawl(tmp_path, site, per_host=4, budget=16)
    assert (site.most, site.late) == (4, 1)


def test_a_resumed_crawl_keeps_to_the_number_it_was_given(tmp_path):
    site = Site()
    crawl(tmp_path, site, per_host=3, budget=2)
    with served(site.answers) as server:
        where = {"resolve": f"*=127.0.0.1:{server.port}"}
        run_crawl(tmp_path, lambda *_: None, budget=PAGES + 1, **where)
    assert site.most == 3


def test_an_address_has_room_for_one_such_host():
    limits = Limits.for_hosts(8)
    assert (limits.per_host, limits.per_address) == (8, 8)
    assert Limits.for_hosts(1) == Limits()


def test_fewer_than_one_request_is_refused_in_a_sentence():
    with pytest.raises(HoneyguideError, match="per host must be at least 1"):
        Plan(topic="rocks", seeds=("http://a.test/",), world="web", per_host=0)
