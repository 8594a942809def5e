"""Deep Q-networks over the shared frontier (Pertejo 2021)."""

from zlib import crc32

import numpy as np
import pytest

pytest.importorskip("torch")

from honeyguide.agents.dqn import Dqn
from honeyguide.agents.dqn_outputs import DqnOutputs
from honeyguide.contracts import Goal, Link, Page, Step, Verdict, Visit
from honeyguide.engine.memory import Memory
from honeyguide.errors import HoneyguideError
from honeyguide.features.state_action import COSINES
from honeyguide.learning.replay import Experience
from honeyguide.registry import make
from tests.candidates import candidates

PARTS = ["double", "dueling", "replay", "target"]


def step(x, reward, options=None):
    options = np.empty((0, len(x)), np.float32) if options is None else options
    verdict = Verdict(reward, reward > 0)
    return Step(Link("http://x.example/"), 0, x, reward, verdict, None, candidates(options))


def rows(agent, count, seed=0):
    return np.random.default_rng(seed).random((count, agent.features.width), np.float32)


def test_before_the_first_page_links_are_worth_their_cosines(encoder):
    agent = Dqn(Goal("geology", encoder), np.random.default_rng(0))
    x = rows(agent, 5)
    assert agent.score(candidates(x)) == pytest.approx(x[:, COSINES] @ [0.25, 0.25, 0.5], abs=1e-6)


@pytest.mark.parametrize("left_out", [None, *PARTS])
def test_it_learns_what_a_page_and_the_next_are_worth_whatever_is_left_out(encoder, left_out):
    settings = {left_out: False} if left_out else {}
    agent = Dqn(Goal("geology", encoder), np.random.default_rng(0), gamma=0.5, **settings)
    good, gate, bad = rows(agent, 3) * 0.5
    bad[5:] += 0.5
    for _ in range(600):
        agent.learn([step(good, 1.0), step(gate, 0.0, good[None]), step(bad, 0.0)])
    q = agent.score(candidates(np.stack([good, gate, bad])))
    assert q == pytest.approx([1.0, 0.5, 0.0], abs=0.25)
    assert q[0] > q[1] > q[2]


def test_outputs_learn_which_page_is_worth_going_to(encoder):
    agent = DqnOutputs(Goal("geology", encoder), np.random.default_rng(0), pages=10, epsilon=0.0)
    x = np.zeros((2, agent.features.width), np.float32)
    x[:, 0], x[:, -1] = 0.5, [3, 7]
    for _ in range(150):
        agent.learn([step(x[0], 30.0), step(x[1], -1.0)])
    good, bad = agent.score(candidates(x))
    assert good > bad + 5


def all_outputs(agent, states):
    """Q of every output, as the document's network has it."""
    p = agent._parameters.arrays()
    hidden = np.tanh(np.tanh(states @ p["w1"] + p["b1"]) @ p["w2"] + p["b2"])
    advantage = hidden @ p["a"] + p["a_offset"]
    mean = advantage.mean(axis=1, keepdims=True)
    return hidden @ p["v"] + p["v_offset"] + advantage - mean


def test_an_output_alone_is_that_of_the_whole_network(encoder):
    import torch

    agent = DqnOutputs(Goal("geology", encoder), np.random.default_rng(0), pages=10)
    x = rows(agent, 4)
    own = x[:, -1] = [0, 3, 9, 3]
    whole = all_outputs(agent, x[:, :-1])
    assert agent.score(candidates(x)) == pytest.approx(whole[np.arange(4), own], abs=1e-5)
    states = torch.from_numpy(x[:, :-1])
    assert agent._best(states).tolist() == whole.argmax(axis=1).tolist()


def test_the_gradient_of_outputs_is_that_of_automatic_differentiation(encoder, monkeypatch):
    import torch

    agent = DqnOutputs(Goal("geology", encoder), np.random.default_rng(0), pages=10)
    monkeypatch.setattr(agent, "_drop", lambda hidden: hidden)
    x = torch.from_numpy(rows(agent, 4))
    own, targets = torch.tensor([0, 3, 9, 3]), torch.tensor([30.0, -1.0, 10.0, 20.0])
    p = agent._parameters.views()
    hidden = torch.tanh(torch.tanh(x[:, :-1] @ p["w1"] + p["b1"]) @ p["w2"] + p["b2"])
    advantage = hidden @ p["a"] + p["a_offset"]
    q = hidden @ p["v"] + p["v_offset"] + advantage - advantage.mean(1, keepdim=True)
    loss = torch.nn.functional.mse_loss(q[torch.arange(4), own], targets)
    expected = agent._parameters.gradient(loss)
    found = agent._gradient(x[:, :-1], own, targets)
    assert found.numpy() == pytest.approx(expected.numpy(), abs=1e-4)


def test_a_state_is_the_page_in_ten_buckets_and_an_output_the_page_a_link_leads_to(encoder):
    agent = DqnOutputs(
        Goal("geology", encoder), np.random.default_rng(0), pages=10, categories="earth+science"
    )
    memory = Memory()
    start = Link("http://x.example/")
    links = tuple(Link(f"http://x.example/{n}") for n in range(2))
    page = Page(start.url, "Rocks", "Rocks and minerals", links)
    (seed,) = memory.seed([start]).ids
    source = memory.visit(int(seed), Visit(start, page, Verdict(0.37, True)))
    x = agent.features(memory, memory.link(source, page))
    # topic, two categories, all parents, relevant parents, change, nearness; and the output
    assert x.shape == (2, 8)
    assert x[0, 0] == 3  # int(10 * 0.37)
    assert x[0, 6] == 9  # it is relevant itself
    assert x[0, :-1].tolist() == x[1, :-1].tolist()
    assert x[:, -1].tolist() == [0, 1]


def outputs_of(agent, *names):
    """The outputs of the pages that links with these names lead to, found on one page."""
    start = Link("http://x.example/start")
    page = Page(start.url, links=tuple(Link(f"http://x.example/{name}") for name in names))
    memory = Memory()
    (seed,) = memory.seed([start]).ids
    source = memory.visit(int(seed), Visit(start, page, Verdict(0.0, False)))
    return agent.features(memory, memory.link(source, page))[:, -1].tolist()


def outputs_agent(encoder, pages=10):
    return DqnOutputs(Goal("geology", encoder), np.random.default_rng(0), pages=pages)


def test_every_page_has_an_output_of_its_own(encoder):
    agent = outputs_agent(encoder, pages=300)
    assert sorted(outputs_of(agent, *range(300))) == list(range(300))
    assert outputs_of(agent, 299, 0) == [299, 0]


def test_outputs_mean_the_same_pages_in_a_crawl_that_starts_from_a_policy(encoder):
    trained, tested = outputs_agent(encoder), outputs_agent(encoder)
    outputs_of(trained, "a", "b", "c")
    tested.load_policy(trained.policy())
    assert outputs_of(tested, "c", "d", "a") == [2, 3, 0]


def test_a_page_found_when_all_outputs_are_given_is_worth_its_state(encoder):
    agent = outputs_agent(encoder, pages=2)
    assert outputs_of(agent, "a", "b", "c", "a") == [0, 1, -1]
    x = rows(agent, 3)
    x[:, :-1], x[:, -1] = x[0, :-1], [0, 1, -1]
    scores = agent.score(candidates(x))
    assert scores[2] == pytest.approx(scores[:2].mean(), abs=1e-5)  # V(s), the mean of Q(s, .)


def test_a_page_without_an_output_teaches_what_its_state_is_worth_and_no_output(encoder):
    import torch

    agent = outputs_agent(encoder, pages=2)
    x = torch.from_numpy(rows(agent, 1))
    found = agent._gradient(x[:, :-1], torch.tensor([-1]), torch.tensor([30.0]))
    views = agent._parameters.views(found)
    assert not views["a"].any()
    assert not views["a_offset"].any()
    assert views["v"].any()


def test_a_policy_whose_pages_share_outputs_is_refused_in_a_sentence(encoder):
    policy = outputs_agent(encoder).policy()
    del policy["outputs"]
    with pytest.raises(HoneyguideError, match="pages share outputs"):
        outputs_agent(encoder).load_policy(policy)


def test_a_crawl_of_an_earlier_version_goes_on_with_the_outputs_it_had(encoder):
    agent = outputs_agent(encoder)
    state = agent.state()
    del state["outputs"]
    agent.load(state)
    hashed = [crc32(f"http://x.example/{name}".encode()) % 10 for name in "abc"]
    assert outputs_of(agent, "a", "b", "c") == hashed
    again = outputs_agent(encoder)
    again.load(agent.state())
    assert outputs_of(again, "a", "b", "c") == hashed


def test_rewards_are_the_documents(encoder):
    agent = DqnOutputs(Goal("geology", encoder), np.random.default_rng(0), pages=10)
    link = Link("http://x.example/")
    verdicts = [Verdict(0.1, True), Verdict(0.65, False), Verdict(0.55, False), Verdict(0.2, False)]
    assert [agent.reward(Visit(link, None, v)) for v in verdicts] == [30.0, 30.0, 20.0, -1.0]


# --------------------------------------------------------------------------- settings


def agent_of(encoder, spec):
    return make("agent", spec, goal=Goal("geology", encoder), rng=np.random.default_rng(0))


@pytest.mark.parametrize("spec", ["dqn", "dqn_outputs:pages=9", "linear_sync"])
def test_epsilon_falls_as_the_formula_of_appendix_a7_says(encoder, spec):
    joiner = "," if ":" in spec else ":"
    said = f"{spec}{joiner}epsilon=0.9,last_epsilon=0.1,epsilon_steps=8"
    agent = agent_of(encoder, said)

    class Dice:
        """Counts as random below the value that it was set to."""

        drawn = 0.0

        def random(self):
            return self.drawn

    dice = agent._choices._rng = Dice()
    for taken in range(12):
        # f(x) = max(value_min, a x + b), a = -(value_max - value_min) / nb_steps, b = value_max
        expected = max(0.1, -(0.9 - 0.1) / 8 * taken + 0.9)
        dice.drawn = expected + (1e-9 if taken % 2 else -1e-9)
        assert agent.explores() == (taken % 2 == 0)


@pytest.mark.parametrize("spec", ["dqn", "dqn_outputs:pages=9", "linear_sync"])
def test_a_resumed_crawl_goes_on_with_the_epsilon_it_had(encoder, spec):
    joiner = "," if ":" in spec else ":"
    said = f"{spec}{joiner}epsilon=1,last_epsilon=0,epsilon_steps=50"

    def new():
        return agent_of(encoder, said)

    agent, resumed = new(), new()
    for _ in range(20):
        agent.explores()
    resumed.load(agent.state())
    assert [agent.explores() for _ in range(40)] == [resumed.explores() for _ in range(40)]
    assert not any(agent.explores() for _ in range(20))


def test_the_next_action_of_a_linear_update_is_not_a_choice(encoder):
    agent = agent_of(encoder, "linear_sync:epsilon=1,last_epsilon=0,epsilon_steps=3")
    x = rows(agent, 4)
    agent.learn([step(x[0], 1.0, x)] * 5)
    assert agent.explores()


def test_dueling_by_the_maximum_is_the_formula_of_section_2_6_3(encoder):
    agent = agent_of(encoder, "dqn_outputs:pages=5,dueling=max")
    x = rows(agent, 6)
    own = x[:, -1] = [0, 1, 2, 3, 4, 2]
    p = agent._parameters.arrays()
    hidden = np.tanh(np.tanh(x[:, :-1] @ p["w1"] + p["b1"]) @ p["w2"] + p["b2"])
    value = (hidden @ p["v"] + p["v_offset"])[:, 0]
    advantage = hidden @ p["a"] + p["a_offset"]
    expected = value + advantage[np.arange(6), own] - advantage.max(axis=1)
    assert agent.score(candidates(x)) == pytest.approx(expected, abs=1e-5)
    x[:, -1] = advantage.argmax(axis=1)
    assert agent.score(candidates(x)) == pytest.approx(value, abs=1e-5)  # Q = V of the best


def test_a_network_that_duels_by_the_maximum_learns_too(encoder):
    agent = agent_of(encoder, "dqn_outputs:pages=10,dueling=max,epsilon=0")
    x = np.zeros((2, agent.features.width), np.float32)
    x[:, 0], x[:, -1] = 0.5, [3, 7]
    for _ in range(150):
        agent.learn([step(x[0], 30.0), step(x[1], -1.0)])
    good, bad = agent.score(candidates(x))
    assert good > bad + 5


@pytest.mark.parametrize("dueling", ["mean", "max"])
def test_clipped_targets_are_the_lower_of_both_networks_best_outputs(encoder, dueling):
    import torch

    agent = agent_of(encoder, f"dqn_outputs:pages=4,dueling={dueling},clipped=true")
    views = agent._parameters.views
    states = torch.from_numpy(rows(agent, 5)[:, :-1])
    with torch.no_grad():
        views(agent._target_parameters)["v_offset"] += 5.0
        views(agent._target_parameters)["a"][:, 1] *= 40.0
        views(agent._parameters.data)["a"][:, 2] *= 40.0
        both = [
            agent._all(views(data), states).max(1).values
            for data in (agent._parameters.data, agent._target_parameters)
        ]
        worth = agent._worth(states)
    assert worth.tolist() == torch.minimum(*both).tolist()


def test_clipped_targets_are_the_lower_of_both_networks_best_links(encoder):
    import torch

    agent = agent_of(encoder, "dqn:clipped=true")
    options = rows(agent, 5)
    with torch.no_grad():
        agent._target_parameters.normal_(generator=torch.Generator().manual_seed(1), std=0.2)
        agent._network.parameters.data.normal_(generator=torch.Generator().manual_seed(2), std=0.2)
    networks = agent._q(options), agent._q(options, agent._target_parameters)
    expected = min(values.max() for values in networks)
    assert networks[0].argmax() != networks[1].argmax()
    assert 0 < expected < 1 / (1 - 0.3)
    assert agent._best([Experience(options[0], 0.0, options)]) == pytest.approx([expected])


def test_clipping_without_a_target_network_is_refused(encoder):
    with pytest.raises(HoneyguideError, match="two networks"):
        agent_of(encoder, "dqn:clipped=true,target=false")
