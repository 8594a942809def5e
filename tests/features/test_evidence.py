"""What is known of a link from the pages around it."""

from dataclasses import replace

import numpy as np
import pytest

from honeyguide.contracts import Candidates, Goal, Link, Page, Verdict, Visit
from honeyguide.engine.memory import Memory
from honeyguide.features.evidence import EVIDENCE, SIBLINGS, LinkEvidence, hashed
from honeyguide.features.packed_rows import MOST_WORDS
from honeyguide.features.siblings import PRIOR

PAGES = 40


@pytest.fixture
def goal(encoder):
    return Goal("geology", encoder)


def url(number):
    return f"http://site{len(str(number))}.example/{number}"  # two hosts


class Walk:
    """Visits pages of a web of random links, one after the other, and tells what came of it."""

    def __init__(self, goal, rng, buckets=8):
        self.features, self.memory = LinkEvidence(goal, 8, buckets), Memory()
        self.rows = np.zeros((PAGES, self.features.width), np.uint8)
        self.links = {n: rng.permutation(PAGES)[:5].tolist() for n in range(PAGES)}
        self.relevant = (rng.random(PAGES) < 0.4).tolist()
        self.shown_by = {n: [] for n in range(PAGES)}  # the visited pages that link to it
        self.visited = []
        self.find(self.memory.seed([Link(url(n)) for n in range(PAGES)]))

    def find(self, found):
        rows = replace(found, rows=self.rows[found.ids])
        self.rows[found.ids] = self.features(self.memory, rows)

    def links_to(self, pages):
        ids = np.array(pages, np.int32)
        return Candidates(ids, self.rows[ids])

    def visit(self, number):
        seen, page = self.visited, Page(url(number), links=self.links_of(number))
        verdict = Verdict(float(self.relevant[number]), self.relevant[number])
        self.memory.visit(number, Visit(Link(url(number)), page, verdict))
        found = self.memory.link(number, page)
        self.find(found)
        self.features.evidence.add_visit(number, verdict.relevance)
        seen.append(number)
        for to in set(self.links[number]) - {number}:
            self.shown_by[to].append(number)

    def links_of(self, number):
        return tuple(Link(url(to), "rock", "about geology") for to in self.links[number])

    def siblings(self, number):
        """The share of relevant pages among its visited siblings, parent by parent."""
        usual = (sum(self.relevant[n] for n in self.visited) + 0.5) / (len(self.visited) + 2)
        shares = []
        for parent in self.shown_by[number]:
            told = [to for to in set(self.links[parent]) if to in self.visited and to != parent]
            good = sum(self.relevant[to] for to in told)
            shares.append((good + PRIOR * usual) / (len(told) + PRIOR))
        return np.mean(shares) - usual if shares else 0.0


@pytest.mark.parametrize("seed", range(3))
def test_siblings_are_worth_what_came_of_the_other_links_of_each_parent(goal, seed):
    rng = np.random.default_rng(seed)
    walk = Walk(goal, rng)
    for number in rng.permutation(PAGES)[:25].tolist():
        walk.visit(number)
    waiting = [n for n in range(PAGES) if n not in walk.visited]
    rows = walk.features.full_rows(walk.links_to(waiting))[:, walk.features.own_words :]
    expected = [walk.siblings(n) for n in waiting]
    assert rows[:, SIBLINGS] == pytest.approx(expected, abs=1e-5)
    assert np.ptp(expected) > 0.05


@pytest.mark.parametrize("buckets", [8, 256, 1000])
def test_dot_is_the_product_with_the_full_rows(goal, buckets):
    rng = np.random.default_rng(1)
    walk = Walk(goal, rng, buckets)
    for number in range(20):
        walk.visit(number)
    weights = rng.standard_normal(walk.features.full_width).astype(np.float32)
    links = walk.links_to(range(PAGES))
    rows = walk.features.full_rows(links)
    assert rows.shape == (PAGES, len(weights))
    assert walk.features.dot(links, weights) == pytest.approx(rows @ weights, abs=1e-4)
    assert walk.features.dot(links[:0], weights).shape == (0,)


def test_bytes_that_a_part_made_numbers_of_are_read_all_the_same(goal):
    walk = Walk(goal, np.random.default_rng(1))
    links = walk.links_to(range(PAGES))
    wide = np.hstack([links.x.astype(np.float32), np.ones((PAGES, 1), np.float32)])
    rows = walk.features.full_rows(Candidates(links.ids, wide[:, :-1]))
    assert np.array_equal(rows, walk.features.full_rows(links))


def test_saved_evidence_is_the_same(goal):
    walk, again = (Walk(goal, np.random.default_rng(2)) for _ in range(2))
    for number in range(20):
        walk.visit(number)
    again.features.load(walk.features.state())
    links = walk.links_to(range(PAGES))
    assert np.array_equal(again.features.full_rows(links), walk.features.full_rows(links))


def test_what_several_pages_say_about_a_link_is_averaged(goal):
    contexts = ["geology and rocks", "football and chess"]
    features, memory = LinkEvidence(goal), Memory()
    x, rows = None, []
    for number, context in enumerate(contexts):
        page = Page(url(number), links=(Link(url("x"), "it", context),))
        (id,) = memory.seed([Link(url(number))]).ids
        visit = Visit(Link(url(number)), page, Verdict(0, False))
        found = memory.link(memory.visit(int(id), visit), page)
        x = features(memory, replace(found, rows=x))
        rows.append(features.full_rows(Candidates(found.ids, x))[0, features.own_words :])
    vectors = goal.encoder(contexts)
    likeness = vectors @ goal.encoder([goal.topic])[0]
    assert rows[1][2] == pytest.approx(likeness.mean(), abs=3e-4)
    assert rows[1][3] == pytest.approx(rows[0][3]), "the best is kept"
    assert rows[1][EVIDENCE:] == pytest.approx(vectors.mean(axis=0)[:64], abs=0.01)


def test_a_row_is_small_and_close_to_what_it_stands_for(goal):
    features, memory = LinkEvidence(goal), Memory()
    link = Link("http://a.example/rock", "lava flows", "a page about geology", "html/body/a")
    found = memory.seed([link])
    x = features(memory, found)
    assert x.dtype == np.uint8
    assert x.shape[1] <= 180
    row = features.full_rows(Candidates(found.ids, x))[0]
    own = goal.encoder(["a example rock lava flows"])[0, :64]
    assert row[:64] == pytest.approx(own, abs=0.01)
    places = hashed("a example rock", "lava flows", "html/body/a", 256)
    expected = np.zeros(256)
    expected[places] = 1 / np.sqrt(len(places))
    assert row[64:320] == pytest.approx(expected, abs=3e-4)


def test_a_link_without_words_has_none(goal):
    features, memory = LinkEvidence(goal), Memory()
    found = memory.seed([Link("")])
    links = Candidates(found.ids, features(memory, found))
    assert not features.full_rows(links)[0, 64:320].any()
    weights = np.zeros(features.full_width, np.float32)
    weights[64:320] = 1
    assert features.dot(links, weights) == pytest.approx(0, abs=1e-6)


def test_of_a_link_with_many_words_some_count(goal):
    features, memory = LinkEvidence(goal, buckets=4096), Memory()
    found = memory.seed([Link("http://a.example/", " ".join(f"word{n}" for n in range(40)))])
    row = features.full_rows(Candidates(found.ids, features(memory, found)))[0, 64:4160]
    assert np.count_nonzero(row) == MOST_WORDS
    assert np.linalg.norm(row) == pytest.approx(1, abs=1e-3)


def test_words_of_url_anchor_and_place_are_told_apart():
    one = hashed("rock", "", "", 1 << 20)
    other = hashed("", "rock", "", 1 << 20)
    assert len(one) == len(other) == 1
    assert one[0] != other[0]
    assert len(hashed("rock", "rock", "html/body/a", 1 << 20)) == 3
