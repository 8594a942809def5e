from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from honeyguide.frontiers import block
from honeyguide.frontiers.best_first import BestFirst


def frontier(**settings):
    return BestFirst(1, np.random.default_rng(0), **settings)


def put(front, scores, hosts=None, first=0):
    ids = np.arange(first, first + len(scores), dtype=np.int32)
    hosts = np.zeros(len(scores), np.int32) if hosts is None else np.array(hosts, np.int32)
    scores = np.array(scores, np.float32)
    front.put(ids, hosts, scores[:, None], scores)


def taken(front, now=0.0):
    got = front.take(now)
    if got is None:
        return None
    front.release(got.id, now)
    return got.id


def drain(front):
    order = []
    while (id := taken(front)) is not None:
        order.append(id)
    return order


def test_the_best_waiting_link_comes_first_and_older_ones_before_equals():
    front = frontier()
    put(front, [0.1, 0.9, 0.5, 0.9])
    assert drain(front) == [1, 3, 2, 0]


def test_a_refreshed_link_takes_its_new_place():
    front = frontier()
    put(front, [0.1, 0.9, 0.5])
    put(front, [2.0], first=0)
    assert len(front) == 3
    assert drain(front) == [0, 1, 2]


def test_a_link_once_taken_is_not_wanted_again():
    front = frontier()
    put(front, [0.1, 0.2])
    assert taken(front) == 1
    assert front.wants(np.arange(3, dtype=np.int32)).tolist() == [True, False, True]


def test_a_parked_link_is_wanted_when_found_again():
    front = frontier(delay=5.0)
    put(front, [0.1])
    front.park(front.take(0.0).id)
    assert len(front) == 0
    assert front.wants(np.array([0], np.int32)).tolist() == [True]
    put(front, [0.1])
    assert front.take(0.0) is not None, "its host was not asked, so it need not rest"


def test_a_dropped_link_is_never_taken():
    front = frontier()
    put(front, [0.1, 0.9])
    front.drop(np.array([1, 5], np.int32))
    assert drain(front) == [0]
    assert not front.wants(np.array([5], np.int32)).any()


def test_minus_infinity_refuses_a_link():
    front = frontier()
    put(front, [0.1, -np.inf])
    put(front, [-np.inf], first=0)
    assert front.take(0.0) is None


def test_a_host_is_never_asked_twice_at_once():
    front = frontier()
    put(front, [0.9, 0.8, 0.1], hosts=[0, 0, 1])
    first = front.take(0.0)
    assert (first.id, front.take(0.0).id) == (0, 2)
    assert front.take(0.0) is None
    assert front.wake(0.0) is None
    front.release(first.id, 1.0)
    assert front.take(1.0).id == 1


def test_a_host_rests_between_two_requests_and_wake_says_until_when():
    front = frontier(delay=2.0)
    put(front, [0.9, 0.8])
    front.release(front.take(10.0).id, 11.0)
    assert front.take(12.9) is None
    assert front.wake(12.9) == 13.0
    assert front.take(13.0).id == 1


def test_a_host_that_asked_for_more_rest_gets_it():
    front = frontier(delay=1.0)
    put(front, [0.9, 0.8])
    front.release(front.take(0.0).id, 0.0, delay=30.0)
    assert front.wake(0.0) == 30.0


def test_it_holds_back_when_something_far_better_is_about_to_be_ready():
    front = frontier(delay=1.0, patience=2.0)
    put(front, [*(0.9 + 0.001 * n for n in range(40)), 0.05], hosts=[0] * 40 + [1])
    for second in range(0, 44, 2):
        front.release(front.take(float(second)).id, float(second))
    assert front.take(42.5) is None
    assert front.wake(42.5) == 43.0
    assert front.take(43.0).score > 0.5


def test_without_patience_it_takes_what_it_can_get():
    front = frontier(delay=1.0)
    put(front, [*(0.9 + 0.001 * n for n in range(40)), 0.05], hosts=[0] * 40 + [1])
    for second in range(0, 44, 2):
        front.release(front.take(float(second)).id, float(second))
    assert front.take(42.5).score == pytest.approx(0.05)


def test_a_random_draw_is_uniform_over_what_may_be_asked():
    counts = np.zeros(6)
    front = BestFirst(1, np.random.default_rng(5))
    for _ in range(3000):
        fresh = frontier()
        fresh.rng = front.rng
        put(fresh, [0.0, 1.0, 2.0, 3.0, 9.0, 9.0], hosts=[0, 1, 2, 3, 4, 4])
        busy = fresh.take(0.0)
        assert busy.id == 4
        counts[fresh.take(0.0, at_random=True).id] += 1
    assert counts[4] == counts[5] == 0
    assert np.all(np.abs(counts[:4] - 750) < 100)


def test_rescoring_reorders_all_that_waits_but_seeds_stay_first():
    front = frontier()
    put(front, [1.0, 2.0, 3.0])
    put(front, [np.inf], first=3)
    front.rescore(lambda links: -links.x[:, 0])
    assert front.best() == np.inf
    assert drain(front) == [3, 0, 1, 2]


actions = st.lists(
    st.one_of(
        st.tuples(st.just("put"), st.integers(0, 30), st.integers(0, 5)),
        st.tuples(st.just("take"), st.booleans(), st.just(0)),
        st.tuples(st.just("rescore"), st.sampled_from([-1.0, 1.0]), st.just(0)),
        st.tuples(st.just("reload"), st.just(0), st.just(0)),
    ),
    max_size=60,
)


@pytest.mark.parametrize("many", [block.MANY, 1], ids=["few links", "an index of hosts"])
@settings(max_examples=150, deadline=None)
@given(actions=actions)
def test_it_always_takes_what_a_plain_list_would(many, actions):
    with patch.object(block, "MANY", many):
        check_order(actions)


def check_order(actions):
    front, waiting, seen, sign = frontier(), {}, set(), 1.0
    for what, one, two in actions:
        if what == "put":
            id = np.array([one], np.int32)
            assert front.wants(id)[0] == (one not in seen or one in waiting)
            if front.wants(id)[0]:
                score = np.array([sign * two], np.float32)
                front.put(id, id % 3, np.array([[two]], np.float32), score)
                waiting[one] = two
                seen.add(one)
        elif what == "rescore":
            sign = one
            front.rescore(lambda links, sign=sign: sign * links.x[:, 0])
        elif what == "reload":
            saved, front = front.state(), frontier()
            front.load(saved)
        else:
            got = front.take(0.0, at_random=one)
            assert (got is None) == (not waiting)
            if got is not None:
                if not one:
                    best = max(sign * waiting[id] for id in waiting)
                    assert got.score == best
                    equals = [id for id in waiting if sign * waiting[id] == best]
                    assert got.id == min(id for id in equals if id % 3 == got.id % 3)
                assert got.x.tolist() == [waiting.pop(got.id)]
                front.release(got.id, 0.0)
        assert len(front) == len(waiting)


@pytest.mark.parametrize("many", [block.MANY, 1], ids=["few links", "an index of hosts"])
def test_short_lists_give_the_same_order_as_a_full_sort(many, monkeypatch):
    monkeypatch.setattr(block, "MANY", many)
    rng = np.random.default_rng(3)
    front, waiting = frontier(), {}
    for round in range(60):
        count = int(rng.integers(1, 60))
        scores = rng.integers(0, 12, count)
        put(front, scores, hosts=rng.integers(0, 4, count), first=1000 * round)
        waiting |= {1000 * round + n: float(score) for n, score in enumerate(scores)}
        for _ in range(int(rng.integers(0, 40))):
            if waiting:
                best = min(waiting, key=lambda id: (-waiting[id], id))
                assert waiting[best] == waiting.pop(taken(front))
    assert len(front) == len(waiting)
