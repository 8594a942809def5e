"""Writes the pages of the readable web: titles, paragraphs, anchors, addresses."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from honeyguide.worlds.readable.dice import Dice
from honeyguide.worlds.readable.grammar import Speaker, Speaks, Subject
from honeyguide.worlds.readable.layout import MOVED, NO_TOPIC, THINGS, Host, Layout, Spot
from honeyguide.worlds.readable.vocabulary import Form, form
from honeyguide.worlds.readable.wiring import CONTENT, Wiring
from honeyguide.worlds.synthetic.chance import key
from honeyguide.worlds.synthetic.draft import STYLES, Draft, Mention, Piece, Prose

_OPAQUE = 0.35  # share of hosts whose addresses say nothing
_WEAK = 0.15  # share of pages that hardly speak of their topic
_PASSING = 0.2  # share of pages that mention another topic in passing
_OLD_ADDRESS = 0.6  # share of links to a page that moved which still name the old address
_NAMES_TRIED = 50  # of a site, before one gets a number
_PURPOSES = {  # what the sentences of a page's paragraphs are for
    "article": ("fact follow contrast", "pair bridge", "fact follow deed", "contrast pair"),
    "guide": ("deed deed fact", "tale deed", "deed fact follow deed", "deed tale deed"),
    "practice": ("deed tale deed", "tale deed", "tale fact deed", "deed deed"),
    "ahead": ("ahead ahead ahead", "ahead fact ahead", "ahead ahead tale", "ahead ahead"),
    "past": ("past past past", "past fact past", "past past tale", "past past"),
    "chat": ("chat tale chat", "chat chat tale", "tale chat", "chat chat deed"),
    "thread": ("reply reply", "reply fact reply", "reply reply reply", "reply fact"),
}
_OPENINGS = {
    "article": ("intro fact follow", "intro pair", "intro fact contrast", "fact follow intro"),
    "guide": ("guide_intro deed", "guide_intro fact deed", "guide_intro deed tale"),
    "ahead": ("announcement ahead ahead", "announcement ahead"),
    "past": ("report past past", "report past"),
    "thread": ("question question", "question question question"),
}
_OF_THE_SITE = {
    "home": "home home home",
    "about": "about about about about about",
    "contact": "contact contact contact contact",
    "list": "hub hub hub",
    "clubs": "general_hub general_hub general_hub",
}


class Writer:
    """Turns spots into pages."""

    def __init__(self, layout: Layout, wiring: Wiring, seed: int) -> None:
        self.layout, self.wiring = layout, wiring
        self.vocabulary = layout.vocabulary
        self._keys = {name: key(seed, name) for name in ("host", "title", "text")}
        self._sites = self._site_names()
        self._speaks = [self._voice(host) for host in layout.hosts]
        self.domains = [f"{slug(site)}.example" for site in self._sites]
        self._titles = [self._title(spot) for spot in layout.spots]
        self.urls = [self._url(spot) for spot in layout.spots]
        self.old_urls = {
            spot.page: f"http://{self.domains[spot.host]}/old/{spot.page}.html"
            for spot in layout.spots
            if spot.status == MOVED
        }
        self.frame = lru_cache(maxsize=1 << 12)(self._frame)

    def draft(self, spot: Spot) -> Draft:
        """The whole page."""
        links = self.wiring.links(spot.page)
        bar, foot = self.frame(spot.host)
        aside = [self._titled(page) for page in links.aside]
        style = Dice(self._keys["host"], spot.host, 1).number(0, len(STYLES) - 1)
        prose = self.prose(spot, links.text, links.items)
        return Draft(self.urls[spot.page], self.labels(spot), style, prose, bar, aside, foot)

    def labels(self, spot: Spot) -> tuple[str, ...]:
        """The truth about a page."""
        kind = f"kind:{spot.kind}"
        if spot.topic == NO_TOPIC:
            return (kind,)
        topic = self.vocabulary.topics[spot.topic]
        subtopic = topic.subtopics[spot.subtopic]
        return (f"topic:{topic.name}", f"subtopic:{subtopic.name}", f"family:{topic.family}", kind)

    def prose(self, spot: Spot, links: Sequence[int], items: Sequence[int]) -> Prose:
        """What a page says."""
        speaker = self.speaker(spot)
        paragraphs: list[list[Piece]] = [
            [" ".join(sentences)] for sentences in self._paragraphs(spot, speaker)
        ]
        for place, page in enumerate(links, 1):
            paragraph = paragraphs[place * len(paragraphs) // (len(links) + 1)]
            paragraph += self._link(spot, self.layout.spots[page], speaker)
        listed = [self._item(self.layout.spots[page], speaker) for page in items]
        return Prose(self._titles[spot.page], paragraphs, listed)

    def speaker(self, spot: Spot) -> Speaker:
        """The one that says all sentences of a page."""
        dice = Dice(self._keys["text"], spot.page)
        return Speaker(self.vocabulary, dice, self._subject(spot), self._speaks[spot.host])

    # ----------------------------------------------------------------- text

    def _paragraphs(self, spot: Spot, speaker: Speaker) -> Iterator[list[str]]:
        """The sentences of a page by paragraph, its links aside."""
        if spot.kind not in CONTENT:
            yield self._said(speaker, self._of_the_site(spot))
            return
        dice, kind = speaker.dice, self._tense(spot)
        is_thread = kind == "thread"
        is_weak = not is_thread and dice.share() < _WEAK
        yield self._said(speaker, f"{'asker ' * is_thread}{dice.pick(_OPENINGS[kind])}")
        for number in range(dice.number(1, 4)):
            body = dice.pick(_PURPOSES["chat" if is_weak else kind])
            yield self._said(speaker, f"{'post ' * is_thread}{body}")
            if number % 2:
                speaker.turn_to_another()
        yield self._last(spot, speaker, is_weak)

    def _of_the_site(self, spot: Spot) -> str:
        """What the sentences of a page are for that is no article."""
        if spot.kind == "list" and self.layout.hosts[spot.host].role == "directory":
            return "directory directory directory directory"
        is_general = spot.kind == "list" and spot.topic == NO_TOPIC
        return _OF_THE_SITE["clubs" if is_general else spot.kind]

    def _tense(self, spot: Spot) -> str:
        """What forms a kind of page uses: news looks ahead or back."""
        if spot.kind != "news":
            return spot.kind
        return "ahead" if spot.page % 2 else "past"

    def _said(self, speaker: Speaker, purposes: str) -> list[str]:
        return [speaker.say(purpose.replace("_", " ")) for purpose in purposes.split()]

    def _last(self, spot: Spot, speaker: Speaker, is_weak: bool) -> list[str]:
        dice, kind = speaker.dice, spot.kind
        last = "chat" if is_weak else "thread" if kind == "thread" else "practice"
        purposes = f"{'post ' * (kind == 'thread')}{dice.pick(_PURPOSES[last])}"
        said = self._said(speaker, purposes)
        if dice.share() < _PASSING:
            said.append(self._in_passing(spot, dice))
        speaker.thing = speaker.subject.thing
        return [*said, speaker.say("close")] if kind in ("article", "guide") else said

    def _in_passing(self, spot: Spot, dice: Dice) -> str:
        """A sentence about another topic."""
        topic = dice.number(0, len(self.vocabulary.topics) - 1)
        other = self._subject(spot._replace(topic=topic, thing=dice.number(0, THINGS - 1)))
        return Speaker(self.vocabulary, dice, other, self._speaks[spot.host]).say("passing")

    def _subject(self, spot: Spot) -> Subject:
        dice, topics = Dice(self._keys["title"], spot.page), self.vocabulary.topics
        host = self.layout.hosts[spot.host]
        topic = topics[spot.topic if spot.topic != NO_TOPIC else host.topics[0]]
        subtopic = topic.subtopics[spot.subtopic]
        thing = subtopic.things[spot.thing]
        return Subject(
            topic,
            subtopic,
            thing,
            dice.pick([other for other in subtopic.things if other is not thing]),
            dice.pick(subtopic.deeds),
            dice.pick(topic.words["events"]),
            dice.pick(self.vocabulary.names["towns"]),
            f"{dice.number(1, 28)} {dice.pick(self.vocabulary.names['months'])}",
        )

    # ----------------------------------------------------------------- links

    def _link(self, spot: Spot, target: Spot, speaker: Speaker) -> list[Piece]:
        """A sentence with a link in it."""
        purpose, anchor = self._anchor(spot, target, speaker.dice)
        before, _, after = speaker.say(purpose).partition("@")
        return [f" {before}", Mention(self._address(target, speaker.dice), anchor), after]

    def _anchor(self, spot: Spot, target: Spot, dice: Dice) -> tuple[str, str]:
        """What kind of sentence leads to a page, and the words of the link."""
        title, site = self._titles[target.page], self._sites[target.host]
        if target.kind == "home":
            return "link site", site
        if target.topic != spot.topic:
            return "link other", title
        chance = dice.share()
        if chance < 0.2:
            return "link here", dice.pick(self.vocabulary.names["here"])
        if chance < 0.5 and target.kind == "article":
            return "link thing", self._subject(target).thing.name
        if chance < 0.58 and target.host != spot.host:
            return "link site", site
        return "link title", title

    def _item(self, target: Spot, speaker: Speaker) -> list[Piece]:
        title = self._titles[target.page]
        purpose = "remark site" if target.kind == "home" else "remark"
        remark = speaker.fill(speaker.dice.pick(self.vocabulary.forms[purpose])) or ""
        mention = Mention(self._address(target, speaker.dice), title)
        return [mention, f", {remark[:1].lower()}{remark[1:]}"]

    def _address(self, target: Spot, dice: Dice) -> str:
        old = self.old_urls.get(target.page)
        return old if old and dice.share() < _OLD_ADDRESS else self.urls[target.page]

    def _titled(self, page: int) -> Mention:
        return Mention(self.urls[page], self._titles[page])

    def _frame(self, number: int) -> tuple[list[Mention], list[Mention]]:
        """What stands above and below every page of a host."""
        bar, foot = self.wiring.frame(self.layout.hosts[number])
        above, below = ([self._named(page, number) for page in row] for row in (bar, foot))
        return above, below

    def _named(self, page: int, host: int) -> Mention:
        """A link of the frame: to a list of the host, or to another host."""
        spot = self.layout.spots[page]
        words = {"home": "Home", "about": "About us", "contact": "Contact"}
        if spot.host != host:
            return Mention(self.urls[page], self._sites[spot.host])
        return Mention(self.urls[page], words.get(spot.kind) or self._titles[page])

    # ----------------------------------------------------------------- names

    def _site_names(self) -> list[str]:
        """A name for each host, none twice."""
        names: dict[str, None] = {}
        for host in self.layout.hosts:
            dice = Dice(self._keys["host"], host.number)
            tried = (self._site_name(host, dice) for _ in range(_NAMES_TRIED))
            name = next((name for name in tried if name not in names), "")
            names[name or f"{self._site_name(host, dice)} {host.number}"] = None
        return list(names)

    def _site_name(self, host: Host, dice: Dice) -> str:
        words, names = self.vocabulary.topics[host.topics[0]].words, self.vocabulary.names
        first = dice.pick(words["names"])
        slots = {
            "Name": first,
            "Other": dice.pick([name for name in words["names"] if name != first]),
            "Town": dice.pick(names["towns"]),
            "Adjective": words["adjective"][0].title(),
            "Paper": dice.pick(names["papers"]),
        }
        return _filled(form(dice.pick(names[host.role])), slots)

    def _town(self, host: Host) -> str:
        """The town in a site's name, or any other."""
        towns = self.vocabulary.names["towns"]
        named = [town for town in towns if town in self._sites[host.number]]
        return named[0] if named else Dice(self._keys["host"], host.number, 2).pick(towns)

    def _voice(self, host: Host) -> Speaks:
        topics = [self.vocabulary.topics[topic] for topic in host.topics[:4]]
        if len(topics) == 1:
            fields = tuple(subtopic.name for subtopic in topics[0].subtopics)
        else:
            fields = tuple(topic.name for topic in topics)
        return Speaks(self._sites[host.number], self._town(host), fields)

    def _title(self, spot: Spot) -> str:
        site = self._sites[spot.host]
        if spot.kind in ("home", "about", "contact"):
            return {"home": site, "about": f"About {site}", "contact": f"Contact {site}"}[spot.kind]
        dice = Dice(self._keys["title"], spot.page, 1)
        if spot.topic == NO_TOPIC:
            town = dice.pick(self.vocabulary.names["towns"])
            return f"{dice.pick(self.vocabulary.names['clubs'])}: {town}"
        speaker = Speaker(self.vocabulary, dice, self._subject(spot), self._speaks[spot.host])
        is_directory = self.layout.hosts[spot.host].role == "directory"
        return speaker.say(f"title {'directory' if is_directory else self._tense(spot)}")

    def _url(self, spot: Spot) -> str:
        start = f"http://{self.domains[spot.host]}/"
        if spot.kind == "home":
            return start
        if spot.kind in ("about", "contact"):
            return f"{start}{spot.kind}.html"
        if Dice(self._keys["host"], spot.host, 3).share() < _OPAQUE:
            return f"{start}node/{spot.page}"
        words = slug(self._titles[spot.page])
        return f"{start}{words}-{spot.page}{'/' if spot.kind == 'list' else '.html'}"


def slug(name: str) -> str:
    """A name as addresses spell it."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower().replace("'", "").replace("é", "e")).strip("-")


def _filled(parts: Form, slots: dict[str, str]) -> str:
    return "".join(slots[part] if place % 2 else part for place, part in enumerate(parts))
