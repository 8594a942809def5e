"""A canonical URL is another address of the same page: it is not fetched again, or counted."""

import json
import random
from dataclasses import replace

import numpy as np
import pytest

from honeyguide.agents.breadth_first import BreadthFirst
from honeyguide.contracts import Link, Metadata, Page, Verdict, Visit
from honeyguide.disk.serialise import pack_visit, unpack_visit
from honeyguide.engine.navigator import Navigator
from honeyguide.frontiers.best_first import BestFirst
from honeyguide.guards.live import LiveGuard
from honeyguide.urls.same_page import names_same_page
from tests.test_cli import exported, honeyguide
from tests.web.servers import page, served

HOST = "http://x.example"
WORDS = [f"{a}{b}{c}" for a in "bdfgklmn" for b in ("a", "ei", "o") for c in "rstvwxz"]


def prose(seed, words=120):
    return " ".join(random.Random(seed).choices(WORDS, k=words))


@pytest.mark.parametrize(
    ("url", "named"),
    [
        ("http://a.example/x?ref=1", "http://a.example/x"),
        ("http://a.example/x", "https://www.a.example/x"),
        ("http://m.a.co.uk/x", "http://www.a.co.uk/x"),
        ("http://a.example/?p=12", "http://a.example/2020/a-post"),
        ("http://a.example/index.html", "http://a.example/"),
        ("http://a.example/?ref=1", "http://a.example/"),
        ("http://a.example/en/x?print=1", "http://a.example/en/x"),
        ("http://a.example/x?page=2&ref=1", "http://a.example/x?page=2"),
        ("http://a.example/x", "http://a.example/en/x"),
    ],
)
def test_another_address_of_the_same_site_is_believed(url, named):
    assert names_same_page(url, named)


@pytest.mark.parametrize(
    ("url", "named"),
    [
        ("http://a.example/x", ""),
        ("http://a.example/x", "http://a.example/x"),
        ("http://a.example/x", "http://b.example/x"),
        ("http://a.github.io/x", "http://b.github.io/x"),
        ("http://a.example/x", "http://a.example/"),
        ("http://a.example/x", "http://a.example/index.php"),
        ("http://a.example/de/x", "http://a.example/en/x"),
        ("http://de.a.example/x", "http://www.a.example/x"),
        ("http://a.example/x?lang=de", "http://a.example/x"),
        ("http://a.example/x?page=2", "http://a.example/x"),
        ("http://a.example/x/page/2", "http://a.example/x"),
        ("x", "http://a.example/x"),
        ("http://a.example/x", "x"),
    ],
)
def test_usual_mistakes_are_not_believed(url, named):
    assert not names_same_page(url, named)


def navigator():
    return Navigator(
        BreadthFirst(), BestFirst(1, np.random.default_rng(0)), guard=LiveGuard(), retries=0
    )


def visit(link, text, named="", links=()):
    found = Page(
        link.url,
        text=text,
        links=tuple(Link(HOST + to) for to in links),
        metadata=Metadata(HOST + named if named else ""),
    )
    return Visit(link, found, Verdict(1.0, True, ("judged",)))


def crawl(pages, seeds=("/",)):
    """Crawl pages (path -> text, canonical path, links); return what was asked, and the steps."""
    steering = navigator()
    steering.seed([Link(HOST + path) for path in seeds])
    steps = {}
    while (link := steering.choose(0)) is not None:
        path = link.url.removeprefix(HOST)
        seen = visit(link, *pages[path])
        seen = unpack_visit(pack_visit(seen), seen.page.text)  # as a replay would give it
        steps[path] = steering.absorb(seen, 0)
    return steering, steps


def test_a_waiting_link_to_the_canonical_address_is_not_fetched():
    pages = {
        "/": (prose(0), "", ["/a?x=1", "/a", "/b"]),
        "/a?x=1": (prose(1), "/a", ["/c"]),
        "/b": (prose(2), "", ["/a"]),  # found again
        "/c": (prose(3),),
    }
    steering, steps = crawl(pages)
    assert list(steps) == ["/", "/a?x=1", "/b", "/c"]
    assert steering.memory.relevant_found == 4
    assert steering.memory.visited(steering.memory.urls.find([f"{HOST}/a"])).all()


@pytest.mark.parametrize("first", ["/a", "/a?x=1"])
@pytest.mark.parametrize("words", [20, 120])
def test_a_second_address_of_a_visited_page_is_no_new_relevant_page(first, words):
    text = prose(1, words)
    half = text.rpartition(" ")[0] + " " + prose(2, words // 2)  # no near-duplicate
    pages = {
        "/": (prose(0), "", [first, "/a?x=2"]),
        first: (text, "/a" if first != "/a" else ""),
        "/a?x=2": (half, "/a", ["/c"]),
        "/c": (prose(3),),
    }
    steering, steps = crawl(pages)
    assert list(steps) == ["/", first, "/a?x=2"], "its links are those of the first"
    verdict = steps["/a?x=2"].verdict
    assert (verdict.relevant, verdict.reasons[-1]) == (False, f"another address of {HOST}{first}")
    assert steering.memory.relevant_found == 2
    assert [(cut.reason, cut.count) for cut in steering.guard.report()] == [
        ("other address of a page", 1)
    ]


def test_one_canonical_address_for_pages_that_differ_is_a_mistake():
    paths = [f"/p{number}" for number in range(5)]
    pages = {"/": (prose(0), "", paths)}
    pages |= {path: (prose(path), "/all") for path in paths}
    steering, steps = crawl(pages)
    assert all(step.verdict.relevant for step in steps.values())
    assert steering.memory.relevant_found == 6


def test_a_crawl_goes_on_the_same_after_its_state_was_saved():
    pages = {
        "/": (prose(0), "", ["/a?x=1", "/a?x=2"]),
        "/a?x=1": (prose(1), "/a"),
        "/a?x=2": (prose(1) + " " + prose(2, 60), "/a"),
    }
    steering = navigator()
    steering.seed([Link(f"{HOST}/")])
    for _ in range(2):
        link = steering.choose(0)
        steering.absorb(visit(link, *pages[link.url.removeprefix(HOST)]), 0)
    loaded = navigator()
    loaded.load(steering.state())
    for each in (steering, loaded):
        link = each.choose(0)
        step = each.absorb(visit(link, *pages["/a?x=2"]), 0)
        assert step.verdict.reasons[-1] == f"another address of {HOST}/a?x=1"


def test_both_addresses_at_once_count_once():
    steering = navigator()
    www = "http://www.x.example/a"  # another host, so that both are asked at once
    steering.seed([Link(f"{HOST}/a"), Link(www)])
    first, second = steering.choose(0), steering.choose(0)
    seen = visit(first, prose(1))
    steering.absorb(replace(seen, page=replace(seen.page, metadata=Metadata(www))), 0)
    step = steering.absorb(visit(second, prose(1) + " " + prose(2, 60)), 0)
    assert step.verdict.reasons[-1] == f"another address of {HOST}/a"
    assert steering.memory.relevant_found == 1


def test_the_fingerprints_of_an_older_crawl_can_be_loaded():
    steering = navigator()
    steering.seed([Link(f"{HOST}/a"), Link(f"{HOST}/a?x=1")])
    steering.absorb(visit(steering.choose(0), prose(1)), 0)
    state = steering.state()
    del state["guard"]["seen"]["canonical"]
    loaded = navigator()
    loaded.load(state)
    half = prose(1) + " " + prose(2, 60)
    step = loaded.absorb(visit(loaded.choose(0), half, "/a"), 0)
    assert step.verdict.reasons[-1] == f"another address of {HOST}/a"


def article(title, seed):
    head = "<link rel=canonical href='/story'>"
    return page(f"<head><title>{title}</title>{head}</head><p>{prose(seed)} volcano</p>".encode())


def test_two_addresses_of_one_page_are_one_request_and_one_relevant_page(tmp_path):
    links = "<a href='/story?from=home'>volcano</a> <a href='/story'>volcano</a>"
    answers = {
        "/": page(f"<title>volcano</title><p>volcano {prose(0)}</p>{links}".encode()),
        "/story?from=home": article("volcano", 1),
        "/story": article("volcano", 1),
    }
    with served(answers) as server:
        seed = f"http://127.0.0.1:{server.port}/"
        asked = ("crawl", "--topic", "volcano", "--seed", seed, "--judge", "keywords")
        flags = ("--allow-private", "--delay", "0", "--agent", "breadth_first", "--in-flight", "1")
        done = honeyguide(*asked, *flags, "--out", tmp_path / "out")
    assert done.returncode == 0, done.stderr
    paths = [each.split()[1] for each in server.asked]
    assert sum(path.startswith("/story") for path in paths) == 1, paths
    rows = exported(tmp_path / "out")
    assert len(rows) == 2
    assert rows[1]["canonical"] == f"{seed}story"
    status = json.loads(honeyguide("status", tmp_path / "out", "--json").stdout)
    assert (status["pages"], status["relevant"]) == (2, 2)
