"""The policy of the source finder: what it computes and how it learns."""

import asyncio

import numpy as np
import pytest
import torch

from honeyguide.contracts import Link, Page
from honeyguide.encoders.ngrams import NgramEncoder
from honeyguide.errors import HoneyguideError
from honeyguide.registry import make
from honeyguide.source_finder.inputs import AROUND, Choice, Episode, page_inputs, with_surroundings
from honeyguide.source_finder.learning import PolicyGradient
from honeyguide.source_finder.policy import Policy, shapes, side_by_side
from honeyguide.source_finder.training.ensemble import Ensemble, joined
from honeyguide.source_finder.training.sources import (
    EpisodeSettings,
    FineTuning,
    PreTraining,
    SeenPage,
    Sites,
    Walk,
    collect,
    evaluate,
    threshold,
)
from honeyguide.source_finder.training.supervised import SupervisedTraining

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


def test_merged_policies_have_the_mean_of_their_logits():
    page = inputs()
    nets = [PolicyGradient(64, seed).policy() for seed in (1, 2, 3)]
    together = side_by_side(nets)
    logits = np.mean([np.log(net(page) / (1 - net(page))) for net in nets], axis=0)
    assert together(page).tolist() == pytest.approx((1 / (1 + np.exp(-logits))).tolist(), abs=1e-5)
    assert (together.ensemble_size, together.width) == (3, 64)
    assert side_by_side(nets[:1]) is nets[0]


def test_merged_policies_go_on_learning_as_one():
    page = inputs()
    policy = side_by_side([PolicyGradient(64, seed).policy() for seed in (1, 2)])
    learner = PolicyGradient(64, 0, ensemble_size=2)
    learner.load(policy)
    with torch.no_grad():
        trained, _ = learner.net(torch.from_numpy(page.anchors), torch.from_numpy(page.tags))
    assert trained.tolist() == pytest.approx(policy(page).tolist(), abs=1e-5)
    for _ in range(30):
        learner.update([Episode((page,), (Choice(((0, 0), (0, 1)), 0, 1.0),))])
    assert learner.policy()(page)[0] > policy(page)[0]


def test_a_click_can_be_worth_what_was_reached_through_it():
    page = inputs()
    hub = Choice(((0, 0), (0, 1)), 0, -0.5, opened=1)
    between = Choice(((0, 1), (1, 0)), 1, -0.5, opened=2)
    source = Choice(((0, 1), (2, 2)), 1, 1.0)
    aside = Choice(((0, 1),), 0, -0.5)
    episode = Episode((page, page, page), (hub, between, source, aside))
    assert episode.worths(0.0) == [-0.5, -0.5, 1.0, -0.5]
    assert episode.worths(0.8) == pytest.approx([0.64, 0.8, 1.0, -0.5])


def test_the_surroundings_of_a_link_can_be_inputs_too():
    there = Link("http://a.example/people/smith", "Smith", "Professor Smith teaches")
    elsewhere = Link("http://a.example/people/smith", "Smith", "Smith is a student")
    rows = [
        with_surroundings(Page("http://a.example/people", "People", "", (link,)), ENCODER).anchors
        for link in (there, elsewhere)
    ]
    assert rows[0].shape == (1, AROUND * 64)
    assert rows[0][0, :128].tolist() == rows[1][0, :128].tolist()
    assert rows[0].tolist() != rows[1].tolist()


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


def test_rewards_and_exploration_follow_the_paper():
    pre = PreTraining(lowest_reward=-0.1)
    source, other = (SeenPage(inputs(), (), 1.0, good) for good in (True, False))
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
    walk = asyncio.run(
        collect(few, few.homes[0], policy, EpisodeSettings(steps=10, threshold=-1.0), rng)
    )
    assert len(walk.found) == 10
    assert (
        asyncio.run(collect(few, few.homes[0], policy, EpisodeSettings(threshold=1.0), rng)).found
        == ()
    )


def test_pre_training_learns_to_find_events_on_the_sites_it_sees(few):
    learner = PolicyGradient(256, 0)
    rng = np.random.default_rng(0)
    eta = asyncio.run(PreTraining(epochs=14).run(few, learner, rng, lambda *news: None))
    measured, _ = asyncio.run(evaluate(few, learner.policy(), eta))
    assert measured.first >= 0.8
    assert measured.unit_cost == pytest.approx(1 / measured.precision)


def test_the_first_clicks_can_ignore_the_threshold(few):
    policy = PolicyGradient(256, 0).policy()
    settings = EpisodeSettings(steps=3, threshold=1.0, least=2)
    walk = asyncio.run(collect(few, few.homes[0], policy, settings, np.random.default_rng(0)))
    assert len(walk.found) == 2
    pages = [choice.opened for choice in walk.episode.choices]
    assert pages[0] == 1
    assert all(page < len(walk.episode.pages) for page in pages[:-1])


def test_caution_moves_the_threshold_of_fine_tuning_towards_certainty(few):
    def eta(caution):
        fine, rng = FineTuning(caution=caution), np.random.default_rng(0)
        return asyncio.run(fine.run(few, PolicyGradient(256, 0), 0.5, rng, lambda *news: None))

    assert 0 < eta(0.0) < 1
    assert eta(0.5) == pytest.approx((eta(0.0) + 1) / 2)


def test_several_policies_are_trained_separately_and_observed(few):
    ensemble = Ensemble(nets=2, pre=PreTraining(epochs=2), random_seed=5)
    seen = []

    async def watch(done, net):
        seen.append((done, net.eta))

    async def run():
        before = await ensemble.pre_train(few, 256, lambda what: lambda *news: None, watch)
        return before, await ensemble.fine_tune(few, before, lambda what: lambda *news: None, watch)

    before, after = asyncio.run(run())
    page = asyncio.run(few.look(few.homes[0], few.homes[0])).inputs
    assert before[0].policy(page).tolist() != before[1].policy(page).tolist()
    assert before[0].policy(page).tolist() != after[0].policy(page).tolist()
    assert [done for done, _ in seen] == [1, 2, 10]
    assert joined(after).eta == pytest.approx((after[0].eta + after[1].eta) / 2)


def test_without_epochs_nothing_is_learnt_but_the_threshold(few):
    learner = PolicyGradient(256, 0)
    before = learner.policy()
    nothing, rng = PreTraining(epochs=0), np.random.default_rng(0)
    eta = asyncio.run(nothing.run(few, learner, rng, lambda *news: None))
    settings = EpisodeSettings(steps=3, threshold=-1.0)
    walks = [asyncio.run(collect(few, home, before, settings, rng)) for home in few.homes]
    assert eta == pytest.approx(threshold(walks))
    after = learner.policy().weights
    assert all((after[name] == value).all() for name, value in before.weights.items())


def test_links_that_are_shown_are_learnt_without_a_click(few):
    async def run(seed):
        learner = PolicyGradient(256, seed)
        homes = {home: await few.look(home, home) for home in few.homes}
        known = {*homes, *(url for seen in homes.values() for url in seen.targets if url)}
        shown = SupervisedTraining(epochs=20)
        loss = await shown.run(few, sorted(known), learner, np.random.default_rng(seed))
        return loss, (await evaluate(few, learner.policy(), -1.0, steps=1))[0].first

    loss, first = asyncio.run(run(0))
    assert first >= 0.8
    assert asyncio.run(run(0))[0] == loss, "the same seed leads to the same net"


def test_a_list_of_source_pages_is_worth_less_than_a_source_page():
    def seen(relevant, targets=()):
        return SeenPage(page_inputs((), NgramEncoder(16)), targets, 0.0, relevant)

    shown = SupervisedTraining(whole_list=2, of_list=0.9)
    site = {"source": seen(True), "other": seen(True), "plain": seen(False)}
    worth = [
        shown._worth(seen(False, links), site)
        for links in (
            (),
            ("plain",),
            ("source",),
            ("source", "other"),
            ("source", "other", "source"),
        )
    ]
    assert worth == pytest.approx([0.0, 0.0, 0.45, 0.9, 0.9])
    assert shown._worth(seen(True), site) == 1.0
