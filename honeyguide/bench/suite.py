"""What a suite is: named parts, each a list of trials, and the page that reports them."""

import hashlib
import importlib
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from honeyguide.bench import suites
from honeyguide.errors import HoneyguideError, unknown

if TYPE_CHECKING:
    from honeyguide.bench.page import Page
    from honeyguide.bench.results import Results

CERTAIN = ("best_first", "breadth_first", "guide", "oracle")  # never vary from run to run
# a judge -> one that finds the same pages relevant, and shows how near to the topic a page is
SHOWING_COSINES = {"keywords": "word_and_cosine", "label": "label_and_cosine"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What is to be found, where, from where and with how many pages: the same for all."""

    name: str
    web: str  # a folder of the data by its name, or a world: "synthetic:pages=60000"
    topic: str
    judge: str = "keywords"  # decides what is relevant
    seeds: tuple[str, ...]  # pages by name; "random page 7" is drawn with that random seed
    budget: int  # pages


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """An agent with its settings, as it takes part."""

    name: str
    agent: str
    encoder: str = "wordllama"
    cosine: bool = False  # whether it is shown a page's cosine to the topic as its relevance
    gate: str = "none"  # what it wears between choice and fetch

    def judge(self, task: Task) -> str:
        """The task's judge, or the one that also shows cosines."""
        name, colon, rest = task.judge.partition(":")
        return f"{SHOWING_COSINES[name]}{colon}{rest}" if self.cosine else task.judge


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One agent on one task; its repeats start from what the one before has learnt."""

    part: str
    task: Task
    entry: Entry
    number: int = 0
    repeats: int = 1
    experiment: str = ""  # "module:function" that is run instead of a crawl

    @property
    def digest(self) -> str:
        """What was asked for, in short: results of another question are not mistaken for these."""
        entry = asdict(self.entry)
        if self.entry.gate == "none":  # as it was asked before there were gates
            del entry["gate"]
        asked = msgspec.json.encode([self.part, asdict(self.task), entry])
        return hashlib.sha256(asked).hexdigest()[:12]

    def random_seed(self, repeat: int) -> int:
        """Trials and repeats differ by it, agents do not."""
        return 1000 * self.number + repeat


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A share of a suite that can be run alone."""

    name: str
    trials: Callable[[bool], list[Trial]]  # given whether it is to be quick


@dataclass(frozen=True, slots=True, kw_only=True)
class Suite:
    """Named, versioned experiments with what was published about them."""

    name: str
    version: int
    title: str
    source: str  # what it reproduces
    parts: tuple[Part, ...]
    report: "Callable[[Results, Page], dict[str, Any]]"  # writes the page, returns the headline

    def chosen(self, names: Sequence[str]) -> list[Part]:
        """Its parts of these names; all when none is named."""
        known = {part.name: part for part in self.parts}
        for name in names:
            if name not in known:
                raise unknown(f"part of {self.name}", name, known)
        return [known[name] for name in names] or list(self.parts)


def find_suite(name: str) -> Suite:
    """The suite of this name: each is a file of honeyguide.bench.suites with a SUITE in it."""
    found = all_suites()
    if name not in found:
        raise unknown("suite", name, found)
    return found[name]


def all_suites() -> dict[str, Suite]:
    """Every suite by its name."""
    modules = [
        importlib.import_module(f"{suites.__name__}.{module.name}")
        for module in pkgutil.iter_modules(suites.__path__)
    ]
    return {module.SUITE.name: module.SUITE for module in modules if hasattr(module, "SUITE")}


def runs_of(
    part: str, tasks: Sequence[Task], entries: Sequence[Entry], runs: int, repeats: int = 1
) -> list[Trial]:
    """Every entry on every task, so many times; those that leave nothing to chance, once."""
    return [
        Trial(part=part, task=task, entry=entry, number=number, repeats=repeats)
        for task in tasks
        for entry in entries
        for number in range(1 if _kind(entry) in CERTAIN else runs)
    ]


ORACLE = Entry(name="oracle", agent="oracle")


def only_agents(trials: Sequence[Trial], names: Sequence[str]) -> list[Trial]:
    """The trials of these agents or entries; all when none is named."""
    known = {trial.entry.name for trial in trials} | {_kind(trial.entry) for trial in trials}
    for name in names:
        if name not in known:
            raise unknown("agent of this suite", name, known)
    chosen = set(names)
    kept = [t for t in trials if not names or {t.entry.name, _kind(t.entry)} & chosen]
    if not kept:
        raise HoneyguideError("none of these agents takes part in these parts")
    return kept


def _kind(entry: Entry) -> str:
    return entry.agent.partition(":")[0]
