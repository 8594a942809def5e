"""Renders generated pages as HTML."""

from collections.abc import Sequence
from html import escape

from honeyguide.worlds.synthetic.draft import STYLES, Draft, Mention, Piece


def render(draft: Draft) -> str:
    """The HTML of a page."""
    style, prose = STYLES[draft.style], draft.prose
    body = (
        _wrap(style.bar, [[link] for link in draft.bar], "menu")
        + _open(style.text)
        + f"<h1>{escape(prose.title)}</h1>\n"
        + _wrap(style.paragraph, prose.paragraphs)
        + _wrap(style.items, prose.items)
        + _close(style.text)
        + _wrap(style.aside, [[link] for link in draft.aside], "sidebar")
        + _wrap(style.foot, [[link] for link in draft.foot], "footer")
    )
    head = f'<meta charset="utf-8"><title>{escape(prose.title)}</title>'
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head>\n<body>\n{body}</body></html>\n'


def _wrap(place: str, blocks: Sequence[Sequence[Piece]], name: str = "") -> str:
    if not blocks:
        return ""
    around, _, each = place.rpartition("/")
    inside = "".join(f"<{each}>{_inline(block)}</{each}>\n" for block in blocks)
    return _open(around, name) + inside + _close(around)


def _inline(block: Sequence[Piece]) -> str:
    return "".join(
        _link(piece) if isinstance(piece, Mention) else escape(piece) for piece in block
    ).strip()


def _link(link: Mention) -> str:
    shown = escape(link.anchor) if link.anchor else '<img src="/picture.png" alt="">'
    return f'<a href="{escape(link.url)}">{shown}</a>'


def _open(place: str, name: str = "") -> str:
    tags = [f"<{tag}>" for tag in place.split("/") if tag]
    if tags and name:
        tags[0] = f'{tags[0][:-1]} id="{name}">'
    return "".join(tags) + "\n" if tags else ""


def _close(place: str) -> str:
    return "".join(f"</{tag}>" for tag in reversed(place.split("/")) if tag) + "\n"
