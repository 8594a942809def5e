import numpy as np

from honeyguide.contracts import Link
from honeyguide.engine.memory import Memory
from honeyguide.guards.few_hosts import FewHosts
from honeyguide.guards.none import NoGuard
from honeyguide.plan import Plan
from honeyguide.urls.patterns import ANOTHER_HOST


def links(*hosts):
    return [Link(f"http://{host}.example/{number}") for number, host in enumerate(hosts)]


def test_a_crawl_without_a_contact_stays_on_the_first_hosts_it_meets():
    guard, memory = FewHosts(NoGuard(), hosts=3), Memory()
    seed = memory.seed(links("a"))
    assert guard.allows(memory, int(seed.ids[0]), seed.links[0])
    found = memory.seed(links("a", "b", "c", "d", "b", "e"))
    assert guard.admit(memory, found).tolist() == [True, True, True, False, True, False]
    (cut,) = guard.report()
    assert (cut.reason, cut.count, cut.example) == (ANOTHER_HOST, 2, "http://d.example/3")


def test_seeds_count_too_also_after_a_resume():
    guard, again, memory = FewHosts(NoGuard(), 2), FewHosts(NoGuard(), 2), Memory()
    seeds = memory.seed(links("a", "b", "c"))
    turns = [(memory, int(id), link) for id, link in zip(seeds.ids, seeds.links, strict=True)]
    assert [guard.allows(*turn) for turn in turns[:2]] == [True, True]
    again.load(guard.state())
    assert [again.allows(*turn) for turn in turns] == [True, True, False]
    (cut,) = again.report()
    assert (cut.reason, cut.count, cut.example) == (ANOTHER_HOST, 1, "http://c.example/2")


def test_it_goes_on_as_it_was_saved():
    guard, again, memory = FewHosts(NoGuard(), 2), FewHosts(NoGuard(), 2), Memory()
    found = memory.seed(links("a", "b", "c"))
    guard.admit(memory, found)
    again.load(guard.state())
    assert np.array_equal(again.admit(memory, found), guard.admit(memory, found))
    assert again.report() == guard.report()


def test_links_to_yet_other_hosts_are_not_noted():
    guard, memory = FewHosts(NoGuard(), hosts=2), Memory()
    urls = [link.url for link in links("a", "b", "c", "d")]
    assert guard.screen(memory, urls).all()  # there may be more
    guard.admit(memory, memory.seed(links("a", "b")))
    assert guard.screen(memory, urls).tolist() == [True, True, False, False]
    (cut,) = guard.report()
    assert (cut.reason, cut.count, cut.example) == (ANOTHER_HOST, 2, urls[2])


def test_on_the_live_web_a_contact_opens_the_way():
    settings = {"topic": "rocks", "seeds": ("https://a.example",), "world": "web"}
    nameless = Plan(**settings).open().navigator()
    named = Plan(**settings, contact="https://a.example/bot").open().navigator()
    assert isinstance(nameless.guard, FewHosts)
    assert not isinstance(named.guard, FewHosts)
