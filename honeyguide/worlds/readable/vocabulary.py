"""What the readable web speaks of and how: topics with their facts, and forms of sentences."""

import re
from functools import cache
from importlib.resources import files
from typing import NamedTuple

EVERYDAY = "everyday"  # the family of the topics that are there as noise
QUOTABLE = "~"  # begins a form that may be said in somebody else's words
_SLOT = re.compile(r"\{(\w+)\}")


class Thing(NamedTuple):
    """Something to write about, with what is true of it."""

    name: str
    plural: bool
    facts: tuple[str, ...]


class Subtopic(NamedTuple):
    """A part of a topic."""

    name: str
    deeds: tuple[str, ...]
    things: tuple[Thing, ...]


class Topic(NamedTuple):
    """A topic with the words of its own."""

    name: str
    family: str
    words: dict[str, tuple[str, ...]]  # people, places, tools, events, names, adjective
    subtopics: tuple[Subtopic, ...]


Form = tuple[str, ...]  # a sentence: text, slot, text, slot, ..., text


class Vocabulary(NamedTuple):
    """All that there is to say."""

    topics: tuple[Topic, ...]
    forms: dict[str, tuple[Form, ...]]  # by what they are for
    names: dict[str, tuple[str, ...]]


@cache
def vocabulary() -> Vocabulary:
    """Read the files beside this one, once."""
    return Vocabulary(
        tuple(_topic(part) for part in _parts("topics.txt")),
        {part[0].strip("[]"): tuple(map(form, part[1:])) for part in _parts("sentences.txt")},
        {name: _split(values) for name, values in map(_pair, _lines("names.txt"))},
    )


def form(text: str) -> Form:
    """Cut a sentence at its slots."""
    return tuple(_SLOT.split(text))


def _lines(name: str) -> list[str]:
    text = files(__package__).joinpath(name).read_text("utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def _parts(name: str) -> list[list[str]]:
    """The lines of a file, in groups that begin with a line in brackets."""
    parts: list[list[str]] = []
    for line in _lines(name):
        if line.startswith("["):
            parts.append([])
        parts[-1].append(line)
    return parts


def _topic(lines: list[str]) -> Topic:
    name, _, family = lines[0].removeprefix("[").partition("] ")
    starts = [place for place, line in enumerate(lines) if line.startswith("= ")]
    ends = [*starts[1:], len(lines)]
    words = {key: _split(values) for key, values in map(_pair, lines[1 : starts[0]])}
    subtopics = tuple(_subtopic(lines[a:b]) for a, b in zip(starts, ends, strict=True))
    return Topic(name, family, words, subtopics)


def _subtopic(lines: list[str]) -> Subtopic:
    (_, deeds), *rest = map(_pair, lines[1:])
    things = [
        Thing(name.removeprefix("+"), name.startswith("+"), _split(facts)) for name, facts in rest
    ]
    return Subtopic(lines[0].removeprefix("= "), _split(deeds), tuple(things))


def _pair(line: str) -> tuple[str, str]:
    key, _, value = line.partition(": ")
    return key, value


def _split(values: str) -> tuple[str, ...]:
    return tuple(values.split("; "))
