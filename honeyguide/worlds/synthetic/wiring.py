"""The links of a generated web, computed from page numbers."""

from functools import lru_cache

from honeyguide.worlds.synthetic.chance import draw, field, key, share
from honeyguide.worlds.synthetic.layout import (
    ARTICLE,
    BLOCK,
    EMPTY,
    GATE,
    GATE_HOST,
    GREAT_PORTALS,
    HIDDEN,
    HIDDEN_HOST,
    HOME,
    HUB,
    INDEX,
    PORTAL,
    PORTAL_HOST,
    TOPICS,
    TUNNEL,
    TUNNEL_PAGES,
    Host,
    Layout,
    Spot,
    sibling,
)
from honeyguide.worlds.synthetic.words import FAMILY, NO_TOPIC

NAV_SECTIONS, PORTAL_SECTIONS = 6, 3  # sections named in the navigation bar
BRANCHES = 3  # further sections an index page leads to
PARTNERS = 2  # other hosts named in every footer of a host
MOST_LINKS = 400  # in the text of a page
# upper ends of the shares of links in the text: to the same section, the same host, the same
# topic, a tunnel; the rest goes anywhere
_SHARES = {
    HOME: (0.0, 0.50, 0.85, 0.85),
    TUNNEL: (0.0, 0.30, 0.30, 0.30),
    INDEX: (0.0, 0.0, 0.87, 0.90),
    HUB: (0.12, 0.18, 0.87, 0.90),
    ARTICLE: (0.40, 0.50, 0.89, 0.92),
}
_HOUSE = (0.0, 0.6, 0.6, 0.6)


class Wiring:
    """The links of pages: in the text, the navigation bar, the sidebar and the footer."""

    def __init__(self, layout: Layout, seed: int) -> None:
        self.layout = layout
        self._count_key, self._link_key = key(seed, "count"), key(seed, "link")
        self._aside_key, self._partner_key = key(seed, "aside"), key(seed, "partner")
        self.content = lru_cache(maxsize=1 << 8)(self._content)
        self.frame = lru_cache(maxsize=1 << 14)(self._frame)

    def targets(self, spot: Spot) -> list[int]:
        """The targets of a page's links, in document order."""
        bar, foot = self.frame(spot.host.number)
        content = self.content(spot.original) if spot.status != EMPTY else ()
        found = (*bar, *content, *self.aside(spot), *foot)
        return [page for page in found if page != spot.page]

    def more(self, spot: Spot, place: int) -> int:
        """Another random target for a link in a page's text; `place` numbers such targets."""
        return self._pick(spot, MOST_LINKS + place)

    def _frame(self, number: int) -> tuple[list[int], list[int]]:
        """The targets in the navigation bar and in the footer of every page of a host."""
        host = self.layout.host(number)
        shown = PORTAL_SECTIONS if host.kind == PORTAL_HOST else NAV_SECTIONS
        sections = range(min(host.sections, shown))
        bar = [host.start, *(_index(host, section) for section in sections), host.start + 1]
        foot = [host.start + place for place in (1, 2, 3)]
        for place in range(PARTNERS):
            bits = draw(self._partner_key, number, place)
            if host.topic != NO_TOPIC and share(bits, 0) < 0.5:
                foot.append(self._host_in_slot(host.topic, bits).start)
            else:
                foot.append(self._host_anywhere(bits).start)
        return bar, foot

    def aside(self, spot: Spot) -> list[int]:
        """The targets in the sidebar: the section's index, the next page, popular pages."""
        host = spot.host
        bits = draw(self._aside_key, spot.page)
        if spot.role == HOME and host.kind == GATE_HOST:
            return [host.start + TUNNEL]
        if spot.section < 0:
            return []
        if spot.role == INDEX:
            child = PORTAL_SECTIONS + BRANCHES * spot.section
            last = min(child + BRANCHES, host.sections)
            children = [_index(host, section) for section in range(child, last)]
            return [self._known(spot, share(bits, 0)), *children]
        after = spot.page + 1 if spot.page + 1 < host.start + host.size else spot.page - 1
        popular = (self._known(spot, share(bits, place)) for place in (0, 1))
        return [_index(host, spot.section), after, *popular]

    def _content(self, page: int) -> list[int]:
        """The targets in the text of a page."""
        spot = self.layout.spot(page)
        found = self._fixed(spot)
        for place in range(len(found), self._count(spot, len(found))):
            target = self._pick(spot, place)
            found.append(target if target != spot.page else spot.host.start)
        return found

    def _fixed(self, spot: Spot) -> list[int]:
        """The targets that are not random: the pages of a section, the steps of a tunnel."""
        host = spot.host
        if spot.role == INDEX:
            end = min(spot.page + host.section_size, host.start + host.size)
            return list(range(spot.page + 1, end))
        if spot.role == TUNNEL:
            if spot.page < host.start + TUNNEL + TUNNEL_PAGES - 1:
                return [spot.page + 1]
            hidden = self._beside(host.number, HIDDEN - GATE)
            return [hidden.start, hidden.start + hidden.first] if hidden else []
        return []

    def _count(self, spot: Spot, fixed: int) -> int:
        bits = draw(self._count_key, spot.page)
        tail = 4294967296 / ((bits >> 32) + 1)  # 1 / u: a power law with exponent 2
        if spot.role == HUB:
            return min(15 + int(6 * tail), MOST_LINKS)
        if spot.role == ARTICLE:
            return min(2 + int(1.1 * tail), MOST_LINKS)
        if spot.role == HOME:
            return 8 + bits % 12
        return fixed + 3

    def _pick(self, spot: Spot, place: int) -> int:
        bits = draw(self._link_key, spot.page, place)
        where = draw(bits, 0)
        near, at_home, same, tunnel = _SHARES.get(spot.role, _HOUSE)
        chance = share(bits, 0)
        if chance < near:
            return _in_section(spot.host, spot.section, share(where, 0))
        nothing = spot.topic == NO_TOPIC
        if chance < at_home or (nothing and bits >> 63):
            return self._known(spot, share(where, 0))
        if nothing or chance >= tunnel:
            host = self._host_anywhere(where)
            return host.start if share(bits, 1) < 0.4 else _popular(host, share(bits, 2))
        if chance >= same:
            return self._tunnel(spot.topic, bits, where)
        return self._on_topic(spot.topic, bits, where)

    def _known(self, spot: Spot, chance: float) -> int:
        """A page of the same host, in a portal of the same section."""
        if spot.host.kind == PORTAL_HOST and spot.section >= 0:
            return _in_section(spot.host, spot.section, chance)
        return _popular(spot.host, chance)

    def _on_topic(self, topic: int, bits: int, where: int) -> int:
        """A page that probably has the topic, on a specialist host or in a portal."""
        chance = share(bits, 1)
        if chance > 0.75:
            return self._in_portal(topic, bits, where)
        if chance < 0.08:
            topic = sibling(topic, field(bits, 2))
        slot = topic if bits >> 63 else self.layout.more_slot(topic)
        host = self._host_in_slot(slot, where)
        return host.start if share(where, 0) < 0.3 else _popular(host, share(where, 1))

    def _host_in_slot(self, slot: int, where: int) -> Host:
        blocks = -(-self.layout.hosts // BLOCK)
        chance = (where >> 32) / 4294967296
        block = int(blocks * chance * chance)
        number = self.layout.host_in(block, slot)
        if number >= self.layout.hosts:
            number = self.layout.host_in(0, slot) % self.layout.hosts
        return self.layout.host(number)

    def _in_portal(self, topic: int, bits: int, where: int) -> int:
        if bits >> 63:
            host = self.layout.host(field(bits, 2) % GREAT_PORTALS)
        else:
            host = self._host_in_slot(PORTAL + field(bits, 2) % (HIDDEN - PORTAL), where)
        chunk = field(where, 0) % -(-host.sections // TOPICS)
        section = chunk * TOPICS + (topic ^ self.layout.chunk(host.number, chunk))
        chance = max(share(where, 1) - 0.3, 0.0)
        return _in_section(host, section % host.sections, chance)

    def portal_index(self, topic: int) -> int | None:
        """The index of a section about a topic in a great portal, if one has it."""
        for number in range(GREAT_PORTALS):
            host = self.layout.host(number)
            section = topic ^ self.layout.chunk(number, 0)
            if section < host.sections:
                return _index(host, section)
        return None

    def _tunnel(self, topic: int, bits: int, where: int) -> int:
        """The first page of a tunnel that leads to a hidden host of the topic."""
        family = topic // FAMILY
        fours = -(-self.layout.hosts // (BLOCK * FAMILY))
        block = FAMILY * (field(where, 0) % fours) + (topic - family) % FAMILY
        number = self.layout.host_in(block, GATE + family)
        if number < self.layout.hosts and self._beside(number, HIDDEN - GATE):
            return self.layout.host(number).start + TUNNEL
        return self._on_topic(topic, bits, where)

    def _beside(self, number: int, slots: int) -> Host | None:
        """The host so many slots away in the same block."""
        there = self.layout.host_in(number // BLOCK, self.layout.slot(number) + slots)
        return self.layout.host(there) if there < self.layout.hosts else None

    def _host_anywhere(self, where: int) -> Host:
        chance = (where >> 32) / 4294967296
        host = self.layout.host(int(self.layout.hosts * chance * chance))
        if host.kind == HIDDEN_HOST:  # found through its gate only
            return self._beside(host.number, GATE - HIDDEN) or self.layout.host(0)
        return host


def _index(host: Host, section: int) -> int:
    return host.start + host.first + section * host.section_size


def _popular(host: Host, chance: float) -> int:
    """A page of a host, early pages with a higher probability."""
    return host.start + host.first + int((host.size - host.first) * chance * chance * chance)


def _in_section(host: Host, section: int, chance: float) -> int:
    index = _index(host, section)
    size = min(host.section_size, host.start + host.size - index)
    return index + int(size * chance * chance)
