"""Settings of the agents that read URLs: prices of seconds, optimisers, names, actors."""

from dataclasses import replace

import numpy as np
import pytest

from honeyguide.agents.url_linear_q import RmsProp
from honeyguide.contracts import Goal, Link, Page, Step, Verdict, Visit
from honeyguide.disk.serialise import pack_visit, unpack_visit
from honeyguide.engine.loop import simulate
from honeyguide.engine.navigator import Navigator
from honeyguide.errors import HoneyguideError
from honeyguide.frontiers.walks import Walks
from honeyguide.learning.step_price import StepPrice
from honeyguide.registry import make
from tests.candidates import candidates

from ..webs import TinyWeb

LEARNERS = ["url_linear_q", "url_cnn_dqn", "url_async_dqn"]


def visit(host="a", seconds=2.0, relevant=False):
    link = Link(f"http://{host}.example/page")
    return Visit(link, None, Verdict(float(relevant), relevant), seconds=seconds)


def agent(spec, encoder, seed=0):
    return make("agent", spec, goal=Goal("prizes", encoder), rng=np.random.default_rng(seed))


# --------------------------------------------------------------------------- seconds


def test_a_step_costs_the_mean_seconds_of_its_host_so_far():
    price = StepPrice(0.1)
    assert price.of(visit(seconds=2.0)) == pytest.approx(0.2)
    assert price.of(visit(seconds=4.0)) == pytest.approx(0.3)
    assert price.of(visit("b", seconds=1.0)) == pytest.approx(0.1)


def test_a_page_that_was_known_costs_nothing_and_changes_no_mean():
    price = StepPrice(0.1)
    price.of(visit(seconds=2.0))
    assert price.of(visit(seconds=0.0)) == 0.0
    assert price.of(visit(seconds=2.0)) == pytest.approx(0.2)


def test_without_a_price_nothing_is_counted_or_stored():
    price = StepPrice(0.0)
    assert price.of(visit()) == 0.0
    assert price.state() == {}


@pytest.mark.parametrize("name", LEARNERS)
def test_the_reward_of_a_page_is_lowered_by_the_price_of_its_seconds(name, encoder):
    priced = agent(f"{name}:second_price=0.1", encoder)
    assert priced.reward(visit(relevant=True)) == pytest.approx(0.8)
    assert agent(name, encoder).reward(visit(relevant=True)) == 1.0


@pytest.mark.parametrize("name", LEARNERS)
def test_a_negative_price_is_refused(name, encoder):
    with pytest.raises(HoneyguideError, match="zero or more"):
        agent(f"{name}:second_price=-1", encoder)


def test_measured_seconds_are_stored_to_the_last_bit():
    page = Page("http://a.example/page", "title", "text")
    measured = replace(visit(seconds=0.1 + 0.2), page=page)
    assert unpack_visit(pack_visit(measured), "text").seconds == 0.1 + 0.2


HOSTS = ["fast", "slow"]


class TimedWeb(TinyWeb):
    """A small web whose visits say how long they took."""

    async def visit(self, link):
        visit = await super().visit(link)
        return replace(visit, seconds=5.0 if "//slow." in link.url else 0.1)


def two_hosts():
    """Every page links to pages of a fast and of a slow host; their words are alike."""
    rng = np.random.default_rng(0)
    names = [f"{HOSTS[n % 2]}-{n}" for n in range(200)]
    links = {name: [names[n] for n in rng.integers(0, 200, 8)] for name in names}
    hosts = {name: name.partition("-")[0] for name in names}
    return TimedWeb(links, hosts=hosts)


def navigator(spec, encoder):
    for_agent, for_frontier = np.random.default_rng(1).spawn(2)
    made = make("agent", spec, goal=Goal("prizes", encoder), rng=for_agent)
    return Navigator(made, Walks(made.features.width, for_frontier))


def share_of_slow(spec, encoder):
    web = two_hosts()
    simulate(navigator(spec, encoder), web, [web.find(name) for name in web.links], 400)
    return np.mean([name.startswith("slow") for name in web.asked[200:]])


def test_hosts_that_answer_slowly_are_avoided_once_that_is_learnt(encoder):
    spec = "url_linear_q:step_size=0.01,epsilon_steps=100"
    ignoring = share_of_slow(spec, encoder)
    assert share_of_slow(f"{spec},second_price=0.1", encoder) < 0.5 * ignoring


@pytest.mark.parametrize("name", LEARNERS)
def test_a_resumed_walk_knows_the_seconds_that_were_measured(name, encoder):
    spec = f"{name}:second_price=0.1"
    web = two_hosts()
    seeds = [web.find(each) for each in list(web.links)[:20]]
    simulate(navigator(spec, encoder), web, seeds, 120)
    expected, web = web.asked, two_hosts()
    half, rest = navigator(spec, encoder), navigator(spec, encoder)
    simulate(half, web, seeds, 60)
    rest.load(half.state())
    simulate(rest, web, [], 120)
    assert web.asked == expected
    assert rest.agent.state()["seconds"].keys() == {"fast.example", "slow.example"}


# --------------------------------------------------------------------------- learning


def test_rmsprop_divides_by_the_root_of_the_mean_square():
    optimiser, gradient = RmsProp(2, 0.01), np.array([1.0, -4.0], np.float32)
    first = optimiser.step(gradient)
    assert first == pytest.approx(np.sign(gradient) * 0.01 / np.sqrt(0.1), rel=1e-4)
    again = RmsProp(2, 0.01)
    again.load(optimiser.state())
    assert again.step(gradient).tolist() == optimiser.step(gradient).tolist()


def test_an_unknown_optimiser_is_refused(encoder):
    with pytest.raises(HoneyguideError, match="adam"):
        agent("url_linear_q:optimiser=adamm", encoder)


@pytest.mark.parametrize("name", LEARNERS)
def test_exploration_can_stay_as_it_is(name, encoder):
    made = agent(f"{name}:epsilon_steps=10,last_epsilon=0.1", encoder)
    for _ in range(50):
        made.explores()
    assert made._exploration.epsilon == pytest.approx(0.1)


@pytest.mark.parametrize("name", LEARNERS)
def test_a_share_of_random_steps_above_one_is_refused(name, encoder):
    with pytest.raises(HoneyguideError, match="epsilon"):
        agent(f"{name}:last_epsilon=7", encoder)


@pytest.mark.parametrize("setting", ["weights=xavier", "hidden=-1"])
def test_networks_that_cannot_be_made_are_refused(setting, encoder):
    with pytest.raises(HoneyguideError, match=r"glorot|zero or more"):
        agent(f"url_cnn_dqn:{setting}", encoder)


@pytest.mark.parametrize("name", ["url_linear_q", "url_cnn_dqn", "url_async_dqn"])
def test_known_names_are_read_from_a_file(name, encoder, tmp_path):
    names = tmp_path / "companies.txt"
    names.write_text("Leonberger Ltd\n")
    made = agent(f"{name}:known_names={names}", encoder)
    assert made.features.known == {"leonberger"}
    with pytest.raises(HoneyguideError, match="cannot read"):
        agent(f"{name}:known_names={tmp_path / 'none.txt'}", encoder)


def test_ten_actors_train_one_network(encoder):
    """Actors are processes elsewhere; here they take turns."""
    watched = agent("url_async_dqn:actors=10,target_every=7", encoder)
    shared = watched.share()
    actors = [agent("url_async_dqn:actors=10,target_every=7", encoder, n) for n in range(10)]
    before = watched.policy()["network"]["block"][0].copy()
    for actor in actors:
        actor.join(shared)
        row = actor.features.rows(["http://prize.example/"] * 3)[-1]
        actor.learn([_rewarded(row)] * 5)
    assert int(watched._counts[0]) == 50 and int(watched._counts[1]) == 7
    after = watched.policy()["network"]["block"][0]
    assert not np.array_equal(after, before)
    assert all(np.array_equal(a.policy()["network"]["block"][0], after) for a in actors)


def _rewarded(x):
    link = Link("http://prize.example/", depth=1)
    nothing = candidates(np.empty((0, len(x)), np.float32))
    return Step(link, 0, x, 1.0, Verdict(1.0, True), None, nothing)
