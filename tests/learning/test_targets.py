"""What learners aim at: copies that follow, options weighed, chances that fall."""

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from honeyguide.agents.dqn import Dqn
from honeyguide.agents.dqn_outputs import TARGET_RATE, WARM, DqnOutputs
from honeyguide.agents.url_async_dqn import UrlAsyncDqn
from honeyguide.agents.url_cnn_dqn import UrlCnnDqn
from honeyguide.contracts import Goal, Link, Step, Verdict
from honeyguide.learning.dueling import Dueling
from honeyguide.learning.exploring import EpsilonDecay
from honeyguide.learning.replay import Experience
from honeyguide.learning.url_values import TargetNetwork, UrlValues
from tests.candidates import candidates


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def step(x, reward=0.0, options=()):
    options = np.array(options, np.float32).reshape(-1, len(x))
    link = Link("http://x.example/", depth=1)
    return Step(link, 0, x, reward, Verdict(reward, reward > 0), None, candidates(options))


def word_rows(features, *urls):
    for _ in range(features.sightings):  # until the words have numbers
        rows = features.rows(urls)
    return rows


def test_the_share_of_steps_at_random_falls_evenly_to_nothing(rng):
    decay = EpsilonDecay(rng, 0.1, 100_000)
    for taken, epsilon in ((0, 0.1), (50_000, 0.05), (100_000, 0.0), (150_000, 0.0)):
        decay.load(decay.state() | {"taken": taken})
        assert decay.epsilon == pytest.approx(epsilon)
        assert epsilon or not any(decay.explores() for _ in range(100))


@pytest.mark.parametrize("kind", [UrlCnnDqn, UrlAsyncDqn])
def test_the_copy_is_the_network_as_it_was_at_the_last_hundredth_step(kind, encoder, rng):
    agent = kind(Goal("prizes", encoder), rng)
    page, other = word_rows(agent.features, "http://rock.test/", "http://sea.test/")

    def aimed_at():
        return agent._target_network.data if kind is UrlCnnDqn else agent._target

    first = aimed_at().clone()
    agent.learn([step(page, 1.0), step(other)] * 49 + [step(page, 1.0)])
    assert torch.equal(aimed_at(), first)
    agent.learn([step(other)])
    copied = aimed_at().clone()
    assert not torch.equal(copied, first)
    agent.learn([step(page, 1.0)] * 50)
    assert torch.equal(aimed_at(), copied)
    assert not torch.equal(agent._values.cnn.parameters.data, copied)


def test_the_copy_weighs_the_option_that_it_or_the_network_prefers(encoder, rng):
    values = UrlValues(Goal("prizes", encoder), rng, 0.001)
    rows = word_rows(values.features, "http://rock.test/", "http://sea.test/", "http://law.test/")
    target = TargetNetwork(values)
    worth = target.score(rows.astype(np.uint16))
    options = rows.astype(np.uint16)
    batch = [Experience(options[0], 0.0, options), Experience(options[0], 1.0, options[:0])]
    assert target.best(batch).tolist() == [worth.max(), 0.0]
    worst = int(worth.argmin())
    prefers = np.zeros(3, np.float32)
    prefers[worst] = 1.0
    assert target.best(batch, prefers).tolist() == [worth[worst], 0.0]


@pytest.mark.parametrize(("double", "expected"), [(True, 1.0), (False, 2.0)])
def test_with_double_the_network_chooses_what_its_slower_copy_weighs(
    double, expected, encoder, rng, monkeypatch
):
    agent = Dqn(Goal("geology", encoder), rng, gamma=0.75, double=double)
    by_copy, by_network = np.float32([1.0, 2.0, 0.5]), np.float32([0.9, 0.1, 0.2])
    monkeypatch.setattr(
        agent, "_q", lambda rows, data=None: by_network if data is None else by_copy
    )
    x = np.zeros((3, agent.features.width), np.float32)
    assert agent._best([Experience(x[0], 0.0, x)]).tolist() == [expected]


def test_the_slower_copy_goes_a_hundredth_of_the_way_at_each_step(encoder, rng):
    agent = DqnOutputs(Goal("geology", encoder), rng, pages=10)
    x = np.zeros(agent.features.width, np.float32)
    agent.learn([step(x, 30.0)] * WARM)
    before = agent._target_parameters.clone()
    agent.learn([step(x, 30.0)])
    expected = before + TARGET_RATE * (agent._parameters.data - before)
    assert not torch.equal(agent._target_parameters, before)
    assert torch.allclose(agent._target_parameters, expected, atol=1e-7)


@pytest.mark.parametrize("dueling", [True, False])
def test_dueling_has_a_part_that_is_the_same_for_all_links_of_a_place(dueling, rng):
    network = Dueling(8, 3, rng, dueling=dueling)
    x = rng.random((40, 8), np.float32)
    for _ in range(200):
        network.learn(x, x[:, 0].copy())
    for name, part in network.parameters.views(network.parameters.block[0]).items():
        if name.startswith("a3"):
            part.detach().zero_()  # what links themselves are worth
    place = np.repeat(x[:1, :3], 5, axis=0)
    links = np.hstack([place, rng.random((5, 5), np.float32)])
    assert np.ptp(network.values(links)) < 1e-6
    assert (np.abs(network.values(links)) > 0.05).all() == dueling
