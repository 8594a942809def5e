"""Parse wikitext to plain text and links, in one pass and linear time."""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple
from urllib.parse import unquote

import msgspec

from honeyguide.recorded.importers.wikimarkup import decoded, without_hidden

CONTEXT = 150  # characters on either side of a link
MAX_TITLE = 512  # characters; MediaWiki's own bound is 255 bytes

# Numbers in place of a namespace for links that lead to no page of the wiki.
NOWHERE, LANGUAGE, OTHER_WIKI = -10, -11, -12
FILE, CATEGORY = 6, 14
ENGLISH = dict(
    enumerate(
        "|Talk|User|User talk|Project|Project talk|File|File talk|MediaWiki|MediaWiki talk"
        "|Template|Template talk|Help|Help talk|Category|Category talk".split("|")
    )
) | {-2: "Media", -1: "Special"}
_OTHER_WIKIS = frozenset(
    "w wikipedia wikt wiktionary s wikisource b wikibooks q wikiquote n wikinews v wikiversity voy"
    " wikivoyage d wikidata c commons m meta mw mediawikiwiki species wikispecies wmf foundation"
    " incubator outreach phab doi".split()
)
_is_language = re.compile(r"(?:[a-z]{2,3}(?:-[a-z]+)*|simple|tokipona)").fullmatch

# letters after a link that belong to its anchor: [[rock]]s
_TRAIL = "a-zß-öø-ÿĀ-ſа-яё"
_token = re.compile(
    rf"""
      \[\[ ([^][{{}}|<>\n]++) (?: \| ([^][<>]*+) )? \]\] ([{_TRAIL}]*+)  # a link without markup
    | \[\[
    | \[ (?: (?: (?:https?|ftps?|irc|news) : )? // | mailto: ) [^][<>"\s]*+ [ \t]*+
    | \] \]*+
    | ' '++
    | < (/?) ([A-Za-z][A-Za-z0-9]*+) (?=[\s/>]) [^<>]*+ >
    | & (?: \#[0-9]{{1,7}} | \#[xX][0-9A-Fa-f]{{1,6}} | [A-Za-z][A-Za-z0-9]{{1,31}} ) ;
    | __ [^\Wa-z\d_]{{3,40}}+ __
    """,
    re.VERBOSE,
).search
_is_unusual = re.compile("[&%#_]").search
_target = re.compile(r"([^][{}|<>\n]*+)\|").match
_trail = re.compile(f"[{_TRAIL}]*+").match
_quotes = re.compile("''+").sub
_pipe_trick = re.compile(r"\s*(?:\([^()]*\)|（[^（）]*）|,\s[^,]*)$").sub
# tags whose text starts a new line
_BREAKS = frozenset("br p div li ul ol dl dt dd tr td th table hr blockquote center pre".split())
_LITERAL = {name: re.compile(rf"</{name}\s*+>", re.IGNORECASE).search for name in ("nowiki", "pre")}


class Title(NamedTuple):
    """A link target: its namespace and its title as in URLs."""

    namespace: int
    name: str  # "Albert_Einstein", "Category:Physicists"; empty for a section of the same page


class Article(msgspec.Struct, array_like=True, gc=False):
    """The plain text of a page, its links and its categories.

    A link is the title of its target, and start and end of its anchor in the text.
    """

    text: str
    links: list[tuple[str, int, int]]
    categories: list[str]

    def anchor(self, start: int, end: int) -> str:
        """Return the text of a link."""
        return self.text[start:end].replace("\n", " ").strip()

    def context(self, start: int, end: int) -> str:
        """Return the text around a link."""
        around = self.text[max(0, start - CONTEXT) : end + CONTEXT]
        return around.replace("\n", " ").strip()


class Site:
    """The namespaces of a wiki: their names, and in which of them titles are case-sensitive."""

    def __init__(
        self, namespaces: Mapping[int, str] | None = None, as_written: frozenset[int] = frozenset()
    ) -> None:
        self.namespaces = ENGLISH | dict(namespaces or {})
        self.as_written = as_written
        self._numbers = {name.lower(): number for number, name in ENGLISH.items() if name}
        self._numbers["image"] = FILE
        self._numbers |= {
            name.lower().replace("_", " "): number
            for number, name in self.namespaces.items()
            if name
        }
        self.title: Callable[[str], Title] = lru_cache(maxsize=1 << 15)(self._title)

    def _title(self, target: str) -> Title:
        """Return the namespace and title of a link target."""
        if len(target) > MAX_TITLE:
            return Title(NOWHERE, "")
        name, namespace = target, 0
        if _is_unusual(name):
            name = decoded(name)
            name = unquote(name) if "%" in name else name
            name = name.partition("#")[0].replace("_", " ")
        name = " ".join(name.split())
        if name.startswith(":"):
            name = name[1:].lstrip()
        if ":" in name:
            prefix, _, rest = name.partition(":")
            namespace = self._number(prefix.strip())
            if namespace:
                name = rest.lstrip()
        if namespace <= NOWHERE:
            return Title(namespace, "")
        if not name:
            return Title(0 if not namespace else NOWHERE, "")
        return Title(namespace, self.key(namespace, name))

    def _number(self, prefix: str) -> int:
        known = self._numbers.get(prefix.lower())
        if known is not None:
            return known
        if prefix.lower() in _OTHER_WIKIS:
            return OTHER_WIKI
        return LANGUAGE if _is_language(prefix) else 0

    def key(self, namespace: int, name: str) -> str:
        """Return a title as in URLs, from its namespace and its name without prefix."""
        if namespace not in self.as_written and len(capital := name[0].upper()) == 1:
            name = capital + name[1:]
        prefix = self.namespaces.get(namespace, "")
        return (f"{prefix}:{name}" if prefix else name).replace(" ", "_")


ENGLISH_SITE = Site()


def parse(wikitext: str, site: Site = ENGLISH_SITE) -> Article:
    """Parse a page; broken markup is read as far as possible."""
    return _Reader(without_hidden(wikitext), site).article()


class _Open(NamedTuple):
    """An open link: its start was read, its end not yet."""

    target: str | None  # None: an external link
    shown: bool  # whether its text is kept
    pieces: int  # number of pieces, links and closed links before it
    links: int
    closed: int


class _Reader:
    """Reads wikitext, already without templates and tables, token by token."""

    def __init__(self, source: str, site: Site) -> None:
        self._source, self._site = source, site
        self._pieces: list[str] = []  # of the text
        self._links: list[tuple[str, int, int]] = []  # target, first piece, piece after the last
        self._categories: list[str] = []
        self._opened: list[_Open] = []
        self._closed = 0  # number of closed links with markup inside
        self._unclosed: set[str] = set()  # tags without an end tag from here on

    def article(self) -> Article:
        """Return the article."""
        source, pieces, handlers = self._source, self._pieces, _HANDLERS
        position = 0
        while found := _token(source, position):
            start = found.start()
            if start > position:
                pieces.append(source[position:start])
            position = handlers[source[start]](self, found)
        pieces.append(source[position:].rstrip("\n"))
        places = [0, *accumulate(map(len, pieces))]
        links = [
            (target, places[first], places[after])
            for target, first, after in self._links
            if places[first] < places[after]
        ]
        return Article("".join(pieces), links, list(dict.fromkeys(self._categories)))

    def _on(self, position: int) -> int:
        """Return the position to continue at: after a line break that would leave an empty line."""
        if self._source.startswith("\n", position) and (
            not self._pieces or self._pieces[-1].endswith("\n")
        ):
            return position + 1
        return position

    # ------------------------------------------------------------------- links

    def _bracket(self, found: re.Match[str]) -> int:
        target, label, trail = found.group(1, 2, 3)
        if target is None:
            return self._open(found)
        namespace, name = self._site.title(target)
        if namespace in _HIDDEN and not target.lstrip().startswith(":"):
            if namespace == CATEGORY and name:
                self._categories.append(name.partition(":")[2].replace("_", " "))
            return self._on(found.start(3))
        pieces = self._pieces
        if namespace >= 0 and name:
            place = len(pieces)
            self._links.append((name, place, place + 1))
        pieces.append(_shown(target, label) + trail)
        return found.end()

    def _open(self, found: re.Match[str]) -> int:
        start, end = found.span()
        state = (len(self._pieces), len(self._links), self._closed)
        if not self._source.startswith("[[", start):
            if self._source.startswith("]", end):  # [http://example.org] shows a number
                return end + 1
            self._opened.append(_Open(None, True, *state))
            return end
        named = _target(self._source, end)
        if named is None:
            self._opened.append(_Open("", True, *state))
            return end
        namespace, name = self._site.title(named[1])
        hidden = namespace in _HIDDEN and not named[1].lstrip().startswith(":")
        self._opened.append(_Open(name if namespace >= 0 else "", not hidden, *state))
        return named.end()

    def _close(self, found: re.Match[str]) -> int:
        position, end = found.span()
        opened = self._opened
        while opened and position < end:
            if opened[-1].target is None:
                opened.pop()
                left_open = position + 2 == end and opened and opened[-1].target is not None
                position += 0 if left_open else 1
            elif position + 2 <= end:
                position = self._close_link(opened.pop(), position + 2)
            else:
                break
        if position < end:
            self._pieces.append(self._source[position:end])
        return max(position, end)

    def _close_link(self, opened: _Open, position: int) -> int:
        if not opened.shown:
            del self._pieces[opened.pieces :]
            del self._links[opened.links :]
            return self._on(position)
        trail = _trail(self._source, position)
        if trail and trail[0]:
            self._pieces.append(trail[0])
            position = trail.end()
        # links do not nest: the inner one counts
        whole = len(self._links) == opened.links and self._closed == opened.closed
        if opened.target and whole:
            self._links.append((opened.target, opened.pieces, len(self._pieces)))
        self._closed += 1
        return position

    # ------------------------------------------------------------------- the rest

    def _quote(self, found: re.Match[str]) -> int:
        count = found.end() - found.start()
        if count == 4 or count > 5:  # quotes beyond those of bold italics are apostrophes
            self._pieces.append("'" * (1 if count == 4 else count - 5))
        return found.end()

    def _tag(self, found: re.Match[str]) -> int:
        name = found[5].lower()
        end = found.end()
        if name in _BREAKS and self._pieces and not self._pieces[-1].endswith("\n"):
            self._pieces.append("\n")
            end = self._on(end)
        if name not in _LITERAL or found[4] or found[0].endswith("/>") or name in self._unclosed:
            return end
        closing = _LITERAL[name](self._source, end)
        if closing is None:
            self._unclosed.add(name)
            return end
        if closing.start() > end:
            self._pieces.append(decoded(self._source[end : closing.start()]))
        return closing.end()

    def _entity(self, found: re.Match[str]) -> int:
        self._pieces.append(decoded(found[0]))
        return found.end()

    def _nothing(self, found: re.Match[str]) -> int:
        return found.end()


_HANDLERS: dict[str, Callable[[_Reader, re.Match[str]], int]] = {
    "[": _Reader._bracket,
    "]": _Reader._close,
    "'": _Reader._quote,
    "<": _Reader._tag,
    "&": _Reader._entity,
    "_": _Reader._nothing,
}
_HIDDEN = frozenset((FILE, CATEGORY, LANGUAGE))


def _shown(target: str, label: str | None) -> str:
    """Return the text of a link without markup inside."""
    if label is None:
        label = target.strip().removeprefix(":")
    elif not label:
        label = _pipe_trick("", target[:MAX_TITLE].strip().removeprefix(":").rpartition(":")[2])
    if "&" in label:
        label = decoded(label)
    if "'" in label:
        label = _quotes("", label)
    return " ".join(label.split("\n")) if "\n" in label else label
