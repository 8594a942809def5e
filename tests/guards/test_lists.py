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
from honeyguide.guards.titles import DENIED_TITLE, OTHER_TITLE, listed_titles
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


@pytest.mark.parametrize(
    ("pattern", "title", "fits"),
    [
        ("title:log in", "Log in - Example", True),
        ("title:log in", "Please  LOG\nIN", True),
        ("title:log in", "Catalog in print", False),
        ("title:log in", "In the log", False),
        ("title:404", "Error 404", True),
        ("title:C++", "The C++ language", True),
        ("title:Category:*", "Category:Birds", True),
        ("title:Category:*", "In Category:Birds", False),
        ("title:* - Forum", "Rocks - forum", True),
        ("title:* - Forum", "Rocks - Forum rules", False),
        ("title:*bird*", "Seabirds", True),
    ],
)
def test_a_title_fits_by_its_words_or_by_a_pattern_of_the_whole(pattern, title, fits):
    assert listed_titles([], [pattern])(title) == (DENIED_TITLE if fits else "")
    assert listed_titles([pattern], [])(title) == ("" if fits else OTHER_TITLE)


def titled(**lists):
    """A crawl of three pages: a seed with two links, one titled Log in, the other Rocks."""
    seed, door, rocks, more = (f"http://a.example/{n}" for n in ("", "door", "rocks", "more"))
    guard = Lists(NoGuard(), **lists)
    navigator = Navigator(First(), BestFirst(1, np.random.default_rng(0)), guard=guard)
    navigator.seed([Link(seed)])
    titles = {seed: "Log in", door: "Log in", rocks: "Rocks", more: "More"}
    links = {seed: (door, rocks), door: (more,)}
    relevant = []
    while (link := navigator.choose(0.0)) is not None:
        found = tuple(Link(url, depth=1) for url in links.get(link.url, ()))
        page = Page(link.url, titles[link.url], links=found)
        step = navigator.absorb(Visit(link, page, Verdict(1.0, True)), 0.0)
        relevant += [link.url.rpartition("/")[2]] * step.verdict.relevant
    return relevant, navigator


def test_a_page_with_a_denied_title_counts_for_nothing_and_its_links_are_not_followed():
    relevant, navigator = titled(deny=["title:log in"])
    assert relevant == ["rocks"], "the seed's links are followed, those of door are not"
    assert {cut.reason: cut.count for cut in navigator.guard.report()} == {DENIED_TITLE: 2}


def test_with_allowed_titles_no_other_page_counts_but_links_are_followed_anywhere():
    relevant, navigator = titled(allow=["title:Rocks", "title:More"])
    assert relevant == ["rocks", "more"]
    assert {cut.reason: cut.count for cut in navigator.guard.report()} == {OTHER_TITLE: 2}


def test_titles_and_urls_stand_in_one_list_and_a_title_allows_no_url():
    lists = Lists(NoGuard(), allow=["a.example", "title:Rocks"], deny=["title:2024"])
    assert lists.refusal("http://b.example/") == OUTSIDE
    assert Lists(NoGuard(), allow=["title:Rocks"]).refusal("http://b.example/") == ""


def test_a_denied_title_of_digits_is_no_port_and_an_empty_one_is_refused(tmp_path):
    file = tmp_path / "deny.txt"
    file.write_text("title:404  # not found\nbad.example\n")
    assert read_list([str(file)]) == ("title:404", "bad.example")
    with pytest.raises(HoneyguideError, match="'title:' names no title"):
        Lists(NoGuard(), deny=["title: "])


def test_a_stored_crawl_with_denied_titles_goes_on_as_it_was(tmp_path):
    task = {
        "topic": "geology",
        "judge": "label:geology",
        "seeds": ["geology"],
        "world": "synthetic:pages=2000",
    }
    titles = []
    Plan(**task, budget=40).simulate(
        lambda visit, step, now: titles.extend([visit.page.title] if step.verdict.relevant else [])
    )
    deny = (f"title:{titles[-1].split()[0]}",)
    kept = []
    Plan(**task, deny=deny, budget=40).simulate(
        lambda visit, step, now: kept.append(step.verdict.relevant)
    )
    assert 0 < sum(kept) < len(titles)
    create(tmp_path, task | {"deny": deny, "budget": 15})
    assert run_crawl(tmp_path, lambda plan, recorded, visit: None).outcome.pages == 15
    resumed = run_crawl(tmp_path, lambda plan, recorded, visit: None, budget=40).outcome
    assert (resumed.pages, resumed.relevant) == (40, sum(kept))
