import numpy as np
import pytest

from honeyguide.contracts import Agent, Link, Page, Verdict, Visit
from honeyguide.engine.navigator import Navigator
from honeyguide.errors import HoneyguideError
from honeyguide.features.discovery import Discovery
from honeyguide.frontiers.best_first import BestFirst
from honeyguide.gates.none import NoGate

SEED, B, C, D = (f"http://x.example/{name}" for name in ("seed", "b", "c", "d"))


class Recorder(Agent):
    """Prefers late discoveries; remembers what it was told."""

    def __init__(self, rescores=False):
        self.features = Discovery()
        self.steps = []
        self.scored = []
        self.rescores = rescores

    def score(self, links):
        self.scored.append(len(links))
        return links.x[:, 0] * (1 if len(self.steps) % 2 else -1)

    def learn(self, steps):
        self.steps += steps

    def stale(self):
        return self.rescores


class Choosy(NoGate):
    """Refuses some links, and looks again at those of a host when told to."""

    def __init__(self, refuses, again=False):
        self.refuses, self.again = refuses, again

    def opens(self, memory, id, link, foreseen):
        return link.url not in self.refuses

    def note(self, memory, id, visit):
        return np.arange(len(memory) if self.again else 0, dtype=np.int32)


def make(agent, **settings):
    return Navigator(agent, BestFirst(1, np.random.default_rng(0)), **settings)


def visit(link, links=(), relevant=False, end=None):
    page = Page(end or link.url, links=tuple(Link(to) for to in links))
    return Visit(link, page, Verdict(float(relevant), relevant))


def test_a_step_tells_what_was_chosen_what_came_and_what_can_be_done_next():
    agent = Recorder()
    navigator = make(agent)
    navigator.seed([Link(SEED)])
    first = navigator.choose(0.0)
    navigator.absorb(visit(first, [B, C], relevant=True), 0.0)
    step = agent.steps[0]
    assert (step.link.url, step.reward, step.verdict.relevant) == (SEED, 1.0, True)
    assert step.options.x.tolist() == [[1.0], [2.0]]
    second = navigator.choose(0.0)
    assert (second.url, second.depth, second.source) == (C, 1, SEED)
    navigator.absorb(visit(second), 0.0)
    assert agent.steps[1].x.tolist() == [2.0]


def test_it_learns_before_it_scores_what_was_found():
    agent = Recorder()
    navigator = make(agent)
    navigator.seed([Link(SEED)])
    navigator.absorb(visit(navigator.choose(0.0), [B, C]), 0.0)
    # after one step the later discovery scores higher; before it the earlier one would
    assert navigator.choose(0.0).url == C


def test_waiting_links_are_scored_again_when_the_agent_asks():
    agent = Recorder(rescores=True)
    navigator = make(agent)
    navigator.seed([Link(SEED)])
    navigator.absorb(visit(navigator.choose(0.0), [B, C, D]), 0.0)
    assert agent.scored == [3, 3]  # the links found, then the whole block


def test_rescoring_keeps_to_its_budget_of_links_a_visit():
    agent = Recorder(rescores=True)
    navigator = make(agent, rescoring=10.0)
    navigator.seed([Link(SEED)])
    fresh = iter(range(10_000))
    for _ in range(200):
        link = navigator.choose(0.0)
        navigator.absorb(visit(link, [f"http://x.example/{next(fresh)}" for _ in range(5)]), 0.0)
    rescored = sum(agent.scored) - 200 * 5
    assert 0.8 * 200 * 10 < rescored < 1.4 * 200 * 10


def test_a_link_that_the_gate_refuses_is_offered_when_found_again():
    gate = Choosy([C])
    navigator = make(Recorder(), gate=gate)
    navigator.seed([Link(SEED)])
    navigator.absorb(visit(navigator.choose(0.0), [B, C]), 0.0)
    b = navigator.choose(0.0)
    assert b.url == B, "C would come first"
    gate.refuses = []
    navigator.absorb(visit(b, [C, D]), 0.0)
    assert {navigator.choose(0.0).url} <= {C, D}
    assert len(navigator.frontier) == 1
    assert navigator.state()["aside"]["block"]["free"].tolist() == [0], "it waits once"


def test_a_link_that_the_gate_refuses_comes_back_with_its_host():
    gate = Choosy([C], again=True)
    navigator = make(Recorder(), gate=gate)
    navigator.seed([Link(SEED)])
    navigator.absorb(visit(navigator.choose(0.0), [B, C]), 0.0)
    b = navigator.choose(0.0)
    assert (b.url, len(navigator.frontier)) == (B, 0)
    navigator.absorb(visit(b), 0.0)
    assert len(navigator.frontier) == 1
    gate.refuses = []
    assert navigator.choose(0.0).url == C


def test_when_nothing_else_waits_the_best_of_what_was_refused_is_visited():
    navigator = make(Recorder(), gate=Choosy([B, C, D]))
    navigator.seed([Link(SEED)])
    navigator.absorb(visit(navigator.choose(0.0), [B, C, D]), 0.0)
    visited = []
    while (link := navigator.choose(0.0)) is not None:
        visited.append(link.url)
        navigator.absorb(visit(link), 0.0)
    assert sorted(visited) == [B, C, D]
    assert visited[0] == D, "the best first"


def test_a_refused_page_that_is_reached_by_redirect_does_not_come_back():
    navigator = make(Recorder(), gate=Choosy([C]))
    navigator.seed([Link(SEED)])
    navigator.absorb(visit(navigator.choose(0.0), [B, C]), 0.0)
    navigator.absorb(visit(navigator.choose(0.0), end=C), 0.0)
    assert navigator.choose(0.0) is None


def test_links_beyond_the_limit_are_shed_and_counted_and_can_be_found_again():
    navigator = make(Recorder(), max_waiting=2)
    navigator.seed([Link(SEED)])
    navigator.absorb(visit(navigator.choose(0.0), [B, C, D]), 0.0)
    assert len(navigator.frontier) == 2
    assert (navigator.shed_links.count, navigator.shed_links.worth) == (1, 1.0)
    assert "1 link (mean score 1, best 1" in str(navigator.shed_links)
    d = navigator.choose(0.0)
    assert d.url == D
    navigator.absorb(visit(d, [B]), 0.0)
    assert {navigator.choose(0.0).url for _ in range(1)} <= {B, C}
    assert len(navigator.frontier) == 1


def test_an_address_reached_by_redirect_is_not_visited_again():
    agent = Recorder()
    navigator = make(agent)
    navigator.seed([Link(SEED)])
    navigator.absorb(visit(navigator.choose(0.0), [B, C]), 0.0)
    link = navigator.choose(0.0)
    navigator.absorb(visit(link, end=B if link.url == C else C), 0.0)
    assert navigator.choose(0.0) is None


def test_a_failed_visit_is_learnt_from_too():
    agent = Recorder()
    navigator = make(agent)
    navigator.seed([Link(SEED)])
    navigator.absorb(Visit(navigator.choose(0.0), None, Verdict(0, False), failure="timeout"), 0.0)
    assert agent.steps[0].page is None
    assert agent.steps[0].options.x.shape == (0, 1)


def test_a_link_whose_failure_may_pass_is_tried_again_a_few_times():
    agent = Recorder()
    navigator = make(agent, retries=2)
    navigator.seed([Link(SEED)])
    trouble = Verdict(0, False)
    for tries in range(1, 4):
        link = navigator.choose(0.0)
        assert link.url == SEED
        navigator.absorb(Visit(link, None, trouble, failure="timeout", again=True), 0.0)
        assert navigator.memory.visits == tries
    assert navigator.choose(0.0) is None
    assert len(agent.steps) == 1, "only the last failure is learnt from"
    assert navigator.state()["tries"] == [], "nothing is remembered of a link that is done with"


def test_an_agent_can_stop_when_nothing_is_worth_a_fetch():
    class Modest(Recorder):
        def stops(self, best_score):
            return best_score < 1.5

    navigator = make(Modest())
    navigator.seed([Link(SEED)])
    navigator.absorb(visit(navigator.choose(0.0), [B, C]), 0.0)
    assert navigator.choose(0.0).url == C
    assert navigator.choose(0.0) is None
    assert navigator.stopped


def test_a_navigator_goes_on_exactly_from_its_saved_state():
    def drive(navigator, steps):
        urls = []
        for _ in range(steps):
            link = navigator.choose(0.0)
            urls.append(link.url)
            number = int(link.url.rsplit("/", 1)[1])
            to = [f"http://x.example/{number * 3 + k}" for k in (1, 2, 3)]
            navigator.absorb(visit(link, to), 0.0)
        return urls

    whole, half, rest = (make(Recorder()) for _ in range(3))
    for navigator in (whole, half):
        navigator.seed([Link("http://x.example/0")])
    expected = drive(whole, 40)
    assert drive(half, 20) == expected[:20]
    rest.load(half.state())
    rest.agent.steps = half.agent.steps
    assert drive(rest, 20) == expected[20:]


def test_an_earlier_choice_is_followed_whatever_would_be_chosen_now():
    navigator = make(Recorder())
    navigator.seed([Link(SEED)])
    navigator.absorb(visit(navigator.choose(0.0), [B, C, D]), 0.0)
    chosen = navigator.choose(0.0)
    navigator.undo_choice(chosen, 0.0)
    other = next(url for url in (B, C, D) if url != chosen.url)
    navigator.follow(other, 0.0)
    assert list(navigator.leases) == [other]
    navigator.absorb(visit(navigator.leases[other].link), 0.0)
    assert navigator.choose(0.0) == chosen
    never_seen = "http://y.example/never"
    navigator.follow(never_seen, 0.0)
    navigator.absorb(visit(navigator.leases[never_seen].link, [B]), 0.0)
    navigator.absorb(visit(navigator.leases[chosen.url].link), 0.0)
    rest = navigator.choose(0.0)
    assert {rest.url, chosen.url, other} == {B, C, D}
    navigator.absorb(visit(rest), 0.0)
    assert navigator.choose(0.0) is None


@pytest.mark.parametrize(
    ("scores", "complaint"),
    [
        ([1.0], r"agent Wrong gave scores of shape \(1,\) for 2 links: one number for each"),
        ([[1.0], [2.0]], r"agent Wrong gave scores of shape \(2, 1\) for 2 links"),
        ([1.0, np.nan], "agent Wrong gave a score that is not a number or is infinite"),
        ([np.inf, 1.0], "agent Wrong gave a score that is not a number or is infinite"),
    ],
)
def test_scores_that_do_not_fit_are_refused_and_the_agent_is_named(scores, complaint):
    class Wrong(Recorder):
        def score(self, links):
            return np.array(scores, np.float32)

    navigator = make(Wrong())
    navigator.seed([Link(SEED)])
    with pytest.raises(HoneyguideError, match=complaint):
        navigator.absorb(visit(navigator.choose(0.0), [B, C]), 0.0)


def test_a_score_of_minus_infinity_refuses_a_link():
    class Refusing(Recorder):
        def score(self, links):
            return np.array([-np.inf, 1.0], np.float32)

    navigator = make(Refusing())
    navigator.seed([Link(SEED)])
    navigator.absorb(visit(navigator.choose(0.0), [B, C]), 0.0)
    assert navigator.choose(0.0).url == C
    assert navigator.choose(0.0) is None
