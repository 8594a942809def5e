"""The main text of a page: which of its blocks are content, by a small network."""

from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from honeyguide.web.block_names import bits_of_text
from honeyguide.web.blocks import Blocks

_SHORT = 60  # characters: a text whose words are looked up
_LONG = 80  # characters outside links: a block that reads like a paragraph
_ENDS = frozenset(".!?:;…。！？؟।\"”'")
_TAGS = "h1|h2|h3|h4 h5 h6|div|body|figcaption caption|center".split("|")
_FLAGS = 7  # bits of a text
_OF_TEXT = _FLAGS + len(_TAGS)
_TAG = {tag: 1 << _FLAGS + i for i, tags in enumerate(_TAGS) for tag in tags.split()}
_ROWS = 32  # of a product
_CELLS = frozenset(["td", "th"])
_LEVELS = 4  # a block's element and those around it whose sums are looked at

Numbers = NDArray[np.float32]
Places = NDArray[np.intp]


class Block(NamedTuple):
    """A run of text that no other block interrupts."""

    text: str
    tag: str
    id: int  # `mem_id` of its node
    row: int  # cells of one table row have the same number; -1 elsewhere


def main_text(page: Blocks, title: str) -> str:
    """The content of a page, a block a line; cells of a table row are separated by tabs."""
    pieces: list[str] = []
    last = -1  # the row of the cell before
    for block in main_blocks(page, title):
        pieces += ["\t" if block.row >= 0 and block.row == last else "\n", block.text]
        last = block.row
    return "".join(pieces[1:])


def main_blocks(page: Blocks, title: str) -> list[Block]:
    """The blocks that are content."""
    if not page.texts:
        return []
    sure = network().probabilities(features(page, title))
    tags, ids, rows = page.elements.tags, page.elements.ids, page.elements.rows
    chosen = []
    for i in np.flatnonzero(sure > 0.5).tolist():
        place = page.places[i]
        tag = tags[place]
        chosen.append(
            Block(page.texts[i], tag, ids[place], rows[place] if tag in _CELLS else -1)
        )
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
        page = _apply(self.pool, np.concatenate([mean, block.max(0)])[None])
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
    """The product, some rows at a time: a large one would wake threads on all cores."""
    matrix, bias = weights[:-1], weights[-1]
    parts = [rows[i : i + _ROWS] @ matrix for i in range(0, len(rows), _ROWS)]
    return np.concatenate(parts) + bias


def _window(rows: Numbers, step: int) -> Numbers:
    """Each row with its neighbours, two on either side."""
    count, width = rows.shape
    padded = np.zeros((count + 4 * step, width), np.float32)
    padded[2 * step : 2 * step + count] = rows
    return np.hstack([padded[i * step : i * step + count] for i in range(5)])


def features(page: Blocks, title: str) -> Numbers:
    """One row of numbers for each block: of its text, its place, and bits."""
    elements = page.elements
    texts = np.array(list(_texts(page)), np.float32).T
    place, parent = np.array(page.places), np.array(elements.parents)
    own, around = np.array(elements.own, np.uint64), np.array(elements.around, np.uint64)
    up = parent[place]
    bits = np.array([_said(page, title), own[place], own[up] | own[parent[up]], around[place]])
    numbers = [_columns(texts), *_surroundings(texts, place, parent), _bits(bits)]
    return np.hstack(numbers, dtype=np.float32, casting="unsafe")


def _texts(page: Blocks) -> Iterator[tuple[int, ...]]:
    """Counts of each text: characters, words, links, punctuation."""
    for text, linked, links in zip(page.texts, page.linked, page.links, strict=True):
        size = len(text)
        words = text.count(" ") + 1
        if size > 15 * words:
            words = size // 4  # a script without spaces
        commas, stops = text.count(","), text.count(". ")
        if not text.isascii():
            commas += text.count("，") + text.count("،") + text.count("、")
            stops += text.count("。")
        yield size, words, min(linked, size), links, commas, stops, text.count("\n")


def _said(page: Blocks, title: str) -> NDArray[np.uint64]:
    """Bits of what each text and tag says."""
    seen: set[str] = set()
    tags = page.elements.tags
    said = []
    for text, place in zip(page.texts, page.places, strict=True):
        first = text[0]
        bits = (text[-1] in _ENDS) | first.isupper() << 1 | first.isdigit() << 2
        bits |= _TAG.get(tags[place], 0)
        if text in seen:
            bits |= 8
        seen.add(text)
        if len(text) < _SHORT:
            bits |= bits_of_text(text) << _OF_TEXT | text.isupper() << 4 | ("|" in text) << 5
            bits |= (text in title) << 6
        said.append(bits)
    return np.array(said, np.uint64)


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


def _bits(masks: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """The bits of each column."""
    octets = np.ascontiguousarray(masks.T).view(np.uint8)
    return np.unpackbits(octets, axis=1, bitorder="little")
