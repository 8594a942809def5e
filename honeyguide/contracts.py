"""The data of a crawl, and what each kind of part must do: read this first.

The navigator calls parts in this order. For a choice: `Agent.stops`, `Frontier.take`,
`Agent.explores`, `Guard.allows`, `Gate.opens`. For a visit that is absorbed: `Frontier.release`,
`Guard.note`, `Gate.note`, `Vocabulary.observe`, `Guard.screen`, `Agent.follows`, `Frontier.wants`,
`Guard.admit`, `Gate.see`, `Features`, `Agent.reward`, `learn` and `score`, `Frontier.put`,
`Agent.ends` and `stale`. It calls them from one thread at a time; none may use a clock, do I/O, or
draw random numbers from a generator that was not handed in.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, runtime_checkable

import msgspec
import numpy as np
from numpy.typing import NDArray

from honeyguide.urls.patterns import UrlLists

Vector = NDArray[np.float32]  # shape (n,)
Matrix = NDArray[np.float32]  # shape (n, width)
FeatureRows = NDArray[Any]  # shape (n, width): float32, unless Features are Packed
Ids = NDArray[np.int32]  # shape (n,): pages by their number in Memory, which starts at 0
Mask = NDArray[np.bool_]  # shape (n,)
State = dict[str, Any]  # numpy arrays, numbers, strings, None, and dicts and lists of them
UNASKED = -math.inf  # a host delay that means: no request was sent, the host need not rest


# --------------------------------------------------------------------------- data


class Link(msgspec.Struct, frozen=True, gc=False):  # faster to make: a page has dozens
    """A link to a page, as it appears on its source page."""

    url: str
    anchor: str = ""
    context: str = ""  # the text around it on the source page
    tag_path: str = ""  # "html/body/nav/ul/li/a"; it may end in "a[hreflang=fr]"
    depth: int = 0  # hops from a seed
    source: str = ""  # URL of the page it was found on; empty for seeds
    box: tuple[float, float, float, float] | None = None  # x, y, width, height in CSS pixels


@dataclass(frozen=True, slots=True)
class Response:
    """A server's answer, or why there is none."""

    link: Link
    url: str  # after redirects
    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    failure: str = ""  # "timeout", "robots", "too large" ...; empty if the answer is complete
    seconds: float | None = None  # from request to answer; None: not known
    sent: float | None = None  # when it was requested, seconds since 1970; None: not known


class Request(NamedTuple):
    """One request that was sent (for a page, a redirect, robots.txt ...), and its answer."""

    host: str
    url: str
    sent: float  # seconds since 1970, by the crawler's clock
    seconds: float  # until the answer was complete or given up
    status: int = 0  # 0 without an answer
    failure: str = ""  # as in Response; "cancelled" when the crawl ended first
    bytes: int = 0  # of the body, as transferred
    retry_after: float | None = None  # seconds in the answer's Retry-After header
    location: str = ""  # the target of a redirect


@dataclass(frozen=True, slots=True)
class Metadata:
    """What a page says about itself; empty where it says nothing."""

    canonical: str = ""  # the URL it prefers for itself
    author: str = ""  # names, with "; " between them
    published: str = ""  # ISO 8601: "2020", "2020-05", "2020-05-05" or with a time
    headings: tuple[str, ...] = ()  # h1 to h3, in document order


NO_METADATA = Metadata()


@dataclass(frozen=True, slots=True)
class Page:
    """A parsed page: its text, and its links in document order."""

    url: str
    title: str = ""
    text: str = ""
    links: tuple[Link, ...] = ()
    html: bytes = b""
    labels: tuple[str, ...] = ()  # ground truth of a recorded or generated web: for judges only
    declared_language: str = field(
        default="", compare=False, repr=False
    )  # by its first tag, such as "en"
    metadata: Metadata = field(default=NO_METADATA, repr=False)
    link_words: object = field(default=None, compare=False, repr=False)  # if they were read ahead

    @property
    def language(self) -> str:
        """The language of its text, such as "en", else the declared one; may be empty."""
        from honeyguide.text.languages import detected_language  # noqa: PLC0415 seldom asked for

        return detected_language(self.text, self.declared_language)


@dataclass(frozen=True, slots=True)
class Verdict:
    """A judge's opinion of a page."""

    relevance: float  # in [0, 1]
    relevant: bool
    reasons: tuple[str, ...] = ()  # shown to the user: "'rock' matches 'geology' (0.71)"
    measures: tuple[float, ...] = ()  # what a Calibrated judge measured, as many for each page


class OfHost(NamedTuple):
    """A fact that a world has learnt of a host; it is stored, for the world of a resumed crawl."""

    host: str
    what: str  # "failures", "sitemaps" ...: a later value with the same name replaces it
    value: float | bytes


UNWANTED = Verdict(0.0, False, ("asks not to be indexed",))  # noindex: only its links are used


@dataclass(frozen=True, slots=True)
class Visit:
    """The result of visiting one link; a failed fetch is a visit too."""

    link: Link
    page: Page | None  # None if the fetch failed
    verdict: Verdict  # of the world; the guard may replace it
    response: Response | None = None  # None on recorded and generated webs
    failure: str = ""  # why there is no page; empty if there is one
    seconds: float = 0.0  # that the visit took
    # seconds before the next request to the host; None: the frontier's delay; UNASKED: no rest
    host_delay: float | None = None
    again: bool = False  # the failure is temporary: the navigator may retry the link
    learnt: tuple[OfHost, ...] = ()  # stored with the visit, see Recalling


@dataclass(frozen=True, slots=True)
class Outlinks:
    """New or waiting links of one page, each target once; `ids[i]` is the page of `links[i]`."""

    page: Page | None  # None for seeds, and after a failed fetch
    source: int  # number of the page they were found on; -1 for seeds
    links: tuple[Link, ...]
    ids: Ids
    rows: FeatureRows | None = None  # of links that wait, zeros for others: see Accumulating


@dataclass(frozen=True, slots=True)
class Candidates:
    """Links with their features: row i of `x` belongs to the link to page `ids[i]`."""

    ids: Ids  # shape (links,)
    x: FeatureRows  # shape (links, width of the features)

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, rows: slice | Mask | NDArray[np.intp]) -> "Candidates":
        """The chosen rows."""
        return Candidates(self.ids[rows], self.x[rows])


Scorer = Callable[[Candidates], Vector]  # one score for each link


START = "what every link starts with"  # the name of a part that is the same for all links


@dataclass(frozen=True, slots=True)
class Reasons:
    """What speaks for links (above 0) and against them (below 0), in parts with names."""

    names: tuple[str, ...]  # in plain words, each once
    parts: Matrix  # shape (links, names)
    adds_up: bool = True  # a row's sum is the score; False: what the score loses without each


@dataclass(frozen=True, slots=True)
class Waiting:
    """The links that wait in a frontier; all arrays have one value for each, in no order."""

    ids: Ids
    hosts: Ids  # the queue of each: the number of its host, unless the agent has its own queues
    scores: Vector  # +inf: a seed
    ready: NDArray[np.float64]  # when its host may be asked, in seconds of the crawl's clock
    full: Mask  # whether its host has as many requests in flight as it may have

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, rows: slice | Mask | NDArray[np.intp]) -> "Waiting":
        """The chosen links."""
        ids, hosts, scores = self.ids[rows], self.hosts[rows], self.scores[rows]
        return Waiting(ids, hosts, scores, self.ready[rows], self.full[rows])


@dataclass(frozen=True, slots=True)
class Step:
    """One decision and its outcome; agents learn from nothing else."""

    link: Link
    id: int  # page that the link led to, after redirects
    x: NDArray[Any]  # the link's features when it was taken, shape (width,)
    reward: float  # by Agent.reward
    verdict: Verdict  # after the guard: a copy of another page is not relevant
    page: Page | None  # None if the fetch failed
    options: Candidates  # the new or waiting links found there; may be empty
    link_id: int = -1  # page of the link's own URL: equals `id` unless it redirected

    @property
    def taken(self) -> Candidates:
        """The link itself as one candidate, with the features it had when it was taken."""
        return Candidates(np.array([self.link_id], np.int32), self.x[None])


class Taken(NamedTuple):
    """A link that the frontier has handed out."""

    id: int
    x: NDArray[Any]  # its features, shape (width,)
    score: float


@dataclass(frozen=True, slots=True)
class Truth:
    """The whole web and its relevant pages; only agents that are upper bounds may use it."""

    index: Callable[[str], int]  # URL -> page number here (not in Memory); -1 if there is none
    relevant: Mask  # shape (pages,)
    offsets: NDArray[np.int64]  # shape (pages + 1,)
    targets: NDArray[np.int32]  # links of page p: targets[offsets[p]:offsets[p + 1]]
    url: Callable[[int], str] | None = None  # page number -> URL


@dataclass(frozen=True, slots=True)
class Goal:
    """What a crawl looks for; agents get it as the argument `goal`."""

    topic: str
    encoder: "Encoder"
    truth: Callable[[], Truth] | None = None  # only for agents that are upper bounds
    surveyed: Callable[[], Sequence[str]] = tuple  # random URLs of the web, if the plan asks
    has_policy: bool = False  # a policy is loaded next: agents need not learn before the crawl


# --------------------------------------------------------------------------- parts


class Encoder(Protocol):
    """Turns texts into vectors of meaning."""

    width: int  # numbers of a vector

    def __call__(self, texts: Sequence[str]) -> Matrix:
        """Unit vectors, shape (texts, width); a zero row for a text without a known word."""
        ...

    def knows(self, text: str) -> bool:
        """Whether the text has a known word, so that its vector is not zero."""
        ...


@runtime_checkable
class Additive(Protocol):
    """An encoder whose vector of a text is the unit vector of a sum over the text's words."""

    def sums(self, texts: Sequence[str]) -> Matrix:
        """These sums, shape (texts, width); two texts with a space between have both's sum."""
        ...


@runtime_checkable
class Vocabulary(Protocol):
    """An encoder that weighs words by how many of the pages fetched so far have them."""

    def observe(self, text: str) -> None:
        """Count the words of a page; called once for each absorbed page, before its links."""
        ...

    def forget(self) -> None:
        """Drop all counts; called before each crawl."""
        ...

    def state(self) -> State:
        """The counts."""
        ...

    def load(self, state: State) -> None:
        """Restore saved counts."""
        ...


class Judge(Protocol):
    """Says how relevant a page is.

    It is pure: the same page always gets the same verdict, whatever was judged before, and several
    threads or processes may call it at once.
    """

    def __call__(self, page: Page) -> Verdict:
        """The verdict; its relevance is in [0, 1], also for a page without text."""
        ...


class Calibration(Protocol):
    """Decides which pages of a crawl are relevant, from what a judge measured on each of them."""

    def fit(self, measures: Matrix) -> None:
        """Fit the decision to the pages visited so far, shape (pages, measures).

        The result depends on these measures alone, not on earlier fits. There may be few pages, and
        all or none of them may be relevant.
        """
        ...

    def decide(self, measures: Matrix) -> tuple[Vector, Mask]:
        """Relevance of pages, in [0, 1], and which are relevant, both of shape (pages,)."""
        ...

    def state(self) -> State:
        """What `fit` has found."""
        ...

    def load(self, state: State) -> None:
        """Restore a saved state into a new calibration."""
        ...


@runtime_checkable
class Calibrated(Protocol):
    """A judge that measures pages (`Verdict.measures`); what is relevant depends on the crawl.

    The judge's own verdict is that of a calibration that was never fitted.
    """

    def calibration(self) -> Calibration:
        """A new calibration, not fitted yet."""
        ...


class Fetcher(Protocol):
    """Fetches what a link points to."""

    async def fetch(self, link: Link) -> Response:
        """The response; a failure is a response with `failure` set, never an exception."""
        ...

    async def close(self) -> None:
        """Close all connections; nothing is fetched after that."""
        ...


class World(Protocol):
    """A web to crawl: live, recorded or generated."""

    live: bool  # whether visits take real time; others run on a simulated clock

    async def visit(self, link: Link) -> Visit:
        """Fetch, parse and judge a page; many run at once; a failure is a visit, no exception."""
        ...

    def find(self, name: str) -> Link:
        """The link to a page by its name in this web (such as its URL); used for seeds."""
        ...

    def labels(self) -> dict[str, int]:
        """The labels of pages, with how many pages have each; empty if pages have no labels."""
        ...

    def truth(self) -> Truth:
        """The whole web with its relevant pages; a HoneyguideError if it is not known."""
        ...

    async def close(self) -> None:
        """Close files, connections and processes."""
        ...


@runtime_checkable
class Recalling(Protocol):
    """A web that learns from visits how to treat hosts (`Visit.learnt`)."""

    def recall(self, learnt: Iterable[OfHost]) -> None:
        """Restore what earlier visits of a resumed crawl taught; called before the first visit.

        `learnt` has the latest value of each fact. It can be iterated several times, and may be
        too large for memory.
        """
        ...


@runtime_checkable
class Observable(Protocol):
    """A web that reports each request it sends, those for robots.txt and redirects included."""

    def observe(self, observer: Callable[[Request], None]) -> None:
        """Call `observer` whenever a request has ended, also when it failed or was cancelled."""
        ...


@runtime_checkable
class Restrictable(Protocol):
    """A web whose requests a person may restrict while the crawl runs."""

    def restrict(self, lists: UrlLists, delays: Mapping[str, float]) -> None:
        """Request nothing that these lists refuse; wait so many seconds, by host.

        A host that asks for longer waits gets them.
        """
        ...


@runtime_checkable
class Revisitable(Protocol):
    """A web that supports conditional requests."""

    async def revisit(self, link: Link, etag: str, last_modified: str) -> Visit:
        """Visit a page that had these headers; the failure is "not modified" if it still has."""
        ...


@runtime_checkable
class Sampled(Protocol):
    """A web whose pages can be drawn at random, for seeds such as "1000 random pages"."""

    def sample(self, count: int, rng: np.random.Generator) -> list[Link]:
        """Draw `count` pages uniformly, with replacement."""
        ...


@runtime_checkable
class Hubbed(Protocol):
    """A web that knows which of its pages have most links, for the seed "hubs"."""

    def hubs(self, count: int) -> list[Link]:
        """The `count` pages with most links to pages of this web, most first."""
        ...


class UrlView(Protocol):
    """The URLs and hosts seen so far, each numbered from 0 in the order of first appearance."""

    def __len__(self) -> int: ...  # URLs seen
    def find(self, urls: Sequence[str]) -> Ids: ...  # number of each, shape (urls,); -1: never seen
    def find_host(self, name: str) -> int: ...  # number of a host; -1: never seen
    def url(self, id: int) -> str: ...
    def host_of(self, id: int) -> int: ...  # number of the host of a page
    def host_name(self, host: int) -> str: ...
    @property
    def host_count(self) -> int: ...  # hosts seen


class MemoryView(Protocol):
    """The crawled graph so far, read-only.

    Pages are named by their numbers, which must exist. Methods that take `ids` return one value
    for each, shape (ids,). The parents of a page are the visited pages that link to it.
    """

    @property
    def urls(self) -> UrlView: ...
    def relevance(self, ids: Ids) -> Vector: ...  # in [0, 1]; 0 if not visited
    def visited(self, ids: Ids) -> Mask: ...
    def is_visited(self, page: int) -> bool: ...
    def parent_count(self, ids: Ids) -> Vector: ...
    def relevant_parent_count(self, ids: Ids) -> Vector: ...
    def parent_relevance(self, ids: Ids) -> Vector: ...  # mean over all parents; 0 without any
    def relevant_parent_relevance(self, ids: Ids) -> Vector: ...  # mean over relevant ones, or 0
    def ancestor_relevance(self, ids: Ids) -> Vector: ...  # smoothed along the best parent
    def distance(self, ids: Ids) -> Vector: ...  # hops from the last relevant ancestor; at most 9
    def parents(self, page: int, most: int | None = None) -> Ids: ...  # the latest, oldest first
    def last_parent(self, page: int) -> int: ...  # the latest parent; -1 for a seed
    def known_links(self, page: int) -> tuple[int, int]: ...  # to pages visited before, to relevant
    def depth(self, page: int) -> int: ...  # hops from a seed, along the first path found
    def host(self, ids: Ids) -> Ids: ...  # number of each page's host


class Features(Protocol):
    """Turns links into rows of numbers, from what the crawl has seen and nothing else."""

    width: int  # numbers of a row

    def __call__(self, memory: MemoryView, found: Outlinks) -> FeatureRows:
        """The features of `found.links`, shape (links, width), finite; (0, width) without links.

        Called once for the seeds (`found.page` is None), then once for each absorbed visit, when
        `memory` has the page and its links already.
        """
        ...


@runtime_checkable
class Packed(Protocol):
    """Features with rows of another type than float32, such as bytes, which take less memory."""

    dtype: np.dtype[Any]  # of the `width` numbers of a row


def dtype_of(features: Features) -> np.dtype[Any]:
    """The type of the numbers of a row."""
    return features.dtype if isinstance(features, Packed) else np.dtype(np.float32)


@runtime_checkable
class Accumulating(Protocol):
    """Features that add what each page says about a waiting link to its row.

    If `accumulates` is true and the frontier is Readable, `found.rows` has the present rows of the
    links that wait, and zeros for others.
    """

    accumulates: bool


@runtime_checkable
class Upgradable(Protocol):
    """Features whose rows were different in an earlier version."""

    @property
    def outdated(self) -> bool:  # the state that was loaded is of an earlier version
        ...

    def upgrade(self, ids: Ids, x: Matrix) -> FeatureRows:
        """Rows of links to `ids` that the earlier version made, as this one makes them.

        Called after `load` for all rows, before the first new one is made.
        """
        ...


@runtime_checkable
class Renewable(Protocol):
    """Features of which some change when the pages that a link or its page stands on change."""

    def renew(self, memory: MemoryView, sources: Ids, ids: Ids, x: Matrix) -> Matrix:
        """The rows `x` of links to `ids` on the pages `sources`, as they would be made now.

        All have as many rows. What the texts of pages and links gave stays as it is.
        """
        ...


class Frontier(Protocol):
    """The queue of waiting links: decides which is next, and which pages are still wanted.

    Each taken link is given back once: by `release` after its visit, or by `park`. Times are
    seconds on the crawl's own clock; they never decrease.
    """

    def wants(self, ids: Ids) -> Mask:
        """Which of these links `put` would add or refresh, shape (ids,)."""
        ...

    def put(self, ids: Ids, hosts: Ids, x: FeatureRows, scores: Vector) -> None:
        """Add new links, and replace features and scores of waiting ones.

        All have as many rows as `ids`, which are distinct; there may be none. A score of -inf
        refuses a link; +inf is that of seeds, which come first.
        """
        ...

    def take(self, now: float, at_random: bool = False) -> Taken | None:
        """Remove and return the next link whose host may be asked now; None if there is none."""
        ...

    def pick(self, id: int, now: float) -> Taken | None:
        """Remove and return this link, even if its host rests; None if it does not wait."""
        ...

    def release(self, id: int, now: float, delay: float | None = None) -> None:
        """End the visit of a taken link: its host may be asked again `delay` seconds from now.

        None is the frontier's own delay. UNASKED: the host may be asked as if this link had not
        been taken.
        """
        ...

    def park(self, id: int) -> None:
        """Give back a taken link without a visit; it is unknown until it is found again."""
        ...

    def drop(self, ids: Ids) -> None:
        """Remove links that need no visit any more; they are never wanted again."""
        ...

    def shed(self, keep: int) -> Vector:
        """Remove all but the `keep` best waiting links; return the scores of those removed.

        A removed link is wanted again when it is found again.
        """
        ...

    def wake(self, now: float) -> float | None:
        """When `take` can next succeed; None if only a `release` or a `put` can change that."""
        ...

    def rescore(self, score: Scorer) -> None:
        """Replace the scores of all waiting links; `score` may be called in several batches."""
        ...

    def end(self) -> None:
        """End an episode: a walk starts again from a seed; other frontiers do nothing."""
        ...

    def best(self) -> float:
        """The highest score of a waiting link; -inf if none waits."""
        ...

    def __len__(self) -> int: ...  # waiting links, without those taken

    def state(self) -> State:
        """Everything needed to continue exactly here, taken links and generators included."""
        ...

    def load(self, state: State) -> None:
        """Restore a saved state into a new frontier."""
        ...


@runtime_checkable
class Withdrawable(Protocol):
    """A frontier from which waiting links can be taken back."""

    def withdraw(self, ids: Ids) -> Candidates:
        """Remove and return those of these links that wait, the best first.

        A removed link is wanted again when it is found again.
        """
        ...


@runtime_checkable
class Readable(Protocol):
    """A frontier that shows the features of waiting links."""

    def rows_of(self, ids: Ids) -> FeatureRows:
        """A copy of the features of links, shape (ids, width); zeros for those that do not wait."""
        ...


Renew = Callable[[Ids, Ids, Matrix], Matrix]  # pages, links on them, rows -> new rows


@runtime_checkable
class Inspectable(Protocol):
    """A frontier that shows its links; looking changes nothing."""

    def rank(self, score: float) -> int:
        """The place that a link with this score would have: 1 if none waits with a higher one."""
        ...

    def waiting(self) -> Waiting:
        """All waiting links; with `Paired`, each page's best."""
        ...

    def features_of(self, ids: Ids) -> FeatureRows:
        """The features of links that wait, shape (ids, width)."""
        ...


@runtime_checkable
class Paired(Protocol):
    """A frontier in which a link waits once for each page that it stands on."""

    def put_from(self, source: int, ids: Ids, hosts: Ids, x: Matrix, scores: Vector) -> None:
        """Add links of page `source`, as `put` does, beside those of other pages."""
        ...

    def refresh(self, sources: Ids, ids: Ids, renew: Renew) -> None:
        """Replace the features of links on pages `sources` and of links to `ids`, not scores."""
        ...


@dataclass(frozen=True, slots=True)
class Cut:
    """How many URLs a guard refused for one reason."""

    reason: str
    count: int  # of distinct URLs
    example: str  # the first of them


class Guard(Protocol):
    """Refuses links to traps and near-duplicates, and decides what a visit counts for."""

    def screen(self, memory: MemoryView, urls: Sequence[str]) -> Mask:
        """Which of these URLs of a page, never seen before, to add to memory, shape (urls,).

        Refused URLs get no number: they are asked about again when they are found again. Seeds are
        not screened.
        """
        ...

    def admit(self, memory: MemoryView, found: Outlinks) -> Mask:
        """Which of these links may wait in the frontier, shape (links,)."""
        ...

    def allows(self, memory: MemoryView, id: int, link: Link) -> bool:
        """Whether to visit a link that the frontier has chosen; if not, it is parked."""
        ...

    def note(self, memory: MemoryView, id: int, visit: Visit) -> Visit:
        """Learn from the visit of page `id`, before it is in memory; return what it counts for.

        That is the visit itself, or a copy with another verdict or without its links. Visits that
        are retried are not noted.
        """
        ...

    def report(self) -> list[Cut]:
        """What was refused so far, by reason."""
        ...

    def state(self) -> State:
        """Everything needed to continue exactly here."""
        ...

    def load(self, state: State) -> None:
        """Restore a saved state into a new guard."""
        ...


@runtime_checkable
class Listed(Protocol):
    """A guard with allow and deny lists, which a person may change while the crawl runs."""

    def relist(self, lists: UrlLists) -> None:
        """Use other allow and deny lists from now on; a HoneyguideError if one is wrong."""
        ...


@runtime_checkable
class Telling(Protocol):
    """A guard that says why it refuses a URL; asking changes nothing."""

    def refuses(self, memory: MemoryView, url: str) -> str:
        """Why a link to this URL would be refused now; empty if it would not be."""
        ...


def refusal_by(guard: object, memory: MemoryView, url: str) -> str:
    """Why a guard would refuse a URL now; empty if it would not, or does not say."""
    return guard.refuses(memory, url) if isinstance(guard, Telling) else ""


GateRow = dict[str, str | int | float | bool]  # column -> value


class Gate(Protocol):
    """Decides whether a chosen link is fetched or skipped; skipped links may return later."""

    def see(self, found: Outlinks) -> None:
        """Prepare for links that were found, such as parse their URLs; change no decision."""
        ...

    def opens(self, memory: MemoryView, id: int, link: Link, foreseen: float | None) -> bool:
        """Whether to fetch a link that the frontier has chosen; otherwise it is skipped.

        Called once each time a link is chosen, but not for seeds, nor for skipped links that
        return because no other waits. `foreseen` is the reward that the agent expects; None if
        its scores are only an order.
        """
        ...

    def worths(self, memory: MemoryView, ids: Ids) -> Vector:
        """What skipped links are worth, shape (ids,), finite: the best return when none waits."""
        ...

    def note(self, memory: MemoryView, id: int, visit: Visit) -> Ids:
        """Learn from the visit of page `id`, which is in memory; return links to reconsider.

        Those of them that were skipped return to the frontier; others are ignored.
        """
        ...

    def policy(self) -> list[GateRow]:
        """What it has learnt, as a table for people; empty if there is nothing to show."""
        ...

    def state(self) -> State:
        """Everything needed to continue exactly here."""
        ...

    def load(self, state: State) -> None:
        """Restore a saved state into a new gate."""
        ...


@runtime_checkable
class Measured(Protocol):
    """A part that says how much memory its tables take."""

    @property
    def nbytes(self) -> int: ...  # must be the same after a state was saved and loaded


def nbytes_of(part: object) -> int:
    """Bytes of a part's tables; 0 if it does not say."""
    return part.nbytes if isinstance(part, Measured) else 0


@runtime_checkable
class Compactable(Protocol):
    """A frontier that can free the memory of links that no longer wait."""

    @property
    def row_bytes(self) -> int: ...  # bytes of all rows, unused ones included

    def compact(self) -> None: ...  # remove unused rows


class Agent(ABC):
    """Scores links, and learns from the pages they led to."""

    features: Features  # made by the constructor; fixed for the crawl
    frontier: str = "best_first"  # the frontier it needs, as a spec: "name:setting=value"
    max_waiting: int | None = None  # the worst links beyond that are dropped; None: no limit
    foresees: bool = True  # scores are expected rewards; False: they are only an order
    refreshes: bool = False  # features of waiting links follow their parents; needs `pairs`

    @abstractmethod
    def score(self, links: Candidates) -> Vector:
        """Scores of links, shape (links,): higher is better, -inf refuses a link.

        Scores must be finite or -inf; the navigator raises a HoneyguideError otherwise. Called
        after `learn` for the links of each page (possibly none), and for all waiting links (perhaps
        a million) when `stale` is true. It must not change what the agent has learnt.
        """

    @abstractmethod
    def learn(self, steps: Sequence[Step]) -> None:
        """Learn from steps in the order in which they were absorbed; a crawl gives one a call."""

    def reward(self, visit: Visit) -> float:
        """The reward of a visit: by default 1 for a relevant page, else 0; failures included."""
        return float(visit.verdict.relevant)

    def follows(self, page: Page) -> bool:
        """Whether the links of an absorbed page may wait; called once for each page."""
        return True

    def ends(self, visit: Visit) -> bool:
        """Whether an episode ends with this visit; it matters to frontiers of walks only."""
        return False

    def foreseen(self, x: NDArray[Any], score: float) -> float | None:
        """The expected reward of a link with these features and score; None if it is unknown."""
        return score if self.foresees else None

    def explain(self, links: Candidates) -> Reasons | None:
        """What speaks for and against links now, as `score` sees it; None if that is unknown.

        The names are the same at each call. It must change nothing, like `score`.
        """
        return None

    def weigh(self, words: Sequence[str]) -> Vector | None:
        """What each word, as the anchor of a link, adds to its score; None if that is unknown."""
        return None

    def stale(self) -> bool:
        """Whether waiting links should be scored again; called after each `learn` and `score`."""
        return False

    def explores(self) -> bool:
        """Whether to take the next link at random; called once for each link that is taken."""
        return False

    def stops(self, best_score: float) -> bool:
        """Whether to stop the crawl, given the best score of a waiting link; called per choice."""
        return False

    @property
    def learner(self) -> "Agent":
        """The agent that learns: itself, or the agent that it wraps."""
        return self

    def state(self) -> State:
        """Everything needed to continue exactly here, random generators included."""
        return {}

    def load(self, state: State) -> None:
        """Restore a saved state into a new agent with the same settings."""


@runtime_checkable
class Trainable(Protocol):
    """An agent that can save what it has learnt as a policy, for other crawls."""

    def policy(self) -> State:
        """What it has learnt, such as weights, without anything about this crawl's pages."""
        ...

    def load_policy(self, state: State) -> None:
        """Start from a saved policy before the first step; HoneyguideError if it does not fit."""
        ...
