"""Settings of a crawl: the same as the flags of the command line."""

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from honeyguide.engine.loop import Limits, Observer, Outcome
from honeyguide.engine.machine import LEAST_MEMORY, format_size, memory_size, parse_size
from honeyguide.errors import HoneyguideError
from honeyguide.registry import lasting_spec
from honeyguide.text.languages import language_codes

if TYPE_CHECKING:
    from pathlib import Path

    from honeyguide.api import CrawlResult
    from honeyguide.assemble import Assembled

USUAL_JUDGE = "topic"
BY_EXAMPLES = ("like", "topic_and_like")  # judges that need example pages
PARTS = ("agent", "encoder", "gate", "guard", "judge", "world")  # kinds that a plan names
HIGHEST_PRICE = 1000  # beyond, scores are too coarse to tell links apart


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A crawl described by the names of its parts; parts take settings: "name:key=value".

    A part of one's own is named by its place, "MODULE:CLASS", or given as a class.
    """

    topic: str = ""
    search: tuple[str, ...] = ()  # words or phrases, for judges that look for several
    seeds: tuple[str, ...] = ()
    like: tuple[str, ...] = ()  # example pages, files or pages of the world: sets the judge
    examples: tuple[str, ...] = ()  # their texts, once they were read
    world: str = "synthetic"
    record: str = ""  # a recorded web; its pages are taken from there, others from the world
    price: float | None = None  # rewards that a second beyond the record is worth; 0.1
    judge: str = USUAL_JUDGE
    encoder: str = "wordllama"
    agent: str = "guide"
    survey: int = 0  # URLs drawn from a recorded web, so that their common words are known at once
    policy: str = ""  # a file with what an earlier crawl's agent of the same name has learnt
    guard: str = ""  # against traps and copies; by default on the live web only
    gate: str = "none"  # whether a link whose turn has come is fetched
    allow: tuple[str, ...] = ()  # hosts, beginnings or patterns of URLs; nothing else is fetched
    deny: tuple[str, ...] = ()  # the same, of what is never fetched
    languages: tuple[str, ...] = ()  # of relevant pages, such as "en"; empty: all
    max_depth: int | None = None  # hops from a seed beyond which no link is followed
    max_per_host: int | None = None  # pages to fetch from one host
    max_waiting: int | None = None  # links that may wait; the worst beyond that are let go of
    max_memory: str = ""  # of the process: "512M", "2G"; half of the machine's if not said
    budget: int = 1000  # pages to fetch
    max_relevant: int | None = None  # stop after so many relevant pages
    max_seconds: float | None = None  # stop after so much time
    max_bytes: int | None = None  # stop after so much was read
    max_barren: int | None = None  # stop after so many pages without a new relevant one
    in_flight: int | None = None  # visits at once; 16 on the live web, else 1
    delay: float | None = None  # seconds between two requests to a host; 1 on the live web, else 0
    per_host: int = 1  # requests at once to a host that is yours or allows it
    patience: float | None = None  # seconds worth waiting for better links; two visits and delays
    contact: str = ""  # web or e-mail address that the crawler shows to servers
    allow_private: bool = False  # whether it may reach addresses inside this network
    resolve: str = ""  # "NAME=ADDRESS:PORT,...": where a host is really found; "*" is any host
    user_agent: str = ""  # empty: honeyguide's own name, with the contact
    header: tuple[str, ...] = field(default=(), repr=False)  # "NAME: VALUE", for hosts of seeds
    cookie: tuple[str, ...] = field(default=(), repr=False)  # "NAME=VALUE", or a cookie file
    auth_file: str = ""  # logins of hosts, in netrc form
    proxy: str = field(default="", repr=False)  # "http://HOST:PORT" or "socks5://HOST:PORT"
    client_cert: str = ""  # a file with the certificate that the hosts of seeds are shown
    client_key: str = ""  # a file with its key, if that is not in the same one
    ca_file: str = ""  # certificates to trust, besides the system's
    secrets: tuple[str, ...] = ()  # flags to say again on resume: the folder has no values
    sitemaps: bool = False  # whether sites' sitemaps are a source of links
    parsers: int | None = None  # processes that only read and judge pages; None: by the cores
    year: int | None = None  # the present one, for what is far in the future
    bounded: bool = True  # whether domains have limits and copies no links; earlier versions: no
    host_globs: bool = True  # whether *.example.org in lists matches hosts; earlier versions: no
    random_seed: int = 0
    outside_parts: tuple[str, ...] = ()  # places of parts that are not honeyguide's own
    part_folders: tuple[str, ...] = ()  # in which their modules are, if they are not installed

    def __post_init__(self) -> None:
        for name in (
            "seeds",
            "like",
            "examples",
            "search",
            "allow",
            "deny",
            "languages",
            "secrets",
            "header",
            "cookie",
            "outside_parts",
            "part_folders",
        ):
            value = getattr(self, name)
            object.__setattr__(self, name, (value,) if isinstance(value, str) else tuple(value))
        object.__setattr__(self, "languages", language_codes(self.languages))
        for kind in PARTS:
            if not isinstance(spec := getattr(self, kind), str):
                object.__setattr__(self, kind, spec_of(kind, spec))
        object.__setattr__(self, "record", self.record.removeprefix("graph:"))
        if self.search and not self.topic:
            object.__setattr__(self, "topic", ", ".join(self.search))
        if self.like:
            object.__setattr__(self, "judge", _judge_with_examples(self.judge, self.topic))
        elif not self.topic:
            object.__setattr__(self, "topic", _topic_of(self.judge))
        if self.judge in BY_EXAMPLES and not (self.like or self.examples):
            raise HoneyguideError(
                f"judge {self.judge!r} needs example pages: name some with --like"
            )
        if not self.seeds:
            raise HoneyguideError(
                "a crawl needs at least one seed page to start from: name one with --seed, or say"
                " --seed hubs for well-known pages with many links"
            )
        self._check_numbers()
        if self.price is not None and not self.record:
            raise HoneyguideError("a price needs a record: without one, all pages cost the same")

    def _check_numbers(self) -> None:
        at_least_one = ("budget", "in_flight", "per_host", "max_relevant", "max_bytes")
        for name in (*at_least_one, "max_barren", "max_waiting", "max_per_host"):
            if (value := getattr(self, name)) is not None and value < 1:
                raise HoneyguideError(f"{name.replace('_', ' ')} must be at least 1")
        if self.max_memory and parse_size(self.max_memory) < LEAST_MEMORY:
            raise HoneyguideError(
                f"max memory must be at least {format_size(LEAST_MEMORY)}: so much is needed"
                " before the first page"
            )
        if self.max_depth is not None and self.max_depth < 0:
            raise HoneyguideError("max depth is a number of hops, zero or more")
        if self.survey < 0:
            raise HoneyguideError("a survey is a number of URLs, zero or more")
        if self.price is not None and not 0 <= self.price <= HIGHEST_PRICE:
            raise HoneyguideError(f"a price is 0 to {HIGHEST_PRICE} rewards a second")
        if self.parsers is not None and self.parsers < 0:
            raise HoneyguideError("parsers must be a number of processes, zero or more")
        for name in ("delay", "patience", "max_seconds"):
            if (value := getattr(self, name)) is not None and not 0 <= value < math.inf:
                raise HoneyguideError(f"{name} must be a number of seconds, zero or more")

    @property
    def limits(self) -> Limits:
        """When the crawl has done enough."""
        return Limits(
            pages=self.budget,
            relevant=_or_infinite(self.max_relevant),
            seconds=_or_infinite(self.max_seconds),
            bytes=_or_infinite(self.max_bytes),
            barren=_or_infinite(self.max_barren),
        )

    @property
    def memory_limit(self) -> int | None:
        """Bytes that the process may hold; none where nobody knows how many there are."""
        if self.max_memory:
            return parse_size(self.max_memory)
        size = memory_size()
        return size and max(size // 2, LEAST_MEMORY)

    @property
    def is_anonymous(self) -> bool:
        """Whether servers are shown no contact address: such a crawl is limited to a few hosts."""
        is_named = any(sign in self.user_agent for sign in ("@", "://"))
        return not (self.contact or self.resolve or is_named)

    def open(self, remember: bool = False) -> "Assembled":
        """Make its encoder, judge and world, and find its seeds."""
        from honeyguide.assemble import assemble  # noqa: PLC0415 a plan is data: parts come later

        return assemble(self, remember)

    def run(self, out: "str | Path | None" = None) -> "CrawlResult":
        """Crawl to the end; the crawl is stored in the folder `out`, if one is given."""
        from honeyguide.api import run  # noqa: PLC0415

        return run(self, out)

    def simulate(self, observer: Observer | None = None) -> Outcome:
        """Crawl a recorded or generated web."""
        return self.open().simulate(observer)


def spec_of(kind: str, part: object) -> str:
    """The name of a part: itself, or the place of a class."""
    if isinstance(part, str):
        return part
    if isinstance(part, type):
        return lasting_spec(kind, part)
    raise HoneyguideError(f"{kind} must be a name, MODULE:CLASS or a class, not {part!r}")


def _or_infinite(limit: float | None) -> float:
    return math.inf if limit is None else limit


def _judge_with_examples(judge: str, topic: str) -> str:
    """What judges by example pages, with its settings if there are any."""
    if judge.partition(":")[0] in (*BY_EXAMPLES, "taught"):
        return judge
    if judge != USUAL_JUDGE:
        raise HoneyguideError(f"say like or judge, not both: example pages are no {judge!r}")
    return "topic_and_like" if topic else "like"


def _topic_of(judge: str) -> str:
    """A label's own words, or what a finder's judge looks for, when no topic was given."""
    name, _, label = judge.partition(":")
    if name == "event_source":
        return label.replace("_", " ") if label.isidentifier() else "events"
    words = label.replace(":", ".").split(".")[-1].replace("_", " ").strip()
    if name != "label" or not words:
        raise HoneyguideError("a crawl needs a topic: a few words on what to look for")
    return words
