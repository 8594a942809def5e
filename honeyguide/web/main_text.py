"""The main text of a page: which of its blocks are content, by a small network."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from selectolax.lexbor import LexborHTMLParser

from honeyguide.web.block_names import BITS, TEXT_BITS, bits_of_text
from honeyguide.web.blocks import Block, Blocks, Element, read_blocks

_SHORT = 100  # characters: a text whose words are looked up
_LONG = 80  # characters outside links: a block that reads like a paragraph
_ENDS = frozenset(".!?:;…。！？؟।\"”'")
_TAGS = "h1|h2|h3|h4 h5 h6|div|body|figcaption caption|center".split("|")
_TAG = {tag: 1 << i for i, tags in enumerate(_TAGS) for tag in tags.split()}
_CELLS = frozenset(["td", "th"])
_FLAGS = 7  # of a text
_LEVELS = 4  # a block's element and those around it whose sums are looked at
_CORES = (0.55, 0.75, 0.9)  # shares of the text in paragraphs

Numbers = NDArray[np.float32]
Places = NDArray[np.intp]


def main_text(page: Blocks, title: str) -> str:
    """The content of a page, a block a line; cells of a table row are separated by tabs."""
    chosen = main_blocks(page, title)
    pieces: list[str] = []
    last = -1  # the row of the cell before
    for block in chosen:
        element = page.elements[block.element]
        row = element.row if element.tag in _CELLS else -1
        pieces += ["\t" if row >= 0 and row == last else "\n", block.text]
        last = row
    return "".join(pieces[1:])


def main_blocks(page: Blocks, title: str) -> list[Block]:
    """The blocks that are content."""
    if not page.blocks:
        return []
    sure = network().probabilities(features(page, title))
    chosen = [block for block, p in zip(page.blocks, sure.tolist(), strict=True) if p > 0.5]
    return chosen


class Network(NamedTuple):
    """Weights of the network: two convolutions over the blocks of a page."""

    first: Numbers  # (features + 1, hidden); in all, the last row is the bias
    pool: Numbers  # (2 * hidden + 1, hidden)
    near: Numbers  # (5 * hidden + 1, hidden)
    far: Numbers  # (5 * hidden + 1, hidden)
    last: Numbers  # (3 * hidden + 1, 1)

    def probabilities(self, rows: Numbers) -> Numbers:
        """How likely each block is content."""
        block = np.maximum(_apply(self.first, rows), 0)
        weights = np.exp(rows[:, :1]) - 1
        mean = (block * weights).sum(0) / weights.sum()
        page = _apply(self.pool, np.concatenate([mean, block.max(0)]))
        near = np.maximum(_apply(self.near, _window(block, 1)) + page, 0)
        far = np.maximum(_apply(self.far, _window(near, 3)), 0)
        scores = _apply(self.last, np.hstack([block, near, far]))[:, 0]
        return 1 / (1 + np.exp(-np.clip(scores, -30, 30)))


@lru_cache(1)
def network() -> Network:
    """The network that comes with the package."""
    with files("honeyguide.web").joinpath("main_text.model").open("rb") as file:
        stored = np.load(file, allow_pickle=False)
        return Network(**{name: stored[name].astype(np.float32) for name in Network._fields})


def _apply(weights: Numbers, rows: Numbers) -> Numbers:
    return rows @ weights[:-1] + weights[-1]


def _window(rows: Numbers, step: int) -> Numbers:
    """Each row with its neighbours, two on either side."""
    count, width = rows.shape
    padded = np.zeros((count + 4 * step, width), np.float32)
    padded[2 * step : 2 * step + count] = rows
    return np.hstack([padded[i * step : i * step + count] for i in range(5)])


def features(page: Blocks, title: str) -> Numbers:
    """One row of numbers for each block."""
    blocks, elements = page
    texts = np.array(list(_texts(blocks, title)), np.float32).T
    place = np.array([block.element for block in blocks])
    parent = np.array([element.parent for element in elements])
    up = parent[place]
    own, every, tag = np.array([_said(element) for element in elements], np.uint64).T
    return np.hstack(
        [
            _columns(texts[:-1]),
            *_surroundings(texts, place, parent),
            _bits(texts[-1].astype(np.uint64), _FLAGS + TEXT_BITS),
            _bits(tag[place], len(_TAGS)),
            _bits(own[place], BITS),
            _bits(own[up] | own[parent[up]], BITS),
            _bits(every[place], BITS),
        ],
        dtype=np.float32,
        casting="unsafe",
    )


def _said(element: Element) -> tuple[int, int, int]:
    return element.own, element.all, _TAG.get(element.tag, 0)


def _texts(blocks: list[Block], title: str) -> Iterator[tuple[int, ...]]:
    """Counts of each text: characters, words, links, punctuation; and bits."""
    seen: set[str] = set()
    for text, _, linked, links in blocks:
        size = len(text)
        words = text.count(" ") + 1
        if size > 15 * words:
            words = size // 4  # a script without spaces
        bits = (
            (text[-1] in _ENDS)
            | text[0].isupper() << 1
            | text.isupper() << 2
            | text[0].isdigit() << 3
            | ("|" in text) << 4
            | (text in seen) << 5
        )
        seen.add(text)
        if size < _SHORT:
            bits |= (text in title) << 6 | bits_of_text(text) << _FLAGS
        commas, stops = text.count(","), text.count(". ")
        if not text.isascii():
            commas += text.count("，") + text.count("،") + text.count("、")
            stops += text.count("。")
        yield size, words, min(linked, size), links, commas, stops, text.count("\n"), bits


def _columns(texts: Numbers) -> Numbers:
    size, words, linked, links, commas, stops, lines = texts
    logs = np.log1p(np.array([size, words, size - linked, links, commas, stops, lines]))
    logs[:3] /= 5
    shares = [linked / size, size / words / 10, commas / words * 5, size / 500]
    return np.vstack([logs, np.minimum(shares, 3)]).T


def _surroundings(texts: Numbers, place: Places, parent: Places) -> Iterator[NDArray[Any]]:
    """Where each block is in the page, and how much text is in the elements around it."""
    size, free = texts[0], texts[0] - texts[2]
    good = np.where(free > _LONG, free, 0)
    ends = _ends(parent.tolist())
    sums = np.zeros((len(parent) + 1, 4), np.float32)
    for column, quantity in enumerate((size, free, good, None)):
        np.cumsum(np.bincount(place, quantity, len(parent)), out=sums[1:, column])
    sums = sums[ends] - sums[:-1]
    shares = sums / (sums[0] + 1)
    inside = sums[:, 1:3] / (sums[:, :1] + 1)
    table = np.hstack([np.log1p(sums[:, ::3]) / 5, shares, inside])
    yield np.repeat(table[:1, (0, 1, 6, 7)], len(size), 0)
    for _ in range(_LEVELS):
        yield table[place]
        place = parent[place]
    yield _positions(size / size.sum(), good / (good.sum() + 1))



def _positions(size: Numbers, good: Numbers) -> Numbers:
    index = np.arange(len(size))
    first, last = np.minimum(index, 100) / 50, np.minimum(index[::-1], 100) / 50
    return np.array([np.cumsum(size) - size, np.cumsum(good) - good, index / len(size), first, last]).T


def _ends(parents: list[int]) -> Places:
    """Where the elements inside each element end in the list of elements."""
    sizes = [1] * len(parents)
    for i in range(len(parents) - 1, 0, -1):
        sizes[parents[i]] += sizes[i]
    return np.arange(len(sizes)) + sizes


def _bits(masks: NDArray[np.uint64], count: int) -> NDArray[np.uint8]:
    octets = masks.view(np.uint8).reshape(-1, 8)
    return np.unpackbits(octets, axis=1, count=count, bitorder="little")
