"""A page before it is shown: what it says and where its links stand."""

from collections.abc import Sequence
from typing import NamedTuple

from honeyguide.contracts import Link

CONTEXT = 75  # characters kept on each side of a link


class Mention(NamedTuple):
    """A link in a page; one without an anchor is a picture."""

    url: str
    anchor: str


Piece = str | Mention


class Draft(NamedTuple):
    """A page's title, its text with links, and what stands around it."""

    url: str
    title: str
    labels: tuple[str, ...]
    style: int
    bar: Sequence[Mention]
    paragraphs: Sequence[Sequence[Piece]]
    items: Sequence[Sequence[Piece]]
    aside: Sequence[Mention]
    foot: Sequence[Mention]


class Style(NamedTuple):
    """The elements around each part of a page; the last of each is there once a link or block."""

    bar: str
    paragraph: str
    item: str
    aside: str
    foot: str


STYLES = (
    Style("header/nav/ul/li", "main/article/p", "main/article/ul/li", "aside/ul/li", "footer/p"),
    Style("div/ul/li", "div/div/p", "div/div/ul/li", "div/div/span", "div/p"),
    Style("nav/span", "section/p", "section/ol/li", "aside/p", "footer/ul/li"),
    Style("div/div/span", "div/section/p", "div/section/ul/li", "div/ul/li", "footer/div/span"),
)


def text_of(draft: Draft) -> str:
    """What a reader reads: the title, then a line a paragraph or list item."""
    lines = ["".join([p if p.__class__ is str else p[1] for p in pieces])
             for pieces in (*draft.paragraphs, *draft.items)]  # fmt: skip
    return "\n".join([draft.title, *lines])


def links_of(draft: Draft, depth: int) -> tuple[Link, ...]:
    """The links in document order, as if they had been read from HTML."""
    style = STYLES[draft.style]
    links: list[Link] = []

    def show(mentions: Sequence[Mention], place: str) -> None:
        path = f"html/body/{place}/a"
        links.extend([Link(url, anchor, "", path, depth, draft.url) for url, anchor in mentions])

    def read(blocks: Sequence[Sequence[Piece]], place: str) -> None:
        path = f"html/body/{place}/a"
        for pieces in blocks:
            for i, piece in enumerate(pieces):
                if isinstance(piece, Mention):
                    context = _context(pieces, i)
                    links.append(Link(*piece, context, path, depth, draft.url))

    show(draft.bar, style.bar)
    read(draft.paragraphs, style.paragraph)
    read(draft.items, style.item)
    show(draft.aside, style.aside)
    show(draft.foot, style.foot)
    return tuple(links)


def _context(pieces: Sequence[Piece], place: int) -> str:
    before = pieces[place - 1] if place else ""
    after = pieces[place + 1] if place + 1 < len(pieces) else ""
    left = before[-CONTEXT:] if isinstance(before, str) else before.anchor
    right = after[:CONTEXT] if isinstance(after, str) else after.anchor
    return f"{left}{pieces[place][1]}{right}".strip()
