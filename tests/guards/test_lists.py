"""Known lists: Lim (2016, §9.3)."""

import numpy as np
import pytest

from honeyguide.contracts import Agent, Link, Page, Verdict, Visit
from honeyguide.engine.navigator import Navigator
from honeyguide.errors import HoneyguideError
from honeyguide.features.discovery import Discovery
from honeyguide.frontiers.best_first import BestFirst
from honeyguide.guards.lists import NO_TEXT, Lists, read_list
from honeyguide.guards.none import NoGuard
from honeyguide.plan import Plan
from honeyguide.storage.crawl_folder import run_crawl
from honeyguide.storage.database import create
from honeyguide.urls.patterns import DENIED, OUTSIDE, Patterns


@pytest.mark.parametrize(
    ("pattern", "url", "fits"),
    [
        ("example.com", "http://example.com/a", True),
        ("example.com", "http://www.example.com/a", True),
        ("Example.COM", "https://example.com/", True),
        ("example.com", "http://notexample.com/", False),
        ("example.com", "http://x.org/example.com", False),
        ("https://example.com/forum/", "http://example.com/forum/1", True),
        ("example.com/forum/", "http://example.com/", False),
        ("*/login*", "http://any.org/user/login?x=1", True),
        ("*/a?b=*", "http://any.org/a?b=1", True),
        ("*/a?b=*", "http://any.org/acb=1", False),
        ("*/[a]*", "http://any.org/a", False),
        ("*.gov", "http://nasa.gov", True),
        ("*.gov/*", "http://nasa.gov/moon", True),
        ("http://*.org/wiki/*", "http://en.x.org/wiki/A", True),
        ("http://*.org/wiki/*", "http://en.x.com/wiki/A", False),
    ],
)
def test_a_pattern_is_a_host_a_beginning_or_has_stars(pattern, url, fits):
    assert Patterns([pattern]).match(url) == fits


def test_no_pattern_fits_nothing():
    assert not Patterns([]).match("http://a.example/")


def test_denied_wins_over_allowed_and_files_without_text_are_never_fetched():
    lists = Lists(NoGuard(), allow=["a.example"], deny=["a.example/private/"])
    assert lists.refusal("http://a.example/x") == ""
    assert lists.refusal("http://a.example/private/x") == DENIED
    assert lists.refusal("http://b.example/") == OUTSIDE
    for name in ("photo.JPG", "song.mp3", "paper.pdf", "all.tar.gz"):
        assert lists.refusal(f"http://a.example/{name}?v=1") == NO_TEXT
    assert lists.refusal("http://a.example/index.html") == ""


class First(Agent):
    def __init__(self):
        self.features = Discovery()

    def score(self, links):
        return -links.x[:, 0]

    def learn(self, steps):
        pass


def test_refused_links_never_wait_and_are_counted_through_a_resume():
    seed, good, bad, picture = (f"http://a.example/{n}" for n in ("", "good", "bad", "x.png"))

    def navigator():
        guard = Lists(NoGuard(), deny=[bad])
        return Navigator(First(), BestFirst(1, np.random.default_rng(0)), guard=guard)

    one, other = navigator(), navigator()
    one.seed([Link(seed)])
    page = Page(seed, links=tuple(map(Link, (bad, good, picture))))
    one.absorb(Visit(one.choose(0.0), page, Verdict(0.0, False)), 0.0)
    assert len(one.frontier) == 1
    other.load(one.state())
    assert other.choose(0.0).url == good
    assert {cut.reason: cut.count for cut in other.guard.report()} == {DENIED: 1, NO_TEXT: 1}


def test_a_list_can_be_a_file(tmp_path):
    file = tmp_path / "deny.txt"
    file.write_text("# known bad ones\nbad.example\n\nworse.example/x  # really\n")
    assert read_list([str(file), "other.example"]) == (
        "bad.example",
        "worse.example/x",
        "other.example",
    )


@pytest.mark.parametrize(
    ("said", "sentence"),
    [("", "an empty text is no list"), ("lists", "is a folder"), ("none.txt", "is empty")],
)
def test_a_list_of_nothing_is_refused_rather_than_allowing_everything(
    said, sentence, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lists").mkdir()
    (tmp_path / "none.txt").write_text("# nothing yet\n\n")
    with pytest.raises(HoneyguideError, match=sentence):
        read_list(["good.example", said])


def test_a_seed_that_is_never_fetched_is_complained_about():
    plan = Plan(
        topic="geology", seeds=("geology",), world="synthetic:pages=2000", deny=("*",), budget=5
    )
    with pytest.raises(HoneyguideError, match="never fetched: denied"):
        plan.open().navigator()


def test_a_seed_on_the_domain_of_which_only_subdomains_are_allowed_is_told_what_to_say():
    plan = Plan(
        topic="geology", seeds=("https://example.org/",), world="web", allow=("*.example.org",)
    )
    with pytest.raises(HoneyguideError, match=r"subdomains; say --allow example\.org for both"):
        plan.open().navigator()


def test_a_crawl_of_an_earlier_version_keeps_the_meaning_of_its_lists(tmp_path):
    task = {"topic": "geology", "seeds": ["geology"], "world": "synthetic:pages=2000", "budget": 5}
    ending = Plan(**task).open().seeds[0].url.split("/")[2].rpartition(".")[2]
    create(tmp_path, task | {"deny": [f"*.{ending}"]})
    assert run_crawl(tmp_path, lambda plan, recorded, visit: None).outcome.pages == 5
    with pytest.raises(HoneyguideError, match="never fetched: denied"):
        Plan(**task, deny=(f"*.{ending}",)).open().navigator()


def test_a_host_with_a_port_but_no_slash_is_refused_as_it_would_match_nothing():
    with pytest.raises(HoneyguideError, match="say 'localhost:8000/', with a slash"):
        read_list(["localhost:8000"])
    assert read_list(["[::1]", "localhost:8000/"]) == ("[::1]", "localhost:8000/")


def test_a_crawl_keeps_to_its_lists():
    asked = []
    plan = Plan(topic="geology", seeds=("geology",), world="synthetic:pages=2000", budget=200)
    hosts = set()
    plan.simulate(lambda visit, step, now: hosts.add(visit.link.url.split("/")[2]))
    [home] = {plan.open().seeds[0].url.split("/")[2]}
    kept = Plan(
        topic="geology",
        seeds=("geology",),
        world="synthetic:pages=2000",
        budget=200,
        allow=(home,),
    )
    kept.simulate(lambda visit, step, now: asked.append(visit.link.url.split("/")[2]))
    assert len(hosts) > 1
    assert set(asked) == {home}
