"""Crawler traps: endless calendars, and shops with a new session id in every link."""

import re

from honeyguide.worlds.synthetic.chance import draw, field, key, share
from honeyguide.worlds.synthetic.draft import Mention, Piece, Prose
from honeyguide.worlds.synthetic.layout import Host
from honeyguide.worlds.synthetic.names import Names

ITEMS = 20  # in a shop
_CALENDAR = re.compile(r"/calendar/(\d{1,6})/(\d{1,2})(?:/(\d{1,2}))?")
_SHOP = re.compile(r"/shop/(\d{1,2})(?:\?(?:sid|visit)=([0-9a-f]{8,16}))?")


class Traps:
    """The traps of a web; none of their pages has a topic."""

    def __init__(self, names: Names, seed: int) -> None:
        self.names = names
        self._session_key = key(seed, "session")

    def entrance(self, host: Host, page: int) -> Mention | None:
        """The link to a host's trap, if it has one."""
        chance = share(host.taste, 2)
        if chance < 0.15:
            return self._at(host, f"/calendar/{2000 + host.number % 25}/{1 + page % 12}", "Events")
        if chance < 0.25:
            return self._item(host, page % ITEMS, draw(self._session_key, page), "Shop")
        return None

    def page(self, host: Host, path: str) -> Prose | None:
        """The prose of the trap page at a path; None if there is none."""
        if self.entrance(host, 0) is None:
            return None
        if found := _CALENDAR.fullmatch(path):
            return self._calendar(host, *(int(number or 0) for number in found.groups()))
        if found := _SHOP.fullmatch(path):
            return self._shop(host, int(found[1]) % ITEMS, int(found[2] or "0", 16))
        return None

    def _calendar(self, host: Host, year: int, month: int, day: int) -> Prose | None:
        if not (1 <= month <= 12 and day <= 28 and year):
            return None
        here = year * 12 + month - 1
        days = range(1, 29, 3) if not day else (day % 28 + 1,)
        items: list[list[Piece]] = [
            [self._at(host, _month(here + 1), "next")],
            [self._at(host, _month(max(here - 1, 12)), "previous")],
        ]
        items += [[self._at(host, f"{_month(here)}/{d}", f"{year}-{month}-{d}")] for d in days]
        return Prose(f"Calendar {year}-{month}", self._notices(here + day), items)

    def _shop(self, host: Host, item: int, session: int) -> Prose:
        items: list[list[Piece]] = []
        for place in range(6):
            bits = draw(self._session_key, session, item, place)
            items.append([self._item(host, field(bits, 0) % ITEMS, bits, f"Item {place}")])
        return Prose(f"Item {item}", self._notices(item), items)

    def _item(self, host: Host, item: int, session: int, anchor: str) -> Mention:
        # half of the shops name the parameter "sid", the others do not
        tag = f"sid={session:016x}" if host.number % 2 else f"visit={session >> 32:08x}"
        return self._at(host, f"/shop/{item}?{tag}", anchor)

    def _at(self, host: Host, path: str, anchor: str) -> Mention:
        return Mention(f"http://{self.names.host_name(host.number)}{path}", anchor)

    def _notices(self, turn: int) -> list[list[Piece]]:
        notices = self.names.vocabulary.phrases["notices"]
        return [[notices[(turn + i) % len(notices)]] for i in range(3)]


def _month(months: int) -> str:
    return f"/calendar/{months // 12}/{months % 12 + 1}"
