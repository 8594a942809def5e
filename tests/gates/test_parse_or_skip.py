"""The gate that decides whether a link is fetched: Lim (2016, §5.2)."""

from dataclasses import replace

import numpy as np
import pytest

from honeyguide.contracts import Link, Page, Verdict, Visit
from honeyguide.engine.memory import Memory
from honeyguide.errors import HoneyguideError
from honeyguide.gates.parse_or_skip import ParseOrSkip
from honeyguide.gates.solvers import EstimatedPolicy
from honeyguide.gates.states import CORRECTED, PRINTED, CorrectedStates, PrintedStates
from honeyguide.gates.url_record import UrlRecord
from honeyguide.gates.url_words import UrlWords
from honeyguide.plan import Plan
from honeyguide.registry import make

LITTLE, SOURCE, HERE, URL = 8, 4, 2, 1  # the features' places in a state
YES, NO = Verdict(1.0, True), Verdict(0.0, False)


class Crawled:
    """A memory in which pages were visited one after the other."""

    def __init__(self):
        self.memory = Memory()

    def visit(self, states, url, verdict, links=()):
        self.memory.seed([Link(url)])
        id = int(self.memory.urls.find([url])[0])
        visit = Visit(Link(url), Page(url, links=tuple(map(Link, links))), verdict)
        self.memory.visit(id, visit)
        self.memory.link(id, visit.page)
        states.note(url, self.memory.urls.host_of(id), verdict)

    def state(self, states, url):
        self.memory.seed([Link(url)])
        return states.state_of(self.memory, int(self.memory.urls.find([url])[0]), Link(url))


@pytest.fixture
def words(encoder):
    return UrlWords(["geology"], encoder)


def test_a_new_host_is_little_parsed_and_promising(words):
    for states in (PrintedStates(words), CorrectedStates(words)):
        assert Crawled().state(states, "http://a.example/x") & (LITTLE | HERE) == LITTLE | HERE


def test_a_host_is_little_parsed_again_when_it_was_mostly_skipped(words):
    states, crawled = PrintedStates(words), Crawled()
    crawled.visit(states, "http://a.example/1", NO)
    assert not crawled.state(states, "http://a.example/x") & LITTLE
    host = crawled.memory.urls.host_of(0)
    states.hosts.skip(host)
    assert not crawled.state(states, "http://a.example/x") & LITTLE, "one of each"
    states.hosts.skip(host)
    assert crawled.state(states, "http://a.example/x") & LITTLE


def test_a_host_whose_pages_were_all_irrelevant_is_promising_as_printed_but_not_as_corrected(words):
    printed, corrected = PrintedStates(words), CorrectedStates(words)
    for states in (printed, corrected):
        crawled = Crawled()
        for number in range(4):
            crawled.visit(states, f"http://good.example/{number}", YES)
            crawled.visit(states, f"http://bad.example/{number}", NO)
        assert crawled.state(states, "http://good.example/x") & HERE
        promising = bool(crawled.state(states, "http://bad.example/x") & HERE)
        assert promising == (states is printed)


def test_previous_is_the_host_processed_before_as_printed_and_the_linking_one_as_corrected(words):
    for states in (PrintedStates(words), CorrectedStates(words)):
        crawled = Crawled()
        for number in range(4):
            links = ["http://new.example/x"]
            crawled.visit(states, f"http://good.example/{number}", YES, links)
            crawled.visit(states, f"http://bad.example/{number}", NO)
        crawled.state(states, "http://bad.example/y")
        after_bad = bool(crawled.state(states, "http://new.example/x") & SOURCE)
        crawled.state(states, "http://good.example/y")
        after_good = bool(crawled.state(states, "http://new.example/x") & SOURCE)
        assert after_good
        assert after_bad == isinstance(states, CorrectedStates), (
            "a good host links to it all the time"
        )


def test_a_host_is_mostly_skipped_by_the_ratio_that_was_set(words):
    states, crawled = PrintedStates(words, replace(PRINTED, ratio=3.0)), Crawled()
    crawled.visit(states, "http://a.example/1", NO)
    crawled.visit(states, "http://a.example/2", NO)
    host = crawled.memory.urls.host_of(0)
    states.hosts.skip(host)
    assert crawled.state(states, "http://a.example/x") & LITTLE, "two parsed, one skipped"
    crawled.visit(states, "http://a.example/3", NO)
    assert not crawled.state(states, "http://a.example/x") & LITTLE, "three parsed, one skipped"


@pytest.mark.parametrize(("bound", "true"), [(0.04, True), (0.06, False)])
def test_hosts_are_good_from_the_mean_relevance_that_was_set(words, bound, true):
    """By Lim's own score no page reaches 2/3: a bound within its reach makes the features work."""
    states = PrintedStates(words, replace(PRINTED, source=bound, host=bound))
    crawled = Crawled()
    crawled.visit(states, "http://a.example/1", Verdict(0.05, True))
    assert bool(crawled.state(states, "http://a.example/x") & HERE) == true
    assert bool(crawled.state(states, "http://b.example/x") & SOURCE) == true


@pytest.mark.parametrize(("bound", "true"), [(0.9, True), (1.5, False)])
def test_corrected_hosts_are_good_from_a_multiple_of_the_crawls_share(words, bound, true):
    states = CorrectedStates(words, replace(CORRECTED, host=bound))
    crawled = Crawled()
    for number in range(4):
        crawled.visit(states, f"http://a.example/{number}", YES if number % 2 else NO)
        crawled.visit(states, f"http://b.example/{number}", YES if number % 2 else NO)
    assert bool(crawled.state(states, "http://a.example/x") & HERE) == true


def test_a_url_is_promising_from_the_similarity_that_was_set(encoder):
    url = "http://rock.example/geology/"  # the words rock, example, geology
    share = UrlWords(["geology"], encoder).mean(url)
    assert 0 < share < 2 / 3
    for bound, true in ((share / 2, True), (share + 0.01, False)):
        states = PrintedStates(UrlWords(["geology"], encoder), replace(PRINTED, url=bound))
        assert bool(Crawled().state(states, url) & URL) == true
    assert UrlWords(["geology"], encoder, low=0.0).mean(url) > share, "rock counts, too"


REFUSED = {
    "parse_or_skip:gamma=1": "parse_or_skip needs 0 <= gamma < 1, not gamma=1.0",
    "parse_or_skip_q:gamma=1": "parse_or_skip_q needs 0 <= gamma < 1, not gamma=1.0",
    "parse_or_skip_document:gamma=1.5": "0 <= gamma <= 1, not gamma=1.5",
    "parse_or_skip:ratio=0.5": "1 <= ratio, not ratio=0.5",
    "parse_or_skip:source_bound=0": "0 < source_bound, not source_bound=0",
    "parse_or_skip_q:host_bound=-1": "0 < host_bound, not host_bound=-1",
    "parse_or_skip:url_bound=2": "0 < url_bound <= 1, not url_bound=2",
    "parse_or_skip_document:similarity=-0.1": "0 <= similarity <= 1, not similarity=-0.1",
    "parse_or_skip:first=best": "first policy is one of skip, parse, random, not 'best'",
}


@pytest.mark.parametrize("spec", REFUSED)
def test_bounds_and_discounts_that_cannot_work_are_refused_in_a_sentence(spec, encoder):
    with pytest.raises(HoneyguideError) as refused:
        make("gate", spec, search=("geology",), encoder=encoder)
    assert REFUSED[spec] in str(refused.value)


def test_the_documents_gate_can_be_asked_for_its_gamma_of_one_and_its_penalty(encoder):
    def parsed(spec):
        gate = make("gate", spec, search=("geology",), encoder=encoder)
        return sum(row["decision"] == "parse" for row in gate.policy())

    assert parsed("parse_or_skip_document") == 0
    assert parsed("parse_or_skip_document:gamma=1") == 0
    assert parsed("parse_or_skip_document:gamma=1,penalty=0.5") == 0
    assert parsed("parse_or_skip_document:gamma=1,penalty=1.5") == 16


def test_a_random_first_policy_takes_the_plans_random_seed_and_leads_to_the_same_crawl():
    def asked(gate, seed):
        plan = Plan(
            world="synthetic:pages=2000",
            judge="label:geology",
            seeds=("geology",),
            agent="breadth_first",
            gate=gate,
            budget=120,
            random_seed=seed,
        )
        urls = []
        plan.simulate(lambda visit, step, now: urls.append(visit.link.url))
        return urls

    usual = asked("parse_or_skip", 0)
    assert asked("parse_or_skip:first=random", 1) == usual
    assert asked("parse_or_skip:first=random", 2) == usual


def test_a_url_is_relevant_by_its_words(words, encoder):
    assert words.best("http://x.example/geology/rocks") == 1.0
    assert words.best("http://x.example/Geological_survey") >= 2 / 3
    assert words.best("http://x.example/football") == 0.0
    assert words.mean("http://geology/") == 1.0
    assert words.mean("http://x.example/geology") < 2 / 3, "as printed, other words dilute it"
    both = UrlWords(["classical music"], encoder)
    assert both.best("http://x.example/music") < 2 / 3, "not as specific as what is looked for"
    assert both.best("http://x.example/classical/music/index.html") == 1.0


def test_a_url_is_relevant_when_those_like_it_were():
    record = UrlRecord()
    for number in range(40):
        record.learn(f"http://a{number}.example/~person{number}/home.html", True)
        record.learn(f"http://a{number}.example/news/{number}?page=2", False)
    assert record.predict("http://new.example/~other/home.html") > 0.8
    assert record.predict("http://new.example/news/99?page=3") < 0.2
    again = UrlRecord()
    again.load(record.state())
    assert again.predict("http://x.example/news/1") == record.predict("http://x.example/news/1")


def test_links_like_those_that_brought_nothing_are_skipped_and_come_back_with_their_host(words):
    gate = ParseOrSkip(CorrectedStates(words), EstimatedPolicy(every=1))
    crawled = Crawled()
    memory = crawled.memory

    def visit(url, verdict):
        memory.seed([Link(url)])
        id = int(memory.urls.find([url])[0])
        opened = gate.opens(memory, id, Link(url), 0.0)
        visited = Visit(Link(url), Page(url), verdict)
        memory.visit(id, visited)
        return opened, gate.note(memory, id, visited).tolist()

    for number in range(40):
        visit(f"http://good.example/geology/{number}", YES)
        visit(f"http://bad.example/x/{number}", NO)
        for more in range(3):
            visit(f"http://poor.example/x/{more}/{number}", NO)
    skipped = int(memory.seed([Link("http://bad.example/x/100")]).ids[0])
    assert not gate.opens(memory, skipped, Link("http://bad.example/x/100"), 0.0)
    assert visit("http://good.example/geology/100", YES)[0]
    came_back = []
    for number in range(20):
        came_back += visit(f"http://bad.example/y/{number}", YES)[1]
    assert skipped in came_back, "when its host's record had become a good one"


def plan(**settings):
    return Plan(
        world="synthetic:pages=6000",
        judge="label:geology",
        seeds=("geology",),
        agent="breadth_first",
        **{"budget": 300, **settings},
    )


def needed(curve, relevant):
    return next(pages for pages, found in enumerate(curve, 1) if found >= relevant)


def crawl(opened, its_plan, seeds=None, navigator=None):
    from honeyguide.engine.loop import run_simulated

    navigator = navigator or opened.navigator(its_plan)
    curve, urls = [], []

    def note(visit, step, now):
        curve.append(navigator.memory.relevant_found)
        urls.append(visit.link.url)

    opened = replace(opened, plan=its_plan)
    run_simulated(opened.crawl(navigator, note).run(opened.seeds if seeds is None else seeds))
    return curve, urls, navigator


@pytest.mark.parametrize("gate", ["parse_or_skip", "parse_or_skip_q"])
def test_breadth_first_with_the_gate_needs_far_fewer_pages(gate):
    opened = plan().open(remember=True)
    without, _, _ = crawl(opened, plan())
    curve, urls, navigator = crawl(opened, plan(gate=gate))
    assert len(set(urls)) == len(urls)
    assert needed(curve, without[-1]) < 0.7 * needed(without, without[-1])
    rows = navigator.gate.policy()
    assert len(rows) == 16
    assert {row["decision"] for row in rows} <= {"parse", "skip", "stand aside"}
    assert sum(row["skipped"] for row in rows) > len(urls)
    assert sum(row["parsed"] for row in rows) == len(urls)
    assert sum(row["relevant"] for row in rows) >= curve[-1]  # two addresses of a page are two


def test_the_documents_policy_changes_nothing_since_all_is_taken_for_want_of_better():
    opened = plan().open(remember=True)
    _, urls, navigator = crawl(opened, plan(budget=100, gate="parse_or_skip_document"))
    assert len(urls) == 100
    assert {row["decision"] for row in navigator.gate.policy()} == {"skip"}


@pytest.mark.parametrize("gate", ["parse_or_skip", "parse_or_skip_q", "parse_or_skip:printed=yes"])
def test_a_crawl_with_a_gate_goes_on_as_if_nothing_had_happened(gate):
    opened = plan().open(remember=True)
    _, whole, _ = crawl(opened, plan(budget=160, gate=gate))
    _, first, half = crawl(opened, plan(budget=80, gate=gate))
    rest = opened.navigator(plan(gate=gate, random_seed=9))
    rest.load(half.state())
    _, second, _ = crawl(opened, plan(budget=160, gate=gate), [], rest)
    assert first + second == whole


def test_the_same_crawl_makes_the_same_decisions_however_long_it_goes_on():
    opened = plan().open(remember=True)
    _, long, _ = crawl(opened, plan(budget=120, gate="parse_or_skip"))
    _, short, _ = crawl(opened, plan(budget=60, gate="parse_or_skip"))
    assert long[:60] == short


def test_some_links_of_a_skipped_state_are_tried_nevertheless(words):
    class Never(EstimatedPolicy):
        def parses(self, state):
            return False

    gate, memory = ParseOrSkip(CorrectedStates(words), Never(), explore=5), Memory()
    ids = memory.seed([Link(f"http://a.example/{n}") for n in range(20)]).ids
    opened = [
        gate.opens(memory, id, Link(memory.urls.url(id), depth=1), 0.0) for id in ids.tolist()
    ]
    assert np.flatnonzero(opened).tolist() == [4, 9, 14, 19]
