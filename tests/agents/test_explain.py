"""What speaks for and against a link adds up to its score, and looking changes nothing."""

import numpy as np
import pytest

from honeyguide.contracts import Candidates
from honeyguide.engine.loop import simulate
from honeyguide.engine.view import frontier_view, learnt_view, url_view
from honeyguide.plan import Plan

LINEAR = ("guide", "best_first", "linear_sync", "linear_async", "linear_moderated", "url_linear_q")
NETWORKS = ("dqn", "dqn_outputs", "url_cnn_dqn")


def opened(agent, budget=60):
    plan = Plan(
        topic="geology",
        seeds=("geology",),
        world="synthetic:pages=1500",
        agent=agent,
        budget=budget,
    )
    return plan.open()


@pytest.mark.parametrize("agent", [*LINEAR, "linear_sync:frontier=pairs"])
def test_the_reasons_of_a_linear_agent_add_up_to_the_score(agent):
    world = opened(agent)
    navigator = world.navigator()
    checked = 0

    def check(visit, step, now):
        nonlocal checked
        waiting = navigator.frontier.waiting()
        waiting = waiting[np.isfinite(waiting.scores)][:20]
        if not len(waiting):
            return
        links = Candidates(waiting.ids, navigator.frontier.features_of(waiting.ids))
        reasons = navigator.agent.explain(links)
        scores = navigator.agent.score(links)
        assert reasons.adds_up
        assert len(set(reasons.names)) == len(reasons.names)
        np.testing.assert_allclose(reasons.parts.sum(axis=1), scores, rtol=1e-3, atol=1e-4)
        checked += len(waiting)

    simulate(navigator, world.world, world.seeds, 60, observer=check)
    assert checked > 200


@pytest.mark.parametrize("agent", NETWORKS)
def test_the_reasons_of_a_network_are_what_its_score_loses_without_them(agent):
    world = opened(agent)
    navigator = world.navigator()
    simulate(navigator, world.world, world.seeds, 40)
    waiting = navigator.frontier.waiting()
    waiting = waiting[np.isfinite(waiting.scores)][:5]
    links = Candidates(waiting.ids, navigator.frontier.features_of(waiting.ids))
    reasons = navigator.agent.explain(links)
    assert not reasons.adds_up
    assert reasons.parts.shape == (len(links), len(reasons.names))
    assert np.abs(reasons.parts).max() > 0
    if agent == "dqn":
        x = links.x.copy()
        x[:, [6, 16]] = 0.0  # "its anchor": its cosine, and whether there is one
        lost = navigator.agent.score(links) - navigator.agent.score(Candidates(links.ids, x))
        place = reasons.names.index("its anchor")
        np.testing.assert_allclose(reasons.parts[:, place], lost, atol=1e-5)


def test_the_words_of_a_topic_speak_for_a_link():
    world = opened("guide", 150)
    navigator = world.navigator()
    simulate(navigator, world.world, world.seeds, 150)
    view = learnt_view(navigator, ["geology", "imprint", "geology"])
    assert [each.word for each in view.words] == ["geology", "imprint"]
    assert view.words[0].value > view.words[1].value
    assert view.signs


@pytest.mark.parametrize("agent", ["guide", "linear_sync", "dqn", "random"])
def test_looking_at_a_crawl_changes_none_of_its_decisions(agent):
    chosen = []
    for looks in (False, True):
        world = opened(agent)
        navigator = world.navigator()
        urls = []

        def observe(visit, step, now, navigator=navigator, looks=looks, urls=urls):
            urls.append(visit.link.url)
            if looks:
                frontier_view(navigator, now, 5)
                url_view(navigator, visit.link.url, now)
                learnt_view(navigator, ["geology"])

        simulate(navigator, world.world, world.seeds, 60, observer=observe)
        chosen.append(urls)
    assert chosen[0] == chosen[1]
