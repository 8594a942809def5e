"""What orders do to a navigator: links leave and return, and nothing else changes."""

import numpy as np
import pytest

from honeyguide.contracts import Link
from honeyguide.disk.serialise import pack_row
from honeyguide.engine.loop import run_simulated
from honeyguide.engine.orders import (
    Allow,
    Budget,
    Delay,
    Deny,
    Forget,
    InFlight,
    Pause,
    Seed,
    Standing,
    host_named,
    pack_order,
    read_order,
    unpack_order,
)
from honeyguide.errors import HoneyguideError
from honeyguide.plan import Plan
from honeyguide.testing.resume import first_difference, through_a_file
from honeyguide.urls.patterns import DENIED, UrlLists
from honeyguide.urls.spelling import host

PLAN = Plan(topic="geology", seeds=("geology",), world="synthetic:pages=800", budget=60)


class Crawl:
    """A crawl that a test drives step by step."""

    def __init__(self, **settings):
        self.plan = Plan(**{"topic": "geology", "seeds": ("geology",), **settings})
        self.opened = self.plan.open()
        self.navigator = self.opened.navigator()
        self.navigator.seed(self.opened.seeds)
        self.now = 0.0
        self.urls = []

    def run(self, pages):
        for _ in range(pages):
            self.now += 1.0
            link = self.navigator.choose(self.now)
            visit = run_simulated(self.opened.world.visit(link))
            self.navigator.absorb(visit, self.now)
            self.urls.append(link.url)
        return self

    def obey(self, order):
        return self.navigator.obey(order, self.now)

    def busiest(self):
        """The host with most waiting links."""
        memory = self.navigator.memory
        ids = np.arange(len(memory), dtype=np.int32)
        hosts = memory.host(ids[~memory.visited(ids)])
        return memory.urls.host_name(int(np.bincount(hosts).argmax()))


@pytest.fixture
def crawl():
    return Crawl(world="synthetic:pages=800").run(10)


def test_links_of_a_denied_host_are_withdrawn_and_never_chosen(crawl):
    name, waiting = crawl.busiest(), len(crawl.navigator.frontier)
    gone = crawl.obey(Deny((name,)))
    assert gone > 0
    assert len(crawl.navigator.frontier) == waiting - gone
    crawl.run(80)
    assert not [url for url in crawl.urls[10:] if host(url) == name]


def test_what_is_allowed_again_waits_again(crawl):
    name = crawl.busiest()
    before = set(crawl.navigator.frontier._block.page.tolist())
    gone = crawl.obey(Deny((name,)))
    assert crawl.obey(Allow((name,))) == gone
    assert set(crawl.navigator.frontier._block.page.tolist()) == before
    assert name in {host(url) for url in crawl.run(100).urls[10:]}


def test_a_pattern_of_urls_is_denied_as_well(crawl):
    waiting = len(crawl.navigator.frontier)
    assert 0 < crawl.obey(Deny(("*/node/*",))) <= waiting
    assert not [url for url in crawl.run(60).urls[10:] if "/node/" in url]


def test_only_what_was_denied_can_be_allowed(crawl):
    with pytest.raises(HoneyguideError, match=r"x\.example is not denied"):
        crawl.obey(Allow(("x.example",)))
    crawl.obey(Deny(("x.example",)))
    with pytest.raises(HoneyguideError, match="denied already"):
        crawl.obey(Deny(("x.example",)))


def test_the_plans_own_lists_can_be_changed():
    lists = UrlLists(allow=("a.example",), deny=("b.a.example",))
    assert lists.refusal()("http://b.a.example/") == DENIED
    wider = lists.allowing(("b.a.example", "c.example"))
    assert (wider.allow, wider.deny) == (("a.example", "c.example"), ())
    assert not wider.refusal()("http://b.a.example/")


def test_forgotten_links_may_be_found_again(crawl):
    name, waiting = crawl.busiest(), len(crawl.navigator.frontier)
    gone = crawl.obey(Forget(name))
    assert len(crawl.navigator.frontier) == waiting - gone
    assert name in {host(url) for url in crawl.run(100).urls[10:]}


def test_a_new_seed_comes_first_and_visited_pages_do_not_return(crawl):
    new, *_ = (
        link.url
        for link in run_simulated(crawl.opened.world.visit(Link(crawl.urls[0]))).page.links
        if link.url not in crawl.urls
    )
    assert crawl.obey(Seed((new, crawl.urls[3], new))) == 1
    assert crawl.run(1).urls[-1] == new


@pytest.mark.parametrize(
    ("agent", "judge"),  # verdicts are revised by `topic`, and never by `keywords`
    [("guide", "topic"), ("linear_sync", "topic"), ("random_walk", "keywords")],
)
def test_a_crawl_with_orders_resumes_to_the_same_decisions(agent, judge):
    crawl = Crawl(world="synthetic:pages=800", agent=agent, judge=judge).run(15)
    name = crawl.busiest()
    crawl.obey(Deny((name,)))
    crawl.run(10)  # verdicts are revised after 20 pages: the order is given again then
    crawl.obey(Forget(crawl.busiest()))
    other = Crawl(world="synthetic:pages=800", agent=agent, judge=judge)
    other.navigator = other.opened.navigator()
    state = through_a_file(crawl.navigator.state())
    other.navigator.load(through_a_file(state))
    assert not first_difference(state, through_a_file(other.navigator.state()))
    other.now, other.urls = crawl.now, list(crawl.urls)
    for each in (crawl, other):
        each.run(30)
        each.obey(Allow((name,)))
        each.run(30)
    assert crawl.urls == other.urls
    assert not [url for url in crawl.urls[15:55] if host(url) == name]


def test_a_revision_keeps_orders_in_force():
    crawl = Crawl(world="synthetic:pages=800").run(15)
    name = crawl.busiest()
    crawl.obey(Deny((name,)))
    crawl.run(50)
    assert crawl.navigator.decisions._fits >= 2
    assert crawl.navigator.lists.deny == (name,)
    assert not [url for url in crawl.urls[15:] if host(url) == name]


ORDERS = [
    Pause(),
    Deny(("a.example", "*.pdf")),
    Seed(("http://a.example/",)),
    Budget(5),
    Delay("a.example", 2.5),
    Delay("a.example"),
    InFlight(4),
]


@pytest.mark.parametrize("order", ORDERS, ids=lambda order: type(order).__name__)
def test_an_order_survives_being_written(order):
    assert unpack_order(pack_order(order)) == order
    pack_row(("order", 0.0, "file", pack_order(order), {"orders": "{}"}))


@pytest.mark.parametrize(
    "what",
    [
        {"order": "dance"},
        {"order": "deny", "patterns": []},
        {"order": "deny", "patterns": [" "]},
        {"order": "deny"},
        {"order": "budget", "pages": 0},
        {"order": "budget", "pages": "many"},
        {"order": "budget", "pages": 5, "loudly": True},
        {"order": "delay", "host": "a.example", "seconds": -1},
        {"order": "in-flight", "visits": 1e99},
    ],
)
def test_what_is_no_order_is_refused_in_a_sentence(what):
    with pytest.raises(HoneyguideError):
        read_order(what)


def test_what_is_in_force_follows_the_orders():
    plan = UrlLists(deny=("old.example",))
    lists = plan.denying(("new.example",)).allowing(("old.example",))
    standing = Standing().after(Deny(("new.example",)), lists, plan)
    standing = standing.after(Delay("slow.example", 9.0), lists, plan)
    assert standing.in_force() == {
        "denied": ["new.example"],
        "allowed": ["old.example"],
        "delays": {"slow.example": 9.0},
    }
    standing = standing.after(Delay("slow.example"), lists, plan).after(Pause(), lists, plan)
    assert standing.delays == {} and standing.is_paused


def test_only_the_latest_results_are_remembered():
    standing = Standing()
    for number in range(150):
        standing = standing.with_result(f"{number:03}", "done")
    assert list(standing.done) == [f"{number:03}" for number in range(50, 150)]


def test_a_host_is_named_as_the_crawl_spells_it():
    assert host_named("WWW.Example.org") == "www.example.org"
    assert host_named("https://bücher.example:8443/x") == "xn--bcher-kva.example"
    with pytest.raises(HoneyguideError, match="is no host"):
        host_named("")
