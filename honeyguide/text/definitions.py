"""What a text says its subject is: "Giuseppe Verdi was an Italian composer of operas"."""

import re
from typing import NamedTuple

from honeyguide.text.words import terms

SEARCHED = 6000  # characters at the beginning of a text
SUBJECT = 250  # characters before the verb, at most, that name the subject
LONGEST = 300  # characters of a sentence after the verb
LONGEST_KIND = 120  # characters
FEWEST_LETTERS = 3  # of a title's word that names the subject

# in English, German, French, Spanish
_IS_A = re.compile(
    r" (?:is|was|are|were|ist|war|sind|waren|est|était|sont|es|era|son)"
    r" (?:(?:also|now|usually|generally|often|the|one of) )*"
    r"(?:an?|the|one of|any|eine?r?|der|die|das|une?|le|la|les|una|el|los) "
)
_ENDS_KIND = re.compile(
    r" (?:who|which|that|whose|where|when|from|in|at|by|with|for|to|located|situated|used|found"
    r"|born|based|im|aus|dans|en|qui|que)\b|[.;:(]"
)
_PREPOSITION = re.compile(
    r"\s(?:of|in|at|from|for|before|after|by|to|on|with|during|about|von|aus|im|de|du|des|del)\s"
)
_BETWEEN = re.compile(r",|\s(?:and|or|und|oder|et|ou|y|o)\s")
_NO_SUBJECT = (" this", " there", " it", " which", " that", " who")
_NAME = re.compile(rf"\w{{{FEWEST_LETTERS},}}")


class Definition(NamedTuple):
    """What a text says its subject is."""

    sentence: str  # the beginning of the text if nothing is found
    kind: str  # "Italian composer of operas"; empty if nothing is found


def definition(title: str, text: str) -> Definition:
    """The first sentence that says of the title's subject what it is."""
    start = " ".join(text[:SEARCHED].split())
    names = _NAME.findall(title.lower())
    small = start.lower()
    for verb in _IS_A.finditer(small):
        begin = _subject(small, names, verb.start())
        if begin >= 0:
            return _said(start, begin, verb.end())
    return Definition(start[:LONGEST], "")


def heads(topic: str) -> list[str]:
    """The words of a topic that say what kind of thing it looks for.

    "kings and queens of England" looks for kings and queens, "classical composers" for composers.
    """
    looked_for = _PREPOSITION.split(f" {topic.lower()} ")[0]
    found = [terms(part)[-1:] for part in _BETWEEN.split(looked_for)]
    return [word for last in found for word in last] or terms(topic)[-1:]


def _subject(small: str, names: list[str], verb: int) -> int:
    """Where the title's subject begins that stands before a verb; -1 if it does not."""
    if small.endswith(_NO_SUBJECT, 0, verb):
        return -1
    first = max(0, verb - SUBJECT)
    found = [small.rfind(name, first, verb) for name in names]
    return min((place for place in found if place >= 0), default=-1)


def _said(start: str, begin: int, after: int) -> Definition:
    end = start.find(". ", after)
    end = min(len(start) if end < 0 else end, after + LONGEST)
    stop = _ENDS_KIND.search(start, after)
    kind = min(stop.start() if stop else end, end, after + LONGEST_KIND)
    return Definition(start[begin:end], start[after:kind])
