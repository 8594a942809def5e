"""Link farms beside a good site, and a crawl of them that can be killed after any visit."""

import os
import random
import signal
import sys
from pathlib import Path

import numpy as np

from honeyguide.contracts import Agent, Link, Page, Verdict, Visit
from honeyguide.engine.navigator import Navigator
from honeyguide.frontiers.best_first import BestFirst
from honeyguide.guards.live import LiveGuard
from honeyguide.storage.database import create, holds_crawl
from honeyguide.storage.store import RecordingNavigator, Store

GOOD = "http://www.good.test"
SEED = "http://start.test/"
SITE = 30  # pages of the good site
WIDTH = 64  # features of a link
LETTERS = str.maketrans("0123456789", "ghijklmnop")


def word(dice, length=10):
    return f"{dice.getrandbits(4 * length):0{length}x}".translate(LETTERS)


# URLs that pages of each kind of farm link to
KINDS = {
    "subdomains": lambda dice: f"http://{word(dice)}.farm.test/",
    "domains": lambda dice: f"http://{word(dice)}.test/{word(dice, 1)}",
    "paths": lambda dice: f"http://farm.test/{word(dice)}/{word(dice)}",
    "queries": lambda dice: f"http://farm.test/list?find={word(dice)}",
    "copies": lambda dice: f"http://{word(dice)}.test/{word(dice, 1)}",
}


class Farm:
    """Visits of a link farm, where every URL has a page with new links, and of a finite site."""

    def __init__(self, kind, links=1000):
        self.kind, self.links = kind, links

    def visit(self, link):
        if link.url == SEED:
            return _visit(link, "start here", [f"{GOOD}/0", *self._new(random.Random(1))])
        if link.url.startswith(GOOD):
            return self._good(link)
        dice = random.Random(link.url)
        own = random.Random(0) if self.kind == "copies" else dice
        return _visit(link, _text(own), self._new(dice))

    def _new(self, dice):
        return [KINDS[self.kind](dice) for _ in range(self.links)]

    def _good(self, link):
        number = int(link.url.rpartition("/")[2])
        further = [n for n in (2 * number + 1, 2 * number + 2) if n < SITE]
        links = [f"{GOOD}/{n}" for n in further]
        links += self._new(random.Random(2))[:3] if number == 3 else []
        return _visit(link, _text(random.Random(number)), links, relevant=number % 2 == 0)


def _text(dice):
    return " ".join(word(dice) for _ in range(99))


def _visit(link, text, links, relevant=False):
    page = Page(link.url, "", text, tuple(Link(to, depth=link.depth + 1) for to in links))
    return Visit(link, page, Verdict(float(relevant), relevant))


class AncestorRelevance:
    """Wide rows of features: the relevance of a link's ancestors, its age, and zeros."""

    width = WIDTH

    def __call__(self, memory, found):
        x = np.zeros((len(found.ids), WIDTH), np.float32)
        x[:, 0] = memory.ancestor_relevance(found.ids)
        x[:, 1] = -found.ids
        return x


class FollowRelevant(Agent):
    """Visits links of relevant pages first, among equals the oldest."""

    def __init__(self):
        self.features = AncestorRelevance()

    def score(self, links):
        return links.x[:, 0] + np.float32(1e-7) * links.x[:, 1]

    def learn(self, steps):
        pass


def navigator(guard=None, max_bytes=None):
    frontier = BestFirst(WIDTH, np.random.default_rng(0))
    made = Navigator(FollowRelevant(), frontier, guard=guard or LiveGuard())
    if max_bytes is not None:
        made.limit_bytes(max_bytes)
    return made


def table_bytes(navigator):
    """Return the size of a saved state, in bytes."""
    return _size(navigator.state())


def _size(state):
    if isinstance(state, dict):
        return sum(map(_size, state.values()))
    if isinstance(state, list):
        return sum(map(_size, state))
    return (
        state.nbytes
        if isinstance(state, np.ndarray)
        else len(state)
        if state.__class__ is str
        else 8
    )


def drive(steering, farm, visits):
    """Crawl so many pages and return the visited URLs in order."""
    asked = []
    while len(asked) < visits and (link := steering.choose(0.0)) is not None:
        asked.append(link.url)
        steering.absorb(farm.visit(link), 0.0)
    return asked


def crawl(folder, kind, visits, max_bytes=None, killed=False):
    """Begin or resume a crawl in a folder; with `killed`, end it by SIGKILL."""
    if not holds_crawl(folder):
        create(folder, {"kind": kind})
    store = Store(folder, batch_seconds=0.01)
    steering = RecordingNavigator(navigator(), store, max_bytes)
    steering.seed([Link(SEED)])
    asked = drive(steering, Farm(kind, links=500), visits)
    store.flush()
    if killed:
        os.kill(os.getpid(), signal.SIGKILL)
    store.close()
    return asked, steering.navigator


if __name__ == "__main__":
    crawl(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), killed=True)
