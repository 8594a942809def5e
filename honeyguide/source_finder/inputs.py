"""The inputs of the policy network: links of a page as arrays, and episodes of clicks."""

from collections.abc import Container, Sequence
from dataclasses import dataclass, replace

import numpy as np

from honeyguide import urls
from honeyguide.contracts import Encoder, Link, Matrix, Page
from honeyguide.source_finder.link_signs import SIGNS, link_signs

TAGS = (
    "html body div span p a ul ol li dl dt dd table tbody thead tfoot tr td th nav header footer"
    " main section article aside h1 h2 h3 h4 h5 h6 form fieldset label button figure figcaption img"
    " map area frame frameset center font b i em strong small big blockquote address time details"
    " summary menu pre iframe td-other"
).split()
_PLACE = {tag: place for place, tag in enumerate(TAGS)}
MOST_LINKS = 1_000  # of a page that are read
AROUND = 4  # texts encoded per link by with_surroundings


@dataclass(frozen=True, slots=True)
class PageInputs:
    """The links of a page in document order, one row per link."""

    anchors: Matrix  # (links, width of the encoder)
    tags: Matrix  # (links, tags): log counts of the tags on each tag path
    boxes: Matrix | None = None  # (links, 12): equation 6; None without a browser layout

    def __len__(self) -> int:
        return len(self.anchors)


@dataclass(frozen=True, slots=True)
class Choice:
    """One click: the links to choose from, the chosen one and its reward."""

    options: tuple[tuple[int, int], ...]  # (page of the episode, link of the page)
    taken: int  # index in options
    reward: float
    opened: int = -1  # the page of the episode that the click opened; -1: none


@dataclass(frozen=True, slots=True)
class Episode:
    """All clicks on one site."""

    pages: tuple[PageInputs, ...]
    choices: tuple[Choice, ...]

    @property
    def total(self) -> float:
        """Return the sum of rewards, R of equation 1."""
        return sum(choice.reward for choice in self.choices)

    def worths(self, lineage: float) -> list[float]:
        """Return for each click the larger of its reward and `lineage` times the best it led to."""
        worths = [choice.reward for choice in self.choices]
        opener = {choice.opened: number for number, choice in enumerate(self.choices)}
        for number in range(len(worths) - 1, -1, -1) if lineage else ():
            choice = self.choices[number]
            parent = opener.get(choice.options[choice.taken][0], -1)
            if parent >= 0:
                worths[parent] = max(worths[parent], lineage * worths[number])
        return worths


def page_inputs(links: Sequence[Link], encoder: Encoder) -> PageInputs:
    """Return the inputs of both nets for the links of a page."""
    links = links[:MOST_LINKS]
    return PageInputs(encoder([shown(link) for link in links]), _bags(links), _boxes(links))


def anchors_only(page: Page, encoder: Encoder) -> PageInputs:
    """Return anchor texts and tag paths as inputs, as in Liao and Chang (2022)."""
    return page_inputs(page.links, encoder)


def with_signs(page: Page, encoder: Encoder, known: Container[str] = frozenset()) -> PageInputs:
    """Return inputs that also have the signs of each link: lexicon, address, place on the page."""
    seen = page_inputs(page.links, encoder)
    return replace(
        seen, anchors=joined_signs(seen.anchors, link_signs(page, page.links[:MOST_LINKS], known))
    )


def joined_signs(anchors: Matrix, signs: Matrix) -> Matrix:
    """Return encoded anchor texts and signs, side by side."""
    rows: Matrix = np.concatenate([anchors, signs], axis=1)
    return rows


def input_width(encoder: Encoder) -> int:
    """Return the width of `with_signs`."""
    return int(encoder.width) + len(SIGNS)


def with_surroundings(page: Page, encoder: Encoder) -> PageInputs:
    """Return inputs that also encode each link's URL, its context and its page's title and URL."""
    seen = page_inputs(page.links, encoder)
    links = page.links[: len(seen)]
    rows = [
        seen.anchors,
        encoder([urls.words(link.url) for link in links]),
        encoder([link.context for link in links]),
        encoder([f"{page.title} {urls.words(page.url)}"]).repeat(len(links), axis=0),
    ]
    return PageInputs(np.concatenate(rows, axis=1), seen.tags, seen.boxes)


def shown(link: Link) -> str:
    """Return the anchor text of a link; without one, the words of its last path segment."""
    return link.anchor or urls.words(link.url.rstrip("/").rpartition("/")[2])


def _bags(links: Sequence[Link]) -> Matrix:
    """Return log(1 + count) of each tag on the tag paths (a bag of words, Liao and Chang 2022)."""
    bags = np.zeros((len(links), len(TAGS)), np.float32)
    rows: dict[str, int] = {}
    for number, link in enumerate(links):
        first = rows.setdefault(link.tag_path, number)
        if first == number:
            for tag in link.tag_path.split("/"):
                bags[number, _PLACE.get(tag, len(TAGS) - 1)] += 1
        else:
            bags[number] = bags[first]
    return np.log1p(bags)


def _boxes(links: Sequence[Link]) -> Matrix | None:
    """Return boxes (x, y, width, height; thousands of pixels) of each link and its neighbours."""
    if not links or any(link.box is None for link in links):
        return None
    own = np.array([link.box for link in links], np.float32) / 1000
    before, after = np.roll(own, 1, axis=0), np.roll(own, -1, axis=0)
    before[0] = after[-1] = 0
    boxes: Matrix = np.clip(np.concatenate([before, own, after], axis=1), -1, 5)
    return boxes
