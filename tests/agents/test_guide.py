import numpy as np
import pytest

from honeyguide.agents.guide import Guide
from honeyguide.contracts import Goal, Link, Page, Step, Verdict, Visit
from honeyguide.features.evidence import LinkEvidence, hashed
from honeyguide.memory import Memory


@pytest.fixture
def goal(encoder):
    return Goal("geology", encoder)


def step(x, reward, options):
    return Step(Link(""), 0, x, reward, Verdict(reward, reward > 0), None, options)


def test_it_is_ridge_regression_about_its_belief(goal):
    guide = Guide(goal, gamma=0.0, ridge=2.0, dimensions=8, buckets=8)
    rng = np.random.default_rng(1)
    x = rng.standard_normal((40, guide.features.width)).astype(np.float32)
    y = rng.random(40)
    for row, reward in zip(x, y, strict=True):
        guide.learn([step(row, reward, x[:0])])
    belief = np.zeros(guide.features.width)
    belief[9:11] = 0.5
    a = x.T.astype(float) @ x + 2.0 * np.eye(guide.features.width)
    solution = belief + np.linalg.solve(a, x.T @ (y - x @ belief))
    assert guide.score(x) == pytest.approx(x @ solution, abs=1e-3)


def test_a_page_is_also_worth_what_its_best_link_is(goal):
    near, far = Guide(goal, gamma=0.0), Guide(goal, gamma=0.8)
    x = np.zeros((2, near.features.width), np.float32)
    x[0, 70], x[1, 65] = 1.0, 1.5  # something unknown, and the likeness of a link's own words
    for guide in (near, far):
        guide.learn([step(x[0], 0.0, x[1:])])
    assert near.score(x[:1])[0] == pytest.approx(0.0, abs=1e-6)
    assert far.score(x[:1])[0] == pytest.approx(0.8 * 0.75 / 2)  # half way, with ridge 1


def test_before_the_first_page_it_prefers_what_is_like_the_topic(goal):
    guide, memory = Guide(goal), Memory()
    found = memory.seed(
        [
            Link("http://a.example/geology-rocks", "geology"),
            Link("http://a.example/cup", "football cup"),
        ]
    )
    rocks, cup = guide.score(guide.features(memory, found))
    assert rocks > cup


def test_what_several_pages_say_about_a_link_is_averaged(goal):
    features, memory = LinkEvidence(goal), Memory()
    rows = []
    for number, context in enumerate(["geology and rocks", "football and chess"]):
        url, to = f"http://a.example/{number}", Link("http://a.example/x", "it", context)
        page = Page(url, links=(to,))
        (id,) = memory.seed([Link(url)]).ids
        found = memory.link(memory.visit(int(id), Visit(Link(url), page, Verdict(0, False))), page)
        rows.append(features(memory, found)[0])
    around = features.dimensions + 2
    alone = LinkEvidence(goal)(memory, found)[0, around]
    assert rows[1][around] == pytest.approx((rows[0][around] + alone) / 2, abs=1e-6)
    assert rows[1][around + 1] == pytest.approx(rows[0][around + 1]), "the best is kept"


def test_words_of_url_anchor_and_place_are_told_apart():
    one = hashed("rock", "", "", 1 << 20)
    other = hashed("", "rock", "", 1 << 20)
    assert len(one) == len(other) == 1
    assert one[0] != other[0]
    assert len(hashed("rock", "rock", "html/body/a", 1 << 20)) == 3
