"""What features promise."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from honeyguide.contracts import (
    Accumulating,
    Agent,
    Candidates,
    Encoder,
    Features,
    Goal,
    Link,
    Matrix,
    MemoryView,
    Outlinks,
    Page,
    Step,
    Vector,
    dtype_of,
    nbytes_of,
)
from honeyguide.testing.contract import (
    ODD_URLS,
    TOPIC,
    PartLike,
    check_features_rows,
    check_written,
    default_encoder,
    make_part,
    promised,
    require,
)
from honeyguide.testing.crawling import crawl, fail_everywhere, steer
from honeyguide.testing.resume import through_a_file
from honeyguide.testing.tiny_webs import Labelled, TinyWeb, refuse_truth, start_of, word_web

PAGES = 30
CLOSE = 1e-5  # between rows of the same links in other company
SHORT = 10  # pages of a crawl whose features are smaller than those of a longer one
SAVING = (
    "Save what they keep in state(), bring it back in load(), and call both from your agent's"
    " state() and load(); or keep nothing"
)


def check_features(features: PartLike, *, encoder: Encoder | None = None) -> None:
    """Raise a ContractError unless features keep their promises.

    `goal`, `topic`, `encoder` and `rng` are filled in.

    - `width` says how many numbers a link has.
    - Called with the memory and the links of one page, also of seeds and of no page, they give
      one finite row of that width a link, of float32 or of their `dtype`, also for no links and
      for odd URLs.
    - Without a state of their own, they say the same of the same links again, and made anew.
    - The same crawl gives the same rows: no clock, no chance of their own.
    - They do not depend on `page.labels`, and change nothing they are given.
    - What they keep from page to page is in `state`, can be written, and `load` brings it back;
      if it grows with the crawl, `nbytes` says how large it is, the same after a load.
    """
    rng = np.random.default_rng
    known = encoder or default_encoder()
    goal = Goal(TOPIC, known, refuse_truth)

    def make() -> Any:
        offers = {"goal": goal, "topic": TOPIC, "encoder": known, "rng": rng(0)}
        return make_part("features", features, ("width", "__call__"), **offers)

    _check_width(make())
    with promised("features must take any links, but raised an error"):
        first = _rows(make(), word_web(), make)
        odd = Page("http://a.example/", links=tuple(map(Link, ODD_URLS)))
        fail_everywhere(steer(_Steering(make(), None)), odd)
    again = _rows(make(), word_web(), None)
    require(
        _equal(first, again),
        "the same crawl gave other features: depend on the links and the memory alone, never on"
        " random, numpy.random, a clock, or what is kept on the class",
    )
    labelled = _rows(make(), Labelled(word_web()), None)
    require(
        _equal(first, labelled),
        "features depend on page.labels, the ground truth that only judges may see",
    )
    if hasattr(make(), "state"):
        _check_state(make)


class _Steering(Agent):
    """Takes links as they come, checks every row, and keeps a copy."""

    foresees = False

    def __init__(self, inner: Any, make: Callable[[], Any] | None) -> None:
        self.rows: list[Matrix] = []
        self.features: Features = _Checked(inner, self.rows, make)

    def score(self, links: Candidates) -> Vector:
        return -links.ids.astype(np.float32)

    def learn(self, steps: Sequence[Step]) -> None:
        pass


class _Checked:
    """Features whose every answer is checked."""

    def __init__(
        self, inner: Any, rows: list[Matrix], make: Callable[[], Any] | None = None
    ) -> None:
        self.width: int = inner.width
        self.dtype = dtype_of(inner)
        self.accumulates = isinstance(inner, Accumulating) and inner.accumulates
        self._inner = inner
        self._rows = rows
        self._make = make

    def __call__(self, memory: MemoryView, found: Outlinks) -> Matrix:
        ids = found.ids.copy()
        rows: Matrix = self._inner(memory, found)
        check_features_rows(rows, len(found.links), self._inner)
        require(np.array_equal(ids, found.ids), "features changed found.ids: work on a copy")
        self._rows.append(rows.copy())
        nothing = replace(found, links=(), ids=found.ids[:0], rows=None)
        check_features_rows(self._inner(memory, nothing), 0, self._inner)
        if self._make is not None and not hasattr(self._inner, "state"):
            self._check_fresh(memory, found, self._make)
        return self._rows[-1]

    def _check_fresh(self, memory: MemoryView, found: Outlinks, make: Callable[[], Any]) -> None:
        """What is not saved must not matter."""
        require(
            np.allclose(self._inner(memory, found), self._rows[-1], atol=CLOSE),
            "asked for the same links again, features said something else: what they give may"
            " depend on the links and the memory alone",
        )
        if len(self._rows) == PAGES // 2:
            require(
                np.allclose(make()(memory, found), self._rows[-1], atol=CLOSE),
                f"features keep something from page to page and have no state(). {SAVING}",
            )


def _check_width(features: Any) -> None:
    width = features.width
    require(
        isinstance(width, int) and width > 0,
        f"features.width is {width!r}: say how many numbers a link has, one or more",
    )


def _rows(
    features: Any, world: TinyWeb, make: Callable[[], Any] | None, pages: int = PAGES
) -> list[Matrix]:
    agent = _Steering(features, make)
    crawl(steer(agent), world, (start_of(world),), pages)
    return agent.rows


def _equal(one: list[Matrix], other: list[Matrix]) -> bool:
    pairs = zip(one, other, strict=False)
    return len(one) == len(other) and all(np.array_equal(a, b) for a, b in pairs)


def _check_state(make: Callable[[], Any]) -> None:
    world = word_web()
    features, other = make(), make()
    agent = _Steering(features, None)
    navigator = steer(agent)
    crawl(navigator, world, (start_of(world),), SHORT)
    small = _size(features.state())
    trace = crawl(navigator, world, (), PAGES)
    check_written(features.state())
    with promised("load() could not read what state() gave, as it comes back from a file"):
        other.load(through_a_file(features.state()))
    found = navigator.memory.link(trace.steps[-1].id, world.page("rocks-0"))
    require(
        np.array_equal(features(navigator.memory, found), other(navigator.memory, found)),
        f"after a save and a load, features say something else. {SAVING}",
    )
    _check_bytes(features, other, _size(features.state()) > small)


def _check_bytes(features: Any, other: Any, grows: bool) -> None:
    require(
        hasattr(features, "nbytes") or not grows,
        "features keep something that grows with the crawl and do not say how large it is: give"
        " them a property nbytes, by which a crawl keeps to its limit of memory",
    )
    require(
        nbytes_of(features) == nbytes_of(other),
        f"features measure {nbytes_of(features)} bytes, and {nbytes_of(other)} after a save and"
        " a load: nbytes must be the same, since a crawl sheds links by it",
    )


def _size(state: Any) -> int:
    """Bytes of its arrays and texts, and items of the rest."""
    if isinstance(state, dict):
        return sum(_size(item) for item in state.values())
    if isinstance(state, list | tuple):
        return sum(_size(item) for item in state)
    return int(state.nbytes) if isinstance(state, np.ndarray) else len(str(state))
