"""Names, titles and URLs of hosts and pages, and the way back from a URL to its page."""

import re
from functools import lru_cache

from honeyguide.worlds.synthetic.chance import draw, field, key, share
from honeyguide.worlds.synthetic.layout import (
    ABOUT,
    CONTACT,
    HOME,
    INDEX,
    PRIVACY,
    TUNNEL,
    Host,
    Layout,
    Spot,
)
from honeyguide.worlds.synthetic.words import NO_TOPIC, vocabulary

_SYLLABLES = [c + v for c in "bdflmnrstv" for v in "aeiou"]
_NUMBER = {syllable: i for i, syllable in enumerate(_SYLLABLES)}
_STRIDE = 198_733  # coprime to 50, so that every host has a brand of its own
_CODE = 0x5BD1E5  # mixed into opaque ids, which are six base-32 digits
_DIGITS = "abcdefghijkmnpqrstuvwxyz23456789"
_HOUSE = {HOME: "/", ABOUT: "/about", CONTACT: "/contact.html", PRIVACY: "/privacy"}
_TUNNEL = ("/community/", "/members/list", "/links/friends")


class Names:
    """Names of the hosts, sections and pages of a layout."""

    def __init__(self, layout: Layout, seed: int) -> None:
        self.layout = layout
        self.vocabulary = vocabulary()
        self._turn, self._title_key = key(seed, "brand"), key(seed, "title")
        self._section_key = key(seed, "section name")
        self._length = 2  # syllables
        while len(_SYLLABLES) ** self._length < layout.hosts:
            self._length += 1
        self._brands = len(_SYLLABLES) ** self._length
        self.host_name = lru_cache(maxsize=1 << 15)(self._host_name)
        self.find_host = lru_cache(maxsize=1 << 15)(self._find_host)
        self.section = lru_cache(maxsize=1 << 16)(self._section)

    def brand(self, number: int) -> str:
        """The made-up word in a host's name, different for each host."""
        rest = (number * _STRIDE + self._turn) % self._brands
        syllables = []
        for _ in range(self._length):
            rest, syllable = divmod(rest, len(_SYLLABLES))
            syllables.append(_SYLLABLES[syllable])
        return "".join(syllables)

    def _host_name(self, number: int) -> str:
        """The host name, under a top-level domain that is reserved for examples."""
        host = self.layout.host(number)
        word = _pick(self.vocabulary.phrases["sites"], field(host.bits, 1))
        if host.topic != NO_TOPIC and share(host.bits, 2) < 0.55:
            word = _pick(self.vocabulary.words[host.topic][:24], field(host.bits, 1))
        ending = "example" if share(host.bits, 3) < 0.8 else "test"
        return f"{self.brand(number)}-{word}.{ending}"

    def _find_host(self, name: str) -> Host | None:
        """The host of this name, if there is one."""
        brand = name.partition("-")[0]
        pairs = [_NUMBER.get(brand[i : i + 2]) for i in range(0, len(brand), 2)]
        if len(pairs) != self._length or None in pairs:
            return None
        code = sum(digit * len(_SYLLABLES) ** i for i, digit in enumerate(pairs) if digit)
        number = (code - self._turn) * pow(_STRIDE, -1, self._brands) % self._brands
        if number >= self.layout.hosts or self.host_name(number) != name:
            return None
        return self.layout.host(number)

    def _section(self, number: int, section: int) -> str:
        """The word that names a section of a host."""
        bits = draw(self._section_key, number, section)
        topic = self.layout.section_topic(number, section)
        if topic == NO_TOPIC or share(bits, 0) < 0.25:
            return _pick(self.vocabulary.common, field(bits, 1))
        if share(bits, 0) < 0.40:
            return self.vocabulary.topics[topic]
        return _pick(self.vocabulary.words[topic][:30], field(bits, 1))

    def title_words(self, spot: Spot) -> tuple[int, str, str]:
        """The form of a page's title, -1 for one without topic words, and its two words."""
        bits = draw(self._title_key, spot.original)
        table = self.vocabulary.tables[spot.topic]
        form = -1 if share(bits, 0) < 0.15 else field(bits, 0)
        return form, _pick(table, field(bits, 1)), _pick(table, field(bits, 2))

    def title(self, spot: Spot) -> str:
        """The title of a page."""
        if spot.role < INDEX:
            return self._house_title(spot)
        if spot.role == INDEX:
            return self.section(spot.host.number, spot.section).capitalize()
        form, first, second = self.title_words(spot)
        if form < 0:
            return _pick(self.vocabulary.phrases["plain"], field(spot.bits, 3))
        title = _pick(self.vocabulary.phrases["titles"], form) % (first, second)
        return title[0].upper() + title[1:]

    def _house_title(self, spot: Spot) -> str:
        brand, word = self.host_name(spot.host.number).rpartition(".")[0].split("-")
        name = f"{brand.capitalize()} {word}"
        if spot.role == HOME:
            return name
        if spot.role == TUNNEL:
            return ("Community", "Members", "Friends")[spot.page - spot.host.start - TUNNEL]
        return ("", f"About {name}", "Contact", "Privacy")[spot.role]

    def url(self, spot: Spot) -> str:
        """The URL of a page."""
        return f"http://{self.host_name(spot.host.number)}{self.path(spot)}"

    def path(self, spot: Spot) -> str:
        """The path of a page's URL."""
        local = spot.page - spot.host.start
        if spot.role == TUNNEL:
            return _TUNNEL[local - TUNNEL]
        if spot.role in _HOUSE:
            return _HOUSE[spot.role]
        style = share(spot.host.taste, 0)
        return _opaque(local, style) if style < 0.30 else self._readable(spot, local, style)

    def _readable(self, spot: Spot, local: int, style: float) -> str:
        section = self.section(spot.host.number, spot.section)
        if style < 0.45:
            return f"/{section}/{local}/"
        slug = self._slug(spot)
        if style < 0.65:
            return f"/{slug}-{local}"
        if style < 0.80:
            return f"/archive/{2000 + spot.section % 25}/{slug}-{local}.html"
        return f"/{section}/{slug}-{local}.html"

    def _slug(self, spot: Spot) -> str:
        if spot.role == INDEX:
            return "index"
        form, first, second = self.title_words(spot)
        return f"{first}-{second}" if form >= 0 else "page"

    def find_page(self, url: str) -> int:
        """The number of the page at a URL, -1 when there is none."""
        host_name, slash, path = url.removeprefix("http://").partition("/")
        host = self.find_host(host_name) if url.startswith("http://") else None
        if host is None:
            return -1
        for local in _candidates(slash + path, host):
            if self.path(self.layout.spot(host.start + local)) == slash + path:
                return host.start + local
        return -1


def _opaque(local: int, style: float) -> str:
    if style < 0.10:
        return f"/node/{local}"
    if style < 0.20:
        return f"/index.php?id={local}"
    code = local ^ _CODE
    return "/p/" + "".join(_DIGITS[code >> shift & 31] for shift in range(0, 30, 5))


def _candidates(path: str, host: Host) -> list[int]:
    """The numbers on its host that a page with this path may have."""
    if path.startswith("/p/") and len(path) == 9:
        code = sum(max(_DIGITS.find(digit), 0) << 5 * i for i, digit in enumerate(path[3:]))
        found = [code ^ _CODE]
    else:
        found = [int(number) for number in re.findall(r"\d{1,9}", path)[-1:]]
    house = range(min(host.first, TUNNEL + len(_TUNNEL)))
    return [local for local in (*found, *house) if local < host.size]


def _pick(options: tuple[str, ...], chance: int) -> str:
    return options[chance % len(options)]
