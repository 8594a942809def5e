"""A record first, the web where it is worth it."""

import numpy as np
import pytest

from honeyguide.agents.priced import Priced
from honeyguide.contracts import Goal, Link, Verdict
from honeyguide.crawl import Crawl, Limits, run_jumping
from honeyguide.errors import HoneyguideError
from honeyguide.navigator import Navigator
from honeyguide.registry import make
from honeyguide.worlds.recorded_first import RecordedFirst
from honeyguide.worlds.synthetic import SyntheticWorld

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
    outcome = run_jumping(crawl.run(both.record.sample(100, for_seeds)))
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
    assert (agent.score(rows) == inner.score(rows[:, :-1])).all()


def test_a_second_costs_its_price(both):
    inner = make("agent", "url_linear_q", goal=GOAL, rng=np.random.default_rng(0))
    agent = Priced(inner, both.seconds, 0.5)
    rows = np.array([[1, 0.25], [1, 2.0]], np.float32)
    scores = agent.score(rows)
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
    with pytest.raises(HoneyguideError, match="less than no time"):
        RecordedFirst(both.record, both.beyond, recorded, recorded_seconds=-1.0)


def test_a_page_of_the_record_is_asked_of_the_record_alone():
    record = SyntheticWorld(about_geology, pages=2000, seed=1)
    other = SyntheticWorld(about_geology, pages=2000, seed=2)
    both = RecordedFirst(record, other, recorded)
    url = next(
        link.url for link in record.sample(200, np.random.default_rng(0)) if recorded(link.url)
    )
    assert run_jumping(both.visit(Link(url))).page == run_jumping(record.visit(Link(url))).page
