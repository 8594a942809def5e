"""An experiment: named parts, each a list of trials, and a function that reports the results."""

import hashlib
import importlib
import pkgutil
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import msgspec

import experiments
from honeyguide.errors import HoneyguideError, unknown

if TYPE_CHECKING:
    from experiments.harness.report_page import Page
    from experiments.harness.results import Results

DETERMINISTIC = ("best_first", "breadth_first", "guide", "oracle")  # equal in every run
# a judge -> one with the same relevant pages, whose relevance is the cosine to the topic
SHOWING_COSINES = {"keywords": "word_and_cosine", "label": "label_and_cosine"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """The web, topic, judge, seed pages and budget that all agents are given."""

    name: str
    web: str  # the name of a folder in --data, or a world: "synthetic:pages=60000"
    topic: str
    judge: str = "keywords"  # decides what is relevant
    seeds: tuple[str, ...]  # pages by name; "random page 7" is drawn with that random seed
    budget: int  # pages


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """An agent with its settings, under the name that reports show."""

    name: str
    agent: str
    encoder: str = "wordllama"
    cosine: bool = False  # relevance is the page's cosine to the topic, not the judge's own
    gate: str = "none"

    def judge(self, task: Task) -> str:
        """Return the judge for this entry: the task's, or its variant that gives cosines."""
        name, colon, rest = task.judge.partition(":")
        return f"{SHOWING_COSINES[name]}{colon}{rest}" if self.cosine else task.judge


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One agent on one task; each repeat starts with what the repeat before has learnt."""

    part: str
    task: Task
    entry: Entry
    number: int = 0
    repeats: int = 1
    function: str = ""  # "module:function" to call instead of running a crawl
    version: int = 1  # of its part

    @property
    def digest(self) -> str:
        """Hash of part, its version, task and entry, which identifies stored runs of this trial."""
        entry = asdict(self.entry)
        # runs stored before gates and versions existed keep their digest
        if self.entry.gate == "none":
            del entry["gate"]
        version = [self.version] if self.version > 1 else []
        asked = msgspec.json.encode([self.part, asdict(self.task), entry, *version])
        return hashlib.sha256(asked).hexdigest()[:12]

    def random_seed(self, repeat: int) -> int:
        """Return the random seed of a repeat, the same for every agent."""
        return 1000 * self.number + repeat


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of an experiment that can be run by itself."""

    name: str
    trials: Callable[[bool], list[Trial]]  # called with True for the quick version
    version: int = 1  # raise it when code changes what the part finds: stored runs are then old

    def __post_init__(self) -> None:
        # wrapped here, so that nobody gets trials of this part without its version
        object.__setattr__(self, "trials", _of_version(self.version, self.trials))


def _of_version(
    version: int, trials: Callable[[bool], list[Trial]]
) -> Callable[[bool], list[Trial]]:
    return lambda quick: [replace(trial, version=version) for trial in trials(quick)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Experiment:
    """A named list of parts, with the report that compares them to a paper."""

    name: str
    title: str
    source: str  # the paper and the sections that it reproduces
    paper_found: str  # a sentence
    we_found: "Callable[[Results], str]"  # a sentence with our figures; "" without results for it
    why: str  # a sentence: why the two differ, or that they do not
    parts: tuple[Part, ...]
    report: "Callable[[Results, Page], dict[str, Any]]"  # writes the page, returns the main figures

    def chosen(self, names: Sequence[str]) -> list[Part]:
        """Return the parts with these names, or all parts if no name is given."""
        known = {part.name: part for part in self.parts}
        for name in names:
            if name not in known:
                raise unknown(f"part of {self.name}", name, known)
        return [known[name] for name in names] or list(self.parts)

    def trials(self, quick: bool) -> list[Trial]:
        """List the trials of all parts."""
        return [trial for part in self.parts for trial in part.trials(quick)]


def find_experiment(name: str) -> Experiment:
    """Return the experiment with this name."""
    found = all_experiments()
    if name not in found:
        raise unknown("experiment", name, found)
    return found[name]


def all_experiments() -> dict[str, Experiment]:
    """Return every experiment by name: each EXPERIMENT that a file of this package defines."""
    modules = [
        importlib.import_module(f"{experiments.__name__}.{module.name}")
        for module in pkgutil.iter_modules(experiments.__path__)
        if module.name != "__main__"
    ]
    found = [module.EXPERIMENT for module in modules if hasattr(module, "EXPERIMENT")]
    return {experiment.name: experiment for experiment in found}


def runs_of(
    part: str, tasks: Sequence[Task], entries: Sequence[Entry], runs: int, repeats: int = 1
) -> list[Trial]:
    """List trials of every entry on every task; deterministic agents get one run."""
    return [
        Trial(part=part, task=task, entry=entry, number=number, repeats=repeats)
        for task in tasks
        for entry in entries
        for number in range(1 if _kind(entry) in DETERMINISTIC else runs)
    ]


ORACLE = Entry(name="oracle", agent="oracle")


def only_agents(trials: Sequence[Trial], names: Sequence[str]) -> list[Trial]:
    """Keep the trials of these agents or entries; keep all if no name is given."""
    known = {trial.entry.name for trial in trials} | {_kind(trial.entry) for trial in trials}
    for name in names:
        if name not in known:
            raise unknown("agent of this experiment", name, known)
    chosen = set(names)
    kept = [t for t in trials if not names or {t.entry.name, _kind(t.entry)} & chosen]
    if not kept:
        raise HoneyguideError("none of these agents takes part in these parts")
    return kept


def _kind(entry: Entry) -> str:
    return entry.agent.partition(":")[0]
