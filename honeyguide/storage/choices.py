"""Why a link was chosen, in the few bytes that the journal keeps with each choice.

A choice is a head (list of names, how it came about, rank, waiting links, score) and the largest
parts of the score, each with the number of its name. Lists of names are stored once in a folder.
"""

import json
import struct
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from honeyguide.contracts import Candidates, Inspectable, Link
from honeyguide.disk.serialise import DamagedError
from honeyguide.engine.navigator import Navigator
from honeyguide.engine.view import largest

NAMES = "reason_names"  # the row of the table `about` with the lists of names
RANDOM, ADDS_UP = 1, 2  # bits of a choice: it was drawn at random, its parts add up to the score
_HEAD = struct.Struct("<BBIIf")  # list of names, bits, rank, waiting links, score
_PART = np.dtype([("name", "<u2"), ("value", "<f2")])
_LARGEST = float(np.finfo(np.float16).max)
_MOST_LISTS = 255  # of names in one folder; later ones are not told apart from the last

Names = tuple[str, ...]


class Choice(NamedTuple):
    """Why a link was chosen."""

    rank: int  # 1: no waiting link had a higher score
    waiting: int  # links that waited, the chosen one included; 0: unknown
    score: float  # inf: a seed
    at_random: bool = False
    adds_up: bool = True  # the parts, and what is left out, add up to the score
    names: Names = ()
    parts: tuple[tuple[int, float], ...] = ()  # (number of a name, value), the largest first

    def named(self) -> list[tuple[str, float]]:
        """The parts with their names."""
        return [
            (self.names[place], value) for place, value in self.parts if place < len(self.names)
        ]


def choice_of(navigator: Navigator, link: Link) -> Choice | None:
    """Why a navigator has just chosen a link; None if its frontier does not show its links."""
    frontier, lease = navigator.frontier, navigator.leases[link.url]
    if not isinstance(frontier, Inspectable):
        return None
    rank, waiting = frontier.rank(lease.score), len(frontier) + 1
    known = Choice(rank, waiting, lease.score, navigator.explored)
    if lease.score == np.inf:
        return known
    links = Candidates(np.array([lease.id], np.int32), lease.x[None])
    reasons = navigator.agent.explain(links)
    if reasons is None:
        return known
    values = reasons.parts[0]
    places = largest(values)
    parts = tuple(zip(places.tolist(), values[places].tolist(), strict=True))
    return known._replace(adds_up=reasons.adds_up, names=reasons.names, parts=parts)


def pack_choice(choice: Choice, number: int) -> bytes:
    """A choice as bytes, with the number of its list of names."""
    bits = RANDOM * choice.at_random + ADDS_UP * choice.adds_up
    head = _HEAD.pack(min(number, _MOST_LISTS), bits, choice.rank, choice.waiting, choice.score)
    parts = np.array(choice.parts, np.float64).reshape(-1, 2)
    packed = np.empty(len(parts), _PART)
    packed["name"], packed["value"] = parts[:, 0], parts[:, 1].clip(-_LARGEST, _LARGEST)
    return head + packed.tobytes()


def unpack_choice(data: bytes, lists: Sequence[Names] = ()) -> Choice:
    """The choice in these bytes; DamagedError if there is none."""
    if len(data) < _HEAD.size or (len(data) - _HEAD.size) % _PART.itemsize:
        raise DamagedError("a choice has a wrong length")
    number, bits, rank, waiting, score = _HEAD.unpack_from(data)
    packed = np.frombuffer(data, _PART, offset=_HEAD.size)
    parts = tuple(zip(packed["name"].tolist(), packed["value"].tolist(), strict=True))
    names = lists[number] if number < len(lists) else ()
    return Choice(rank, waiting, score, bool(bits & RANDOM), bool(bits & ADDS_UP), names, parts)


def names_in(about: Mapping[str, Any]) -> list[Names]:
    """The lists of names that a folder has."""
    return [tuple(names) for names in json.loads(about.get(NAMES, "[]"))]
