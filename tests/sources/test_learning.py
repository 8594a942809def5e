"""The policy of the source finder: what it computes and how it learns."""

import asyncio

import numpy as np
import pytest
import torch

from honeyguide.contracts import Link
from honeyguide.encoders.ngrams import NgramEncoder
from honeyguide.errors import HoneyguideError
from honeyguide.registry import make
from honeyguide.sources.inputs import Choice, Episode, page_inputs
from honeyguide.sources.learning import PolicyGradient
from honeyguide.sources.policy import Policy, shapes
from honeyguide.training.sources import (
    FineTuning,
    Manner,
    PreTraining,
    Seen,
    Sites,
    Walk,
    collect,
    evaluate,
    threshold,
)

ENCODER = NgramEncoder(64)
LINKS = [
    Link("http://a.example/1", "Events", tag_path="html/body/nav/ul/li/a", box=(0, 10, 50, 20)),
    Link("http://a.example/2", "About us", tag_path="html/body/nav/ul/li/a", box=(60, 10, 50, 20)),
    Link("http://a.example/3", "", tag_path="html/body/footer/p/a", box=(0, 900, 50, 20)),
]


def inputs(links=LINKS):
    return page_inputs(links, ENCODER)


def test_the_net_in_use_computes_what_the_net_in_training_does():
    learner = PolicyGradient(64, 3)
    page = inputs()
    with torch.no_grad():
        trained, boxes = learner.net(torch.from_numpy(page.anchors), torch.from_numpy(page.tags))
    assert learner.policy()(page).tolist() == pytest.approx(trained.tolist(), abs=1e-5)
    assert boxes.shape == (3, 12)


@pytest.mark.parametrize("nets", [("anchor",), ("tags",)])
def test_a_net_that_is_left_out_makes_no_difference(nets):
    policy = PolicyGradient(64, 3, nets=nets).policy()
    one, other = (
        inputs(LINKS[:1]),
        inputs([Link("http://a.example/1", "Jobs", tag_path=LINKS[0].tag_path)]),
    )
    elsewhere = inputs([Link("http://a.example/1", "Events", tag_path="html/body/table/tr/td/a")])
    same, different = (elsewhere, other) if nets == ("anchor",) else (other, elsewhere)
    assert policy(one)[0] == pytest.approx(policy(same)[0], abs=1e-6)
    assert policy(one)[0] != pytest.approx(policy(different)[0], abs=1e-6)


def test_coordinates_of_a_link_stand_between_those_of_its_neighbours():
    boxes = inputs().boxes
    assert boxes.shape == (3, 12)
    assert boxes[1].tolist() == pytest.approx(
        [0, 0.01, 0.05, 0.02, 0.06, 0.01, 0.05, 0.02, 0, 0.9, 0.05, 0.02]
    )
    assert boxes[0, :4].tolist() == [0, 0, 0, 0]


def test_clicks_that_pay_become_likelier_and_others_less_likely():
    learner, page = PolicyGradient(64, 0, alpha=0.0), inputs()
    before = learner.policy()(page)
    options = ((0, 0), (0, 1), (0, 2))
    for _ in range(30):
        learner.update([Episode((page,), (Choice(options, 0, 1.0), Choice(options[1:], 0, -0.5)))])
    after = learner.policy()(page)
    assert after[0] > before[0]
    assert after[1] < before[1]


def test_the_auxiliary_task_learns_the_layout():
    learner, page = PolicyGradient(64, 0, alpha=1.0), inputs()
    episode = Episode((page,), (Choice(((0, 0), (0, 1)), 0, 0.0),))
    first = learner.update([episode])
    for _ in range(60):
        last = learner.update([episode])
    assert last < first / 4


def test_learning_goes_on_from_a_saved_state_as_if_nothing_had_happened():
    page = inputs()
    episode = Episode((page,), (Choice(((0, 0), (0, 1)), 0, 1.0),))
    one, other = PolicyGradient(64, 0), PolicyGradient(64, 5)
    one.update([episode])
    other.load_state(one.state())
    one.update([episode])
    other.update([episode])
    assert one.policy()(page).tolist() == other.policy()(page).tolist()


def test_weights_that_do_not_fit_are_refused():
    weights = {name: np.zeros(shape, np.float32) for name, shape in shapes(64).items()}
    del weights["joint.2.bias"]
    with pytest.raises(HoneyguideError, match=r"joint\.2\.bias"):
        Policy(weights)


def walk(worths, scores):
    return Walk(Episode((), ()), worths, tuple(score > 0.5 for score in scores), scores)


def test_the_threshold_is_the_mean_over_sites_of_their_clicks_mean():
    walks = [walk((0.9, 0.3), (1.0, 0.0)), walk((0.5,), (0.0,)), walk((), ())]
    assert threshold(walks) == pytest.approx((0.6 + 0.5) / 2)
    assert threshold(walks, lambda score: score) == pytest.approx(0.9)
    with pytest.raises(HoneyguideError, match="nothing to learn from"):
        threshold([walk((), ())])


def test_rewards_and_chance_follow_the_document():
    pre = PreTraining(lowest_reward=-0.1)
    source, other = (Seen(inputs(), (), 1.0, good) for good in (True, False))
    assert [pre.reward(20)(page) for page in (source, other, None)] == [1.0, -0.1, -0.1]
    grown = PreTraining()
    assert [round(grown.reward(epoch)(other), 2) for epoch in (0, 2, 4, 40)] == [
        -0.1,
        -0.2,
        -0.3,
        -0.5,
    ]
    assert [round(pre.epsilon(epoch), 1) for epoch in (0, 1, 2, 16, 49)] == [
        0.9,
        0.9,
        0.8,
        0.1,
        0.1,
    ]
    assert FineTuning(baseline=0.0).reward(source) == 1.0


@pytest.fixture(scope="module")
def few():
    world = make(
        "world", "organisations:set=train,sites=10", judge=make("judge", "label:source:events")
    )
    return Sites(world, world.homes, NgramEncoder(256))


def test_an_episode_never_clicks_twice_on_a_page_and_stops_below_the_threshold(few):
    policy = PolicyGradient(256, 0).policy()
    rng = np.random.default_rng(0)
    walk = asyncio.run(collect(few, few.homes[0], policy, Manner(steps=10, threshold=-1.0), rng))
    assert len(walk.found) == 10
    assert asyncio.run(collect(few, few.homes[0], policy, Manner(threshold=1.0), rng)).found == ()


def test_pre_training_learns_to_find_events_on_the_sites_it_sees(few):
    learner = PolicyGradient(256, 0)
    rng = np.random.default_rng(0)
    eta = asyncio.run(PreTraining(epochs=14).run(few, learner, rng, lambda *news: None))
    measured, _ = asyncio.run(evaluate(few, learner.policy(), eta))
    assert measured.first >= 0.8
    assert measured.unit_cost == pytest.approx(1 / measured.precision)
