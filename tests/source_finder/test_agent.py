"""The source finder as an agent: when it stops and how it learns."""

import numpy as np
import pytest

from honeyguide.contracts import Link, Page, Verdict, Visit
from honeyguide.disk.serialise import read_state, write_state
from honeyguide.engine.loop import simulate
from honeyguide.engine.navigator import Navigator
from honeyguide.errors import HoneyguideError
from honeyguide.registry import make
from tests.candidates import candidates


def agent_of(**settings):
    return make("agent", "source_finder", rng=np.random.default_rng(0), **settings)


def crawl(world, home, budget=12, **settings):
    agent = agent_of(**settings)
    frontier = make(
        "frontier", "best_first", width=agent.features.width, rng=np.random.default_rng(0)
    )
    navigator = Navigator(agent, frontier)
    visits = []
    outcome = simulate(
        navigator,
        world,
        [Link(home)],
        budget,
        observer=lambda visit, step, now: visits.append(visit),
    )
    return visits, outcome, navigator


@pytest.fixture(scope="module")
def world():
    return make(
        "world", "organisations:set=validation,sites=12", judge=make("judge", "label:source:events")
    )


def test_it_finds_events_and_stops_when_nothing_else_seems_worth_a_click(world):
    crawls = [crawl(world, home, batch=0, one_site=True) for home in world.homes[:6]]
    assert {outcome.reason for _, outcome, _ in crawls} == {"nothing left is worth a fetch"}
    clicks = [visit for visits, _, _ in crawls for visit in visits[1:]]
    assert np.mean([visit.verdict.relevant for visit in clicks]) >= 0.8
    assert sum(any(visit.verdict.relevant for visit in visits) for visits, _, _ in crawls) >= 5


def test_a_higher_threshold_clicks_less(world):
    home = world.homes[0]
    assert len(crawl(world, home, threshold=1.0, batch=0)[0]) == 1
    assert len(crawl(world, home, threshold=-1.0, batch=0)[0]) == 12


def test_it_learns_after_a_batch_of_whole_episodes_and_scores_what_waits_anew(world):
    _, _, navigator = crawl(world, world.homes[0], threshold=-1.0, batch=1, steps=3, budget=4)
    fresh = agent_of(threshold=-1.0).policy()["weights"]
    learnt = navigator.agent.policy()["weights"]
    assert any(np.abs(learnt[name] - fresh[name]).max() > 0 for name in fresh)
    _, _, untaught = crawl(world, world.homes[0], threshold=-1.0, batch=2, steps=3, budget=4)
    kept = untaught.agent.policy()["weights"]
    assert all(np.array_equal(kept[name], fresh[name]) for name in fresh)


def test_the_better_of_two_mentions_counts(world):
    agent = agent_of(batch=0)
    frontier = make("frontier", "best_first", width=2, rng=np.random.default_rng(0))
    navigator = Navigator(agent, frontier)
    home = world.page(world.homes[0])
    navigator.seed([Link(home.url)])
    navigator.absorb(Visit(navigator.choose(0.0), home, Verdict(0, False)), 0.0)
    found = navigator.memory.link(0, home)
    before = agent.score(candidates(agent.features(navigator.memory, found)))
    bare = type(home)(home.url, links=tuple(Link(link.url) for link in home.links))
    again = agent.score(
        candidates(agent.features(navigator.memory, navigator.memory.link(0, bare)))
    )
    assert np.all(again >= before)


def test_its_policy_and_threshold_serve_another_crawl(world, tmp_path):
    agent = agent_of()
    with (tmp_path / "policy").open("wb") as file:
        write_state(file, agent.policy() | {"threshold": 0.25})
    other = agent_of()
    other.load_policy(read_state(tmp_path / "policy"))
    assert other.threshold == 0.25
    with pytest.raises(HoneyguideError):
        other.load_policy({"weights": {}, "threshold": 0.5})


def test_an_unknown_model_is_said_in_one_sentence(tmp_path):
    with pytest.raises(HoneyguideError, match="honeyguide train source_finder"):
        agent_of(model=str(tmp_path / "none"))
    (tmp_path / "bad").write_bytes(b"no model")
    with pytest.raises(HoneyguideError, match="damaged"):
        agent_of(model=str(tmp_path / "bad"))


class Lists:
    """A home page with two lists of links with equal texts; the pages of one are relevant."""

    live = False
    home = "http://a.example/"
    find = labels = truth = None

    async def visit(self, link):
        page = Page(link.url, "page", "", ())
        if link.url == self.home:
            kinds = [(n, kind) for n in range(6) for kind in ("bad", "good")]
            links = [Link(f"{self.home}{kind}/{n}.html", "events") for n, kind in kinds]
            page = Page(self.home, "home", "", tuple(links))
        good = "/good/" in link.url
        return Visit(link, page, Verdict(0.9 if good else 0.1, good))


def test_with_feedback_it_follows_the_list_that_pays():
    found = {}
    for feedback in (False, True):
        told = {"threshold": -1.0, "batch": 0, "feedback": feedback}
        visits, _, _ = crawl(Lists(), Lists.home, budget=8, **told)
        found[feedback] = sum(visit.verdict.relevant for visit in visits)
    assert found[True] >= 6 > found[False]


def test_feedback_survives_a_restart(world):
    told = {"threshold": -1.0, "batch": 0, "feedback": True}
    _, _, navigator = crawl(world, world.homes[0], budget=6, **told)
    agent, again = navigator.agent, agent_of(**told)
    again.load(agent.state())
    x = np.array([[0, place] for place in range(20)], np.float32)
    assert again.score(candidates(x)).tolist() == agent.score(candidates(x)).tolist()
    assert agent.score(candidates(x)).tolist() != agent.features.probabilities(x).tolist()
