"""The data that moves through a crawl and the parts that move it: read this first."""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, runtime_checkable

import msgspec
import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]
Matrix = NDArray[np.float32]
Ids = NDArray[np.int32]  # pages by their number in Memory
Mask = NDArray[np.bool_]
State = dict[str, Any]  # numpy arrays, numbers, strings, and dicts and lists of them
UNASKED = -math.inf  # seconds of rest that a host needs which was asked nothing


# --------------------------------------------------------------------------- data


class Link(msgspec.Struct, frozen=True, gc=False):  # faster to make: a page has dozens
    """A way to a page, as its source page shows it."""

    url: str
    anchor: str = ""
    context: str = ""  # the words around it in the source page
    tag_path: str = ""  # "html/body/nav/ul/li/a"
    depth: int = 0  # hops from a seed
    source: str = ""  # URL of the page it was found on
    box: tuple[float, float, float, float] | None = None  # x, y, width, height in a browser


@dataclass(frozen=True, slots=True)
class Response:
    """What a server answered, or why it did not."""

    link: Link
    url: str  # after redirects
    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    failure: str = ""  # "timeout", "robots", "too large" ...; empty when it arrived
    seconds: float | None = None  # that the server took, its queue included; None: not known
    sent: float | None = None  # seconds since 1970, when it was asked for; None: not known


class Request(NamedTuple):
    """One request that was sent, whatever it was for, and how it was answered."""

    host: str
    url: str
    sent: float  # seconds since 1970, by the crawler's clock
    seconds: float  # until the answer was there or was no longer waited for
    status: int = 0  # 0 without an answer
    failure: str = ""  # as in Response; "cancelled" when the crawl ended first
    bytes: int = 0  # of the body, as transferred
    retry_after: float | None = None  # seconds that the answer asks to be left alone
    location: str = ""  # the URL that a redirect names


@dataclass(frozen=True, slots=True)
class Page:
    """A page that was read: its text and its links in document order."""

    url: str
    title: str = ""
    text: str = ""
    links: tuple[Link, ...] = ()
    html: bytes = b""
    labels: tuple[str, ...] = ()  # ground truth of a recorded or generated web: for judges only
    declared_language: str = field(default="", compare=False)  # by its first tag, such as "en"

    @property
    def language(self) -> str:
        """The language of its text, such as "en", else the declared one; may be empty."""
        from honeyguide.text.languages import detected_language  # noqa: PLC0415 seldom asked for

        return detected_language(self.text) or self.declared_language


@dataclass(frozen=True, slots=True)
class Verdict:
    """A judge's opinion of a page."""

    relevance: float  # in [0, 1]
    relevant: bool
    reasons: tuple[str, ...] = ()  # shown to the user: "'rock' matches 'geology' (0.71)"


class OfHost(NamedTuple):
    """Something that a world has learnt of a host and must know again after any end."""

    host: str
    what: str  # "failures", "sitemaps" ...
    value: float | bytes


UNWANTED = Verdict(0.0, False, ("asks not to be indexed",))  # read for its links alone


@dataclass(frozen=True, slots=True)
class Visit:
    """What came of one link; a failed fetch is a visit too."""

    link: Link
    page: Page | None
    verdict: Verdict
    response: Response | None = None  # None on recorded and generated webs
    failure: str = ""  # empty when there is a page
    seconds: float = 0.0
    # seconds to leave the host alone; None: the frontier's own; UNASKED: it was not asked
    host_delay: float | None = None
    again: bool = False  # whether a failure may pass, so that another try is worth it
    learnt: tuple[OfHost, ...] = ()  # kept with the visit, for the world of a resumed crawl


@dataclass(frozen=True, slots=True)
class Outlinks:
    """The distinct links of one page that may be taken, with their numbers in Memory."""

    page: Page | None  # None for seeds
    source: int  # number of the page they were found on; -1 for seeds
    links: tuple[Link, ...]
    ids: Ids


@dataclass(frozen=True, slots=True)
class Candidates:
    """Links that may be taken: row i of `x` holds the features of the link to page `ids[i]`."""

    ids: Ids  # shape (links,)
    x: Matrix  # shape (links, width of the features)

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, rows: slice | Mask | NDArray[np.intp]) -> "Candidates":
        """Some of them."""
        return Candidates(self.ids[rows], self.x[rows])


Scorer = Callable[[Candidates], Vector]


@dataclass(frozen=True, slots=True)
class Step:
    """One decision and its outcome: all that an agent may learn from."""

    link: Link
    id: int  # number of the page it led to in Memory, after redirects
    x: Vector  # the link's features when it was taken
    reward: float
    verdict: Verdict
    page: Page | None  # None when the fetch failed
    options: Candidates  # the links found there: what can be done next
    link_id: int = -1  # number of the page that the link named; `id` unless it redirected

    @property
    def taken(self) -> Candidates:
        """The link itself, as it was scored."""
        return Candidates(np.array([self.link_id], np.int32), self.x[None])


class Taken(NamedTuple):
    """A waiting link's turn has come."""

    id: int
    x: Vector
    score: float


@dataclass(frozen=True, slots=True)
class Truth:
    """What only upper benchmarks may know: the whole web and which of its pages are relevant."""

    index: Callable[[str], int]  # URL -> page of this truth, -1 when there is none
    relevant: Mask  # by page
    offsets: NDArray[np.int64]  # links of page p: targets[offsets[p]:offsets[p + 1]]
    targets: NDArray[np.int32]
    url: Callable[[int], str] | None = None  # of a page


@dataclass(frozen=True, slots=True)
class Goal:
    """What a crawl looks for, as every agent is told it."""

    topic: str
    encoder: "Encoder"
    truth: Callable[[], Truth] | None = None  # only upper benchmarks may call it
    surveyed: Callable[[], Sequence[str]] = tuple  # URLs of the web, where a plan asks for them


# --------------------------------------------------------------------------- parts


class Encoder(Protocol):
    """Texts to unit vectors, one row a text; a zero row where no word is known."""

    width: int

    def __call__(self, texts: Sequence[str]) -> Matrix: ...

    def knows(self, text: str) -> bool:
        """Whether any word of the text has a meaning here."""
        ...


@runtime_checkable
class Vocabulary(Protocol):
    """An encoder that weighs words by the pages fetched so far."""

    def observe(self, text: str) -> None:
        """Let a fetched page count."""
        ...

    def forget(self) -> None:
        """Start anew, as before any page."""
        ...

    def state(self) -> State: ...

    def load(self, state: State) -> None: ...


class Judge(Protocol):
    """Says how relevant a page is; pure, so that many pages can be judged at once."""

    def __call__(self, page: Page) -> Verdict: ...


class Fetcher(Protocol):
    """Brings what a link points to; a failure is a response too."""

    async def fetch(self, link: Link) -> Response: ...

    async def close(self) -> None: ...


class World(Protocol):
    """A web to crawl: live, recorded or generated."""

    live: bool  # whether a visit takes real time

    async def visit(self, link: Link) -> Visit:
        """Fetch, parse and judge: pure, many at once."""
        ...

    def find(self, name: str) -> Link:
        """The link to a seed page, by whatever names pages go by here."""
        ...

    def labels(self) -> dict[str, int]:
        """The labels that pages have here, with how many have each; empty where none are known."""
        ...

    def truth(self) -> Truth:
        """The whole web with its relevant pages, where that can be known."""
        ...

    async def close(self) -> None:
        """Let go of everything that is open."""
        ...


@runtime_checkable
class Recalling(Protocol):
    """A web whose visits depend on what earlier ones taught it of hosts."""

    def recall(self, learnt: Iterable[OfHost]) -> None:
        """Know again what the visits of this crawl taught before it was resumed.

        What is given can be gone through several times, and may be large.
        """
        ...


@runtime_checkable
class Observable(Protocol):
    """A web that tells of each request it sends, those for robots.txt and redirects included."""

    def observe(self, observer: Callable[[Request], None]) -> None:
        """Call the observer when a request has ended, however it ended."""
        ...


@runtime_checkable
class Revisitable(Protocol):
    """A web that need not send a page again which is as it was."""

    async def revisit(self, link: Link, etag: str, last_modified: str) -> Visit:
        """Visit a page that once came with these headers; "not modified" if they still hold."""
        ...


@runtime_checkable
class Sampled(Protocol):
    """A web whose pages can be drawn by lot: "1000 random pages" are seeds there."""

    def sample(self, count: int, rng: np.random.Generator) -> list[Link]:
        """So many pages, each as likely as any other, some perhaps more than once."""
        ...


class UrlView(Protocol):
    """The URLs seen so far, numbered from 0 in the order in which they were first seen."""

    def __len__(self) -> int: ...
    def find(self, urls: Sequence[str]) -> Ids: ...  # -1 for a URL never seen
    def find_host(self, name: str) -> int: ...  # number of a host, -1 if it was never seen
    def url(self, id: int) -> str: ...
    def host_of(self, id: int) -> int: ...  # number of the host of a page
    def host_name(self, host: int) -> str: ...
    @property
    def host_count(self) -> int: ...


class MemoryView(Protocol):
    """What parts may read of the crawled graph so far.

    Pages are named by their numbers: arrays of `ids` in, arrays of the same length out.
    """

    @property
    def urls(self) -> UrlView: ...
    def relevance(self, ids: Ids) -> Vector: ...  # 0 where not visited
    def visited(self, ids: Ids) -> Mask: ...
    def is_visited(self, page: int) -> bool: ...
    def parent_count(self, ids: Ids) -> Vector: ...
    def relevant_parent_count(self, ids: Ids) -> Vector: ...
    def parent_relevance(self, ids: Ids) -> Vector: ...  # mean over all parents
    def relevant_parent_relevance(self, ids: Ids) -> Vector: ...  # mean over relevant ones
    def ancestor_relevance(self, ids: Ids) -> Vector: ...  # smoothed, best parent
    def distance(self, ids: Ids) -> Vector: ...  # hops to the last relevant ancestor
    def parents(self, page: int, most: int | None = None) -> Ids: ...  # the latest of them
    def last_parent(self, page: int) -> int: ...  # who showed it last; -1 for a seed
    def known_links(self, page: int) -> tuple[int, int]: ...  # to pages visited before it, relevant
    def depth(self, page: int) -> int: ...  # hops from a seed, along the first path found
    def host(self, ids: Ids) -> Ids: ...


class Features(Protocol):
    """Links to rows of numbers, from what the crawl has seen and nothing else."""

    width: int

    def __call__(self, memory: MemoryView, found: Outlinks) -> Matrix: ...


class Frontier(Protocol):
    """The links that wait, and whose turn it is; it alone decides what counts as seen."""

    def wants(self, ids: Ids) -> Mask:
        """Which of these it would add or refresh."""
        ...

    def put(self, ids: Ids, hosts: Ids, x: Matrix, scores: Vector) -> None:
        """Add new links and refresh waiting ones; a score of -inf refuses a link."""
        ...

    def take(self, now: float, at_random: bool = False) -> Taken | None:
        """The next link whose host may be asked now, or none."""
        ...

    def pick(self, id: int, now: float) -> Taken | None:
        """This waiting link, whosever turn it is; none when it does not wait."""
        ...

    def release(self, id: int, now: float, delay: float | None = None) -> None:
        """The visit is over; its host rests for `delay` seconds from now, unless it is UNASKED."""
        ...

    def park(self, id: int) -> None:
        """Forget a taken link, unvisited, until it is found again."""
        ...

    def drop(self, ids: Ids) -> None:
        """These need no visit any more."""
        ...

    def shed(self, keep: int) -> Vector:
        """Forget all but the best waiting links, until they are found again: their scores."""
        ...

    def wake(self, now: float) -> float | None:
        """When `take` can next succeed; None when only a release or a put can help."""
        ...

    def rescore(self, score: Scorer) -> None: ...

    def end(self) -> None:
        """An episode is over: a walk goes on from where one begins; others need not care."""
        ...

    def best(self) -> float:
        """The highest score that waits; -inf when nothing does."""
        ...

    def __len__(self) -> int: ...

    def state(self) -> State: ...

    def load(self, state: State) -> None: ...


@dataclass(frozen=True, slots=True)
class Cut:
    """What was left out and why, for the report."""

    reason: str
    count: int  # of distinct URLs
    example: str  # URL of the first


class Guard(Protocol):
    """Refuses links that lead nowhere new, and says what a visit counts for."""

    def screen(self, memory: MemoryView, urls: Sequence[str]) -> Mask:
        """Which URLs of a page, never seen before, are worth noting at all."""
        ...

    def admit(self, memory: MemoryView, found: Outlinks) -> Mask:
        """Which of these links may wait."""
        ...

    def allows(self, memory: MemoryView, id: int, link: Link) -> bool:
        """Whether a link whose turn has come is still worth a visit."""
        ...

    def note(self, memory: MemoryView, id: int, visit: Visit) -> Visit:
        """Take in a visit, before the memory does, and say what it counts for."""
        ...

    def report(self) -> list[Cut]:
        """All that was cut so far."""
        ...

    def state(self) -> State: ...

    def load(self, state: State) -> None: ...


GateRow = dict[str, str | int | float | bool]  # column: value


class Gate(Protocol):
    """Lets a link through or sets it aside, from where it may come back."""

    def see(self, found: Outlinks) -> None:
        """Links were found: what a decision will need can be made ready, nothing else."""
        ...

    def opens(self, memory: MemoryView, id: int, link: Link, foreseen: float | None) -> bool:
        """Whether to fetch a link whose turn has come, with its agent's score; asked once a turn.

        An agent whose scores are an order and no more foresees nothing: None.
        """
        ...

    def worths(self, memory: MemoryView, ids: Ids) -> Vector:
        """What links that were set aside are worth, for when nothing else waits."""
        ...

    def note(self, memory: MemoryView, id: int, visit: Visit) -> Ids:
        """Take in a visit; which links, if they are set aside, deserve another look."""
        ...

    def policy(self) -> list[GateRow]:
        """What it has learnt, in a form to read; empty when there is nothing to say."""
        ...

    def state(self) -> State: ...

    def load(self, state: State) -> None: ...


@runtime_checkable
class Measured(Protocol):
    """A part that says how much memory its tables take: the same after a save and a load."""

    @property
    def nbytes(self) -> int: ...


def nbytes_of(part: object) -> int:
    """How much memory the tables of a part take, as far as it says so."""
    return part.nbytes if isinstance(part, Measured) else 0


@runtime_checkable
class Compactable(Protocol):
    """A frontier that can give back the memory of links that wait no more."""

    @property
    def row_bytes(self) -> int: ...  # of links that wait, and of those that wait no more

    def compact(self) -> None: ...


class Agent(ABC):
    """Says what links are worth, and learns from where they led."""

    features: Features
    frontier: str = "best_first"  # the kind of frontier it works on, and its settings
    max_waiting: int | None = None  # links that it lets wait; None: all
    foresees: bool = True  # scores say what pages will bring; False: they are an order, no more

    @abstractmethod
    def score(self, links: Candidates) -> Vector:
        """What links are worth: one or a million, a finite number each, or -inf to refuse it.

        Called for the links of each page after `learn`, and for all that waits after `stale`
        says so. The navigator checks length and numbers.
        """

    @abstractmethod
    def learn(self, steps: Sequence[Step]) -> None:
        """Take in what came of earlier choices."""

    def reward(self, visit: Visit) -> float:
        """What a visit was worth."""
        return float(visit.verdict.relevant)

    def follows(self, page: Page) -> bool:
        """Whether the links of a page just read may wait; asked once for each page."""
        return True

    def ends(self, visit: Visit) -> bool:
        """Whether an episode ends with this visit; only walks are made of episodes."""
        return False

    def foreseen(self, x: Vector, score: float) -> float | None:
        """What the page of a link with this score will bring; None where scores are an order."""
        return score if self.foresees else None

    def stale(self) -> bool:
        """Whether waiting links deserve new scores after the last learning."""
        return False

    def explores(self) -> bool:
        """Whether to take the next link at random."""
        return False

    def stops(self, best_score: float) -> bool:
        """Whether nothing that waits is worth a fetch."""
        return False

    @property
    def learner(self) -> "Agent":
        """Who learns: itself, or the agent that it is wrapped around."""
        return self

    def state(self) -> State:
        """Everything needed to go on exactly here, generators included."""
        return {}

    def load(self, state: State) -> None:
        """Go on from a saved state."""


@runtime_checkable
class Trainable(Protocol):
    """An agent whose learning can serve another crawl."""

    def policy(self) -> State:
        """What it has learnt, and nothing of where it was."""
        ...

    def load_policy(self, state: State) -> None:
        """Start from what an earlier crawl has learnt; a HoneyguideError if it does not fit."""
        ...
