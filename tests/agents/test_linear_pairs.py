"""Algorithm 1 of Han et al. (2018) on pairs, written again in the plainest way: same decisions."""

from dataclasses import dataclass, field

import numpy as np
import pytest

from honeyguide.agents.linear import LinearAsync, LinearModerated, LinearSync
from honeyguide.assemble import bare_navigator, frontier_of
from honeyguide.contracts import Goal, Link, Page
from honeyguide.engine.loop import simulate
from honeyguide.errors import HoneyguideError

from ..webs import TinyWeb

KINDS = {"sync": LinearSync, "async": LinearAsync, "moderated": LinearModerated}
ALPHA, GAMMA, BETA = 0.002, 0.9, 0.4
ROUNDING = 1e-4  # scores are float32: equal values may differ by so much


class Said:
    """Texts say their cosine to the topic: "cosine=0.3"."""

    width = 2

    def __call__(self, texts):
        return np.array([self.vector(text) for text in texts], np.float32).reshape(-1, 2)

    def vector(self, text):
        said = [float(word[7:]) for word in text.split() if word.startswith("cosine=")]
        return [said[0], 0] if said else [1, 0]

    def knows(self, text):
        return True


class WordedWeb(TinyWeb):
    """A web in which a link has another cosine on each page: cosines[page, link]."""

    def __init__(self, links, relevant, relevance, cosines):
        super().__init__(links, relevant, relevance=relevance)
        self.cosines = cosines

    def page(self, name):
        shown = [
            Link(self.address(to), context=f"cosine={self.cosines[name, to]}")
            for to in self.links[name]
        ]
        return Page(self.address(name), name, name, tuple(shown))


def random_web(seed, pages=60):
    """A web whose pages have a few links each; some numbers are better linked than others."""
    rng = np.random.default_rng(seed)
    names = [f"p{number}" for number in range(pages)]
    links = {}
    for name in names:
        others = (rng.random(int(rng.integers(1, 9))) ** 1.5 * pages).astype(int)
        links[name] = [names[to] for to in dict.fromkeys(others.tolist())]
    relevance = {name: float(rng.random()) for name in names}
    relevant = [name for name in names if rng.random() < relevance[name] / 2]
    cosines = {(page, to): float(rng.random()) for page in names for to in names}
    return WordedWeb(links, relevant, relevance, cosines)


@dataclass
class Algorithm1:
    """The paper's pseudo-code, with dictionaries and lists; epsilon is 0."""

    web: WordedWeb
    kind: str
    fresh: bool
    w: list = field(default_factory=lambda: [0.0] * 14)
    visited: list = field(default_factory=list)
    pairs: list = field(default_factory=list)  # [q, page, link, x], oldest first
    parents: dict = field(default_factory=dict)
    smoothed: dict = field(default_factory=dict)  # w_rl of visited pages
    distance: dict = field(default_factory=dict)

    def crawl(self, seed, choices):
        """Crawl; among links that are equally good up to rounding, take that of `choices`."""
        self.fetch(seed)
        self.put(seed, self.open_links(seed))  # lines 5 to 13: seeds teach nothing
        for choice in choices:
            self.pairs = [pair for pair in self.pairs if pair[2] not in self.visited]  # line 21
            best = max(q for q, *_ in self.pairs)
            tied = [pair for pair in self.pairs if pair[0] > best - ROUNDING]
            same = [pair for pair in tied if pair[2] == choice] or tied
            _, page, link, x = max(same, key=lambda pair: pair[0])  # the oldest of equals
            self.step(link, self.x(page, link) if self.fresh else x)
        return self.visited

    def step(self, link, x):
        self.fetch(link)
        found = self.open_links(link)
        q, reward = self.q(x), self.reward(link)
        error = reward - q  # line 33
        if link not in self.web.relevant:
            following = max((self.q(self.x(link, to)) for to in found), default=0.0)
            error = reward + GAMMA * following - q
            if self.kind == "moderated":
                error = reward + GAMMA * (following - error) - q
        self.w = [weight + ALPHA * error * value for weight, value in zip(self.w, x, strict=True)]
        self.put(link, found)
        if self.kind == "sync":  # lines 40 to 43
            for pair in self.pairs:
                if self.fresh:
                    pair[3] = self.x(pair[1], pair[2])
                pair[0] = self.q(pair[3])

    def fetch(self, name):
        self.visited.append(name)
        relevance = self.web.relevance[name]
        past = max((self.smoothed[page] for page in self.parents.get(name, [])), default=relevance)
        self.smoothed[name] = BETA * relevance + (1 - BETA) * past
        if name in self.web.relevant:
            self.distance[name] = 0
        for to in self.web.links[name]:
            if to != name:
                self.parents.setdefault(to, []).append(name)
                nearer = min(self.distance.get(name, 9) + 1, 9)
                self.distance[to] = min(self.distance.get(to, 9), nearer)

    def open_links(self, name):
        return [to for to in self.web.links[name] if to not in self.visited]

    def put(self, page, found):
        for to in found:
            x = self.x(page, to)
            self.pairs.append([self.q(x), page, to, x])

    def x(self, page, link):
        change, size = self.change(page), abs(self.change(page))
        index = 0 if size <= 0.1 else 1 if size <= 0.3 else 2
        return [
            *self.indexes(self.web.relevance[page], *self.averages(page)),
            index if change > 0 or not index else index + 2,
            self.distance.get(page, 9),
            *self.indexes(self.web.cosines[page, link], *self.averages(link)),
        ]

    def indexes(self, *values):
        five = [sum(value >= edge for edge in (0.2, 0.4, 0.6, 0.8)) for value in values]
        return five + [sum(v >= edge for edge in (0.1, 0.3, 0.5, 0.7, 0.9)) for v in values]

    def averages(self, name):
        every = [self.web.relevance[page] for page in self.parents.get(name, [])]
        good = [self.web.relevance[p] for p in self.parents.get(name, []) if p in self.web.relevant]
        return [sum(some) / len(some) if some else 0.0 for some in (every, good)]

    def change(self, page):
        past = [self.smoothed[parent] for parent in self.parents.get(page, [])]
        return self.web.relevance[page] - max(past) if past else 0.0

    def q(self, x):
        return sum(weight * value for weight, value in zip(self.w, x, strict=True))

    def reward(self, name):
        relevance = self.web.relevance[name]
        if name in self.web.relevant or relevance > 0.5:
            return 30
        return 20 if relevance > 0.4 else -1


def crawled(web, kind, frontier, steps):
    settings = {"gamma": GAMMA, "step_size": ALPHA, "epsilon": 0.0, "frontier": frontier}
    agent = KINDS[kind](Goal("topic", Said()), np.random.default_rng(0), **settings)
    navigator = bare_navigator(agent, frontier_of(agent, np.random.default_rng(0)))
    visited = []
    note = lambda visit, step, now: visited.append(visit.link.url.rsplit("/", 1)[1])  # noqa: E731
    simulate(navigator, web, [web.find("p0")], steps, 1, note)
    return visited, agent


@pytest.mark.parametrize("fresh", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_algorithm_1_written_again_takes_the_same_decisions(kind, fresh):
    for seed in range(20):
        found, agent = crawled(random_web(seed), kind, "fresh_pairs" if fresh else "pairs", 40)
        again = Algorithm1(random_web(seed), kind, fresh)
        assert again.crawl("p0", found[1:]) == found, seed
        assert agent.policy()["weights"] == pytest.approx(again.w, abs=1e-4)


def test_pairs_and_fresh_rows_decide_otherwise_than_one_row_a_link():
    for kind in KINDS:
        orders = [
            [crawled(random_web(seed), kind, frontier, 40)[0] for seed in range(15)]
            for frontier in ("best_first", "pairs", "fresh_pairs")
        ]
        assert orders[0] != orders[1] != orders[2]


def test_an_unknown_frontier_is_told_in_a_sentence():
    with pytest.raises(HoneyguideError, match="did you mean 'pairs'"):
        LinearSync(Goal("topic", Said()), np.random.default_rng(0), frontier="pair")
