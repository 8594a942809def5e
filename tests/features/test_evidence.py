"""What is known of a link from the pages around it."""

import numpy as np
import pytest

from honeyguide.contracts import Goal, Link, Page, Verdict, Visit
from honeyguide.engine.memory import Memory
from honeyguide.features.evidence import EVIDENCE, PRIOR, SIBLINGS, LinkEvidence, hashed

PAGES = 40


@pytest.fixture
def goal(encoder):
    return Goal("geology", encoder)


def url(number):
    return f"http://site{len(str(number))}.example/{number}"  # two hosts


class Walk:
    """Visits pages of a web of random links, one after the other, and tells what came of it."""

    def __init__(self, goal, rng):
        self.features, self.memory = LinkEvidence(goal, 8, 8), Memory()
        self.links = {n: rng.permutation(PAGES)[:5].tolist() for n in range(PAGES)}
        self.relevant = (rng.random(PAGES) < 0.4).tolist()
        self.shown_by = {n: [] for n in range(PAGES)}  # the visited pages that link to it
        self.visited = []
        self.features(self.memory, self.memory.seed([Link(url(n)) for n in range(PAGES)]))

    def visit(self, number):
        seen, page = self.visited, Page(url(number), links=self.links_of(number))
        verdict = Verdict(float(self.relevant[number]), self.relevant[number])
        self.memory.visit(number, Visit(Link(url(number)), page, verdict))
        found = self.memory.link(number, page)
        self.features(self.memory, found)
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
    rows = walk.features.evidence.rows(np.array(waiting, np.int32))
    expected = [walk.siblings(n) for n in waiting]
    assert rows[:, SIBLINGS] == pytest.approx(expected, abs=1e-5)
    assert np.ptp(expected) > 0.05


def test_dot_is_the_product_with_the_rows_for_few_links_and_for_many(goal):
    rng = np.random.default_rng(1)
    walk = Walk(goal, rng)
    for number in range(20):
        walk.visit(number)
    evidence = walk.features.evidence
    weights = rng.standard_normal(evidence.width).astype(np.float32)
    for pages in (np.arange(3, dtype=np.int32), np.arange(PAGES, dtype=np.int32)):
        assert evidence.dot(pages, weights) == pytest.approx(
            evidence.rows(pages) @ weights, abs=1e-5
        )


def test_saved_evidence_is_the_same(goal):
    walk, again = (Walk(goal, np.random.default_rng(2)) for _ in range(2))
    for number in range(20):
        walk.visit(number)
    again.features.load(walk.features.state())
    pages = np.arange(PAGES, dtype=np.int32)
    assert np.array_equal(again.features.evidence.rows(pages), walk.features.evidence.rows(pages))


def test_what_several_pages_say_about_a_link_is_averaged(goal):
    contexts = ["geology and rocks", "football and chess"]
    features, memory = LinkEvidence(goal), Memory()
    rows = []
    for number, context in enumerate(contexts):
        page = Page(url(number), links=(Link(url("x"), "it", context),))
        (id,) = memory.seed([Link(url(number))]).ids
        visit = Visit(Link(url(number)), page, Verdict(0, False))
        found = memory.link(memory.visit(int(id), visit), page)
        features(memory, found)
        rows.append(features.evidence.rows(found.ids)[0])
    vectors = goal.encoder(contexts)
    likeness = vectors @ goal.encoder([goal.topic])[0]
    assert rows[1][2] == pytest.approx(likeness.mean(), abs=1e-6)
    assert rows[1][3] == pytest.approx(rows[0][3]), "the best is kept"
    assert rows[1][EVIDENCE:] == pytest.approx(vectors.mean(axis=0)[:64], abs=1e-6)


def test_words_of_url_anchor_and_place_are_told_apart():
    one = hashed("rock", "", "", 1 << 20)
    other = hashed("", "rock", "", 1 << 20)
    assert len(one) == len(other) == 1
    assert one[0] != other[0]
    assert len(hashed("rock", "rock", "html/body/a", 1 << 20)) == 3
