"""Which pages of the readable web link to which."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from honeyguide.worlds.readable.dice import Dice
from honeyguide.worlds.readable.layout import NO_TOPIC, Host, Layout, Spot
from honeyguide.worlds.synthetic.chance import key

CONTENT = ("article", "guide", "news", "thread")
POPULAR = 2.2  # how much links prefer some pages: their rank is drawn as share ** this
_MOST_IN_TEXT = 9
_BAR = 4  # lists named in the bar
# where a link in the text leads, by share
OF_ARTICLES = {
    "section": 0.32,
    "host": 0.10,
    "same subtopic": 0.15,
    "same topic": 0.13,
    "directory": 0.06,
    "kin": 0.07,
    "home": 0.06,
    "anywhere": 0.11,
}
OF_NEWS = {
    "section": 0.15,
    "host": 0.25,
    "same topic": 0.20,
    "society": 0.14,
    "home": 0.10,
    "anywhere": 0.16,
}


class Links(NamedTuple):
    """The pages that a page links to, by where the links stand."""

    bar: Sequence[int]
    text: Sequence[int]
    items: Sequence[int]
    aside: Sequence[int]
    foot: Sequence[int]


class Wiring:
    """Links follow from the layout and a page's own chance."""

    def __init__(self, layout: Layout, seed: int) -> None:
        self.layout = layout
        self._link_key = key(seed, "links")
        dice = Dice(key(seed, "popularity"))
        self._anywhere: list[int] = []
        self._by_topic: dict[int, list[int]] = defaultdict(list)
        self._by_subtopic: dict[tuple[int, int], list[int]] = defaultdict(list)
        self._sort(dice)
        # societies are named by clubs' lists and by the news, not by their pages
        self._homes = _shuffled([h.start for h in layout.hosts if h.role != "society"], dice)
        societies = [host for host in layout.hosts if host.role == "society"]
        self._societies = _shuffled([host.start for host in societies], dice)
        self._societies_of: dict[int, list[int]] = defaultdict(list)
        for page in self._societies:
            self._societies_of[self._host(page).topics[0]].append(page)
        self._directories = [h for h in layout.hosts if h.role == "directory"]

    def links(self, page: int) -> Links:
        """All links of a page."""
        spot = self.layout.spots[page]
        host, dice = self.layout.hosts[spot.host], Dice(self._link_key, page)
        bar, foot = self.frame(host)
        text = [] if spot.kind not in CONTENT else list(self._in_text(spot, host, dice))
        return Links(
            bar, _others(text, page), self._items(spot, host, dice), self._aside(spot, dice), foot
        )

    def start(self, topic: int) -> int:
        """The page of a directory that lists pages of a topic, or another page about it."""
        spots = self.layout.spots
        hubs = [page for host in self._directories for page in host.hubs]
        known = [page for page in hubs if spots[page].topic == topic]
        return known[0] if known else self._by_topic[topic][0]

    def _sort(self, dice: Dice) -> None:
        """Note which pages other hosts link to, the popular ones first."""
        open_pages = [
            spot.page
            for spot in self.layout.spots
            if self.layout.hosts[spot.host].role != "society" and spot.kind in (*CONTENT, "list")
        ]
        for page in _shuffled(open_pages, dice):
            spot = self.layout.spots[page]
            self._anywhere.append(page)
            if spot.topic != NO_TOPIC:
                self._by_topic[spot.topic].append(page)
                self._by_subtopic[spot.topic, spot.subtopic].append(page)

    def _host(self, page: int) -> Host:
        return self.layout.hosts[self.layout.spots[page].host]

    def _in_text(self, spot: Spot, host: Host, dice: Dice) -> Iterator[int]:
        count = min(_MOST_IN_TEXT, int(1.6 * (1 - dice.share()) ** -0.6))
        count -= spot.kind == "thread"
        shares = OF_NEWS if spot.kind == "news" else OF_ARTICLES
        for _ in range(count):
            yield self._target(dice.weighted(shares), spot, host, dice)

    def _target(self, where: str, spot: Spot, host: Host, dice: Dice) -> int:
        if where == "section":
            return dice.number(spot.hub, min(spot.hub + 17, host.start + host.size - 1))
        if where == "host":
            return dice.number(host.start, host.start + host.size - 1)
        return dice.early(self._pool(where, spot, dice) or self._anywhere, POPULAR)

    def _pool(self, where: str, spot: Spot, dice: Dice) -> Sequence[int]:
        """The pages elsewhere that a kind of link leads to."""
        match where:
            case "same subtopic":
                return self._by_subtopic[spot.topic, spot.subtopic]
            case "same topic":
                return self._by_topic[spot.topic]
            case "directory":
                return dice.pick(self._directories).hubs
            case "kin":
                kin = self.layout.kin(spot.topic)
                return self._by_topic[dice.pick(kin)] if kin else ()
            case "society":
                return self._societies_of[spot.topic]
        return self._homes if where == "home" else self._anywhere

    def _items(self, spot: Spot, host: Host, dice: Dice) -> Sequence[int]:
        """What a list lists."""
        if spot.kind == "home":
            first, last = host.start + min(3, host.size - 1), host.start + host.size - 1
            latest = [dice.number(first, last) for _ in range(6)]
            return _others([*host.hubs, *latest], spot.page)
        if spot.kind == "clubs":
            pool = self._societies or self._homes
            return _others([dice.pick(pool) for _ in range(dice.number(8, 20))], spot.page)
        if spot.kind != "list":
            return ()
        if host.role == "directory":
            return _others(list(self._recommended(spot, dice)), spot.page)
        section = [s.page for s in self.layout.spots[spot.page + 1 :][:40] if s.hub == spot.page]
        outside = [self._target("same topic", spot, host, dice) for _ in range(dice.number(0, 3))]
        return _others(section + (outside if spot.topic != NO_TOPIC else []), spot.page)

    def _recommended(self, spot: Spot, dice: Dice) -> Iterator[int]:
        """What a directory lists under a topic: pages and sites, some of them out of place."""
        for _ in range(dice.number(8, 22)):
            chance = dice.share()
            if chance < 0.12:
                yield dice.pick(self._homes)
            elif chance < 0.2:
                yield dice.early(self._anywhere, POPULAR)
            else:
                yield dice.early(self._by_topic[spot.topic] or self._anywhere, 1.5)

    def _aside(self, spot: Spot, dice: Dice) -> Sequence[int]:
        """Related pages of the section, then the latest of the host."""
        host = self.layout.hosts[spot.host]
        if spot.kind not in CONTENT:
            return ()
        related = [self._target("section", spot, host, dice) for _ in range(2)]
        latest = [self._target("host", spot, host, dice) for _ in range(2)]
        return _others([*related, spot.hub, *latest], spot.page)

    def frame(self, host: Host) -> tuple[list[int], list[int]]:
        """What stands above and below every page of a host."""
        dice = Dice(self._link_key, -2 - host.number & 0xFFFFFFFF)
        small = min(host.size, 3)
        own = [host.start + i for i in range(1, small)]
        pool = self._societies if host.role == "society" else self._homes
        partners = [dice.early(pool or self._homes, POPULAR), dice.pick(self._homes)]
        foot = _others([*own, *partners], host.start)
        return [host.start, *host.hubs[:_BAR], *own[:1]], list(foot)


def _others(pages: Sequence[int], page: int) -> list[int]:
    """The pages of a row once each, without this one."""
    return [each for each in dict.fromkeys(pages) if each != page]


def _shuffled(pages: list[int], dice: Dice) -> list[int]:
    return [page for _, page in sorted((dice.bits(), page) for page in pages)]
