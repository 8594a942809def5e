"""What a crawl is to do, in words: the same as the flags of the command line."""

import math
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from honeyguide.agents.priced import Priced
from honeyguide.contracts import (
    Agent,
    Encoder,
    Frontier,
    Goal,
    Judge,
    Link,
    Sampled,
    Verdict,
    Vocabulary,
    World,
)
from honeyguide.crawl import Crawl, Limits, Observer, Outcome, Steering, run_jumping
from honeyguide.errors import HoneyguideError, unknown
from honeyguide.examples import example_texts
from honeyguide.fetchers.admitted import few_hosts
from honeyguide.gates import Gate
from honeyguide.guards import Guard
from honeyguide.guards.few_hosts import FewHosts
from honeyguide.guards.lists import Lists
from honeyguide.judges.closeness import check_topic
from honeyguide.judges.label import Label
from honeyguide.judges.remembered import Remembered
from honeyguide.machine import LEAST_MEMORY, memory_size, read_size, shown_size
from honeyguide.navigator import Navigator
from honeyguide.patterns import Refusal, listed
from honeyguide.policies import load_policy
from honeyguide.recipe import JudgeRecipe
from honeyguide.registry import accepts, make
from honeyguide.worlds.graph import GraphWorld
from honeyguide.worlds.recorded_first import RecordedFirst

EXAMPLE_HEAD = 500  # characters of an example page that say what it is about
WISHES = ("contact", "allow_private", "resolve", "sitemaps", "parsers")  # what the live web is told
USUAL_JUDGE = "topic"
MOST_HOSTS = 5  # of a crawl that says nobody's name
HIGHEST_PRICE = 1000  # beyond, scores are too coarse to tell links apart
PROGRAM_MEMORY = 384 << 20  # bytes: the program, its encoder, its caches and what is in flight
PRICE = 0.1  # rewards that a second is worth; docs/agents/url_agents.md compares some


class Usual(NamedTuple):
    """What is not said in a plan."""

    in_flight: int  # visits at once
    delay: float  # seconds between two requests to a host
    retries: int  # after failures that may pass
    rescoring: float  # numbers of waiting links that may be weighed again for each visit


# a visit costs about as much as weighing 4 million numbers: re-scoring takes a tenth of the time
LIVE = Usual(in_flight=16, delay=1.0, retries=2, rescoring=400_000)
SIMULATED = Usual(in_flight=1, delay=0.0, retries=0, rescoring=math.inf)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A crawl described by the names of its parts; parts take settings: "name:key=value"."""

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
    max_waiting: int | None = None  # links that may wait; the worst beyond that are let go of
    max_memory: str = ""  # of the process: "512M", "2G"; half of the machine's if not said
    budget: int = 1000  # pages to fetch
    max_relevant: int | None = None  # stop after so many relevant pages
    max_seconds: float | None = None  # stop after so much time
    max_bytes: int | None = None  # stop after so much was read
    max_barren: int | None = None  # stop after so many pages without a new relevant one
    in_flight: int | None = None  # visits at once; 16 on the live web, else 1
    delay: float | None = None  # seconds between two requests to a host; 1 on the live web, else 0
    patience: float | None = None  # seconds worth waiting for a much better link; twice the delay
    contact: str = ""  # web or e-mail address that the crawler shows to servers
    allow_private: bool = False  # whether it may reach addresses inside this network
    resolve: str = ""  # "NAME=ADDRESS:PORT,...": where a host is really found; "*" is any host
    sitemaps: bool = False  # whether sites' sitemaps are a source of links
    parsers: int = 0  # processes that only read and judge pages; 0: all is done in one
    year: int | None = None  # the present one, for what is far in the future
    bounded: bool = True  # whether domains have limits and copies no links; earlier versions: no
    random_seed: int = 0

    def __post_init__(self) -> None:
        for name in ("seeds", "like", "examples", "search", "allow", "deny"):
            object.__setattr__(self, name, tuple(getattr(self, name)))
        object.__setattr__(self, "record", self.record.removeprefix("graph:"))
        if self.search and not self.topic:
            object.__setattr__(self, "topic", ", ".join(self.search))
        if self.like:
            object.__setattr__(self, "judge", _judge_with_examples(self.judge))
        elif not self.topic:
            object.__setattr__(self, "topic", _topic_of(self.judge))
        if not self.seeds:
            raise HoneyguideError("a crawl needs at least one seed page to start from")
        self._check_numbers()
        if self.price is not None and not self.record:
            raise HoneyguideError("a price needs a record: without one, all pages cost the same")

    def _check_numbers(self) -> None:
        at_least_one = ("budget", "in_flight", "max_relevant", "max_bytes", "max_barren")
        for name in (*at_least_one, "max_waiting"):
            if (value := getattr(self, name)) is not None and value < 1:
                raise HoneyguideError(f"{name.replace('_', ' ')} must be at least 1")
        if self.max_memory and read_size(self.max_memory) < LEAST_MEMORY:
            raise HoneyguideError(
                f"max memory must be at least {shown_size(LEAST_MEMORY)}: so much is needed"
                " before the first page"
            )
        if self.survey < 0:
            raise HoneyguideError("a survey is a number of URLs, zero or more")
        if self.price is not None and not 0 <= self.price <= HIGHEST_PRICE:
            raise HoneyguideError(f"a price is 0 to {HIGHEST_PRICE} rewards a second")
        if self.parsers < 0:
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
            return read_size(self.max_memory)
        size = memory_size()
        return size and max(size // 2, LEAST_MEMORY)

    def with_examples(self) -> "Plan":
        """The same with its example pages read; they also say the topic if nothing else does."""
        if not self.like or self.examples:
            return self
        texts = example_texts(self.like, self._world(lambda page: Verdict(0.0, False)))
        topic = self.topic or " ".join(text[:EXAMPLE_HEAD] for text in texts)
        return replace(self, examples=texts, topic=topic)

    def open(self, remember: bool = False) -> "OpenPlan":
        """Make its encoder, judge and world, and find its seeds."""
        plan = self.with_examples()
        encoder: Encoder = make("encoder", plan.encoder)
        recipe = JudgeRecipe(plan.judge, plan.encoder, plan._told())
        if recipe.uses_encoder and plan.topic.isascii():
            check_topic(plan.topic, encoder)  # in other scripts, words are looked for as they are
        judge = recipe.make(encoder)
        settled = not (recipe.uses_encoder and isinstance(encoder, Vocabulary))
        world = plan._world(
            Remembered(judge) if remember and settled else judge, recipe if settled else None
        )
        if isinstance(judge, Label) and (known := world.labels()) and not judge.fits_any(known):
            raise unknown("label", judge.name, known)
        return OpenPlan(plan, encoder, world, _seeds(plan, world))

    def _refusals(self) -> list[Refusal]:
        """What redirects must not lead to either."""
        few = [few_hosts(MOST_HOSTS)] if self.is_anonymous else []
        return [listed(self.allow, self.deny), *few]

    @property
    def is_anonymous(self) -> bool:
        """Whether nobody can be asked about it: such a crawl stays small."""
        return not self.contact and not self.resolve

    def _told(self) -> dict[str, Any]:
        """What a judge may want to know."""
        return {"topic": self.topic, "examples": self.examples, "search": self.search}

    def _world(self, judge: Judge, recipe: JudgeRecipe | None = None) -> World:
        said: dict[str, Any] = {name: value for name in WISHES if (value := getattr(self, name))}
        if self.delay is not None:
            said["delay"] = self.delay
        said["refusals"] = self._refusals()
        if self.parsers and not accepts("world", self.world, "parsers"):
            raise HoneyguideError(f"world {self.world!r} has its pages read already: no parsers")
        world: World = make("world", self.world, judge=judge, recipe=recipe, **said)
        return self._with_record(judge, world) if self.record else world

    def _with_record(self, judge: Judge, world: World) -> World:
        if not world.live:
            raise HoneyguideError(
                f"a record is for the live web: in world {self.world!r} pages cost nothing anyway"
            )
        record = GraphWorld(self.record, judge, outside=True)
        if getattr(judge, "reads_texts", True) and not record.has_texts():
            raise HoneyguideError(
                f"the record {self.record} has no texts to judge: import WARC files, not WAT files"
            )
        return RecordedFirst(record, world, record.has)

    def simulate(self, observer: Observer | None = None) -> Outcome:
        """Crawl a recorded or generated web."""
        opened = self.open()
        navigator = opened.navigator()
        return run_jumping(opened.crawl(navigator, observer).run(opened.seeds))


@dataclass(frozen=True, slots=True)
class OpenPlan:
    """A plan with its world at hand: good for many crawls, each with a navigator of its own."""

    plan: Plan
    encoder: Encoder
    world: World
    seeds: tuple[Link, ...]

    @property
    def takes_time(self) -> bool:
        """Whether a crawl has to wait for servers or for other processes."""
        return self.world.live or self.plan.parsers > 0

    @property
    def goal(self) -> Goal:
        """What agents are told."""
        if self.plan.survey and not isinstance(self.world, Sampled):
            raise HoneyguideError("a survey needs a recorded or generated web")
        return Goal(self.plan.topic, self.encoder, self.world.truth, self._surveyed)

    def _surveyed(self) -> list[str]:
        """The same URLs for every crawl on a web."""
        if not self.plan.survey or not isinstance(self.world, Sampled):
            return []
        drawn = self.world.sample(self.plan.survey, np.random.default_rng(0))
        return [link.url for link in drawn]

    def navigator(self, plan: Plan | None = None) -> Navigator:
        """A fresh navigator, for this plan or one that differs in its agent or random seed."""
        plan = plan or self.plan
        vocabulary = self.vocabulary()  # first: agents weigh the topic's words as they are made
        for_agent, for_frontier = np.random.default_rng(plan.random_seed).spawn(2)
        agent: Agent = make("agent", plan.agent, goal=self.goal, rng=for_agent)
        if plan.policy:
            load_policy(Path(plan.policy), plan.agent, agent)
        if isinstance(self.world, RecordedFirst):
            agent = _priced(agent, self.world, plan)
        usual = LIVE if self.world.live else SIMULATED
        delay = usual.delay if plan.delay is None else plan.delay
        frontier: Frontier = make(
            "frontier",
            agent.frontier,
            width=agent.features.width,
            rng=for_frontier,
            delay=delay,
            patience=2 * delay if plan.patience is None else plan.patience,
        )
        navigator = Navigator(
            agent,
            frontier,
            rescoring=usual.rescoring / agent.features.width,
            guard=self.guard(plan),
            vocabulary=vocabulary,
            retries=usual.retries,
            gate=self._gate(plan),
            max_waiting=plan.max_waiting,
        )
        if isinstance(agent, Priced):
            navigator.lanes = agent.lanes
        return navigator

    def _listed(self, plan: Plan, guard: Guard) -> Guard:
        listed = Lists(guard, plan.allow, plan.deny)
        for seed in self.seeds:
            if reason := listed.refusal(seed.url):
                raise HoneyguideError(f"the seed {seed.url} is never fetched: {reason}")
        return listed

    def _gate(self, plan: Plan) -> Gate:
        search = plan.search or (plan.topic,)
        gate: Gate = make("gate", plan.gate, search=search, encoder=self.encoder)
        return gate

    def vocabulary(self) -> Vocabulary | None:
        """The encoder, if it weighs words by the pages fetched: as before any page."""
        if not isinstance(self.encoder, Vocabulary):
            return None
        self.encoder.forget()  # an earlier crawl's pages are unknown to this one
        return self.encoder

    def guard(self, plan: Plan) -> Guard:
        """Against traps and copies, and what is never fetched."""
        name = plan.guard or ("watch" if self.world.live else "none")
        guard: Guard = make("guard", name, year=plan.year, bounded=plan.bounded)
        if plan.allow or plan.deny or (self.world.live and name == "none"):
            guard = self._listed(plan, guard)
        return FewHosts(guard, MOST_HOSTS) if self.world.live and plan.is_anonymous else guard

    def crawl(self, navigator: Steering, observer: Observer | None = None) -> Crawl:
        """The crawl, ready to run."""
        return Crawl(navigator, self.world, self.plan.limits, self.in_flight, observer)

    @property
    def in_flight(self) -> int:
        """Visits at once."""
        usual = LIVE if self.takes_time else SIMULATED
        return self.plan.in_flight or usual.in_flight


def table_bytes(memory_limit: int) -> int:
    """Bytes that a crawl's tables may take: while they grow or are saved, they are there twice."""
    return (memory_limit - PROGRAM_MEMORY) // 2


def _priced(agent: Agent, world: RecordedFirst, plan: Plan) -> Priced:
    if plan.price and not agent.foresees:
        name = plan.agent.partition(":")[0]
        raise HoneyguideError(f"agent {name!r} weighs nothing: a price would not change its order")
    price = PRICE if plan.price is None else plan.price
    return Priced(agent, world.seconds, price, world.beyond_seconds)


def _seeds(plan: Plan, world: World) -> tuple[Link, ...]:
    """The pages to start from by name; "1000 random pages" are drawn."""
    found: list[Link] = []
    for name in plan.seeds:
        many = re.fullmatch(r"(\d+) random pages?", name)
        if many and isinstance(world, Sampled):
            found += world.sample(int(many[1]), np.random.default_rng(plan.random_seed))
        else:
            found.append(world.find(name))
    return tuple(found)


def _or_infinite(limit: float | None) -> float:
    return math.inf if limit is None else limit


def _judge_with_examples(judge: str) -> str:
    """What judges by example pages: `like`, with its settings if there are any."""
    if judge.partition(":")[0] == "like":
        return judge
    if judge != USUAL_JUDGE:
        raise HoneyguideError(f"say like or judge, not both: example pages are no {judge!r}")
    return "like"


def _topic_of(judge: str) -> str:
    """A label's own words, when no topic was given."""
    name, _, label = judge.partition(":")
    words = label.replace(":", ".").split(".")[-1].replace("_", " ").strip()
    if name != "label" or not words:
        raise HoneyguideError("a crawl needs a topic: a few words on what to look for")
    return words
