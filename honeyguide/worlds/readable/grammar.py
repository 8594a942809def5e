"""Sentences of the readable web: forms filled with facts, each told once a page."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

from honeyguide.worlds.readable.dice import Dice
from honeyguide.worlds.readable.vocabulary import QUOTABLE, Form, Subtopic, Thing, Topic, Vocabulary

_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
    " fifteen sixteen seventeen eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_BEFORE_ALSO = ("is", "are", "was", "were", "can", "should", "must", "will", "may")
_LED = 0.3  # share of what may be somebody else's words that is
_TRIES = 12  # forms tried until one says something new


class Speaks(NamedTuple):
    """Who speaks: a site and its town."""

    site: str
    town: str
    fields: tuple[str, ...]  # what the site writes about


class Subject(NamedTuple):
    """What one page is about: its title and its text speak of the same."""

    topic: Topic
    subtopic: Subtopic
    thing: Thing
    other: Thing
    deed: str
    event: str
    town: str
    day: str


class Speaker:
    """Says sentences about one thing after another of a subtopic."""

    def __init__(
        self, vocabulary: Vocabulary, dice: Dice, subject: Subject, speaks: Speaks
    ) -> None:
        self.vocabulary, self.dice, self.speaks, self.subject = vocabulary, dice, speaks, subject
        self.topic, self.subtopic, self.thing = subject.topic, subject.subtopic, subject.thing
        self._said: set[str] = set()
        self._forms: set[Form] = set()
        self._told: set[str] = set()
        self._used: set[str] = set()  # slots that the page's subject decides, once
        self._done: list[str] = []  # deeds, the latest last

    def say(self, purpose: str) -> str:
        """A sentence that was not said before on this page, if possible in a new form."""
        forms = self.vocabulary.forms[purpose]
        for attempt in range(_TRIES):
            form = self.dice.pick(forms)
            if form in self._forms and attempt < _TRIES // 2:
                continue
            sentence = self.fill(form)
            if sentence is not None and form[0][:1] == QUOTABLE and self.dice.share() < _LED:
                sentence = self._led(form, sentence)
            if sentence is not None and sentence not in self._said:
                self._said.add(sentence)
                self._forms.add(form)
                return sentence
        return self.say("deed" if purpose != "deed" else "tale")

    def _led(self, form: Form, sentence: str) -> str:
        """The same sentence as somebody else's words."""
        lead = self.fill(self.dice.pick(self.vocabulary.forms["lead"]))
        is_name = form[0] == QUOTABLE and self.thing.name[0].isupper()
        return f"{lead} {sentence if is_name else sentence[0].lower() + sentence[1:]}"

    def fill(self, form: Form) -> str | None:
        """Fill a form's slots; None when nothing new can be told with it."""
        slots = set(form[1::2])
        told = self._facts(slots)
        if told is None:
            return None
        words = [
            (told.get(part) or _WORDS[part](self)) if place % 2 else part
            for place, part in enumerate(form)
        ]
        drawn = {"p", "q"} | (slots & {"r"})
        self._told.update(fact for slot, fact in told.items() if slot in drawn)
        return capitalised("".join(words).removeprefix(QUOTABLE))

    def turn_to_another(self) -> None:
        """Speak of another thing of the subtopic from now on: one with most left to tell."""
        others = [thing for thing in self.subtopic.things if thing is not self.thing]
        most = max(len(self._untold(thing)) for thing in others)
        self.thing = self.dice.pick([t for t in others if len(self._untold(t)) == most])

    def _untold(self, thing: Thing) -> list[str]:
        return [fact for fact in thing.facts if fact not in self._told]

    def _facts(self, slots: set[str]) -> dict[str, str] | None:
        """What is told of this thing and of another one."""
        thing, dice = self.thing, self.dice
        name = thing.name
        found = {"t": name, "ts": in_general(name), "it": "they" if thing.plural else "it"}
        wanted = [slot for slot in ("p", "q", "aq") if slot in slots]
        left = self._untold(thing)
        if len(left) < len(wanted):
            return None
        for slot in wanted:
            fact = dice.pick(left)
            left.remove(fact)
            found["q" if slot == "aq" else slot] = fact
        if "aq" in slots:
            found["aq"] = also(found["q"])
        return found | self._of_another(slots) if slots & {"u", "us"} else found

    def _of_another(self, slots: set[str]) -> dict[str, str]:
        others = [thing for thing in self.subtopic.things if thing is not self.thing]
        if "r" in slots:
            others = [thing for thing in others if self._untold(thing)] or others
        if self.subject.other in others and self._first("u"):
            others = [self.subject.other]
        other = self.dice.pick(others)
        fact = self.dice.pick(self._untold(other) or other.facts)
        return {"u": other.name, "us": in_general(other.name), "r": fact}

    def _first(self, slot: str) -> bool:
        """Whether a slot is filled for the first time on this page."""
        is_first = slot not in self._used
        self._used.add(slot)
        return is_first

    def deed(self) -> str:
        """Something to do, the page's own first, not the same twice in a row."""
        if not self._done:
            self._done.append(self.subject.deed)
            return self.subject.deed
        deeds = [deed for deed in self.subtopic.deeds if deed not in self._done[-2:]]
        self._done.append(self.dice.pick(deeds))
        return self._done[-1]

    def own(self, kind: str) -> str:
        """A word of the topic."""
        return self.dice.pick(self.topic.words[kind])

    def named(self, kind: str) -> str:
        """A name that any topic may use."""
        return self.dice.pick(self.vocabulary.names[kind])

    def when(self) -> str:
        """A day in the past."""
        if self.dice.share() < 0.2:
            return self.named("times")
        return f"on a {self.named('weather')} {self.named('weekdays')}"

    def date(self) -> str:
        """A day of the year."""
        return f"{self.dice.number(1, 28)} {self.named('months')}"


def _enumerated(things: Sequence[str]) -> str:
    return things[0] if len(things) == 1 else f"{', '.join(things[:-1])} and {things[-1]}"


_WORDS: dict[str, Callable[[Speaker], str]] = {
    "opener": lambda s: "".join(s.dice.pick(s.vocabulary.forms["opener"])),
    "people": lambda s: s.own("people"),
    "place": lambda s: s.own("places"),
    "tool": lambda s: s.own("tools"),
    "event": lambda s: s.subject.event,
    "adjective": lambda s: s.own("adjective"),
    "topic": lambda s: s.topic.name,
    "sub": lambda s: s.subtopic.name,
    "d": Speaker.deed,
    "e": Speaker.deed,
    "when": Speaker.when,
    "date": Speaker.date,
    "month": lambda s: s.named("months"),
    "weekday": lambda s: s.named("weekdays"),
    "hour": lambda s: s.named("hours"),
    "ordinal": lambda s: s.named("ordinals"),
    "n": lambda s: number_word(s.dice.number(13, 90)),
    "m": lambda s: number_word(s.dice.number(2, 12)),
    "year": lambda s: str(s.dice.number(1996, 2012)),
    "year2": lambda s: str(s.dice.number(2013, 2022)),
    "town": lambda s: s.subject.town,
    "elsewhere": lambda s: s.named("towns"),
    "hometown": lambda s: s.speaks.town,
    "day": lambda s: s.subject.day,
    "site": lambda s: s.speaks.site,
    "things": lambda s: _enumerated(s.speaks.fields),
    "onething": lambda s: s.dice.pick(s.speaks.fields),
}


def capitalised(sentence: str) -> str:
    """The same with a capital at its beginning."""
    return sentence[:1].upper() + sentence[1:]


def also(fact: str) -> str:
    """What is true of a thing, with the word "also" where it belongs."""
    verb, _, rest = fact.partition(" ")
    return f"{verb} also {rest}" if verb in _BEFORE_ALSO else f"also {fact}"


def in_general(thing: str) -> str:
    """A thing as a page names it that is about all of its kind: "a fork" gives "forks"."""
    article, _, noun = thing.partition(" ")
    if article not in ("a", "an"):
        return thing
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return f"{noun[:-1]}ies"
    return f"{noun}es" if noun.endswith(("s", "x", "ch", "sh")) else f"{noun}s"


def number_word(number: int) -> str:
    """A number below 100 in words."""
    if number < len(_UNITS):
        return _UNITS[number]
    tens, units = divmod(number, 10)
    return _TENS[tens - 2] + (f"-{_UNITS[units]}" if units else "")
