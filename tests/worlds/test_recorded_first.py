"""A record first, the web where it is worth it."""

from dataclasses import replace

import numpy as np
import pytest

from honeyguide.agents.priced import Priced
from honeyguide.assemble import PRICE
from honeyguide.contracts import Goal, Link, Verdict
from honeyguide.engine.loop import Crawl, Limits, run_simulated
from honeyguide.engine.navigator import Navigator
from honeyguide.errors import HoneyguideError
from honeyguide.features.url_words import UrlWords
from honeyguide.plan import Plan
from honeyguide.recorded.writer import GraphWriter
from honeyguide.registry import make
from honeyguide.worlds.graph import GraphWorld
from honeyguide.worlds.recorded_first import RecordedFirst
from honeyguide.worlds.synthetic import SyntheticWorld
from tests.candidates import candidates

GOAL = Goal("geology", None)


def about_geology(page):
    return Verdict(1.0, True) if "topic:geology" in page.labels else Verdict(0.0, False)


def recorded(url):
    return url.split("/")[2].endswith(".example")


@pytest.fixture(scope="module")
def both():
    web = SyntheticWorld(about_geology, pages=2000, seed=1)
    return RecordedFirst(web, web, recorded, recorded_seconds=0.25, beyond_seconds=2.0)


def walked(both, price, seconds=200.0):
    """A walk with a price: pages, and how many of them were of the record."""
    for_agent, for_frontier, for_seeds = np.random.default_rng(3).spawn(3)
    inner = make("agent", "url_linear_q:epsilon_steps=50", goal=GOAL, rng=for_agent)
    agent = Priced(inner, both.seconds, price)
    frontier = make("frontier", "walks", width=agent.features.width, rng=for_frontier)
    spent, kept = [], []

    def note(visit, step, now):
        spent.append(visit.seconds)
        kept.append(recorded(visit.link.url))

    crawl = Crawl(Navigator(agent, frontier), both, Limits(pages=600, seconds=seconds), 1, note)
    outcome = run_simulated(crawl.run(both.record.sample(100, for_seeds)))
    return outcome, spent, kept


def test_a_visit_takes_what_its_page_costs(both):
    outcome, spent, kept = walked(both, 0.0)
    assert spent == [0.25 if is_kept else 2.0 for is_kept in kept]
    assert sum(spent) <= outcome.seconds <= sum(spent) + 2.0


def test_with_a_price_more_pages_come_from_the_record(both):
    _, _, free = walked(both, 0.0)
    _, _, dear = walked(both, 1.0)
    assert np.mean(dear) > np.mean(free) + 0.1
    assert len(dear) > len(free)


def test_without_a_price_the_agent_chooses_as_it_would_by_itself(both):
    rng = np.random.default_rng(0)
    inner = make("agent", "url_linear_q", goal=GOAL, rng=rng)
    agent = Priced(inner, both.seconds, 0.0)
    rows = np.array([[1, 2, 0.25], [3, 0, 2.0]], np.float32)
    assert (agent.score(candidates(rows)) == inner.score(candidates(rows[:, :-1]))).all()


def test_a_second_costs_its_price(both):
    inner = make("agent", "url_linear_q", goal=GOAL, rng=np.random.default_rng(0))
    agent = Priced(inner, both.seconds, 0.5)
    rows = np.array([[1, 0.25], [1, 2.0]], np.float32)
    scores = agent.score(candidates(rows))
    assert scores[0] - scores[1] == pytest.approx(0.5 * 1.75)


def test_what_was_learnt_is_the_agents_own(both):
    inner = make("agent", "url_linear_q", goal=GOAL, rng=np.random.default_rng(0))
    other = make("agent", "url_linear_q", goal=GOAL, rng=np.random.default_rng(1))
    Priced(other, both.seconds, 1.0).load(Priced(inner, both.seconds, 0.1).state())
    assert other.weights() == inner.weights()


def test_seeds_and_truth_are_found_through_it(both):
    assert both.find("geology") == both.record.find("geology")
    assert both.truth() is both.beyond.truth()
    assert both.labels() == both.record.labels()
    assert not both.live


def test_impossible_prices_are_refused(both):
    inner = make("agent", "url_linear_q", goal=GOAL, rng=np.random.default_rng(0))
    with pytest.raises(HoneyguideError, match="price"):
        Priced(inner, both.seconds, -1.0)
    with pytest.raises(HoneyguideError, match="zero or more"):
        RecordedFirst(both.record, both.beyond, recorded, recorded_seconds=-1.0)


def test_a_page_of_the_record_is_asked_of_the_record_alone():
    record = SyntheticWorld(about_geology, pages=2000, seed=1)
    other = SyntheticWorld(about_geology, pages=2000, seed=2)
    both = RecordedFirst(record, other, recorded)
    url = next(
        link.url for link in record.sample(200, np.random.default_rng(0)) if recorded(link.url)
    )
    assert run_simulated(both.visit(Link(url))).page == run_simulated(record.visit(Link(url))).page


def site_on_one_host(folder, rest):
    """Thirty pages of it are recorded; each fetch of another is followed by a rest of its host."""
    site = [f"http://one.example/{number}" for number in range(40)]
    for name, pages in (("record", site[:30]), ("whole", site)):
        with GraphWriter(folder / name) as writer:
            for url in pages:
                writer.add(url, url, "", "rocks", [(other, "") for other in site], ())
    record, whole = (
        GraphWorld(str(folder / name), about_geology, outside=True) for name in ("record", "whole")
    )
    return RecordedFirst(record, Resting(whole, rest), record.has, 0.5, 1.0), site


class Resting:
    """A web whose host wants to be left alone after each visit."""

    live = False

    def __init__(self, world, rest):
        self.world, self.rest = world, rest

    async def visit(self, link):
        return replace(await self.world.visit(link), host_delay=self.rest)


@pytest.mark.parametrize("price", [0.0, 1000.0])
def test_pages_of_the_record_wait_for_nobody_and_nobody_waits_for_them(tmp_path, price):
    """Half a second for each page of the record, one for a fetch, ten of rest between two."""
    both, site = site_on_one_host(tmp_path, rest=10.0)
    inner = make("agent", "breadth_first", goal=GOAL, rng=None)
    agent = Priced(inner, both.seconds, price, most=1.0)
    frontier = make("frontier", "best_first", width=agent.features.width, rng=None)
    navigator = Navigator(agent, frontier)
    navigator.lanes = agent.lanes
    told = []

    def note(visit, step, now):
        told.append((now, both.has(visit.link.url)))

    crawl = Crawl(navigator, both, Limits(pages=40), observer=note)
    outcome = run_simulated(crawl.run([Link(site[35])]))
    assert outcome.pages == 40
    fetched = [now for now, is_recorded in told if not is_recorded]
    assert min(np.diff(fetched)) >= 10.0
    last_recorded = max(now for now, is_recorded in told if is_recorded)
    assert last_recorded <= 30 * 0.5 + 3 * 1.0  # the rests of two fetches would be twenty
    assert outcome.seconds == pytest.approx(fetched[-1])


class Live:
    """A web beyond, which finds any URL and remembers hosts."""

    live = True

    def __init__(self):
        self.recalled = []

    def find(self, name):
        return Link(name + "/")

    def recall(self, learnt):
        self.recalled += learnt


def test_seeds_of_the_live_web_need_not_be_in_the_record():
    record = SyntheticWorld(about_geology, pages=2000, seed=1)
    both = RecordedFirst(record, Live(), recorded)
    assert both.find("http://new.example") == Link("http://new.example/")
    assert both.sample(3, np.random.default_rng(0)) == record.sample(3, np.random.default_rng(0))


def test_what_was_learnt_of_hosts_is_recalled_beyond_the_record():
    beyond = Live()
    RecordedFirst(beyond, beyond, recorded).recall(["rests"])
    assert beyond.recalled == ["rests"]
    generated = SyntheticWorld(about_geology, pages=2000, seed=1)
    RecordedFirst(generated, generated, recorded).recall(["rests"])  # it has nothing to recall


def test_a_record_without_a_draw_says_so():
    with pytest.raises(HoneyguideError, match="random pages cannot be drawn"):
        RecordedFirst(Live(), Live(), recorded).sample(1, np.random.default_rng(0))


class Threshold:
    """An agent that stops below a score, and foresees."""

    features, frontier, max_waiting, foresees = UrlWords(), "best_first", None, True
    refreshes = False

    def stops(self, best_score):
        return best_score < 0.7

    def foreseen(self, x, score):
        return score


def test_a_price_neither_ends_a_crawl_early_nor_clouds_what_is_foreseen():
    agent = Priced(Threshold(), lambda url: 1.0, price=0.1, most=1.0)
    assert not agent.stops(0.65)  # it may be a link worth 0.75 that has to be fetched
    assert agent.stops(0.55)
    assert agent.foreseen(np.array([3.0, 1.0], np.float32), 0.65) == pytest.approx(0.75)
    assert agent.foreseen(np.array([3.0, 0.0], np.float32), 0.65) == pytest.approx(0.65)


def plan(**settings):
    seeds = ("http://127.0.0.1/",)
    return Plan(**{"topic": "geology", "seeds": seeds, "world": "web", "agent": "guide"} | settings)


def test_a_plan_with_a_record_pays_for_what_lies_beyond_it(small_graph):
    opened = plan(record=f"graph:{small_graph}", price=0.25).open()
    assert isinstance(opened.world, RecordedFirst)
    assert opened.navigator().agent.price == 0.25
    assert plan(record=str(small_graph)).open().navigator().agent.price == PRICE


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"price": 0.1}, "a price needs a record"),
        ({"record": "x", "price": -1.0}, "0 to 1000"),
        ({"record": "x", "price": 1e39}, "0 to 1000"),
        ({"record": "x", "price": float("nan")}, "0 to 1000"),
    ],
)
def test_prices_that_mean_nothing_are_refused(settings, said):
    with pytest.raises(HoneyguideError, match=said):
        plan(**settings)


def test_an_agent_that_weighs_nothing_takes_no_price(small_graph):
    unpriced = plan(record=str(small_graph), agent="breadth_first").open()
    unpriced.navigator()
    with pytest.raises(HoneyguideError, match="'breadth_first' weighs nothing"):
        unpriced.navigator(replace(unpriced.plan, price=0.5))


def test_a_record_that_is_none_is_told_in_a_sentence(tmp_path):
    with pytest.raises(HoneyguideError, match="is not a recorded web"):
        plan(record=str(tmp_path)).open()


def test_a_record_is_for_the_live_web(small_graph):
    with pytest.raises(HoneyguideError, match="pages cost nothing anyway"):
        plan(record=str(small_graph), world="synthetic:pages=2000", seeds=("geology",)).open()


def test_a_record_without_texts_serves_only_judges_that_read_none(tmp_path):
    with GraphWriter(tmp_path / "record") as writer:
        writer.add("http://a.example/", "http://a.example/", "A", "", [], ())
    with pytest.raises(HoneyguideError, match="no texts to judge"):
        plan(record=str(tmp_path / "record")).open()
    plan(record=str(tmp_path / "record"), judge="targets:a.example").open()
