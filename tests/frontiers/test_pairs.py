"""The frontier of pairs of page and link."""

from collections import Counter

import numpy as np
import pytest

from honeyguide.contracts import Paired
from honeyguide.frontiers.pairs import NOWHERE, Pairs
from honeyguide.testing.resume import through_a_file

HOST = 0


def pairs(**settings):
    return Pairs(1, np.random.default_rng(0), **settings)


def put(frontier, source, links):
    """Put links of a page: {page: score}; their feature is 100 * source + page."""
    ids = np.array(list(links), np.int32)
    x = (100.0 * source + ids).astype(np.float32)[:, None]
    frontier.put_from(source, ids, np.full(len(ids), HOST), x, np.array([*links.values()], "f"))


def emptied(frontier):
    taken = []
    while (link := frontier.take(0.0)) is not None:
        frontier.release(link.id, 0.0)
        taken.append((link.id, link.score, float(link.x[0])))
    return taken


def test_the_best_pair_of_a_link_counts_whichever_page_showed_it_last():
    frontier = pairs()
    put(frontier, 1, {7: 9.0, 8: 3.0})
    put(frontier, 2, {7: 1.0, 8: 5.0})
    put(frontier, 3, {7: 2.0})
    assert len(frontier) == 5
    assert emptied(frontier) == [(7, 9.0, 107.0), (8, 5.0, 208.0)]
    assert len(frontier) == 0
    assert not frontier.wants(np.array([7, 8], np.int32)).any()


def test_among_equal_scores_the_oldest_pair_comes_first():
    frontier = pairs()
    put(frontier, 2, {9: 1.0, 8: 1.0})
    put(frontier, 1, {8: 1.0, 7: 1.0})
    assert emptied(frontier) == [(9, 1.0, 209.0), (8, 1.0, 208.0), (7, 1.0, 107.0)]


def test_a_link_found_again_on_the_same_page_is_one_pair():
    frontier = pairs()
    put(frontier, 1, {7: 9.0})
    put(frontier, 1, {7: 4.0})
    put(frontier, NOWHERE, {7: 1.0})
    put(frontier, NOWHERE, {7: 2.0})
    assert len(frontier) == 2
    assert frontier.best() == 4.0


def test_every_pair_is_as_likely_to_be_drawn():
    drawn = Counter()
    for seed in range(3000):
        frontier = Pairs(1, np.random.default_rng(seed))
        put(frontier, 1, {7: 9.0, 8: 3.0})
        put(frontier, 2, {7: 1.0})
        drawn[float(frontier.take(0.0, at_random=True).x[0])] += 1
    assert drawn == {x: pytest.approx(1000, abs=120) for x in (107.0, 108.0, 207.0)}


def test_shedding_counts_pairs_and_a_link_is_wanted_again_when_its_last_is_gone():
    frontier = pairs()
    put(frontier, 1, {7: 9.0, 8: 3.0})
    put(frontier, 2, {7: 1.0, 8: 2.0})
    put(frontier, 3, {9: 8.0})
    assert sorted(frontier.shed(2).tolist()) == [1.0, 2.0, 3.0]
    frontier.compact()
    assert len(frontier) == 2
    assert frontier.wants(np.array([7, 8, 9], np.int32)).all()  # 7 and 9 wait, 8 is unknown
    assert emptied(frontier) == [(7, 9.0, 107.0), (9, 8.0, 309.0)]


def test_memory_grows_with_pairs_and_is_given_back():
    frontier = pairs()
    for source in range(50):
        put(frontier, source, dict.fromkeys(range(100, 200), 1.0))
    full = frontier.row_bytes
    frontier.shed(500)
    frontier.compact()
    assert full == 10 * frontier.row_bytes
    assert frontier.nbytes < full


def test_a_refresh_renews_the_rows_of_pages_and_links_and_keeps_scores():
    frontier = pairs()
    assert isinstance(frontier, Paired)
    put(frontier, 1, {7: 9.0, 8: 3.0})
    put(frontier, 2, {7: 1.0, 9: 5.0})
    put(frontier, 3, {10: 4.0})
    put(frontier, NOWHERE, {11: 2.0})
    seen = []

    def renew(sources, ids, x):
        seen.extend(zip(sources.tolist(), ids.tolist(), strict=True))
        return x + 1000

    frontier.refresh(np.array([2], np.int32), np.array([7, 11], np.int32), renew)
    assert sorted(seen) == [(1, 7), (2, 7), (2, 9)]
    rows = [(7, 9.0, 1107.0), (9, 5.0, 1209.0), (10, 4.0, 310.0), (8, 3.0, 108.0), (11, 2.0, -89.0)]
    assert emptied(frontier) == rows


def naive(waiting, host_of):
    """The best of a list of (score, age, page, x), and the rest without its page."""
    best = min(waiting, key=lambda pair: (-pair[0], host_of(pair[2]), pair[1]))
    return best, [pair for pair in waiting if pair[2] != best[2]]


@pytest.mark.parametrize("seed", range(8))
def test_a_long_random_life_is_that_of_a_plain_list(seed):
    rng = np.random.default_rng(seed)
    frontier, waiting, gone, age = pairs(), [], set(), 0
    host_of = lambda page: page % 3  # noqa: E731
    for turn in range(400):
        source = int(rng.integers(40))
        ids = [page for page in rng.permutation(60)[:5].tolist() if page not in gone]
        scores = rng.integers(0, 6, len(ids)).astype(np.float32)
        hosts, x = np.array([host_of(p) for p in ids], np.int32), rng.random((len(ids), 1), "f")
        frontier.put_from(source, np.array(ids, np.int32), hosts, x, scores)
        waiting = [pair for pair in waiting if not (pair[4] == source and pair[2] in ids)]
        for page, score, row in zip(ids, scores.tolist(), x[:, 0].tolist(), strict=True):
            waiting.append((score, age, page, row, source))
            age += 1
        if turn % 7 == 3:
            frontier.compact()
        if turn % 11 == 5:
            saved, frontier = through_a_file(frontier.state()), pairs()
            frontier.load(saved)
        if turn % 13 == 8:
            frontier.rescore(lambda links: np.round(links.x[:, 0] * 5))
            waiting = [(float(np.round(np.float32(p[3]) * 5)), *p[1:]) for p in waiting]
        if turn % 17 == 9:
            kept = sorted(waiting, key=lambda pair: (-pair[0], pair[1]))[: len(waiting) // 2]
            frontier.shed(len(kept))
            waiting = [pair for pair in waiting if pair in kept]
        if turn % 3 == 0 and waiting:
            best, waiting = naive(waiting, host_of)
            taken = frontier.take(float(turn))
            assert (taken.id, taken.score, taken.x[0]) == (best[2], best[0], np.float32(best[3]))
            frontier.release(taken.id, float(turn))
            gone.add(taken.id)
            if len(gone) > 45:
                gone, frontier, waiting = set(), pairs(), []
        assert len(frontier) == len(waiting)
        assert frontier.best() == max((pair[0] for pair in waiting), default=-np.inf)
