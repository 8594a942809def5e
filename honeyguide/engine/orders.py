"""Orders that a person gives to a crawl: what each says, and what is in force after it.

An order that was carried out is an event of the journal, so that a replay carries it out again.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from honeyguide import urls
from honeyguide.errors import HoneyguideError
from honeyguide.urls.patterns import UrlLists

MOST_DONE = 100  # orders whose results are remembered
_MISFITS = (msgspec.ValidationError, ValueError, TypeError)


class Order(msgspec.Struct, frozen=True, tag_field="order", forbid_unknown_fields=True):
    """Something that a person wants of a crawl."""


class Pause(Order, frozen=True, tag="pause"):
    """Start no visit until it is unpaused."""


class Unpause(Order, frozen=True, tag="unpause"):
    """Start visits again."""


class Stop(Order, frozen=True, tag="stop"):
    """End the run, as Ctrl-C does; it can be resumed."""


class Deny(Order, frozen=True, tag="deny"):
    """Never fetch from these hosts, URL prefixes or patterns; waiting links are withdrawn."""

    patterns: tuple[str, ...]

    def __post_init__(self) -> None:
        _check_patterns(self.patterns)


class Allow(Order, frozen=True, tag="allow"):
    """Undo a denial, or add to a given allow list."""

    patterns: tuple[str, ...]

    def __post_init__(self) -> None:
        _check_patterns(self.patterns)


class Seed(Order, frozen=True, tag="seed"):
    """Fetch these pages next."""

    urls: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.urls or not all(map(str.strip, self.urls)):
            raise HoneyguideError("a seed is the URL of a page")


class Budget(Order, frozen=True, tag="budget"):
    """Stop after so many pages, counting those fetched before."""

    pages: int

    def __post_init__(self) -> None:
        _check_count("budget", self.pages)


class Delay(Order, frozen=True, tag="delay"):
    """Wait so long between two requests to a host, instead of the crawl's own delay."""

    host: str
    seconds: float | None = None  # None: the crawl's own delay again

    def __post_init__(self) -> None:
        if self.seconds is not None and not 0 <= self.seconds < math.inf:
            raise HoneyguideError("a delay is a number of seconds, zero or more")


class InFlight(Order, frozen=True, tag="in-flight"):
    """Run so many visits at once."""

    visits: int

    def __post_init__(self) -> None:
        _check_count("in-flight", self.visits)


class Forget(Order, frozen=True, tag="forget"):
    """Drop the waiting links of a host; those that are found again wait again."""

    host: str


class Judge(Order, frozen=True, tag="judge"):
    """Judge all pages again with a taught judge, and go on with it."""

    judge: str  # its spec
    answers: dict[str, bool] = {}  # by URL: whether a person called the page relevant


AnyOrder = Pause | Unpause | Stop | Deny | Allow | Seed | Budget | Delay | InFlight | Forget | Judge


def read_order(what: Mapping[str, Any]) -> AnyOrder:
    """The order in a JSON object; a HoneyguideError if it is none."""
    try:
        order: AnyOrder = msgspec.convert(dict(what), AnyOrder)
    except _MISFITS as error:
        raise HoneyguideError(f"no order that a crawl knows: {error}") from None
    return order


def unpack_order(data: bytes) -> AnyOrder:
    """Read what `pack_order` wrote; a ValueError if that is not possible."""
    try:
        order: AnyOrder = msgspec.json.decode(data, type=AnyOrder)
    except HoneyguideError as error:
        raise ValueError(str(error)) from None
    return order


def pack_order(order: AnyOrder) -> bytes:
    """Serialise an order."""
    return msgspec.json.encode(order)


def host_named(said: str) -> str:
    """The host in a host name or URL, as the crawl spells it."""
    url = urls.canonical(said if "://" in said else f"http://{said}/")
    if not said.strip() or url is None:
        raise HoneyguideError(f"{said!r} is no host, such as example.org")
    return urls.host(url)


class Standing(msgspec.Struct, frozen=True):
    """The orders that are in force, as the crawl folder keeps them for `status` and `resume`."""

    is_paused: bool = False
    allowed: tuple[str, ...] = ()  # beside the plan's allow list
    denied: tuple[str, ...] = ()  # beside the plan's deny list
    permitted: tuple[str, ...] = ()  # of the plan's deny list
    delays: dict[str, float] = {}  # by host, in seconds
    done: dict[str, str] = {}  # by file of an order: what came of it

    def after(self, order: AnyOrder, lists: UrlLists, plan: UrlLists) -> "Standing":
        """What is in force after an order; `lists` are those of the crawl then."""
        if isinstance(order, Pause | Unpause):
            return msgspec.structs.replace(self, is_paused=isinstance(order, Pause))
        if isinstance(order, Delay):
            delays = {host: each for host, each in self.delays.items() if host != order.host}
            if order.seconds is not None:
                delays[order.host] = order.seconds
            return msgspec.structs.replace(self, delays=delays)
        return msgspec.structs.replace(
            self,
            allowed=_beside(lists.allow, plan.allow),
            denied=_beside(lists.deny, plan.deny),
            permitted=_beside(plan.deny, lists.deny),
        )

    def with_result(self, file: str, result: str) -> "Standing":
        """The same, after the order in a file has had this result."""
        done = {**self.done, file: result}
        for oldest in list(done)[:-MOST_DONE]:
            del done[oldest]
        return msgspec.structs.replace(self, done=done)

    def in_force(self) -> dict[str, Any]:
        """What holds beside the plan, by name; empty if nothing does."""
        said = {
            "paused": self.is_paused,
            "denied": list(self.denied),
            "allowed": [*self.allowed, *self.permitted],
            "delays": dict(self.delays),
        }
        return {name: value for name, value in said.items() if value}


def read_standing(data: str | bytes | None) -> Standing:
    """What is in force by the row of a crawl folder; nothing if there is no such row."""
    try:
        return msgspec.json.decode(data, type=Standing) if data else Standing()
    except msgspec.DecodeError:
        raise HoneyguideError("the orders in force cannot be read: the row is damaged") from None


def _beside(now: Sequence[str], before: Sequence[str]) -> tuple[str, ...]:
    return tuple(each for each in now if each not in before)


def _check_patterns(patterns: Sequence[str]) -> None:
    if not patterns or not all(map(str.strip, patterns)):
        raise HoneyguideError("an empty text is no list: name a host, a URL or a pattern")


def _check_count(what: str, count: int) -> None:
    if not 1 <= count < 1 << 53:
        raise HoneyguideError(f"{what} must be a number, at least 1")
