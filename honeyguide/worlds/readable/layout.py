"""Which hosts and pages the readable web has, and what each page is about."""

from collections.abc import Iterator
from typing import NamedTuple

from honeyguide.worlds.readable.dice import Dice
from honeyguide.worlds.readable.vocabulary import EVERYDAY, Vocabulary
from honeyguide.worlds.synthetic.chance import key

NO_TOPIC = -1
SUBTOPICS, THINGS = 4, 5  # of every topic, of every subtopic
FINE, NOT_FOUND, GONE, BROKEN, SILENT, MOVED = range(6)
# shares of articles and the like that fail or have moved; the rest is fine
_STATUSES = {NOT_FOUND: 0.022, GONE: 0.004, BROKEN: 0.006, SILENT: 0.008, MOVED: 0.02, FINE: 0.94}
_DOWN = 0.02  # share of hosts that never answer
_SECTION = 18  # pages of a section, its list included
_EVERYDAY_WEIGHT = 2.0  # pages of an everyday topic against those of others
_OWN_SUBTOPIC = 0.8  # share of a section's pages that keep to its subtopic


class Role(NamedTuple):
    """A kind of host."""

    share: float  # of all pages
    least: int  # pages
    most: int
    topics: int
    kinds: dict[str, float]  # of its pages, with their weights
    strays: float = 0.0  # share of pages that are about something else


ROLES = {
    "directory": Role(0.04, 25, 60, 99, {}),
    "paper": Role(0.10, 60, 240, 99, {"news": 0.85, "article": 0.15}),
    "forum": Role(0.13, 50, 240, 3, {"thread": 1.0}, 0.15),
    "magazine": Role(0.14, 60, 240, 5, {"article": 0.5, "guide": 0.25, "news": 0.25}, 0.06),
    "site": Role(0.40, 12, 160, 1, {"article": 0.6, "guide": 0.28, "news": 0.12}, 0.06),
    "society": Role(0.10, 10, 40, 1, {"news": 0.45, "article": 0.3, "guide": 0.25}, 0.10),
    "personal": Role(0.09, 8, 28, 2, {"article": 0.6, "guide": 0.4}, 0.30),
}
LEAST_PAGES = 300  # one host of each role, and some more


class Host(NamedTuple):
    """A site: its home page comes first, then "about" and "contact", then all others."""

    number: int
    role: str
    topics: tuple[int, ...]
    start: int
    size: int
    hubs: tuple[int, ...]  # its pages that list others
    is_down: bool


class Spot(NamedTuple):
    """What is settled of a page before it is written."""

    page: int
    host: int
    kind: str  # home, about, contact, list, clubs, article, guide, news or thread
    topic: int = NO_TOPIC
    subtopic: int = 0
    thing: int = 0
    hub: int = 0  # the page that lists it
    status: int = FINE


class Layout:
    """All hosts and pages, settled at once."""

    def __init__(self, pages: int, seed: int, vocabulary: Vocabulary) -> None:
        self.pages, self.vocabulary = pages, vocabulary
        self.hosts: list[Host] = []
        self.spots: list[Spot] = []
        self._dice = Dice(key(seed, "hosts"))
        self._written = dict.fromkeys(ROLES, 0)  # pages so far
        self._weights = [  # some topics have more pages than others
            _EVERYDAY_WEIGHT if topic.family == EVERYDAY else 0.7 + 0.6 * self._dice.share()
            for topic in vocabulary.topics
        ]
        self._covered = [0.0] * len(self._weights)
        self._kin = [_kin(vocabulary, topic) for topic in range(len(self._weights))]
        while len(self.spots) < pages:
            self._add_host(pages - len(self.spots))

    def kin(self, topic: int) -> list[int]:
        """The other topics of a topic's family."""
        return self._kin[topic]

    def _add_host(self, left: int) -> None:
        name = max(ROLES, key=lambda name: ROLES[name].share / (self._written[name] + 1))
        role, number, start = ROLES[name], len(self.hosts), len(self.spots)
        size = self._size(role, left)
        topics = self._topics(role, size)
        self.spots += [Spot(start + i, number, _FRAME[i]) for i in range(min(size, len(_FRAME)))]
        pages = self._directory if name == "directory" else self._sections
        self.spots += pages(role, topics, number, start + size)
        is_down = name in ("site", "society", "personal") and self._dice.share() < _DOWN
        hubs = [spot.page for spot in self.spots[start:] if spot.kind in ("list", "clubs")]
        self.hosts.append(Host(number, name, topics, start, size, tuple(hubs), is_down))
        self._written[name] += size

    def _size(self, role: Role, left: int) -> int:
        most = max(role.least, min(role.most, self.pages // 12))
        size = min(most, int(role.least * (1 - self._dice.share()) ** -0.6))
        return size if left - size >= role.least else left

    def _topics(self, role: Role, size: int) -> tuple[int, ...]:
        """The topics that lack pages most."""
        covered, weights = self._covered, self._weights
        order = sorted(range(len(weights)), key=lambda t: (covered[t] / weights[t], -weights[t]))
        chosen = order[: role.topics]
        for topic in chosen:
            covered[topic] += size / len(chosen)
        return tuple(chosen)

    def _directory(
        self, role: Role, topics: tuple[int, ...], host: int, end: int
    ) -> Iterator[Spot]:
        """A list for each topic, then lists of subtopics, with lists of clubs among them."""
        home = len(self.spots) - len(_FRAME)
        for place, page in enumerate(range(len(self.spots), end)):
            if place >= len(topics) and place % 4 == 0:
                yield Spot(page, host, "clubs", hub=home)
            else:
                topic = topics[place % len(topics)]
                yield Spot(page, host, "list", topic, self._subtopic(), hub=home)

    def _sections(self, role: Role, topics: tuple[int, ...], host: int, end: int) -> Iterator[Spot]:
        page, section = len(self.spots), self._subtopic() * len(topics)
        while page < end:
            last = page + _SECTION if end - page >= 2 * _SECTION else end
            topic, subtopic = topics[section % len(topics)], section // len(topics) % SUBTOPICS
            shown = NO_TOPIC if role is ROLES["paper"] else topic
            yield Spot(page, host, "list", shown, subtopic, self._thing(), page)
            for each in range(page + 1, last):
                about = self._about(role, topic, subtopic)
                kind = self._dice.weighted(role.kinds)
                yield Spot(each, host, kind, *about, page, self._dice.weighted(_STATUSES))
            page, section = last, section + 1

    def _about(self, role: Role, topic: int, subtopic: int) -> tuple[int, int, int]:
        """The topic, subtopic and thing of a page in a section."""
        dice, thing = self._dice, self._thing()
        if role is ROLES["paper"]:
            topic, subtopic = self._news_topic(), self._subtopic()
        elif dice.share() < role.strays:
            near, everyday = self.kin(topic), self.everyday()
            topic = dice.pick(near if near and dice.share() < 0.5 else everyday)
        if dice.share() > _OWN_SUBTOPIC:
            subtopic = self._subtopic()
        return topic, subtopic, thing

    def _subtopic(self) -> int:
        return self._dice.number(0, SUBTOPICS - 1)

    def _thing(self) -> int:
        return self._dice.number(0, THINGS - 1)

    def _news_topic(self) -> int:
        everyday = self.everyday()
        if self._dice.share() < 0.5:
            return self._dice.pick(everyday)
        return self._dice.number(0, len(self._weights) - 1)

    def everyday(self) -> list[int]:
        """The topics that are there as noise."""
        topics = self.vocabulary.topics
        return [i for i, topic in enumerate(topics) if topic.family == EVERYDAY]


_FRAME = ("home", "about", "contact")


def _kin(vocabulary: Vocabulary, topic: int) -> list[int]:
    topics = vocabulary.topics
    family = topics[topic].family
    return [i for i, other in enumerate(topics) if other.family == family and i != topic]
