"""The agent of everyday crawls."""

import numpy as np
import pytest

from honeyguide.agents.guide import (
    DROUGHT,
    EVIDENCE_VARIANCE,
    OWN_WORDS_VARIANCE,
    PENDING,
    WORDS_AROUND_VARIANCE,
    Guide,
)
from honeyguide.contracts import Goal, Link, Page, Step, Trainable, Verdict, Visit
from honeyguide.engine.memory import Memory
from honeyguide.errors import HoneyguideError
from honeyguide.features.evidence import EVIDENCE, SIBLINGS
from honeyguide.registry import make
from tests.candidates import candidates


@pytest.fixture
def goal(encoder):
    return Goal("geology", encoder)


def seeds(guide, texts):
    """Links with these words, on a crawl that has just begun."""
    links = [Link(f"http://a.example/{n}", text) for n, text in enumerate(texts)]
    return found_by(guide, Memory(), links)


def found_by(guide, memory, links):
    found = memory.seed(links)
    return candidates(guide.features(memory, found), found.ids)


def step(links, place, reward, options):
    """A visit of the link at this place."""
    verdict, id = Verdict(reward, reward > 0), int(links.ids[place])
    return Step(Link(""), id, links.x[place], reward, verdict, None, options, id)


TEXTS = [f"{a} {b}" for a in "rock chess wine opera".split() for b in "one two tree ship".split()]


@pytest.mark.parametrize("visits", [3, PENDING, 2 * PENDING + 5])
def test_it_is_ridge_regression_about_its_belief(goal, visits):
    guide = Guide(goal, gamma=0.0, ridge=2.0, dimensions=8, buckets=8)
    x = seeds(guide, TEXTS * 3)[:visits]
    y = np.random.default_rng(1).random(visits)
    rows = []
    for place, reward in enumerate(y):
        taken = guide.features.full_rows(x[place : place + 1])[0]  # as it is now
        rows.append(taken.astype(float))
        guide.learn([step(x, place, reward, x[:0])])
    belief = np.zeros(16 + EVIDENCE + 8)
    belief[17:20] = 0.3, 0.3, 0.5
    precision = 2.0 / np.array(
        [OWN_WORDS_VARIANCE] * 16 + [EVIDENCE_VARIANCE] * EVIDENCE + [WORDS_AROUND_VARIANCE] * 8
    )
    a = np.array(rows)
    solution = np.linalg.solve(a.T @ a + np.diag(precision), a.T @ (y - a @ belief))
    expected = guide.features.full_rows(x) @ (belief + solution)
    assert guide.score(x) == pytest.approx(expected, abs=1e-4)


def test_a_page_is_also_worth_what_its_best_link_is(goal):
    near, far = Guide(goal, gamma=0.0), Guide(goal, gamma=0.8)
    for guide in (near, far):
        x = seeds(guide, ["opera", "geology of rocks"])
        before = guide.score(x)[0]
        guide.learn([step(x, 0, 0.0, x[1:])])
        guide.gained = guide.score(x)[0] - before
    assert near.gained < far.gained


def test_before_the_first_page_it_prefers_what_is_like_the_topic(goal):
    guide = Guide(goal)
    rocks, cup = guide.score(seeds(guide, ["geology rocks", "football cup"]))
    assert rocks > cup


def test_a_link_gains_when_its_sibling_turns_out_to_be_relevant(goal):
    guide, memory = Guide(goal), Memory()
    links = tuple(Link(f"http://a.example/{name}", name) for name in ("one", "two"))
    hub = Page("http://a.example/hub", links=links)
    visit = Visit(Link(hub.url), hub, Verdict(0.0, False))
    found = memory.link(memory.visit(int(memory.seed([visit.link]).ids[0]), visit), hub)
    x = candidates(guide.features(memory, found), found.ids)
    siblings = guide.features.own_words + SIBLINGS
    before = guide.features.full_rows(x)[1]
    guide.learn([step(x, 0, 1.0, x[:0])])
    after = guide.features.full_rows(x)[1]
    assert after[siblings] > before[siblings]


def test_after_hosts_that_soon_had_nothing_more_to_give_a_new_one_is_preferred(goal):
    guide, memory = Guide(goal), Memory()
    urls = [f"http://{host}.example/{page}" for host in "abcd" for page in range(13)]
    x = found_by(guide, memory, [Link(url, "rock") for url in urls])
    for host in (0, 13, 26):
        for page in range(12):
            guide.learn([step(x, host + page, float(page < 3), x[:0])])
    same_words = guide.score(x[np.array([12, 25, 38, 51])])
    assert same_words[3] > same_words[:3].max() + 0.1


def test_while_nothing_relevant_is_found_belief_leaves_hosts_that_brought_nothing(goal):
    guide, memory = Guide(goal), Memory()
    urls = [f"http://{host}.example/{page}" for host in "abc" for page in range(40)]
    x = found_by(guide, memory, [Link(url, "rock") for url in urls])
    last, belief = x[np.array([39, 79, 119])], guide.state()["belief"]
    before = guide.features.dot(last, belief)
    for place in (40, *range(30)):  # one page of the second host, thirty of the first
        guide.learn([step(x, place, 0.0, x[:0])])
    lost = before - guide.features.dot(last, belief)
    assert lost[0] > lost[1] > lost[2]
    # little: a link that is like the topic still wins
    assert lost[0] - lost[2] == pytest.approx(0.07, abs=0.005)


def says_of_belief(guide, x, believed, visits, reward=0.0):
    """After how many of some more visits a link was worth what was believed of it at first."""
    count = 0
    for _ in range(visits):
        guide.learn([step(x, 0, reward, x[:0])])
        count += bool(guide.score(x[1:])[0] == pytest.approx(believed))
    return count


def test_while_nothing_relevant_is_found_belief_has_a_say(goal):
    guide = Guide(goal)
    x = seeds(guide, ["geology rocks"] * 2)
    believed = guide.score(x[1:])[0]
    assert 9 <= says_of_belief(guide, x, believed, 20) <= 11  # half, before the first
    assert says_of_belief(guide, x, believed, 5, reward=1.0) == 0
    assert says_of_belief(guide, x, believed, DROUGHT) == 0
    assert 4 <= says_of_belief(guide, x, believed, 20) <= 6  # a quarter, when lost later on


def test_a_state_that_was_kept_before_droughts_were_counted_is_gone_on_from(goal):
    guide = Guide(goal)
    x = seeds(guide, ["geology rocks"] * 2)
    guide.learn([step(x, 0, 1.0, x[:0])] * 3)
    state = guide.state()
    del state["features"]["company"]["barren"]
    again = Guide(goal)
    again.load(state)
    assert again.score(x[1:]) == pytest.approx(guide.score(x[1:]))


@pytest.mark.parametrize("interval", range(1, 12))
def test_belief_has_half_of_the_say_however_seldom_links_are_scored(goal, interval):
    guide = Guide(goal)
    x = seeds(guide, ["geology rocks"] * 2)
    believed, count = guide.score(x[1:])[0], 0
    for _ in range(40):
        guide.learn([step(x, 0, 0.0, x[:0])] * interval)
        count += bool(guide.score(x[1:])[0] == pytest.approx(believed))
    assert 14 <= count <= 26


def learnt(goal, texts, rewards):
    guide = Guide(goal)
    x = seeds(guide, texts)
    for place, reward in enumerate(rewards):
        guide.learn([step(x, place, reward, x[:0])])
    return guide


def test_a_policy_of_the_same_topic_is_believed_from_the_first_page(goal):
    earlier = learnt(goal, ["opera house", "geology"] * 20, [1.0, 0.0] * 20)
    fresh = Guide(goal)
    fresh.load_policy(earlier.policy())
    assert isinstance(fresh, Trainable)
    opera, geology = fresh.score(seeds(fresh, ["opera house", "geology"]))
    assert opera > geology


def test_of_another_topic_the_words_are_not_believed(goal, encoder):
    earlier = learnt(goal, ["opera house", "geology"] * 20, [1.0, 0.0] * 20)
    fresh = Guide(Goal("wine", encoder))
    fresh.load_policy(earlier.policy())
    x = seeds(fresh, ["opera house", "zzz"])
    evidence = fresh.features.full_rows(x)[:, 320 : 320 + EVIDENCE]
    assert fresh.score(x) == pytest.approx(
        evidence @ earlier.policy()["weights"][320 : 320 + EVIDENCE], abs=1e-5
    )


def test_a_policy_for_other_features_is_refused(goal):
    with pytest.raises(HoneyguideError, match="do not fit"):
        Guide(goal, buckets=16).load_policy(Guide(goal).policy())


@pytest.mark.parametrize(
    "wrong", ["gamma=-4", "gamma=1", "gamma=nan", "ridge=0", "dimensions=0", "buckets=0"]
)
def test_a_setting_out_of_range_is_refused(goal, wrong):
    with pytest.raises(HoneyguideError, match=r"guide needs (0 <= gamma < 1|a ridge above 0)"):
        make("agent", f"guide:{wrong}", goal=goal)


def test_categories_are_words_that_tell_relevant_pages_from_others(goal):
    guide = Guide(goal)
    x = seeds(guide, ["one"])
    for number in range(12):
        relevant = number % 3 == 0
        text = f"The geology of volcanic basalt, {number}." if relevant else "The wine of the ship."
        page = Page("", "", text)
        verdict = Verdict(float(relevant), relevant)
        guide.learn([Step(Link(""), 0, x.x[0], verdict.relevance, verdict, page, x[:0], 0)])
    assert guide.categories() == ["basalt", "volcanic"]
    again = Guide(goal)
    again.load(guide.state())
    assert again.categories() == guide.categories()
