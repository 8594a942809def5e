"""What a frontier promises."""

from collections.abc import Callable

import numpy as np

from honeyguide.contracts import UNASKED, Frontier, Ids, Taken, Vector, Withdrawable
from honeyguide.testing.contract import (
    ContractError,
    PartLike,
    check_written,
    make_part,
    promised,
    require,
    require_mask,
)
from honeyguide.testing.resume import first_difference, through_a_file

MEMBERS = (
    *("wants", "put", "take", "pick", "release", "park", "drop", "shed"),
    *("wake", "rescore", "end", "best", "__len__", "state", "load"),
)
COUNT = 50
HOSTS = 5
DELAY = 3.0  # seconds
Make = Callable[..., Frontier]


def check_frontier(frontier: PartLike, *, comes_back: bool = False) -> None:
    """Raise a ContractError unless a frontier keeps its promises.

    `width`, `rng`, `delay` and `patience` are filled in. A walk `comes_back` to pages.

    - What is put in comes out once, with the row and the score it was put in with; -inf never.
    - `wants` says yes or no for each link; yes to one never seen.
    - A host has one request in flight, and rests for `delay` seconds between two, also when links
      are taken at random; `wake` says when the next can be taken, None when nothing helps but a
      release or a put. A host that was not asked (UNASKED) is as ready as before.
    - `pick` takes a waiting link out of turn, and none that does not wait.
    - `drop` lets links wait no more; `park` until they are found again.
    - `shed` keeps so many links and gives the scores of the others.
    - `withdraw`, where there is one, gives links back until they are found again.
    - `best` is the highest score that waits, -inf when nothing does; `rescore` changes scores.
    - `len` counts what waits. `end` breaks nothing.
    - `state` can be written, and a loaded frontier goes on as the saved one.
    """

    def make(seed: int = 0, delay: float = 0.0) -> Frontier:
        rng = np.random.default_rng(seed)
        offers = {"width": 2, "rng": rng, "delay": delay, "patience": 0.0}
        made: Frontier = make_part("frontier", frontier, MEMBERS, **offers)
        return made

    for check in (_check_out, _check_unasked, _check_saving, _check_drops, _check_scores):
        check(make)
    _check_withdrawn(make())
    for at_random in (False, True):
        _check_rest(make, at_random)
    _check_pick(make, comes_back)


def _fill(frontier: Frontier, count: int = COUNT, hosts: int = HOSTS) -> Ids:
    ids = np.arange(count, dtype=np.int32)
    scores = _score(ids)
    frontier.put(ids, ids % hosts, np.stack([scores, scores], axis=1), scores)
    return ids


def _score(ids: Ids) -> Vector:
    return (ids * 37 % 11).astype(np.float32)


def _take(frontier: Frontier, now: float, at_random: bool = False) -> Taken:
    taken = frontier.take(now, at_random)
    if taken is None:
        raise AssertionError  # only asked for where something waits
    return taken


def _empty(frontier: Frontier) -> list[int]:
    """Take all that waits, one after another."""
    taken: list[int] = []
    while len(taken) <= 2 * COUNT and (link := frontier.take(0.0)) is not None:
        taken.append(link.id)
        frontier.release(link.id, 0.0)
    return taken


def _check_out(make: Make) -> None:
    frontier = make()
    ids = _fill(frontier)
    require(len(frontier) == COUNT, f"len() is {len(frontier)} after {COUNT} links were put in")
    new = np.array([COUNT, COUNT + 1], np.int32)
    require_mask(frontier.wants(new), 2, "wants()")
    require(np.all(frontier.wants(new)), "wants() refused links that were never seen")
    require_mask(frontier.wants(new[:0]), 0, "wants()")
    first = frontier.take(0.0)
    if first is None:
        raise _nothing("a link waits and its host is ready")
    _check_taken(first)
    frontier.release(first.id, 0.0)
    taken = [first.id, *_empty(frontier)]
    require(
        sorted(taken) == ids.tolist(),
        f"{COUNT} links were put in, {len(taken)} came out ({len(set(taken))} distinct):"
        " each comes out once",
    )
    require(len(frontier) == 0, f"len() is {len(frontier)} after all was taken")
    frontier.end()


def _check_taken(taken: Taken) -> None:
    score = float(_score(np.array([taken.id], np.int32))[0])
    require(
        taken.score == score and np.asarray(taken.x).tolist() == [score, score],
        f"link {taken.id} came out with score {taken.score} and row {taken.x}, but was put in"
        f" with score {score} and row {[score, score]}",
    )


def _check_rest(make: Make, at_random: bool) -> None:
    frontier = make(delay=DELAY)
    _fill(frontier)
    last: dict[int, float] = {}
    now, done = 0.0, 0
    while done < COUNT:
        flying = _take_all(frontier, now, at_random, last)
        for id in flying:
            frontier.release(id, now)
        done += len(flying)
        wake = frontier.wake(now)
        require(
            (wake is None) == (done == COUNT),
            f"wake() is {wake} with {COUNT - done} links left: say when take() can next succeed",
        )
        if wake is not None:
            _check_wake(frontier, now, wake)
            now = wake


def _take_all(frontier: Frontier, now: float, at_random: bool, last: dict[int, float]) -> list[int]:
    flying: list[int] = []
    while (link := frontier.take(now, at_random)) is not None:
        host = link.id % HOSTS
        require(
            host not in {other % HOSTS for other in flying},
            "take() gave a second link of a host before the first was released: a host has one"
            " request in flight",
        )
        rested = now - last.get(host, -DELAY)
        require(
            rested >= DELAY,
            f"take() gave a link of a host {rested:g} s after the last one: it rests for `delay`"
            f" seconds after release(), here {DELAY:g}",
        )
        last[host] = now
        flying.append(link.id)
    return flying


def _check_wake(frontier: Frontier, now: float, wake: float) -> None:
    require(wake > now, f"wake({now:g}) is {wake:g}, though nothing can be taken now")
    early = frontier.take(float(np.nextafter(wake, -np.inf)))
    require(early is None, f"wake() says {wake:g}, but a link could be taken before")


def _check_unasked(make: Make) -> None:
    frontier = make(delay=DELAY)
    _fill(frontier, count=20, hosts=1)
    for _ in range(10):
        link = frontier.take(0.0)
        if link is None:
            raise _nothing("its host was released as UNASKED, so it needs no rest")
        frontier.release(link.id, 0.0, UNASKED)
    frontier.release(_take(frontier, 0.0).id, 0.0)
    require(frontier.take(2.9) is None, "a host was asked again before its `delay` had passed")
    require(
        frontier.wake(2.9) == DELAY, f"wake(2.9) is {frontier.wake(2.9)}: the host is ready at 3"
    )
    link = frontier.take(DELAY)
    if link is None:
        raise _nothing("its host has rested for `delay` seconds")
    frontier.release(link.id, 4.0, UNASKED)
    if frontier.take(4.0) is None:
        raise _nothing("its host was released as UNASKED, so it needs no rest")


def _check_saving(make: Make) -> None:
    one, other = make(), make(seed=5)
    _fill(one)
    for _ in range(10):
        one.release(_take(one, 0.0, at_random=True).id, 0.0)
    state = one.state()
    check_written(state)
    saved = through_a_file(state)
    with promised("load() could not read what state() gave, as it comes back from a file"):
        other.load(through_a_file(state))
    where = first_difference(saved, through_a_file(other.state()))
    require(not where, f"it does not load what it saved: {where}")
    for step in range(COUNT - 10):
        a, b = (_shown(front.take(0.0, at_random=step % 3 == 0)) for front in (one, other))
        require(
            a == b,
            f"after a save and a load, take() gave {b} instead of {a}: state() must hold all that"
            " waits, in its order, and the random generator",
        )
        for front in (one, other):
            front.release(a[0], 0.0)


def _shown(taken: Taken | None) -> tuple[int, float, list[float]]:
    if taken is None:
        raise _nothing("a link waits and its host is ready")
    return int(taken.id), float(taken.score), np.asarray(taken.x).tolist()


def _check_pick(make: Make, comes_back: bool) -> None:
    frontier = make(delay=DELAY)
    _fill(frontier)
    picked = frontier.pick(17, 0.0)
    if picked is None:
        raise _nothing("link 17 waits, and pick(17) asks for it")
    require(picked.id == 17, f"pick(17) gave link {picked.id}")
    _check_taken(picked)
    require(
        comes_back or frontier.pick(17, 0.0) is None,
        "pick() gave a link twice: it waits no more once it was taken",
    )
    require(frontier.pick(COUNT + 7, 0.0) is None, "pick() gave a link that was never put in")
    taken = []
    while (link := frontier.take(0.0)) is not None:
        taken.append(link.id)
    require(
        not {id % HOSTS for id in taken} & {17 % HOSTS},
        "take() gave a link of a host whose picked link is still in flight",
    )
    frontier.release(17, 0.0)


def _check_drops(make: Make) -> None:
    frontier = make()
    _fill(frontier)
    frontier.drop(np.array([3, 4], np.int32))
    parked = _take(frontier, 0.0)
    frontier.park(parked.id)
    taken = _empty(frontier)
    require(not {3, 4} & set(taken), "take() gave a link that was dropped")
    require(parked.id not in taken, "take() gave a link that was parked and not found again")
    ids = np.array([parked.id], np.int32)
    require(
        np.all(frontier.wants(ids)), "wants() refuses a parked link: it may wait when found again"
    )
    frontier.put(ids, ids % HOSTS, np.zeros((1, 2), np.float32), np.zeros(1, np.float32))
    require(frontier.take(0.0) is not None, "a parked link that was found again did not come out")


def _check_withdrawn(frontier: Frontier) -> None:
    if not isinstance(frontier, Withdrawable):
        return
    _fill(frontier)
    asked = np.array([7, 8, 9, 10, COUNT + 3], np.int32)
    gone = frontier.withdraw(asked)
    require(
        sorted(gone.ids.tolist()) == [7, 8, 9, 10],
        f"withdraw() of four waiting links and an unknown one returned {gone.ids.tolist()}",
    )
    scores = _score(gone.ids)
    require(np.array_equal(gone.x[:, 0], scores), "withdraw() returned other rows than were put in")
    require(bool(np.all(np.diff(scores) <= 0)), "withdraw() did not return the best link first")
    require(
        len(frontier) == COUNT - 4, f"len() is {len(frontier)} after 4 of {COUNT} were withdrawn"
    )
    require(len(frontier.withdraw(asked)) == 0, "withdraw() gave links that do not wait")
    require(np.all(frontier.wants(asked)), "wants() refuses a withdrawn link that is found again")
    require(not set(asked.tolist()) & set(_empty(frontier)), "take() gave a withdrawn link")


def _check_scores(make: Make) -> None:
    frontier = make()
    require(frontier.best() == -np.inf, f"best() is {frontier.best()} when nothing waits: -inf")
    require(frontier.take(0.0) is None, "take() gave a link when nothing waits")
    require(frontier.wake(0.0) is None, "wake() names a time when nothing waits: None")
    ids = _fill(frontier)
    require(frontier.best() == 10, f"best() is {frontier.best()}, and the highest score is 10")
    frontier.rescore(lambda links: -links.x[:, 0])
    require(frontier.best() == 0, "rescore() did not change scores: best() is still the old one")
    scores = frontier.shed(20)
    require(len(frontier) == 20, f"shed(20) left {len(frontier)} links")
    require(
        np.shape(scores) == (COUNT - 20,),
        f"shed(20) of {COUNT} links returned shape {np.shape(scores)}: the scores of those shed",
    )
    require(
        float(np.max(scores)) <= float(np.sort(-_score(ids))[-20]), "shed() let better links go"
    )
    _check_refused(make())


def _check_refused(frontier: Frontier) -> None:
    ids = np.arange(3, dtype=np.int32)
    scores = np.array([1, -np.inf, 2], np.float32)
    frontier.put(ids, ids, np.ones((3, 2), np.float32), scores)
    taken = _empty(frontier)
    require(1 not in taken, "take() gave a link that was put in with score -inf: it is refused")
    require(sorted(taken) == [0, 2], f"of links 0 and 2, {taken} came out beside a refused one")


def _nothing(why: str) -> ContractError:
    return ContractError(f"nothing was taken, though {why}")
