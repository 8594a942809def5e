"""Algorithm 1 of Han et al. (2018), by hand and by law."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from honeyguide.agents.linear import (
    AUTO_AFTER,
    VARIANTS,
    LinearAsync,
    LinearModerated,
    LinearSync,
    Variant,
)
from honeyguide.contracts import Goal, Link, Page, Step, Verdict, Visit
from honeyguide.engine.loop import simulate
from honeyguide.engine.navigator import Navigator
from honeyguide.errors import HoneyguideError
from honeyguide.frontiers.best_first import BestFirst
from honeyguide.registry import make
from tests.candidates import candidates

from ..webs import TinyWeb

KINDS = {"sync": LinearSync, "async": LinearAsync, "moderated": LinearModerated}
every_kind = pytest.mark.parametrize("kind", KINDS)
LINK = Link("http://site.example/x")

# The web of the trace: what each link looks like, and where it leads
LOOKS = {
    "a": (1, 0), "b": (0, 1), "c": (1, 1), "d": (2, 0), "e": (0, 1), "f": (1, 2),
    "g": (1, 0), "h": (0, 2), "i": (1, 1), "j": (2, 1), "k": (0, 1), "l": (1, 0),
}  # fmt: skip
LINKS = {
    "s": "abc", "a": "de", "b": "f", "c": "gh", "d": "i", "e": "", "f": "jb",
    "g": "k", "h": "l", "i": "e", "j": "", "k": "", "l": "",
}  # fmt: skip
RELEVANT = "bfi"  # reward 30
RELEVANCE = {"c": 0.45, "h": 0.55}  # reward 20 and 30, neither is relevant; all others -1


class Looks:
    """Two numbers a link; none for a seed."""

    width = 2

    def __call__(self, memory, found):
        if found.page is None:
            return np.zeros((len(found.links), 2), np.float32)
        rows = [LOOKS[link.url.rsplit("/", 1)[1]] for link in found.links]
        return np.array(rows, np.float32).reshape(-1, 2)


def load_weights(learner, weights):
    learner.load_policy({"weights": weights})


class Zeros:
    width = 8

    def __call__(self, texts):
        return np.zeros((len(texts), 8), np.float32)

    def knows(self, text):
        return True


def agent(kind, width=2, seed=0, **settings):
    made = KINDS[kind](Goal("rocks", Zeros()), np.random.default_rng(seed), **settings)
    made.features = Looks()
    made.features.width = width
    load_weights(made, np.zeros(width))
    return made


# alpha = 0.1, gamma = 0.5, epsilon = 0, w = (0, 0). In each row: the link with the highest q
# among those that wait (the oldest of equals), then the weights after it was visited.
# The seed s shows a, b, c, and teaches nothing.
#
# sync: all that waits has the newest q
#   a  r -1  q  0                best of d, e: 0        delta -1 + 0.5 * 0 - 0 = -1
#   b  r 30  q  0                relevant               30 - 0 = 30
#   f  r 30  q -0.1 + 2 * 3      relevant               30 - 5.9 = 24.1, times (1, 2)
#   j  r -1  q 4.62 + 7.82       nothing new            -1 - 12.44 = -13.44, times (2, 1)
#   e  r -1  q 6.476             nothing new            -1 - 6.476 = -7.476
#   c  r 20  q -0.378 + 5.7284   best of g, h: 11.4568  20 + 5.7284 - 5.3504 = 20.378
#   h  r 30  q 2 * 7.7662        l: 1.6598              30 + 0.8299 - 15.5324 = 15.2975
#   d  r -1  q 2 * 1.6598        i: 12.4855             -1 + 6.24275 - 3.3196 = 1.92315
#   i  r 30  q 2.04443 + 10.8257 relevant               30 - 12.87013 = 17.12987
#   g  r -1  q 3.757417          k: 12.538687           -1 + 6.2693435 - 3.757417 = 1.5119265
SYNC = [
    ("a", -0.1, 0.0),
    ("b", -0.1, 3.0),
    ("f", 2.31, 7.82),
    ("j", -0.378, 6.476),
    ("e", -0.378, 5.7284),
    ("c", 1.6598, 7.7662),
    ("h", 1.6598, 10.8257),
    ("d", 2.04443, 10.8257),
    ("i", 3.757417, 12.538687),
    ("g", 3.90860965, 12.538687),
]
# async: c, d and e wait with the q they had when they were found: 0, -0.2 and 0
#   c  r 20  q -0.378 + 6.476    best of g, h: 12.952   20 + 6.476 - 6.098 = 20.378
#   h  r 30  q 2 * 8.5138        l: 1.6598              30 + 0.8299 - 17.0276 = 13.8023
#   g  r -1  q 1.6598            k: 11.27426            -1 + 5.63713 - 1.6598 = 2.97733
#   k  r -1  q 11.27426          nothing new            -12.27426
#   l  r -1  q 1.957533          nothing new            -2.957533; it waited with 1.6598
#   e  r -1  q 10.046834         nothing new            -11.046834; it waited with 0
ASYNC = [
    *SYNC[:4],
    ("c", 1.6598, 8.5138),
    ("h", 1.6598, 11.27426),
    ("g", 1.957533, 11.27426),
    ("k", 1.957533, 10.046834),
    ("l", 1.6617797, 10.046834),
    ("e", 1.6617797, 8.9421506),
]
# moderated: as async, but where a page is not relevant q' is lowered by delta
#   a  delta -1                  -1 + 0.5 * (0 + 1) - 0 = -0.5
#   b  relevant                  30
#   f  relevant                  30 - (-0.05 + 6) = 24.05, times (1, 2)
#   j  delta -13.52              -1 + 0.5 * 13.52 - 12.52 = -6.76, times (2, 1)
#   c  delta 18.997              20 + 0.5 * (14.268 - 18.997) - 8.137 = 9.4985
#   h  delta 14.808725           30 + 0.5 * (1.95285 - 14.808725) - 16.1677 = 7.4043625, twice
#   g  delta 1.82951125          -1 + 0.5 * (9.5647225 - 1.82951125) - 1.95285 = 0.914755625
#   k  delta -10.5647225         -1 + 0.5 * 10.5647225 - 9.5647225 = -5.28236125
#   l  delta -3.0443255625       -1 + 0.5 * 3.0443255625 - 2.0443255625 = -1.52216278125
#   e  delta -10.036486375       -1 + 0.5 * 10.036486375 - 9.036486375 = -5.0182431875
MODERATED = [
    ("a", -0.05, 0.0),
    ("b", -0.05, 3.0),
    ("f", 2.355, 7.81),
    ("j", 1.003, 7.134),
    ("c", 1.95285, 8.08385),
    ("h", 1.95285, 9.5647225),
    ("g", 2.0443255625, 9.5647225),
    ("k", 2.0443255625, 9.036486375),
    ("l", 1.892109284375, 9.036486375),
    ("e", 1.892109284375, 8.53466205625),
]


@pytest.mark.parametrize(
    ("kind", "expected"), [("sync", SYNC), ("async", ASYNC), ("moderated", MODERATED)]
)
def test_ten_steps_of_algorithm_1_are_those_worked_by_hand(kind, expected):
    learner = agent(kind, gamma=0.5, step_size=0.1, epsilon=0.0)
    navigator = Navigator(learner, BestFirst(2, np.random.default_rng(0)))
    world = TinyWeb(LINKS, relevant=RELEVANT, relevance=RELEVANCE)
    trace = []

    def note(visit, step, now):
        trace.append((visit.page.title, *learner.policy()["weights"]))

    simulate(navigator, world, [world.find("s")], 11, observer=note)
    assert trace[0] == ("s", 0.0, 0.0)
    assert [name for name, *_ in trace[1:]] == [name for name, *_ in expected]
    worked = np.array([weights for _, *weights in expected])
    np.testing.assert_allclose([weights for _, *weights in trace[1:]], worked, rtol=1e-9)


numbers = st.floats(-9, 9, width=32)
rows = st.lists(numbers, min_size=3, max_size=3).map(lambda row: np.array(row, np.float32))


def step(x, reward, options=(), relevant=False):
    rest = np.array(options, np.float32).reshape(-1, len(x))
    verdict = Verdict(0.0, relevant)
    return Step(
        LINK, 1, np.asarray(x, np.float32), reward, verdict, Page(LINK.url), candidates(rest)
    )


def learnt(kind, before, what, **settings):
    learner = agent(kind, width=3, epsilon=0.0, **settings)
    load_weights(learner, before)
    learner.learn([what])
    return learner.policy()["weights"]


@given(rows, rows, st.lists(rows, max_size=4), st.floats(-1, 30), st.floats(0, 0.99))
def test_moderated_is_asynchronous_with_smaller_steps(w, x, options, reward, gamma):
    what = step(x, reward, options)
    moderated = learnt("moderated", w, what, gamma=gamma, step_size=0.01)
    smaller = learnt("async", w, what, gamma=gamma, step_size=0.01 * (1 - gamma))
    np.testing.assert_allclose(moderated, smaller, atol=1e-9)


@given(rows, rows, st.lists(rows, max_size=4), st.floats(0, 0.99))
def test_nothing_is_expected_beyond_a_relevant_page(w, x, options, gamma):
    what = step(x, 30.0, options, relevant=True)
    expected = w + 0.01 * (30.0 - w.astype(np.float64) @ x) * x  # line 33
    for kind in KINDS:
        got = learnt(kind, w, what, gamma=gamma, step_size=0.01)
        np.testing.assert_allclose(got, expected, atol=1e-9)


def test_document_000_expects_something_beyond_a_relevant_page_too():
    what = step([1, 0, 0], 30.0, [[0, 4, 0], [0, 2, 0]], relevant=True)
    got = learnt("async", [0, 1, 0], what, variant="pertejo2021", gamma=0.5, step_size=0.1)
    assert got.tolist() == pytest.approx([0.1 * (30 + 0.5 * 4), 1, 0])


def test_document_000_learns_nothing_from_a_page_without_new_links():
    what = step([1, 0, 0], -1.0)
    assert learnt("async", [0, 1, 0], what, variant="pertejo2021").tolist() == [0, 1, 0]
    assert learnt("async", [0, 1, 0], what, step_size=0.1).tolist() == pytest.approx([-0.1, 1, 0])


@pytest.mark.parametrize(
    ("variant", "rewards"),
    [("han2018", (30, 20, 20, -1, -1)), ("pertejo2021", (20, 20, -1, -1, -1))],
)
def test_rewards_are_those_of_the_documents(variant, rewards):
    learner = agent("sync", variant=variant)
    found = [
        learner.reward(Visit(LINK, Page(LINK.url), Verdict(relevance, False)))
        for relevance in (0.55, 0.5 + 1e-6 if variant == "pertejo2021" else 0.5, 0.45, 0.4, 0.0)
    ]
    assert tuple(found) == rewards
    assert learner.reward(Visit(LINK, Page(LINK.url), Verdict(0.0, True))) == 30
    assert learner.reward(Visit(LINK, Page(LINK.url), Verdict(0.61, False))) == 30
    assert learner.reward(Visit(LINK, None, Verdict(0.0, False), failure="timeout")) == -1


@every_kind
def test_only_synchronous_learning_makes_what_waits_stale(kind):
    learner = agent(kind)
    learner.learn([step([1, 0], -1.0)])
    assert learner.stale() == (kind == "sync")


@every_kind
def test_one_choice_in_ten_is_made_at_random(kind):
    learner = agent(kind)
    assert sum(learner.explores() for _ in range(10_000)) == pytest.approx(1000, abs=100)


def test_the_next_action_is_the_best_but_for_one_in_ten():
    # x = 0 but for a feature of its own, so that only a' decides what is learnt
    what = step([1, 0, 0], 0.0, [[0, 1, 0], [0, 0, 1]])
    learner = agent("async", width=3, gamma=0.5, step_size=1.0)
    best = 0
    for _ in range(4000):
        load_weights(learner, np.array([0.0, 8.0, 2.0]))
        learner.learn([what])
        assert learner.policy()["weights"][0] in (4.0, 1.0)
        best += learner.policy()["weights"][0] == 4.0
    assert best / 4000 == pytest.approx(0.95, abs=0.015)  # half of the random ones are best too


@every_kind
def test_diverging_weights_still_give_finite_scores(kind):
    learner = agent(kind, gamma=0.9, step_size=100.0)
    for _ in range(500):
        learner.learn([step([9, 9], -1.0, [[9, 8], [1, 9]])])
    assert np.abs(learner.policy()["weights"]).max() > 1e30
    x = np.full((4, 2), 9, np.float32)
    assert np.isfinite(learner.score(candidates(x))).all()
    assert np.isfinite(learner.policy()["weights"]).all()


@pytest.mark.parametrize("variant", VARIANTS)
def test_weights_can_be_kept_from_task_to_task(encoder, variant):
    spec = f"linear_sync:categories=earth+science,variant={variant}"
    goal = Goal("geology", encoder)
    first = make("agent", spec, goal=goal, rng=np.random.default_rng(1))
    width = {"han2018": 14 + 4 * 2, "pertejo2021": 8 + 2 * 2}[variant]
    assert first.features.width == width == len(first.policy()["weights"])
    first.learn([step(np.ones(width), 30.0, relevant=True, options=[np.ones(width)])])
    second = make("agent", spec, goal=goal, rng=np.random.default_rng(2))
    load_weights(second, first.policy()["weights"])
    assert second.policy()["weights"].tolist() == first.policy()["weights"].tolist()
    first.learn([step(np.ones(width), 30.0, relevant=True, options=[np.ones(width)])])
    assert second.policy()["weights"].tolist() != first.policy()["weights"].tolist()
    with pytest.raises(HoneyguideError, match=f"3 weights do not fit {width} features"):
        load_weights(second, np.zeros(3))


def test_document_000_draws_its_first_weights_between_zero_and_one(encoder):
    goal = Goal("geology", encoder)
    drawn = make("agent", "linear_sync:variant=pertejo2021", goal=goal, rng=np.random.default_rng())
    assert drawn.policy()["weights"].min() >= 0 and 0.5 < drawn.policy()["weights"].max() <= 1
    zero = make("agent", "linear_sync", goal=goal, rng=np.random.default_rng())
    assert not zero.policy()["weights"].any()


def test_one_setting_can_differ_from_the_document():
    changed = agent("async", variant=replace(VARIANTS["han2018"], thresholds=(0.9, 0.8)), gamma=0.2)
    assert changed.variant == Variant(thresholds=(0.9, 0.8), gamma=0.2)


def test_categories_are_found_on_relevant_pages_and_kept_with_the_weights(encoder):
    def auto(seed):
        goal, rng = Goal("geology", encoder), np.random.default_rng(seed)
        return make("agent", "linear_sync:categories=auto", goal=goal, rng=rng)

    learner, given = (
        auto(1),
        make(
            "agent",
            "linear_sync:categories=volcano+quartz+lava",
            goal=Goal("geology", encoder),
            rng=np.random.default_rng(1),
        ),
    )
    width = learner.features.width
    assert width == given.features.width
    for number in range(AUTO_AFTER):
        assert learner.features.chosen == []
        for text, relevant in (
            ("geology quartz lava the volcano", True),
            ("the ships sail", False),
        ):
            page = Page(f"http://site.example/{number}", "", text)
            told = step(np.zeros(width), 0.0, relevant=relevant, options=[np.zeros(width)])
            learner.learn([replace(told, page=page)])
    assert sorted(learner.features.chosen) == ["lava", "quartz", "volcano"]
    other = auto(2)
    other.load_policy(learner.policy())
    assert other.features.chosen == learner.features.chosen
    assert np.array_equal(
        np.sort(other.features._sought, axis=0), np.sort(given.features._sought, axis=0)
    )


def test_bad_settings_are_told_in_a_sentence():
    with pytest.raises(HoneyguideError, match="did you mean 'han2018'"):
        agent("sync", variant="han2008")
    wrongs = {"gamma": 1.0}, {"epsilon": 1.5}, {"step_size": 0.0}
    for wrong, said in zip(wrongs, ("gamma < 1", "epsilon <= 1", "0 < step_size"), strict=True):
        with pytest.raises(HoneyguideError, match=f"a linear agent needs .*{said}"):
            agent("sync", **wrong)
