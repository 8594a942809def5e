"""What every registered frontier promises."""

import numpy as np
import pytest

from honeyguide.contracts import UNASKED

from . import samples

every_frontier = pytest.mark.parametrize("name", samples.names("frontier"))


def fill(frontier, count=50, hosts=5):
    ids = np.arange(count, dtype=np.int32)
    scores = (ids * 37 % 11).astype(np.float32)
    frontier.put(ids, ids % hosts, np.stack([scores, scores], axis=1), scores)


@every_frontier
def test_every_link_that_was_put_is_taken_once(name):
    frontier = samples.frontier(name, 2)
    fill(frontier)
    taken = []
    while (link := frontier.take(0.0)) is not None:
        taken.append(link.id)
        frontier.release(link.id, 0.0)
    assert sorted(taken) == list(range(50))
    assert len(frontier) == 0


@every_frontier
@pytest.mark.parametrize("at_random", [False, True])
def test_a_host_has_one_request_in_flight_and_rests_between_two(name, at_random):
    frontier = samples.frontier(name, 2, delay=3.0)
    fill(frontier)
    last: dict[int, float] = {}
    now, done = 0.0, 0
    while done < 50:
        flying = []
        while (link := frontier.take(now, at_random)) is not None:
            assert link.id % 5 not in {other % 5 for other in flying}
            assert now - last.get(link.id % 5, -3.0) >= 3.0
            last[link.id % 5] = now
            flying.append(link.id)
        for id in flying:
            frontier.release(id, now)
        done += len(flying)
        wake = frontier.wake(now)
        assert (wake is None) == (done == 50)
        if wake is not None:
            assert wake > now
            assert frontier.take(np.nextafter(wake, -np.inf)) is None
            now = wake


@every_frontier
def test_a_visit_without_a_request_costs_its_host_no_delay(name):
    frontier = samples.frontier(name, 2, delay=3.0)
    fill(frontier, count=20, hosts=1)
    for _ in range(10):
        frontier.release(frontier.take(0.0).id, 0.0, UNASKED)
    frontier.release(frontier.take(0.0).id, 0.0)
    assert frontier.take(2.9) is None
    assert frontier.wake(2.9) == 3.0
    frontier.release(frontier.take(3.0).id, 4.0, UNASKED)
    assert frontier.take(4.0) is not None


@every_frontier
def test_a_saved_frontier_goes_on_as_if_nothing_had_happened(name):
    one, other = samples.frontier(name, 2), samples.frontier(name, 2, seed=5)
    fill(one)
    for _ in range(10):
        one.release(one.take(0.0, at_random=True).id, 0.0)
    other.load(one.state())
    for step in range(40):
        a, b = (front.take(0.0, at_random=step % 3 == 0) for front in (one, other))
        assert (a.id, a.score, a.x.tolist()) == (b.id, b.score, b.x.tolist())
        one.release(a.id, 0.0)
        other.release(b.id, 0.0)


@every_frontier
def test_a_link_can_be_picked_out_of_turn_and_waits_no_more(name):
    frontier = samples.frontier(name, 2, delay=3.0)
    fill(frontier)
    picked = frontier.pick(17, 0.0)
    assert (picked.id, picked.score) == (17, np.float32(17 * 37 % 11))
    assert name == "walks" or frontier.pick(17, 0.0) is None  # a walk may come back
    taken = []
    while (link := frontier.take(0.0)) is not None:
        taken.append(link.id)
    assert not {id % 5 for id in taken} & {17 % 5}, "its host rests"
    frontier.release(17, 0.0)
