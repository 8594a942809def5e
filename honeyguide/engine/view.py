"""Look at a navigator without changing it: waiting links, one link, what the agent has learnt."""

import math
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from honeyguide.contracts import (
    Candidates,
    Cut,
    Ids,
    Inspectable,
    Reasons,
    Vector,
    Waiting,
    refusal_by,
)
from honeyguide.engine.navigator import Navigator
from honeyguide.errors import HoneyguideError
from honeyguide.urls.forms import form

MOST_PARTS = 12  # of a score that are named; the others are added up
MOST_PARENTS = 50  # of a page that are named
AMONG = 2000  # best links that are sorted by the form of their URLs
SAMPLE = 400  # waiting links that signs are learnt from


class Part(Struct, frozen=True):
    """Something that speaks for a link (above 0) or against it (below 0)."""

    name: str
    value: float


class LinkView(Struct, frozen=True):
    """A link that waits or is being visited."""

    url: str
    score: float | None  # None: a seed, which comes before all others
    rank: int  # 1: no link has a higher score
    source: str  # the page that showed it last; empty for a seed
    depth: int
    rests: float  # seconds until its host may be asked
    is_full: bool  # whether its host has as many requests in flight as it may have
    parts: tuple[Part, ...]  # of its score, the largest first
    rest: float | None  # what is left of the score; None: parts do not add up


class HostQueue(Struct, frozen=True):
    """The waiting links of one host."""

    host: str
    waiting: int
    best: float | None  # its highest score; None: a seed
    rests: float
    is_full: bool


class Form(Struct, frozen=True):
    """The waiting links whose URLs have the same form."""

    form: str
    waiting: int
    best: float | None


class FrontierView(Struct, frozen=True):
    """The frontier of a crawl."""

    waiting: int
    in_flight: tuple[str, ...]
    links: tuple[LinkView, ...]  # the best, best first
    hosts: tuple[HostQueue, ...]  # the best, best first
    host_count: int  # hosts that have waiting links
    forms: tuple[Form, ...]  # of the best AMONG links, the most frequent first


class Parent(Struct, frozen=True):
    """A page that links to another."""

    url: str
    relevance: float
    relevant: bool


class UrlView(Struct, frozen=True):
    """What a crawl knows of a URL."""

    url: str
    state: str  # "waiting", "in flight", "fetched", "skipped", "refused", "dropped" or "unknown"
    refusal: str = ""  # why it is refused now
    waiting: int = 0  # links that wait, all together
    link: LinkView | None = None
    parents: tuple[Parent, ...] = ()  # the latest
    parent_count: int = 0
    path: tuple[str, ...] = ()  # from a seed to the URL


class Weighed(Struct, frozen=True):
    """What a word is worth in the anchor of a link."""

    word: str
    value: float


class LearntView(Struct, frozen=True):
    """What an agent has learnt."""

    words: tuple[Weighed, ...]  # those asked about, the best first
    signs: tuple[Part, ...]  # what sets the best waiting links apart from others, the most first


class CrawlView(Struct, frozen=True):
    """Counts of a running crawl that its store does not have."""

    visits: int
    relevant: int
    bytes: dict[str, int]  # of the tables in memory, by part
    cuts: tuple[tuple[str, int, str], ...]  # refused by the guard: reason, count, example


def frontier_view(
    navigator: Navigator, now: float, count: int = 20, most_hosts: int = 20
) -> FrontierView:
    """The frontier: its best links with their reasons, and its best queues."""
    frontier = _inspectable(navigator)
    waiting = frontier.waiting()
    best = waiting[_best_first(waiting.scores, max(count, AMONG))]
    hosts = _by_host(navigator, waiting, now)
    return FrontierView(
        waiting=len(navigator.frontier),
        in_flight=tuple(navigator.leases),
        links=tuple(_links(navigator, best[: min(count, len(best))], now)),
        hosts=tuple(hosts[:most_hosts]),
        host_count=len(hosts),
        forms=tuple(_by_form(navigator, best, count)),
    )


def url_view(navigator: Navigator, url: str, now: float) -> UrlView:
    """What became of a URL, or why nothing did."""
    memory = navigator.memory
    ids = memory.urls.find([url])
    id = int(ids[0])
    waiting = len(navigator.frontier)
    refusal = refusal_by(navigator.guard, memory, url)
    if id < 0:
        state = "refused" if refusal else "unknown"
        return UrlView(url, state, refusal, waiting)
    state, link = _state(navigator, id, url, now, refusal)
    parents = memory.parents(id, MOST_PARENTS)
    return UrlView(
        url,
        state,
        refusal,
        waiting,
        link,
        tuple(_parents(navigator, parents)),
        int(memory.parent_count(ids)[0]),
        tuple(_path(navigator, id)),
    )


def learnt_view(navigator: Navigator, words: Sequence[str]) -> LearntView:
    """What the agent thinks of words, and which signs set its best waiting links apart."""
    distinct = list(dict.fromkeys(words))
    values = navigator.agent.weigh(distinct) if distinct else None
    weighed = [] if values is None else zip(distinct, values.tolist(), strict=True)
    found = sorted((Weighed(*each) for each in weighed), key=lambda each: -each.value)
    return LearntView(tuple(found), tuple(_signs(navigator)))


def crawl_view(navigator: Navigator) -> CrawlView:
    """Counts and tables of a crawl."""
    cuts: list[Cut] = navigator.guard.report()
    return CrawlView(
        navigator.memory.visits,
        navigator.memory.relevant_found,
        navigator.measures(),
        tuple((cut.reason, cut.count, cut.example) for cut in cuts),
    )


def split(reasons: Reasons, row: int, score: float) -> tuple[tuple[Part, ...], float | None]:
    """The largest parts of a score, and what is left of it; None if parts do not add up."""
    values = reasons.parts[row]
    order = largest(values)
    parts = tuple(Part(reasons.names[place], float(values[place])) for place in order.tolist())
    if not reasons.adds_up or not math.isfinite(score):
        return parts, None
    return parts, score - math.fsum(part.value for part in parts)


def largest(values: Vector) -> NDArray[np.intp]:
    """Places of the largest parts, for or against, the largest first; parts of 0 are left out."""
    sizes = np.abs(values)
    order = np.argsort(-sizes, kind="stable")[:MOST_PARTS]
    return order[sizes[order] > 0]


def _inspectable(navigator: Navigator) -> Inspectable:
    if isinstance(navigator.frontier, Inspectable):
        return navigator.frontier
    raise HoneyguideError("the frontier of this crawl does not show its links")


def _best_first(scores: Vector, count: int) -> NDArray[np.intp]:
    """Places of the highest scores, the highest first."""
    count = min(count, len(scores))
    if not count:
        return np.empty(0, np.intp)
    top = np.argpartition(-scores, count - 1)[:count]
    return top[np.argsort(-scores[top], kind="stable")]


def _links(navigator: Navigator, some: Waiting, now: float) -> Iterator[LinkView]:
    if not len(some):
        return
    frontier = _inspectable(navigator)
    reasons = navigator.agent.explain(Candidates(some.ids, frontier.features_of(some.ids)))
    for row, id in enumerate(some.ids.tolist()):
        score = float(some.scores[row])
        parts, rest = split(reasons, row, score) if reasons else ((), score)
        rests = max(0.0, float(some.ready[row]) - now)
        yield _link(navigator, id, score, rests, bool(some.full[row]), parts, rest)


def _link(
    navigator: Navigator,
    id: int,
    score: float,
    rests: float,
    is_full: bool,
    parts: tuple[Part, ...],
    rest: float | None,
) -> LinkView:
    link = navigator.link_to(id)
    rank = _inspectable(navigator).rank(score)
    known = _number(score)
    rest = rest if rest is None or math.isfinite(rest) else None
    return LinkView(link.url, known, rank, link.source, link.depth, rests, is_full, parts, rest)


def _number(score: float) -> float | None:
    return score if math.isfinite(score) else None


def _by_host(navigator: Navigator, waiting: Waiting, now: float) -> list[HostQueue]:
    """The queues of hosts, the best first."""
    if not len(waiting):
        return []
    hosts = navigator.memory.host(waiting.ids)
    order = np.lexsort((-waiting.scores, hosts))
    _, first, counts = np.unique(hosts[order], return_index=True, return_counts=True)
    best = order[first]
    queues = [
        HostQueue(
            navigator.memory.urls.host_name(int(hosts[place])),
            int(count),
            _number(float(waiting.scores[place])),
            max(0.0, float(waiting.ready[place]) - now),
            bool(waiting.full[place]),
        )
        for place, count in zip(best.tolist(), counts.tolist(), strict=True)
    ]
    return sorted(queues, key=lambda queue: -math.inf if queue.best is None else -queue.best)


def _by_form(navigator: Navigator, best: Waiting, count: int) -> Iterator[Form]:
    counts: Counter[str] = Counter()
    scores: dict[str, float] = {}
    for id, score in zip(best.ids.tolist(), best.scores.tolist(), strict=True):
        like = form(navigator.memory.urls.url(id))
        counts[like] += 1
        scores.setdefault(like, score)
    for like, number in counts.most_common(count):
        yield Form(like, number, _number(scores[like]))


def _state(
    navigator: Navigator, id: int, url: str, now: float, refusal: str
) -> tuple[str, LinkView | None]:
    ids = np.array([id], np.int32)
    lease = navigator.leases.get(url)
    if lease is not None:
        return "in flight", _link(navigator, id, lease.score, 0.0, True, (), None)
    waiting = _inspectable(navigator).waiting()
    own = waiting[waiting.ids == id]
    if len(own):
        return "waiting", next(_links(navigator, own, now))
    if navigator.memory.is_visited(id):
        return "fetched", None
    if navigator.has_skipped(ids):
        return "skipped", None
    return ("refused" if refusal else "dropped"), None


def _parents(navigator: Navigator, ids: Ids) -> Iterator[Parent]:
    memory = navigator.memory
    columns = memory.relevance(ids).tolist(), memory.relevant(ids).tolist()
    for id, relevance, relevant in zip(ids.tolist(), *columns, strict=True):
        yield Parent(memory.urls.url(id), relevance, relevant)


def _path(navigator: Navigator, id: int) -> list[str]:
    """The URLs from a seed to a page, along the first path found."""
    memory, path = navigator.memory, [id]
    while memory.depth(path[-1]):
        parents = memory.parents(path[-1]).tolist()
        nearer = [each for each in parents if memory.depth(each) < memory.depth(path[-1])]
        if not nearer:
            break
        path.append(min(nearer, key=memory.depth))
    return [memory.urls.url(each) for each in reversed(path)]


def _signs(navigator: Navigator) -> list[Part]:
    """How the best waiting links differ from others, in the parts of their scores."""
    frontier = _inspectable(navigator)
    waiting = frontier.waiting()
    waiting = waiting[np.isfinite(waiting.scores)]
    if len(waiting) < 2:
        return []
    order = _best_first(waiting.scores, len(waiting))
    spread = order[np.linspace(0, len(order) - 1, min(SAMPLE, len(order))).astype(np.intp)]
    top = order[: max(1, min(len(order) // 10, SAMPLE // 4))]
    of_all, of_top = (_reasons(navigator, waiting.ids[rows]) for rows in (spread, top))
    if of_all is None or of_top is None:
        return []
    apart = of_top.parts.mean(axis=0) - of_all.parts.mean(axis=0)
    return [Part(of_all.names[place], float(apart[place])) for place in largest(apart).tolist()]


def _reasons(navigator: Navigator, ids: Ids) -> Reasons | None:
    return navigator.agent.explain(Candidates(ids, _inspectable(navigator).features_of(ids)))
