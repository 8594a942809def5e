"""The numbers that Han et al. (2018), Pertejo (2021) and Friar (2017) name are the defaults."""

import numpy as np
import pytest

pytest.importorskip("torch")

import torch

from experiments.topics import TOPICS
from experiments.trained_networks import in_test
from honeyguide.agents.linear import VARIANTS, Variant
from honeyguide.agents.url_classifier import BATCH, BATCHES, training_pages
from honeyguide.agents.url_linear_q import UrlLinearQ
from honeyguide.contracts import Goal, Link, Page, Step, Verdict, Visit
from honeyguide.engine.memory import Memory
from honeyguide.features.discrete import HAN, PERTEJO
from honeyguide.learning.replay import Experience, RankedReplay, Replay
from honeyguide.registry import make
from tests.candidates import candidates


@pytest.fixture
def named(encoder):
    """An agent as its name alone makes it."""
    return lambda spec: make(
        "agent", spec, goal=Goal("geology", encoder), rng=np.random.default_rng(0)
    )


def test_linear_agents_have_the_settings_of_documents_001_and_000():
    assert VARIANTS["han2018"] == Variant(
        gamma=0.9,
        step_size=0.001,
        epsilon=0.1,
        thresholds=(0.5, 0.4),
        first_weights=0.0,
        relevant_ends=True,
        dead_ends_teach=True,
        buckets=HAN,
    )
    assert VARIANTS["pertejo2021"] == Variant(
        gamma=0.3,
        step_size=0.001,
        epsilon=0.1,
        thresholds=(0.6, 0.5),
        first_weights=1.0,
        relevant_ends=False,
        dead_ends_teach=False,
        buckets=PERTEJO,
    )


def test_topics_have_the_step_sizes_and_categories_of_document_001():
    found = {topic.word: (topic.step_size, topic.categories) for topic in TOPICS}
    assert found == {
        "cancer": (0.001, "disease+medicine+oncology+health"),
        "fiction": (0.0005, "literature+arts"),
        "olympics": (0.0005, "sports"),
        "camera": (0.001, "photography+movies+arts"),
        "geology": (0.001, "earth+science"),
        "poetry": (0.001, "literature+arts"),
    }


def test_two_fifths_of_a_smoothed_relevance_are_the_pages_own():
    memory = Memory()
    urls = [f"http://x.example/{n}" for n in range(3)]
    (id,) = memory.seed([Link(urls[0])]).ids
    for url, after, relevance in zip(urls, urls[1:], (0.5, 1.0), strict=False):
        page = Page(url, links=(Link(after),))
        source = memory.visit(int(id), Visit(Link(url), page, Verdict(relevance, False)))
        (id,) = memory.link(source, page).ids
    assert memory.ancestor_relevance(np.array([id])) == pytest.approx(0.4 * 1.0 + 0.6 * 0.5)


# --------------------------------------------------------------------------- Friar (2017)


@pytest.mark.parametrize("name", ["url_linear_q", "url_cnn_dqn", "url_async_dqn"])
def test_walks_learn_with_the_settings_of_document_004(name, named):
    agent = named(name)
    assert agent.gamma == 0.75
    fading = agent._exploration
    assert (fading.first, fading.last, fading.steps) == (0.1, 0.0, 100_000)
    adam = agent._optimiser if name == "url_linear_q" else agent._values.cnn.parameters
    assert adam.step_size == 0.001
    assert (agent.features.width, agent.features.vocabulary) == (50, 10_000)


@pytest.mark.parametrize(
    "spec",
    [
        "url_linear_q:replay=uniform",
        "url_linear_q:replay=ranked",
        "url_cnn_dqn",
    ],
)
def test_ten_of_the_last_5000_experiences_are_learnt_from_at_each_step(spec, named, monkeypatch):
    agent = named(spec)
    assert isinstance(agent._replay, RankedReplay if "ranked" in spec else Replay)
    assert agent._replay.room == 5000
    learnt = []
    descend = agent._descend
    monkeypatch.setattr(
        agent,
        "_descend",
        lambda batch, weights: learnt.append(len(batch)) or descend(batch, weights),
    )
    agent.learn([_step(agent)] * 3)
    assert learnt == [10, 10, 10]


def test_ranks_count_by_the_root_and_their_bias_is_undone(named):
    replay = named("url_linear_q:replay=ranked")._replay
    assert (replay.alpha, replay.beta) == (0.5, 1.0)


def _step(agent, relevant=False, options=0):
    x = np.zeros(agent.features.width, np.float32)
    rows = np.zeros((options, len(x)), np.float32)
    link = Link("http://rock.example/", depth=1)
    return Step(
        link, 0, x, float(relevant), Verdict(float(relevant), relevant), None, candidates(rows)
    )


def test_titles_stand_for_pages_and_anchors_for_links():
    agent = UrlLinearQ(Goal("prizes", None), np.random.default_rng(0), text=True)
    page = Page("http://rock.example/", title="Granite")
    for _ in range(agent.features.sightings):
        words = agent._words_of(
            Step(
                Link(page.url, depth=1),
                0,
                np.zeros(50),
                0.0,
                Verdict(0, False),
                page,
                candidates(np.empty((0, 1))),
            )
        )
    assert [agent.features.words[n] for n in words if n] == ["rock", "example", "~granite"]


def test_four_filters_each_see_one_two_three_and_four_words(named):
    cnn = named("url_cnn_dqn")._values.cnn
    width = cnn.parameters.shapes["filters"][0] // 4
    assert cnn.parameters.shapes["filters"] == (4 * width, 16)
    filters = cnn.parameters.arrays()["filters"].reshape(4, width, 16)
    seen = (np.abs(filters).sum(axis=1) > 0).sum(axis=0)  # words, by filter
    assert sorted(seen.tolist()) == [1] * 4 + [2] * 4 + [3] * 4 + [4] * 4


def test_word_vectors_have_300_numbers_or_all_that_there_are(named):
    vectors = named("url_cnn_dqn")._values._vectors
    assert vectors.width == 256  # of wordllama


def test_nothing_is_expected_of_a_network_beyond_a_reward(named):
    values = named("url_cnn_dqn")._values
    agent = named("url_cnn_dqn")
    assert len(values.experience(_step(agent, relevant=True, options=3)).options) == 0
    assert len(values.experience(_step(agent, options=3)).options) == 3


def test_an_actor_updates_every_five_steps_and_where_an_episode_ends(named, monkeypatch):
    agent = named("url_async_dqn")
    updates = []
    parameters = agent._values.cnn.parameters
    monkeypatch.setattr(parameters, "descend", lambda gradient: updates.append(agent._steps))
    agent.learn([_step(agent, options=2)] * 11)
    assert updates == [5, 10]
    agent.learn([_step(agent, relevant=True, options=2), _step(agent)])
    assert updates == [5, 10, 12, 13]


def test_the_classifier_is_shown_2000_batches_of_1000_pages():
    assert (BATCHES, BATCH) == (2000, 1000)
    assert len(training_pages(2_000_000, np.random.default_rng(0))) == 1_000_000


# --------------------------------------------------------------------------- Pertejo (2021)


def test_the_network_with_outputs_is_that_of_document_000(named):
    agent = named("dqn_outputs:pages=10")
    shapes = agent._parameters.shapes
    assert (shapes["w1"][1], shapes["w2"], shapes["a"]) == (128, (128, 256), (256, 10))
    assert (agent.gamma, agent._choices.epsilon, agent._replay.room) == (0.3, 0.3, 50_000)
    assert agent._parameters.step_size == 0.001


def test_half_of_the_last_layer_is_left_out_in_a_lesson_and_nothing_in_a_score(named):
    agent = named("dqn_outputs:pages=10")
    p = agent._parameters.views(agent._parameters.data)
    states = torch.ones(50, agent.features.state_width)
    whole = agent._hidden(p, states)
    thinned = agent._hidden(p, states, dropout=True)
    left_out = thinned == 0
    assert float(left_out.float().mean()) == pytest.approx(0.5, abs=0.02)
    assert torch.allclose(thinned[~left_out], 2 * whole[~left_out])  # as large in the mean
    x = np.ones((4, agent.features.width), np.float32)
    assert agent.score(candidates(x)).tolist() == agent.score(candidates(x)).tolist()


def test_the_network_chooses_the_output_that_its_slower_copy_weighs(named, monkeypatch):
    agent = named("dqn_outputs:pages=4")
    after = np.ones((1, agent.features.state_width), np.float32)
    x = np.ones(agent.features.width, np.float32)
    views = agent._parameters.views
    with torch.no_grad():
        views(agent._parameters.data)["a_offset"][2] = 50.0  # the network's best is output 2,
        views(agent._target_parameters)["a_offset"][3] = 50.0  # the copy's is output 3
    slow = {name: part.numpy() for name, part in views(agent._target_parameters).items()}
    hidden = np.tanh(np.tanh(after @ slow["w1"] + slow["b1"]) @ slow["w2"] + slow["b2"])
    advantage = (hidden @ slow["a"] + slow["a_offset"])[0]
    worth = float((hidden @ slow["v"])[0, 0] + slow["v_offset"][0] + advantage[2]) - float(
        advantage.mean()
    )
    aimed_at = []
    gradient = agent._gradient
    monkeypatch.setattr(
        agent,
        "_gradient",
        lambda s, o, targets: aimed_at.append(targets) or gradient(s, o, targets),
    )
    agent._descend([Experience(x, 30.0, after)])
    assert float(aimed_at[0][0]) == pytest.approx(30.0 + 0.3 * worth, rel=1e-4)


def test_a_test_takes_one_link_in_ten_at_random_and_learns_nothing():
    assert in_test("dqn_outputs:pages=10") == "dqn_outputs:pages=10,epsilon=0.1,learns=false"
