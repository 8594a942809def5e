"""Writes pages: real words of their topic in plain sentences, with links among them."""

from functools import lru_cache

from honeyguide.worlds.synthetic.chance import draw, draws, field, key, share
from honeyguide.worlds.synthetic.draft import STYLES, Draft, Mention, Piece, Prose
from honeyguide.worlds.synthetic.layout import (
    ABOUT,
    ARTICLE,
    CONTACT,
    EMPTY,
    INDEX,
    PRIVACY,
    ROLES,
    TOPICS,
    TUNNEL,
    Host,
    Spot,
)
from honeyguide.worlds.synthetic.names import Names
from honeyguide.worlds.synthetic.traps import Traps
from honeyguide.worlds.synthetic.wiring import Wiring
from honeyguide.worlds.synthetic.words import FAMILY, NO_TOPIC, TABLE

INLINE = 10  # links in sentences; more stand in a list
PARAGRAPH = 4  # sentences
_WEAK = 0.20  # share of pages with hardly a word of their topic
_MENTIONS = 0.15  # share of pages that mention another topic
_USELESS, _USELESS_IN_LISTS = (
    0.52,
    0.20,
)  # shares of links in the text whose anchors do not describe the target


class Writer:
    """Writes the content of pages."""

    def __init__(self, names: Names, wiring: Wiring, traps: Traps, seed: int) -> None:
        self.names, self.wiring, self.traps = names, wiring, traps
        self.vocabulary = names.vocabulary
        phrases = self.vocabulary.phrases
        self._sentences = phrases["sentences"]
        self._joints = [tuple(form.split("@")) for form in phrases["links"]]
        self._text_key, self._link_key = key(seed, "text"), key(seed, "anchor")
        self.frame = lru_cache(maxsize=1 << 13)(self._frame)

    def draft(self, spot: Spot) -> Draft:
        """The whole page."""
        bar, foot = self.frame(spot.host.number)
        trap = self.traps.entrance(spot.host, spot.page)
        return Draft(
            self.names.url(spot),
            self.labels(spot),
            style(spot.host),
            self.prose(spot),
            [*bar, trap] if trap else bar,
            self._aside(spot),
            foot,
        )

    def trap(self, host: Host, path: str) -> Draft | None:
        """The page of a trap; None when there is none at this path."""
        prose = self.traps.page(host, path)
        if prose is None:
            return None
        bar, foot = self.frame(host.number)
        url = f"http://{self.names.host_name(host.number)}{path}"
        return Draft(url, ("kind:trap",), style(host), prose, bar, (), foot)

    def labels(self, spot: Spot) -> tuple[str, ...]:
        """The labels of a page: its topic, family of topics and kind."""
        if spot.status == EMPTY:
            return ("kind:empty",)
        kind = f"kind:{ROLES[spot.role]}" if spot.page == spot.original else "kind:copy"
        if spot.topic == NO_TOPIC:
            return (kind,)
        family = self.vocabulary.families[spot.topic // FAMILY]
        return (f"topic:{self.vocabulary.topics[spot.topic]}", f"family:{family}", kind)

    def _text(self, spot: Spot, role: int) -> list[str]:
        """The sentences of a page, without those with links."""
        start = draw(self._text_key, spot.original)
        chance = share(start, 0)
        long = role in (ABOUT, CONTACT, PRIVACY, TUNNEL, ARTICLE)
        count = 7 + int(42 * chance * chance * chance) if long else 6
        sentences = self._say(spot.topic, start, count)
        aside = share(start, 1)
        if aside < _WEAK:  # hardly a word of the topic
            sentences[1:] = self._say(NO_TOPIC, start, count)[1:]
        if aside > 1 - _MENTIONS:
            place = field(start, 2) % (count - 2)
            sentences[place : place + 2] = self._pass(field(start, 3), start)
        if spot.original != spot.page:
            sentences[-1] = self._say(spot.topic, spot.bits, 1)[0]
        return sentences

    def _pass(self, chance: int, start: int) -> list[str]:
        """Two sentences that mention another topic."""
        topic = chance % TOPICS
        name = self.vocabulary.topics[topic]
        first, second = self._say(topic, start + 1, 2)
        return [f"{first[:-1]}, as in {name}.", second]

    def _say(self, topic: int, start: int, count: int) -> list[str]:
        forms, table = self._sentences, self.vocabulary.tables[topic]
        sentences = []
        for bits in draws(start, count):
            a, b, c = bits >> 16, bits >> 32, bits >> 48
            form = forms[(bits & 0xFFFF) % len(forms)]
            said = form % (table[a % TABLE], table[b % TABLE], table[c % TABLE])
            sentences.append(said[0].upper() + said[1:])
        return sentences

    def prose(self, spot: Spot) -> Prose:
        """The prose of a page."""
        if spot.status == EMPTY:
            return Prose("Page not found", [self.vocabulary.phrases["empty"]], [])
        written = self.names.layout.spot(spot.original)
        links = [self.names.layout.spot(page) for page in self.wiring.content(written.page)]
        inline = INLINE if written.role == ARTICLE else 0
        items = [self._item(written, link, i) for i, link in enumerate(links[inline:], inline)]
        paragraphs = self._paragraphs(written, self._text(spot, written.role), links[:inline])
        return Prose(self.names.title(spot), paragraphs, items)

    def _paragraphs(self, spot: Spot, sentences: list[str], links: list[Spot]) -> list[list[Piece]]:
        step = len(sentences) / (len(links) + 1)
        due = [int(step * (i + 1)) for i in range(len(links))]
        paragraphs: list[list[Piece]] = []
        placed = 0
        for first in range(0, len(sentences), PARAGRAPH):
            pieces: list[Piece] = [""]
            for i in range(first, min(first + PARAGRAPH, len(sentences))):
                pieces[-1] = f"{pieces[-1]} {sentences[i]}" if i > first else sentences[i]
                while placed < len(links) and due[placed] <= i + 1:
                    self._join(pieces, spot, links[placed], placed)
                    placed += 1
            paragraphs.append(pieces)
        return paragraphs

    def _join(self, pieces: list[Piece], spot: Spot, link: Spot, place: int) -> None:
        """Append a sentence with a link to the pieces."""
        bits = draw(self._link_key, spot.page, place)
        table = self.vocabulary.tables[link.topic if bits >> 63 else spot.topic]
        before, after = self._joints[field(bits, 2) % len(self._joints)]
        word = table[field(bits, 1) % TABLE]
        pieces[-1] = f"{pieces[-1]} {before % word if '%' in before else before}"
        pieces.append(self._mention(link, bits, _USELESS))
        pieces.append(after % word if "%" in after else after)

    def _item(self, spot: Spot, link: Spot, place: int) -> list[Piece]:
        bits = draw(self._link_key, spot.page, place)
        table = self.vocabulary.tables[link.topic if bits >> 63 else spot.topic]
        mention = self._mention(link, bits, _USELESS_IN_LISTS)
        return [mention, f" with {table[field(bits, 1) % TABLE]}"]

    def _mention(self, link: Spot, bits: int, useless: float) -> Mention:
        chance = share(bits, 0)
        bits = draw(bits, 0)
        if chance < useless:
            said = self.vocabulary.phrases["useless"]
            anchor = "" if bits % 3 == 0 else said[field(bits, 1) % len(said)]
        elif chance < useless + 0.25 and link.topic != NO_TOPIC:
            own = self.vocabulary.tables[link.topic]
            anchor = own[field(bits, 1) % TABLE]
        elif chance < useless + 0.32:
            anchor = self.names.host_name(link.host.number)
        elif chance < useless + 0.40:
            anchor = f"the {self.vocabulary.tables[-1][field(bits, 1) % TABLE]}"
        else:
            anchor = self.names.title(link)
        return Mention(self.names.url(link), anchor)

    def _aside(self, spot: Spot) -> list[Mention]:
        mentions = []
        for place, page in enumerate(self.wiring.aside(spot)):
            link = self.names.layout.spot(page)
            anchor = self.names.title(link)
            if spot.role != INDEX and place == 1:
                anchor = "next" if page > spot.page else "previous"
            mentions.append(Mention(self.names.url(link), anchor))
        return mentions

    def _frame(self, number: int) -> tuple[list[Mention], list[Mention]]:
        """The links in the navigation bar and in the footer of every page of a host."""
        bar, foot = self.wiring.frame(number)
        host = self.names.layout.host(number)
        pictures = share(host.taste, 3) < 0.15
        spots = [self.names.layout.spot(page) for page in (*bar, *foot)]
        anchors = ["Home", *(self.names.title(spot) for spot in spots[1 : len(bar) - 1]), "About"]
        if pictures:
            anchors = [""] * len(bar)
        anchors += ["About us", "Contact", "Privacy"]
        anchors += [self.names.title(spot) for spot in spots[len(bar) + 3 :]]
        found = [
            Mention(self.names.url(spot), anchor)
            for spot, anchor in zip(spots, anchors, strict=True)
        ]
        return found[: len(bar)], found[len(bar) :]


def style(host: Host) -> int:
    """The number of a host's style."""
    return field(host.taste, 1) % len(STYLES)
