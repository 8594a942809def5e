import asyncio
import random

import numpy as np
import pytest

from honeyguide.agents.breadth_first import BreadthFirst
from honeyguide.contracts import Link, Outlinks, Page, Verdict, Visit
from honeyguide.engine.loop import simulate
from honeyguide.engine.memory import Memory
from honeyguide.engine.navigator import Navigator
from honeyguide.frontiers.best_first import BestFirst
from honeyguide.guards.copies import Fingerprints
from honeyguide.guards.live import LiveGuard
from honeyguide.guards.traps import Traps
from honeyguide.worlds.synthetic import SyntheticWorld

HOST = "http://x.example"
WORDS = [f"{a}{b}{c}" for a in "bdfgklmn" for b in ("a", "ei", "o") for c in "rstvwxz"]


def prose(seed, words=120):
    return " ".join(random.Random(seed).choices(WORDS, k=words))


def navigator(guard=None):
    return Navigator(BreadthFirst(), BestFirst(1, np.random.default_rng(0)), guard=guard)


def visit(link, text="", links=(), relevant=True, end=None, title=""):
    page = Page(end or link.url, title, text, tuple(Link(to) for to in links))
    return Visit(link, page, Verdict(float(relevant), relevant, ("judged",)))


class Endless:
    """A world whose pages `write(path)` makes up: a text and paths to go on to."""

    live = False

    def __init__(self, write):
        self.write = write

    async def visit(self, link):
        await asyncio.sleep(0)
        written = self.write(link.url.removeprefix(HOST))
        if written is None:
            return Visit(link, None, Verdict(0, False), failure="status 404")
        text, paths = written
        return visit(link, text, [HOST + path for path in paths], relevant=False)


def crawl(write, guard, budget=2000):
    asked = []
    outcome = simulate(
        navigator(guard),
        Endless(write),
        [Link(HOST + "/")],
        budget,
        observer=lambda visit, step, now: asked.append(visit.link.url.removeprefix(HOST)),
    )
    return outcome, asked


# --------------------------------------------------------------------------- copies


def test_a_copy_is_not_rewarded_again_and_says_of_what_it_is_one():
    steering = navigator(LiveGuard())
    steering.seed([Link(f"{HOST}/a"), Link(f"{HOST}/b")])
    text = prose(1)
    first = steering.absorb(visit(steering.choose(0), text), 0)
    second = steering.absorb(visit(steering.choose(0), text + " and more"), 0)
    assert (first.reward, first.verdict.reasons) == (1.0, ("judged",))
    assert (second.reward, second.verdict.relevant) == (0.0, False)
    assert second.verdict.reasons == ("judged", f"near-duplicate of {HOST}/a")
    assert steering.memory.relevant_found == 1
    assert [(cut.reason, cut.count, cut.example) for cut in steering.guard.report()] == [
        ("near-duplicate page", 1, f"{HOST}/b")
    ]


def after(first, *visits, guard=None):
    """A crawl that has read a first page, and then the pages it links to."""
    steering = navigator(guard or LiveGuard())
    steering.seed([Link(f"{HOST}/")])
    links = [f"{HOST}/{name}" for name, *_ in visits]
    steering.absorb(visit(steering.choose(0), first, links), 0)
    for name, text, further, *end in visits:
        link = steering.choose(0)
        assert link.url == f"{HOST}/{name}"
        steering.absorb(visit(link, text, further, end=end[0] if end else None), 0)
    return steering


def test_the_links_of_the_first_copy_are_followed_those_of_others_are_not_even_noted():
    pages = [("a", prose(1), [f"{HOST}/from-a"]), ("b", prose(1), [f"{HOST}/from-b"])]
    steering = after(prose(0), *pages)
    assert steering.choose(0).url == f"{HOST}/from-a"
    assert steering.choose(0) is None
    assert steering.memory.urls.find([f"{HOST}/from-b"]).tolist() == [-1]


def test_the_links_of_a_page_that_was_reached_before_are_not_noted_again():
    end = f"{HOST}/end"
    pages = [("a", prose(1), [f"{HOST}/c"], end), ("b", prose(2), [f"{HOST}/d"], end)]
    steering = after(prose(0), *pages)
    assert steering.choose(0).url == f"{HOST}/c"
    assert steering.memory.urls.find([f"{HOST}/d"]).tolist() == [-1]


def test_the_links_of_a_soft_404_are_not_followed():
    steering = after(prose(0), ("a", "Page not found", [f"{HOST}/b"]))
    assert steering.choose(0) is None


def test_the_links_of_a_seed_are_followed_whatever_it_is():
    steering = navigator(LiveGuard())
    steering.seed([Link(f"{HOST}/a"), Link(f"{HOST}/b")])
    steering.absorb(visit(steering.choose(0), prose(1)), 0)
    steering.absorb(visit(steering.choose(0), prose(1), [f"{HOST}/c"]), 0)
    assert steering.choose(0).url == f"{HOST}/c"


def test_a_crawl_that_an_earlier_version_began_still_follows_the_links_of_copies():
    pages = [("a", prose(1), []), ("b", prose(1), [f"{HOST}/from-b"])]
    steering = after(prose(0), *pages, guard=LiveGuard(bounded=False))
    assert steering.choose(0).url == f"{HOST}/from-b"


def test_links_that_are_refused_are_not_noted():
    links = [f"{HOST}/p.jpg", f"{HOST}/x/x/x", f"{HOST}/c"]
    steering = after(prose(0), ("a", prose(1), links))
    assert len(steering.memory) == 3
    assert steering.memory.urls.find(links).tolist() == [-1, -1, 2]


def test_links_of_a_closed_host_are_not_noted():
    names = ["x" * number for number in range(1, 4)]
    pages = [(name, prose(0), []) for name in names]
    steering = after(prose(0), *pages, guard=LiveGuard(Traps(patience=1)))
    fresh = visit(Link(f"{HOST}/"), prose(9), [f"{HOST}/fresh", "http://y.example/"])
    steering.memory.link(0, fresh.page, steering._screen)
    assert steering.memory.urls.find([link.url for link in fresh.page.links]).tolist() == [-1, 4]


def test_a_page_reached_again_by_redirect_is_no_copy_of_itself():
    steering = navigator(LiveGuard())
    steering.seed([Link(f"{HOST}/{name}") for name in "abc"])
    steps = [
        steering.absorb(visit(steering.choose(0), prose(1), end=f"{HOST}/end"), 0) for _ in range(3)
    ]
    assert [step.verdict.relevant for step in steps] == [True] * 3
    assert steering.memory.relevant(np.array([steps[0].id], np.int32)).all()
    assert steering.memory.relevant_found == 1


def test_pages_without_text_are_no_copies_of_each_other():
    steering = navigator(LiveGuard())
    steering.seed([Link(f"{HOST}/a"), Link(f"{HOST}/b")])
    steps = [steering.absorb(visit(steering.choose(0)), 0) for _ in range(2)]
    assert [step.reward for step in steps] == [1.0, 1.0]


def test_without_a_guard_nothing_is_refused_and_copies_count():
    steering = navigator()
    steering.seed([Link(f"{HOST}/a"), Link(f"{HOST}/b")])
    links = [f"{HOST}/p.jpg"]
    steps = [steering.absorb(visit(steering.choose(0), prose(1), links), 0) for _ in range(2)]
    assert [step.reward for step in steps] == [1.0, 1.0]
    assert steering.choose(0).url == f"{HOST}/p.jpg"


# --------------------------------------------------------------------------- missing pages


def test_a_soft_404_is_worth_nothing():
    steering = navigator(LiveGuard())
    steering.seed([Link(f"{HOST}/a")])
    step = steering.absorb(visit(steering.choose(0), "Try again.", title="Page not found"), 0)
    assert (step.reward, step.verdict.relevance) == (0.0, 0.0)
    assert step.verdict.reasons[-1] == "soft 404"


def test_a_page_of_trouble_that_a_site_repeats_becomes_a_soft_404():
    steering = navigator(LiveGuard())
    steering.seed([Link(f"{HOST}/{name}") for name in "abcd"])
    steps = [
        steering.absorb(visit(steering.choose(0), "Valami hiba van.", title="Error"), 0)
        for _ in range(4)
    ]
    last = [step.verdict.reasons[-1] for step in steps]
    copy = f"near-duplicate of {HOST}/a"
    assert last == ["judged", copy, copy, "soft 404"]


# --------------------------------------------------------------------------- traps


def test_refused_links_never_wait_and_are_reported_once_each():
    steering = navigator(LiveGuard())
    steering.seed([Link(f"{HOST}/a"), Link(f"{HOST}/b")])
    links = [f"{HOST}/p.jpg", f"{HOST}/q.jpg", f"{HOST}/x/x/x", f"{HOST}/c"]
    for seed in range(2):
        steering.absorb(visit(steering.choose(0), prose(seed), links), 0)
    assert len(steering.frontier) == 1
    assert steering.choose(0).url == f"{HOST}/c"
    assert [(cut.reason, cut.count, cut.example) for cut in steering.guard.report()] == [
        ("file type", 2, f"{HOST}/p.jpg"),
        ("repeating path", 1, f"{HOST}/x/x/x"),
    ]


def endless_calendar(path):
    if path == "/":
        return prose(0), ["/calendar/2024/1"]
    year, month = map(int, path.split("/")[2:])
    around = [(year * 12 + month - 1 + step) for step in (-1, 1)]
    days = " ".join(f"{day} {('May', 'June', 'July')[month % 3]} {year}" for day in range(28))
    return f"Calendar {days}", [f"/calendar/{at // 12}/{at % 12 + 1}" for at in around]


def sessions_everywhere(path):
    page, _, session = path.partition("?visit=")
    number = int(page.removeprefix("/") or 0)
    dice = random.Random(session + page)
    return prose(number), [
        f"/{dice.randrange(30)}?visit={dice.getrandbits(32):08x}a" for _ in "abc"
    ]


def path_that_repeats(path):
    return prose(0), [path.rstrip("/") + "/more", path.rstrip("/") + "/less"]


def query_that_grows(path):
    return f"{prose(1)} {path}", [f"{path}{'&' if '?' in path else '?'}k{n}=1" for n in range(50)]


def nothing_there(path):
    return (prose(0), [f"/{'x' * n}" for n in range(1, 1000)]) if path == "/" else None


@pytest.mark.parametrize(
    ("write", "most"),
    [
        (endless_calendar, 45),
        (sessions_everywhere, 130),
        (path_that_repeats, 62),
        (query_that_grows, 150),
        (nothing_there, 65),
    ],
)
def test_a_crawl_gets_out_of_a_trap(write, most):
    assert crawl(write, None, 300)[0].reason == "budget spent"
    outcome, asked = crawl(write, LiveGuard())
    assert outcome.reason == "no link left"
    assert len(asked) <= most


def test_a_good_site_with_numbered_articles_is_crawled_whole():
    def articles(path):
        number = int(path.rpartition("/")[2] or 0)
        return prose(number), [f"/article/{number + step}" for step in (1, 2, 3)]

    outcome, asked = crawl(articles, LiveGuard(), budget=900)
    assert (outcome.reason, len(set(asked))) == ("budget spent", 900)


def test_a_seed_is_visited_whatever_it_looks_like():
    steering = navigator(LiveGuard(Traps(patience=2)))
    seeds = [Link(f"{HOST}/a.pdf"), *(Link(f"{HOST}/calendar/2020/{n}") for n in range(1, 9))]
    steering.seed(seeds)
    for seed in seeds:
        link = steering.choose(0)
        assert link.url == seed.url
        steering.absorb(visit(link, "Empty."), 0)


def test_waiting_links_of_a_closed_pattern_are_not_visited():
    steering = navigator(LiveGuard(Traps(patience=3)))
    steering.seed([Link(f"{HOST}/")])
    links = [f"{HOST}/a/{number}" for number in range(50)] + [f"{HOST}/good"]
    steering.absorb(visit(steering.choose(0), prose(1), links), 0)
    asked = []
    while (link := steering.choose(0)) is not None:
        asked.append(link.url)
        steering.absorb(visit(link, prose(1)), 0)
    assert asked == [f"{HOST}/a/{number}" for number in range(3)] + [f"{HOST}/good"]
    assert steering.guard.report()[0].count == 47


@pytest.mark.parametrize(
    ("failure", "closes"),
    [
        ("status 404", True),
        ("content type", True),
        ("timeout", False),
        ("status 503", False),
        ("status 429", False),
    ],
)
def test_only_answers_about_a_page_count_against_its_host(failure, closes):
    guard, memory = LiveGuard(Traps(patience=5)), Memory()
    names = ["x" * number for number in range(1, 40)]
    found = memory.seed([Link(f"{HOST}/{name}") for name in names])
    for id, link in zip(found.ids.tolist(), found.links, strict=True):
        failed = Visit(link, None, Verdict(0, False), failure=failure)
        assert guard.note(memory, id, failed) is failed
    other = memory.seed([Link(f"{HOST}/other")])
    assert guard.admit(memory, Outlinks(None, -1, other.links, other.ids)).tolist() == [not closes]


# --------------------------------------------------------------------------- going on


@pytest.mark.parametrize("write", [endless_calendar, sessions_everywhere, query_that_grows])
def test_a_guarded_crawl_goes_on_exactly_from_its_saved_state(write):
    def guard():
        return LiveGuard(Traps(patience=8, year=2026), Fingerprints(capacity=20))

    def drive(steering, steps):
        asked = []
        for _ in range(steps):
            link = steering.choose(0)
            if link is None:
                break
            asked.append(link.url)
            text, paths = write(link.url.removeprefix(HOST))
            steering.absorb(visit(link, text, [HOST + path for path in paths]), 0)
        return asked

    whole, half, rest = (navigator(guard()) for _ in range(3))
    for steering in (whole, half):
        steering.seed([Link(HOST + "/")])
    expected = drive(whole, 60)
    assert drive(half, 12) == expected[:12]
    rest.load(half.state())
    assert drive(rest, 48) == expected[12:]
    assert rest.guard.report() == whole.guard.report()


def test_a_crawl_of_a_generated_web_with_traps_comes_to_an_end():
    def judge(page):
        relevant = "topic:weather" in page.labels
        return Verdict(float(relevant), relevant)

    web = SyntheticWorld(judge, pages=1000, seed=1)
    trapped, missing = [], []

    def observe(visit, step, now):
        labels = visit.page.labels if visit.page is not None else ()
        trapped.append("kind:trap" in labels)
        if "kind:empty" in labels:
            missing.append(step.verdict.reasons)

    outcome = simulate(navigator(LiveGuard()), web, [web.find("weather")], 3000, observer=observe)
    assert outcome.reason == "no link left"
    assert sum(trapped) <= 250
    assert len(trapped) - sum(trapped) >= 700  # the web itself is crawled
    assert missing
    assert all(reasons[-1:] == ("soft 404",) for reasons in missing)
