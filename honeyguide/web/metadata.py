"""What a page says about itself: author, date of publication, headings."""

import json
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple

from honeyguide.text.dates import iso_date

# one pass over the tree finds all of them; those of the head are read by html.py
SELECTOR = "h1, h2, h3, time[datetime], [itemprop], script[type*='ld+json' i]"
MAX_HEADINGS = 100
MAX_HEADING = 200  # characters
MAX_NAME = 100  # characters of an author's name
MAX_NAMES = 10
MAX_SCRIPTS = 8  # of JSON-LD
MAX_SCRIPT = 100_000  # characters
MAX_NODES = 400  # of JSON-LD

# names of meta tags, the most trusted first
_AUTHORS = (
    "article:author author dc.creator dcterms.creator citation_author parsely-author"
    " sailthru.author og:article:author book:author"
).split()
_DATES = (
    "article:published_time datepublished og:article:published_time dc.date.issued"
    " dcterms.issued citation_publication_date parsely-pub-date sailthru.date pubdate"
    " publishdate publish-date publish_date dc.date dcterms.date dcterms.created date"
).split()
_NAMES = frozenset((*_AUTHORS, *_DATES))
_is_article = re.compile(r"(?:Article|Posting|Report|Review|Recipe|CreativeWork)$").search
_says_enough = re.compile(r'"(?:author|creator|datePublished)"').search  # else it is not parsed
_is_url = re.compile(r"(?:https?:)?//|www\.|@").match
_by = re.compile(r"(?:by|von|par|por)[:\s]+", re.IGNORECASE).match


class Said(NamedTuple):
    """Author and date as plain texts."""

    author: str = ""  # names, with "; " between them
    published: str = ""  # ISO 8601


class Statements:
    """Collects what the tags of a page state, and says in the end whom to believe."""

    def __init__(self) -> None:
        self.headings: list[str] = []
        self._named: dict[str, list[str]] = {}  # by name of a meta tag
        self._scripts: list[str] = []

    def note_meta(self, given: dict[str, str | None]) -> None:
        """Note a meta tag, if it is about author or date."""
        for key in ("name", "property", "itemprop"):
            name = (given.get(key) or "").strip().lower()
            if name in _NAMES:
                self._add(name, given.get("content"))

    def note(self, node: Any) -> None:
        """Note a node that SELECTOR has found."""
        tag = node.tag
        if tag in ("h1", "h2", "h3"):
            self._note_heading(node)
        if tag == "script":
            if len(self._scripts) < MAX_SCRIPTS and _says_enough(text := node.text()):
                self._scripts.append(text)
        elif tag != "meta":
            self._note_item(node, node.attributes)

    def said(self) -> Said:
        """Author and date: by JSON-LD, else by meta tags, else by marked elements."""
        linked = _linked(self._scripts) if self._scripts else Said()
        author = linked.author or self._author()
        return Said(author, linked.published or self._published())

    def _note_heading(self, node: Any) -> None:
        if len(self.headings) < MAX_HEADINGS and (text := _line(node.text(separator=" "))):
            self.headings.append(text[:MAX_HEADING])

    def _note_item(self, node: Any, given: dict[str, str | None]) -> None:
        item = (given.get("itemprop") or "").lower()
        if item == "datepublished" or "pubdate" in given:
            self._add("datepublished", given.get("datetime") or given.get("content") or node.text())
        elif item == "author":
            self._add("author", _name_in(node))

    def _add(self, name: str, said: str | None) -> None:
        known = self._named.setdefault(name, [])
        if said and len(known) < MAX_NAMES:
            known.append(said[: 2 * MAX_SCRIPT])

    def _author(self) -> str:
        return next(filter(None, (_names(self._named.get(name, ())) for name in _AUTHORS)), "")

    def _published(self) -> str:
        said = (text for name in _DATES for text in self._named.get(name, ()))
        return next(filter(None, map(iso_date, said)), "")


def _name_in(node: Any) -> str:
    """The name in an element that is marked as an author."""
    inner = node.css_first("[itemprop=name]")
    return str((inner or node).text(separator=" "))


# ----------------------------------------------------------------------- JSON-LD


def _linked(scripts: Iterable[str]) -> Said:
    """Author and date of the article that JSON-LD describes, else of the page."""
    nodes = list(islice(_nodes(scripts), MAX_NODES))
    names = {node["@id"]: node.get("name") for node in nodes if isinstance(node.get("@id"), str)}
    nodes.sort(key=lambda node: not any(map(_is_article, _types(node))))  # articles first
    author = published = ""
    for node in nodes:
        makers = node.get("author") or node.get("creator")
        author = author or _names(_persons(makers, names))
        published = published or _first_date(node.get("datePublished"))
    return Said(author, published)


def _nodes(scripts: Iterable[str]) -> Iterator[dict[str, Any]]:
    """The objects of JSON-LD, however wrong it is: at the top, in lists and in graphs."""
    for script in scripts:
        try:
            waiting = [json.loads(script[:MAX_SCRIPT], strict=False)]
        except (ValueError, RecursionError):
            continue
        while waiting:
            value = waiting.pop(0)
            if isinstance(value, list):
                waiting = value[:MAX_NODES] + waiting
            elif isinstance(value, dict):
                yield value
                waiting += [value[key] for key in ("@graph", "mainEntity") if key in value]


def _types(node: dict[str, Any]) -> list[str]:
    types = node.get("@type")
    found = types[:MAX_NAMES] if isinstance(types, list) else [types]
    return [each for each in found if isinstance(each, str)]


def _persons(value: Any, names: dict[str, Any], inside: int = 0) -> Iterator[str]:
    """The names in an author: a name, an object with one, a reference, or a list of these."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict) and inside < 3:
        reference = value.get("@id")
        known = names.get(reference) if isinstance(reference, str) else None
        yield from _persons(value.get("name") or known, names, inside + 1)
    elif isinstance(value, list) and inside < 3:
        for each in value[:MAX_NAMES]:
            yield from _persons(each, names, inside + 1)


def _first_date(value: Any) -> str:
    said = value[0] if isinstance(value, list) and value else value
    return iso_date(said) if isinstance(said, str) else ""


# ----------------------------------------------------------------------- texts


def _names(said: Iterable[str]) -> str:
    """Names in one text, each once, without addresses."""
    found: dict[str, None] = {}
    for each in islice(said, MAX_NAMES):
        name = _line(each)
        if by := _by(name):
            name = name[by.end() :]
        if name and not _is_url(name):
            found[name[:MAX_NAME]] = None
    return "; ".join(found)


def _line(text: str) -> str:
    return " ".join(text[:MAX_SCRIPT].split())
