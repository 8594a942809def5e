"""Make the parts that a plan names and put them together; no other module does that."""

import asyncio
import logging
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from honeyguide.agents.priced import Priced
from honeyguide.contracts import (
    Additive,
    Agent,
    Calibrated,
    Calibration,
    Encoder,
    Frontier,
    Gate,
    Goal,
    Guard,
    Judge,
    Link,
    Sampled,
    Verdict,
    Vocabulary,
    World,
    dtype_of,
)
from honeyguide.engine.decisions import Decisions
from honeyguide.engine.loop import Crawl, Observer, Outcome, Steering, in_thread, run_simulated
from honeyguide.engine.navigator import Navigator
from honeyguide.errors import HoneyguideError, explained, unknown
from honeyguide.guards.bounds import Bounds
from honeyguide.guards.few_hosts import FewHosts
from honeyguide.guards.lists import Lists
from honeyguide.guards.once_per_target import OncePerTarget
from honeyguide.judges.closeness import check_topic
from honeyguide.judges.label import Label
from honeyguide.judges.like import read_examples
from honeyguide.judges.remembered import Remembered
from honeyguide.judges.targets import target_in
from honeyguide.learning.policies import load_policy
from honeyguide.plan import Plan
from honeyguide.registry import accepts, allowed_outside, lasting_spec, make, split
from honeyguide.urls import host
from honeyguide.urls.patterns import OUTSIDE, Scope, UrlLists
from honeyguide.web.access import Access, access
from honeyguide.web.judge_spec import JudgeSpec
from honeyguide.worlds.graph import GraphWorld
from honeyguide.worlds.hubs import hub_links, is_hubs
from honeyguide.worlds.known_pages import KnownPages
from honeyguide.worlds.recorded_first import RecordedFirst

_log = logging.getLogger(__name__)

FILE_ENDINGS = (".html", ".htm", ".txt", ".text")  # of example pages; no host has one
EXAMPLE_HEAD = 500  # first characters of an example page that become the topic
# settings for live worlds: handed to them, and those that are read into an Access
WEB_SETTINGS = ("contact", "allow_private", "resolve", "sitemaps", "user_agent")
ACCESS_SETTINGS = (
    "header",
    "cookie",
    "auth_file",
    "proxy",
    "client_cert",
    "client_key",
    "ca_file",
)
MOST_HOSTS = 5  # of a crawl without a contact address
PROGRAM_MEMORY = 464 << 20  # bytes of the program, its encoder, caches and visits in flight
PRICE = 0.1  # reward per second of fetching; docs/reference/agents/url_agents.md compares some


class Defaults(NamedTuple):
    """Default settings for live and simulated crawls."""

    in_flight: int  # visits at once
    delay: float  # seconds between two requests to a host
    retries: int  # of a link after temporary failures
    rescoring: float  # features of waiting links that may be scored again for each visit


# a visit takes as long as scoring 4 million features: rescoring adds at most a tenth to it
LIVE = Defaults(in_flight=16, delay=1.0, retries=2, rescoring=400_000)
SIMULATED = Defaults(in_flight=1, delay=0.0, retries=0, rescoring=math.inf)


@dataclass(frozen=True, slots=True)
class Assembled:
    """A plan with its encoder, world and seeds; each crawl needs a navigator of its own."""

    plan: Plan
    encoder: Encoder
    judge: Judge
    world: World
    seeds: tuple[Link, ...]
    once_per_target: bool = False  # whether only the first page of each target counts
    spec: JudgeSpec | None = None  # of what parser processes compute

    @property
    def calibration(self) -> Callable[[], Calibration] | None:
        """What makes calibrations of the judge, if it is Calibrated."""
        return self.judge.calibration if isinstance(self.judge, Calibrated) else None

    @property
    def defaults(self) -> Defaults:
        """The defaults for settings that the plan does not set."""
        return LIVE if self.world.live else SIMULATED

    @property
    def takes_time(self) -> bool:
        """Whether visits take real time, because of servers or parser processes."""
        return self.world.live or bool(self.plan.parsers)

    @property
    def in_flight(self) -> int:
        """How many visits run at once."""
        defaults = LIVE if self.takes_time else SIMULATED
        return self.plan.in_flight or defaults.in_flight

    @property
    def goal(self) -> Goal:
        """The goal that agents get; a HoneyguideError if a survey is not possible."""
        if self.plan.survey and not isinstance(self.world, Sampled):
            raise HoneyguideError("a survey needs a recorded or generated web")
        return Goal(self.plan.topic, self.encoder, self.world.truth, self._surveyed)

    def navigator(self, plan: Plan | None = None) -> Navigator:
        """Make a navigator, for this plan or one that differs in agent, gate or random seed."""
        plan = plan or self.plan
        navigator = self._navigator(plan)
        if self.calibration is not None:
            anew = partial(self._navigator, plan)
            navigator.decisions = Decisions(self.calibration(), anew)
        return navigator

    def _navigator(self, plan: Plan) -> Navigator:
        """Make a navigator that takes the verdicts of visits as they are."""
        vocabulary = self.vocabulary()  # first: agents encode the topic when they are made
        for_agent, for_frontier, for_gate = np.random.default_rng(plan.random_seed).spawn(3)
        delay = self.defaults.delay if plan.delay is None else plan.delay
        agent = self._agent(plan, for_agent)
        self._ask_about_links(agent)
        navigator = Navigator(
            agent,
            frontier_of(agent, for_frontier, delay, self._patience(plan), plan.per_host),
            rescoring=self.defaults.rescoring / agent.features.width,
            guard=self.guard(plan),
            vocabulary=vocabulary,
            retries=self.defaults.retries,
            gate=self._gate(plan, for_gate),
            max_waiting=plan.max_waiting,
        )
        navigator.lists = UrlLists(plan.allow, plan.deny, plan.host_globs)
        if isinstance(agent, Priced):
            navigator.lanes = agent.lanes
        return navigator

    def _patience(self, plan: Plan) -> float | None:
        """Infinite where pages take real time that must not matter; None: the frontier's own."""
        is_timeless = not self.world.live and accepts("world", plan.world, "parsers")
        return math.inf if plan.patience is None and is_timeless else plan.patience

    def _ask_about_links(self, agent: Agent) -> None:
        """Let parser processes read the words of links, if the agent's features need that."""
        asked = getattr(agent.features, "link_words", None)
        if self.spec is not None and asked is not None and isinstance(self.encoder, Additive):
            self.spec.links[:] = [asked]

    def navigator_for(self, agent: Agent, frontier: Frontier) -> Navigator:
        """Make a navigator for an agent and a frontier that were made elsewhere.

        It has no gate, never retries a link, and rescores whenever the agent asks for it.
        """
        return Navigator(
            agent,
            frontier,
            guard=self.guard(self.plan),
            vocabulary=self.encoder if isinstance(self.encoder, Vocabulary) else None,
            max_waiting=self.plan.max_waiting,
        )

    def vocabulary(self) -> Vocabulary | None:
        """The encoder with its counts dropped, if it counts words of pages; else None."""
        if not isinstance(self.encoder, Vocabulary):
            return None
        self.encoder.forget()  # the counts of an earlier crawl
        return self.encoder

    def guard(self, plan: Plan) -> Guard:
        """Make the guard: the plan's, with its allow and deny lists and the limit of hosts."""
        name = plan.guard or ("watch" if self.world.live else "none")
        guard: Guard = make("guard", name, year=plan.year, bounded=plan.bounded)
        if plan.allow or plan.deny or (self.world.live and name == "none"):
            guard = self._listed(plan, guard)
        bounds = plan.max_depth, plan.max_per_host, plan.languages
        if bounds != (None, None, ()):
            guard = Bounds(guard, *bounds)
        if self.once_per_target:
            guard = OncePerTarget(guard, target_in)
        return FewHosts(guard, MOST_HOSTS) if self.world.live and plan.is_anonymous else guard

    def crawl(self, navigator: Steering, observer: Observer | None = None) -> Crawl:
        """Make a crawl with the plan's limits; call its `run(seeds)`."""
        revisits = self.world.live and getattr(navigator.frontier, "revisits", False)
        world = KnownPages(self.world) if revisits else self.world
        return Crawl(navigator, world, self.plan.limits, self.in_flight, observer)

    def simulate(self, observer: Observer | None = None) -> Outcome:
        """Crawl a recorded or generated web on a simulated clock."""
        self.refuse_live()
        return run_simulated(self.crawl(self.navigator(), observer).run(self.seeds))

    def refuse_live(self) -> None:
        """Raise an error for the live web, which does not answer on a clock that jumps."""
        if self.world.live:
            raise HoneyguideError(
                "the live web can be crawled, but not simulated or compared on: keep a crawl of it"
                " with 'honeyguide crawl', then make a recorded web with 'honeyguide import warc'"
            )

    def _surveyed(self) -> list[str]:
        """Random URLs of the web, the same for every crawl on it."""
        if not self.plan.survey or not isinstance(self.world, Sampled):
            return []
        drawn = self.world.sample(self.plan.survey, np.random.default_rng(0))
        return [link.url for link in drawn]

    def _agent(self, plan: Plan, rng: np.random.Generator) -> Agent:
        goal = replace(self.goal, has_policy=bool(plan.policy))
        agent: Agent = make("agent", plan.agent, goal=goal, rng=rng)
        if plan.policy:
            encoder = lasting_spec("encoder", plan.encoder)
            load_policy(Path(plan.policy), plan.agent, agent, encoder)
        return _priced(agent, self.world, plan) if isinstance(self.world, RecordedFirst) else agent

    def _listed(self, plan: Plan, guard: Guard) -> Guard:
        listed = Lists(guard, plan.allow, plan.deny, plan.host_globs)
        for seed in self.seeds:
            if reason := listed.refusal(seed.url):
                hint = _allow_hint(plan.allow, seed.url) if reason == OUTSIDE else ""
                raise HoneyguideError(f"the seed {seed.url} is never fetched: {reason}{hint}")
        return listed

    def _gate(self, plan: Plan, rng: np.random.Generator) -> Gate:
        search = plan.search or (plan.topic,)
        gate: Gate = make("gate", plan.gate, search=search, encoder=self.encoder, rng=rng)
        return gate


def assemble(plan: Plan, remember: bool = False) -> Assembled:
    """Make a plan's encoder, judge and world, and find its seeds.

    With `remember`, each page is judged once, however many crawls visit it.
    """
    plan = with_examples(plan)
    spec, encoder, judge = _judge(plan)
    is_constant = not (spec.uses_encoder and isinstance(encoder, Vocabulary))
    sent = spec if is_constant and not spec.judge.startswith("__main__:") else None
    world = _world(plan, Remembered(judge) if remember and is_constant else judge, sent)
    if isinstance(judge, Label) and (known := world.labels()) and not judge.fits_any(known):
        raise unknown("label", judge.name, known)
    once = getattr(judge, "once", False) is True
    return Assembled(plan, encoder, judge, world, _seeds(plan, world), once, sent)


def judge_of(plan: Plan) -> tuple[Encoder, Judge]:
    """Make a plan's encoder and judge."""
    return _judge(with_examples(plan))[1:]


def judge_spec(plan: Plan) -> JudgeSpec:
    """The judge that a plan names, and what it is told; example pages must have been read."""
    names = lasting_spec("judge", plan.judge), lasting_spec("encoder", plan.encoder)
    return JudgeSpec(*names, _for_judges(plan), allowed_outside() or ())


def _judge(plan: Plan) -> tuple[JudgeSpec, Encoder, Judge]:
    encoder: Encoder = make("encoder", plan.encoder)
    spec = judge_spec(plan)
    if spec.uses_encoder and plan.topic.isascii():
        check_topic(plan.topic, encoder)  # in other scripts, words are looked for as they are
    judge = spec.make(encoder)
    _tell_once(getattr(judge, "notice", ""))
    return spec, encoder, judge


@cache
def _tell_once(notice: str) -> None:
    """Log what a judge wants a person to know, once in a process; nothing if it is empty."""
    if notice:
        _log.warning(notice)


def with_examples(plan: Plan) -> Plan:
    """Read the plan's example pages; they also give the topic if the plan has none."""
    if not plan.like or plan.examples:
        return plan
    texts = _example_texts(plan.like, _world(plan, lambda page: Verdict(0.0, False)))
    topic = plan.topic or " ".join(text[:EXAMPLE_HEAD] for text in texts)
    return replace(plan, examples=texts, topic=topic)


def with_hubs(plan: Plan) -> Plan:
    """Replace the seed "hubs" by the URLs that it stands for in the plan's world."""
    if not any(map(is_hubs, plan.seeds)):
        return plan
    world = _world(replace(plan, parsers=0), lambda page: Verdict(0.0, False))
    named = [
        [link.url for link in hub_links(seed, world)] if is_hubs(seed) else [seed]
        for seed in plan.seeds
    ]
    return replace(plan, seeds=tuple(url for urls in named for url in urls))


def frontier_of(
    agent: Agent,
    rng: np.random.Generator,
    delay: float = 0.0,  # seconds between two requests to a host
    patience: float | None = None,  # seconds to wait for a better link; None: the frontier's own
    per_host: int = 1,  # requests at once to a host
) -> Frontier:
    """Make the frontier that an agent needs; scores that are only an order are not waited for."""
    if not agent.foresees and patience in (None, math.inf):
        patience = 0.0
    frontier: Frontier = make(
        "frontier",
        agent.frontier,
        width=agent.features.width,
        dtype=dtype_of(agent.features),
        rng=rng,
        delay=delay,
        patience=patience,
        per_host=per_host,
    )
    return frontier


def site_navigator(
    agent: Agent, rng: np.random.Generator, host: str, delay: float = 0.0
) -> Navigator:
    """A navigator that stays on one host and its subdomains."""
    guard: Guard = make("guard", "none")
    return bare_navigator(agent, frontier_of(agent, rng, delay, patience=0.0), Lists(guard, [host]))


def bare_navigator(
    agent: Agent, frontier: Frontier, guard: Guard | None = None, gate: Gate | None = None
) -> Navigator:
    """A navigator of parts that were made elsewhere; it never tries a failed link again."""
    return Navigator(agent, frontier, guard=guard, gate=gate)


def table_bytes(memory_limit: int) -> int:
    """Bytes that a crawl's tables may take: half, because growing or saving them copies them."""
    return (memory_limit - PROGRAM_MEMORY) // 2


def _for_judges(plan: Plan) -> dict[str, Any]:
    return {"topic": plan.topic, "examples": plan.examples, "search": plan.search}


def _world(plan: Plan, judge: Judge, spec: JudgeSpec | None = None) -> World:
    settings: dict[str, Any] = {
        name: value for name in WEB_SETTINGS if (value := getattr(plan, name))
    }
    for name in ("delay", "parsers"):
        if getattr(plan, name) is not None:
            settings[name] = getattr(plan, name)
    if plan.per_host > 1:
        settings["per_host"] = plan.per_host
    settings["scope"] = scope(plan)
    settings["access"] = access_of(plan)
    if plan.parsers and not accepts("world", plan.world, "parsers"):
        raise HoneyguideError(f"world {plan.world!r} has its pages read already: no parsers")
    world: World = make("world", plan.world, judge=judge, spec=spec, **settings)
    return _with_record(plan, judge, world) if plan.record else world


def access_of(plan: Plan) -> Access:
    """What a plan's crawl shows to the hosts of its seeds, and its proxy."""
    given = {name: getattr(plan, name) for name in ACCESS_SETTINGS}
    return access(plan.seeds, **given)


def scope(plan: Plan) -> Scope:
    """The scope of a plan: which URLs may be requested, redirects included."""
    most_hosts = MOST_HOSTS if plan.is_anonymous else None
    return Scope(plan.allow, plan.deny, most_hosts, plan.host_globs)


def _with_record(plan: Plan, judge: Judge, world: World) -> World:
    if not world.live:
        raise HoneyguideError(
            f"a record is for the live web: in world {plan.world!r} pages cost nothing anyway"
        )
    record = GraphWorld(plan.record, judge, outside=True)
    if getattr(judge, "reads_texts", True) and not record.has_texts():
        raise HoneyguideError(
            f"the record {plan.record} has no texts to judge: import WARC files, not WAT files"
        )
    return RecordedFirst(record, world, record.has)


def _priced(agent: Agent, world: RecordedFirst, plan: Plan) -> Priced:
    if plan.price and not agent.foresees:
        name = split("agent", plan.agent).name
        raise HoneyguideError(f"agent {name!r} weighs nothing: a price would not change its order")
    price = PRICE if plan.price is None else plan.price
    return Priced(agent, world.seconds, price, world.beyond_seconds)


def _allow_hint(allow: Sequence[str], seed: str) -> str:
    """What to say instead of *.example.org where the seed is on example.org itself."""
    name = host(seed) if "://" in seed else ""
    meant = name and f"*.{name}" in allow
    return f" (*.{name} means its subdomains; say --allow {name} for both)" if meant else ""


def _seeds(plan: Plan, world: World) -> tuple[Link, ...]:
    """Find the seeds by name; "1000 random pages" draws them, "hubs" are pages of many links."""
    found: list[Link] = []
    for name in plan.seeds:
        many = re.fullmatch(r"(\d+) random pages?", name)
        if many and isinstance(world, Sampled):
            found += world.sample(int(many[1]), np.random.default_rng(plan.random_seed))
        elif is_hubs(name):
            found += hub_links(name, world)
        else:
            found.append(world.find(name))
    return tuple(found)


def _example_texts(names: Sequence[str], world: World) -> tuple[str, ...]:
    """The texts of example pages; each name is a file, or a page that `World.find` knows."""
    return tuple(_example_text(name, world) for name in names)


def _example_text(name: str, world: World) -> str:
    if Path(name).is_file():
        return read_examples([name])[0]
    if "://" not in name and name.lower().endswith(FILE_ENDINGS) and world.live:
        raise HoneyguideError(f"there is no file {name} to read; a URL begins with https://")
    return in_thread(lambda: asyncio.run(_text_in_world(name, world)))


async def _text_in_world(name: str, world: World) -> str:
    visit = await world.visit(world.find(name))
    await world.close()
    if visit.page is None or not visit.page.text.strip():
        reason = explained(visit.failure) or "it has no text"
        raise HoneyguideError(f"the example page {name} cannot be read: {reason}")
    return f"{visit.page.title}\n{visit.page.text}"
