"""The content and structure of a generated page, before it becomes a Page or HTML."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from honeyguide.contracts import Link

CONTEXT = 150  # characters kept on each side of a link


class Mention(NamedTuple):
    """A link in a page; without an anchor it is an image."""

    url: str
    anchor: str


Piece = str | Mention
Pieces = Sequence[Piece]


class Prose(NamedTuple):
    """The title, paragraphs and list items of a page."""

    title: str
    paragraphs: Sequence[Pieces]
    items: Sequence[Pieces]


class Draft(NamedTuple):
    """A page: its prose, and the links in its navigation bar, sidebar and footer."""

    url: str
    labels: tuple[str, ...]
    style: int
    prose: Prose
    bar: Sequence[Mention]
    aside: Sequence[Mention]
    foot: Sequence[Mention]


class Style(NamedTuple):
    """The elements around each part of a page; the last element repeats for each link or block."""

    bar: str
    text: str
    paragraph: str
    items: str
    aside: str
    foot: str


STYLES = (
    Style("header/nav/ul/li", "main/article", "p", "ol/li", "aside/ul/li", "footer/p"),
    Style("div/ul/li", "div/div", "p", "dl/dd", "aside/div/span", "div/ul/li"),
    Style("nav/span", "main", "p", "ol/li", "aside/p", "footer/ul/li"),
    Style("div/div/span", "article/section", "p", "dl/dd", "nav/ul/li", "footer/div/span"),
)


def text_of(prose: Prose) -> str:
    """The text of a page: its title, then a line for each paragraph and list item."""
    blocks = (*prose.paragraphs, *prose.items)
    lines = [
        "".join([p if isinstance(p, str) else p[1] for p in block]).strip() for block in blocks
    ]
    return "\n".join([prose.title, *lines])


def links_of(draft: Draft, depth: int) -> tuple[Link, ...]:
    """The links in document order, as if they had been read from HTML."""
    said: list[str] = []
    spans: list[tuple[Mention, str, int, int]] = []
    end, spaced = 0, True  # length of the text so far, and whether it ends with a space
    for place, piece in _walk(draft):
        if isinstance(piece, Mention):
            words = piece.anchor
            # the space before a link counts as part of it
            spans.append((piece, place, end - 1, end + len(words) if words else end - 1))
        else:
            words = piece[1:] if spaced and piece[0] == " " else piece  # no two spaces in a row
        if words:
            said.append(words)
            end += len(words)
            spaced = words[-1] == " "
    flat, source = "".join(said), draft.url
    return tuple(
        [
            Link(url, anchor, _around(flat, first, last), place, depth, source)
            for (url, anchor), place, first, last in spans
            if url != source
        ]
    )


def _around(flat: str, first: int, last: int) -> str:
    return flat[max(0, first - CONTEXT) : last + CONTEXT].strip()


def _walk(draft: Draft) -> Iterator[tuple[str, Piece]]:
    """Everything on a page in order, each link with its tag path."""
    style, prose = STYLES[draft.style], draft.prose
    yield from _row(draft.bar, f"html/body/{style.bar}/a")
    yield "", f"{prose.title} "
    for blocks, place in (prose.paragraphs, style.paragraph), (prose.items, style.items):
        path = f"html/body/{style.text}/{place}/a"
        for block in blocks:
            for piece in block:
                yield path, piece
            yield "", " "
    yield from _row(draft.aside, f"html/body/{style.aside}/a")
    yield from _row(draft.foot, f"html/body/{style.foot}/a")


def _row(mentions: Sequence[Mention], path: str) -> Iterator[tuple[str, Piece]]:
    for mention in mentions:
        yield path, mention
        yield "", " "
