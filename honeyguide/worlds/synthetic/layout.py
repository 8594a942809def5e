"""The layout of a generated web: host, section, role and topic of each page, from its number.

Pages are numbered host by host. Hosts are grouped in blocks of 64, and each slot of a block has a
fixed kind of host, so that a host of a given topic is found without a search.
"""

from array import array
from bisect import bisect_right
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from honeyguide.errors import HoneyguideError
from honeyguide.worlds.synthetic.chance import draw, field, key, share
from honeyguide.worlds.synthetic.words import FAMILY, NO_TOPIC

LEAST_PAGES, MOST_PAGES = 64, 1_000_000_000  # a layout of the most takes 1 GB
SMALLEST_HOST = 8  # pages
PAGES_PER_HOST = 32  # on average
TOPICS = 32
BLOCK = 64  # hosts
GREAT_PORTALS = 4  # the largest hosts are about everything
# slots of a block: a specialist a topic, four more specialists, portals, a hidden host a family,
# gates to the hidden ones, and hosts about nothing in particular
MORE, PORTAL, HIDDEN, GATE, GENERAL = 32, 36, 42, 50, 58

SPECIALIST_HOST, PORTAL_HOST, HIDDEN_HOST, GATE_HOST, GENERAL_HOST = range(5)
HOME, ABOUT, CONTACT, PRIVACY, TUNNEL, INDEX, HUB, ARTICLE = range(8)
ROLES = ("home", "about", "contact", "privacy", "tunnel", "index", "hub", "article")
TUNNEL_PAGES = 3
FINE, NOT_FOUND, GONE, BROKEN, SILENT, MOVED, EMPTY = range(7)
# upper ends of the shares of articles and hubs that are not fine
_ILLS = ((NOT_FOUND, 0.020), (GONE, 0.025), (BROKEN, 0.035), (SILENT, 0.040), (MOVED, 0.055),
         (EMPTY, 0.065))  # fmt: skip
_HUBS, _COPIES = 0.05, 0.045  # shares of pages in sections


class Host(NamedTuple):
    """A host and its layout."""

    number: int
    start: int  # its first page
    size: int  # pages
    kind: int
    topic: int  # NO_TOPIC for nothing in particular
    first: int  # pages before its first section
    section_size: int
    sections: int
    bits: int  # random bits for its layout and name
    taste: int  # random bits for its URLs, style and traps


class Spot(NamedTuple):
    """What the layout says of a page: its host, section, role, topic and status."""

    page: int
    host: Host
    section: int  # -1 outside
    role: int
    topic: int
    status: int
    original: int  # the page whose text it has; itself when it is no copy
    bits: int


class Layout:
    """The layout of a web of `pages` pages."""

    def __init__(self, pages: int, seed: int) -> None:
        if pages < LEAST_PAGES:
            raise HoneyguideError(f"a generated web needs at least {LEAST_PAGES} pages")
        if pages > MOST_PAGES:
            raise HoneyguideError(f"a generated web has at most {MOST_PAGES:,} pages")
        self.pages = pages
        self.hosts = max(pages // PAGES_PER_HOST, min(BLOCK, pages // 12))
        spare = pages - SMALLEST_HOST * self.hosts
        # sizes fall as rank^(-3/4); square roots are exact everywhere, powers are not
        rank = np.arange(self.hosts + 1)
        rise = (spare * np.sqrt(np.sqrt(rank / self.hosts))).astype(np.int64)
        self.starts = array("q", (SMALLEST_HOST * rank + rise).astype(np.int64).tobytes())
        self._block_key, self._host_key = key(seed, "block"), key(seed, "host")
        self._section_key, self._chunk_key = key(seed, "section"), key(seed, "chunk")
        self._page_key, self._topic_key = key(seed, "page"), key(seed, "topic")
        self._turn = key(seed, "turn") % TOPICS
        self.host = lru_cache(maxsize=1 << 15)(self._host)
        self._scramble = lru_cache(maxsize=1 << 14)(self._mix)
        self.section_topic = lru_cache(maxsize=1 << 16)(self._section_topic)
        self.spot = lru_cache(maxsize=1 << 16)(self._spot)

    def _mix(self, block: int) -> int:
        return draw(self._block_key, block) % BLOCK

    def slot(self, number: int) -> int:
        """The slot of a host in its block."""
        block = number // BLOCK
        mix = self._scramble(block)
        slot = number % BLOCK ^ mix
        return slot if block else _swap(slot, mix)

    def host_in(self, block: int, slot: int) -> int:
        """The number of the host in a slot; it may exceed the number of hosts."""
        mix = self._scramble(block)
        return block * BLOCK + ((slot if block else _swap(slot, mix)) ^ mix)

    def more_slot(self, topic: int) -> int:
        """A topic's second slot where it has one, else its first."""
        extra = (topic - self._turn) * 13 % TOPICS  # undoes the 5 below: 13 * 5 = 1 (mod 32)
        return MORE + extra if extra < PORTAL - MORE else topic

    def hidden_topic(self, block: int, family: int) -> int:
        """The topic of a family's hidden host in this block."""
        return family * FAMILY + (block + family) % FAMILY

    def _slot_topic(self, slot: int, block: int) -> int:
        if slot < MORE:
            return slot
        if slot < PORTAL:
            return (self._turn + (slot - MORE) * 5) % TOPICS
        return self.hidden_topic(block, slot - HIDDEN) if HIDDEN <= slot < GATE else NO_TOPIC

    def _host(self, number: int) -> Host:
        slot = self.slot(number)
        kind = bisect_right((PORTAL, HIDDEN, GATE, GENERAL), slot)
        topic = self._slot_topic(slot, number // BLOCK)
        start, end = self.starts[number], self.starts[number + 1]
        bits = draw(self._host_key, number)
        first = TUNNEL + TUNNEL_PAGES if kind == GATE_HOST else TUNNEL
        section_size = 12 + field(bits, 0) % 21
        sections = -((first - (end - start)) // section_size)
        plan = start, end - start, kind, topic, first, section_size, sections
        return Host(number, *plan, bits, draw(bits, 0))

    def chunk(self, host: int, chunk: int) -> int:
        """The number that permutes the topics of 32 sections of a portal."""
        return draw(self._chunk_key, host, chunk) % TOPICS

    def _section_topic(self, number: int, section: int) -> int:
        """The topic of a section of a host."""
        host = self.host(number)
        if host.kind == PORTAL_HOST:
            return section % TOPICS ^ self.chunk(number, section // TOPICS)
        bits = draw(self._section_key, number, section)
        chance = share(bits, 0)
        if host.topic == NO_TOPIC:
            return field(bits, 2) % TOPICS if chance < 0.3 else NO_TOPIC
        if chance < 0.86:
            return host.topic
        return sibling(host.topic, field(bits, 1)) if chance < 0.95 else NO_TOPIC

    def _spot(self, page: int) -> Spot:
        """The layout of a page."""
        host = self.host(bisect_right(self.starts, page) - 1)
        local = page - host.start
        bits = draw(self._page_key, page)
        if local < host.first:
            role = min(local, TUNNEL)
            topic = host.topic if role <= ABOUT else NO_TOPIC
            return Spot(page, host, -1, role, topic, FINE, page, bits)
        section, position = divmod(local - host.first, host.section_size)
        about = self.section_topic(host.number, section)
        if position == 0:
            return Spot(page, host, section, INDEX, about, FINE, page, bits)
        role = HUB if share(bits, 0) < _HUBS else ARTICLE
        status = _status(share(bits, 1))
        original = page
        if role == ARTICLE and position > 1 and status == FINE and share(bits, 2) < _COPIES:
            original = self.spot(page - 1 - field(bits, 3) % (position - 1)).original
        topic = self._page_topic(original, about)
        return Spot(page, host, section, role, topic, status, original, bits)

    def _page_topic(self, page: int, about: int) -> int:
        bits = draw(self._topic_key, page)
        chance = share(bits, 0)
        if about == NO_TOPIC:
            return NO_TOPIC if chance < 0.94 else field(bits, 1) % TOPICS
        if chance < 0.87:
            return about
        if chance < 0.91:
            return sibling(about, field(bits, 1))
        return NO_TOPIC if chance < 0.98 else field(bits, 1) % TOPICS


def _swap(slot: int, mix: int) -> int:
    """Swap the slots of the four largest hosts with those of four portals."""
    return slot ^ ((mix ^ PORTAL) & ~3) if slot >> 2 in (mix >> 2, PORTAL >> 2) else slot


def sibling(topic: int, chance: int) -> int:
    """Another topic of the same family."""
    return topic - topic % FAMILY + (topic + 1 + chance % (FAMILY - 1)) % FAMILY


def _status(chance: float) -> int:
    return next((status for status, end in _ILLS if chance < end), FINE)
