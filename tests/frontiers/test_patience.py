"""With many visits in flight a frontier takes the best links early, and waits for better ones."""

import numpy as np
import pytest

from honeyguide.frontiers.best_first import AHEAD, UNDER_WAY, BestFirst
from honeyguide.frontiers.block import OVERDUE, Hosts

VISIT = 0.5  # seconds


def frontier(patience=None, **settings):
    return BestFirst(1, np.random.default_rng(0), patience=patience, **settings)


def put(front, scores, hosts, first=1000):
    ids = np.arange(first, first + len(scores), dtype=np.int32)
    scores = np.array(scores, np.float32)
    front.put(ids, np.array(hosts, np.int32), scores[:, None], scores)


def after(visits, **settings):
    """A frontier that knows how long visits take; its hosts are ready at `visits * VISIT`."""
    front = frontier(**settings)
    put(front, [np.inf] * visits, [visit % 4 for visit in range(visits)], first=0)
    for visit in range(visits):
        front.release(front.take(visit * VISIT).id, (visit + 1) * VISIT)
    return front, visits * VISIT


def test_a_link_waits_while_many_better_ones_are_on_a_busy_host():
    front, now = after(3 * AHEAD)
    put(front, [0.9] * 10 + [0.1], [0] * 10 + [1])
    busy = front.take(now)
    assert busy.score == pytest.approx(0.9)
    assert front.take(now) is None
    front.release(busy.id, now + VISIT)
    assert front.take(now + VISIT).score == pytest.approx(0.9)


def test_a_link_that_is_nearly_the_best_is_taken_early():
    front, now = after(3 * AHEAD)
    put(front, [0.9] * 4 + [0.1], [0] * 4 + [1])
    front.take(now)
    assert front.take(now).score == pytest.approx(0.1), "three better links wait: as many as may"


def test_links_of_equal_score_never_wait_for_one_another():
    front, now = after(64)
    put(front, [0.5] * 80, [link % 8 for link in range(80)])
    taken = [front.take(now) for _ in range(8)]
    assert None not in taken
    assert front.take(now) is None, "all eight hosts are busy"


def test_so_many_visits_are_under_way_as_can_be_learnt_from():
    front, now = after(2 * UNDER_WAY)
    put(front, [0.9 - 0.1 * link for link in range(8)], range(8))
    assert [front.take(now) is None for _ in range(4)] == [False, False, False, True]
    assert front.wake(now) > now


def test_seeds_never_wait():
    front = frontier()
    put(front, [np.inf] * 20, range(20))
    assert all(front.take(0.0) for _ in range(20))


def test_a_visit_that_takes_far_longer_than_usual_is_not_waited_for():
    front, now = after(3 * AHEAD)
    put(front, [0.9] * 10 + [0.1], [0] * 10 + [1])
    front.take(now)
    assert front.take(now) is None
    late = front.wake(now)
    assert late == pytest.approx(now + OVERDUE * VISIT)
    assert front.take(np.nextafter(late, 0)) is None
    assert front.take(late).score == pytest.approx(0.1)


def test_a_host_that_rests_for_long_is_not_waited_for():
    front, now = after(3 * AHEAD)
    put(front, [0.9] * 10 + [0.1], [0] * 10 + [1])
    front.release(front.take(now).id, now, delay=60.0)
    assert front.take(now).score == pytest.approx(0.1)
    patient, now = after(3 * AHEAD, patience=100.0)
    put(patient, [0.9] * 10 + [0.1], [0] * 10 + [1])
    patient.release(patient.take(now).id, now, delay=60.0)
    assert patient.take(now) is None
    assert patient.wake(now) == now + 60.0


def test_no_patience_takes_what_can_be_had():
    front, now = after(3 * AHEAD, patience=0.0)
    put(front, [0.9] * 10 + [0.1], [0] * 10 + [1])
    assert [front.take(now).score for _ in range(2)] == pytest.approx([0.9, 0.1])


def test_a_loaded_frontier_waits_as_the_saved_one_did():
    front, now = after(3 * AHEAD)
    put(front, [0.9] * 10 + [0.1], [0] * 10 + [1])
    busy = front.take(now)
    loaded = frontier()
    loaded.load(front.state())
    assert (loaded.take(now), loaded.wake(now)) == (None, front.wake(now))
    for each in (front, loaded):
        each.release(busy.id, now + VISIT)
    assert loaded.take(now + VISIT).id == front.take(now + VISIT).id


def test_a_state_that_knows_nothing_of_seconds_is_loaded():
    front, now = after(20)
    put(front, [0.9] * 10 + [0.1], [0] * 10 + [1])
    front.take(now)
    state = front.state()
    state["hosts"] = {name: state["hosts"][name] for name in ("ready", "busy")}
    state["usual"] = [0, 0.0, 0.0]
    old = frontier()
    old.load(state)
    assert old.take(now) is not None, "nobody knows when that visit began: it is not waited for"


def test_a_host_gets_several_requests_only_after_it_was_content_with_one():
    hosts = Hosts(delay=0.0, per_host=3)
    hosts.grow(1)

    def at_once():
        starts = []
        while hosts.available(9.0)[0]:
            starts.append(hosts.start(0, 9.0))
        return starts

    first = at_once()
    assert len(first) == 1
    hosts.end(0, first[0], 9.0, None)
    again = at_once()
    assert len(again) == 3
    hosts.end(0, again[0], 9.0, 5.0)  # a Crawl-delay, or Retry-After
    for before in again[1:]:
        hosts.end(0, before, 9.0, 5.0)
    assert not hosts.available(13.9)[0]
    hosts.start(0, 14.0)
    assert not hosts.available(99.0)[0], "one at a time from now on"


def test_links_above_a_score_are_counted_alike_however_many_wait(monkeypatch):
    chance = np.random.default_rng(1)
    fronts = [frontier(), frontier()]
    for visit in range(60):
        scores, hosts = chance.integers(0, 50, 20), chance.integers(0, 6, 20)
        asked = float(chance.integers(0, 50)), chance.random(6) < 0.5, float(visit) / 4
        counts = []
        for front, few in zip(fronts, (10**9, 100), strict=True):
            monkeypatch.setattr("honeyguide.frontiers.leaders.FEW", few)
            put(front, scores, hosts, first=20 * visit)
            if visit % 9 == 8:
                front.rescore(lambda links: -links.x[:, 0])
            front.release(front.take(float(visit)).id, float(visit))
            counts.append(front._leaders.exceed(*asked))
        assert counts[0] == counts[1]
