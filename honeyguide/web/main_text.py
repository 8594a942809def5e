"""The main text of a page: which of its blocks are content, by a small network."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from honeyguide.web.block_names import SECTIONS, bits_of_text
from honeyguide.web.blocks import Blocks

_SHORT = 60  # characters: a text whose words are looked up
_LONG = 80  # characters outside links: a block that reads like a paragraph
_ENDS = frozenset(".!?:;…。！？؟।\"”'")
_TAGS = "h1|h2|h3|h4 h5 h6|div|body|figcaption caption|center".split("|")
_FLAGS = 7  # bits of a text
_OF_TEXT = _FLAGS + len(_TAGS)
_TAG = {tag: 1 << _FLAGS + i for i, tags in enumerate(_TAGS) for tag in tags.split()}
_FRAME = SECTIONS["nav"] | SECTIONS["footer"]
_PROSE = frozenset("p div h1 h2 h3 h4 h5 h6 figcaption blockquote section article body".split())
_LISTS = SECTIONS["ul"] | SECTIONS["dl"] | SECTIONS["table"] | SECTIONS["pre"]
_SAID = 20  # characters: a longer text counts once
_LIKELY = 0.5
_LIKELY_LISTS = 0.15  # of lists, tables and code where most of the likely text is
_MOST = 0.6
_ONLY_LINKS = 0.9
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
    """The blocks that are content; all but navigation and footers when none stands out."""
    if not page.texts:
        return []
    chosen = _chosen(page, network().probabilities(features(page, title)))
    elements = page.elements
    blocks = []
    seen: set[str] = set()
    for i in chosen:
        text, place = page.texts[i], page.places[i]
        tag = elements.tags[place]
        if len(text) > _SAID and tag in _PROSE:
            if text in seen:
                continue
            seen.add(text)
        row = elements.rows[place] if tag in _CELLS else -1
        blocks.append(Block(text, tag, elements.ids[place], row))
    return blocks


def _chosen(page: Blocks, sure: Numbers) -> list[int]:
    """Which blocks are content: likely ones, and lists, tables and code beside most of them."""
    unframed = _all_but_frame(page)
    chances = sure.tolist()
    likely = [i for i in unframed if chances[i] > _LIKELY]
    if not _stands_out(page, likely):
        return unframed
    maybe = [i for i in unframed if chances[i] > _LIKELY_LISTS]
    if len(maybe) == len(likely):
        return likely
    start, end = _core(page, likely)
    places, around = page.places, page.elements.around
    return [
        i
        for i in maybe
        if chances[i] > _LIKELY or (start <= places[i] < end and around[places[i]] & _LISTS)
    ]


def _stands_out(page: Blocks, likely: list[int]) -> bool:
    """Whether more than links are likely."""
    size = sum(len(page.texts[i]) for i in likely)
    return sum(page.linked[i] for i in likely) < _ONLY_LINKS * size


def _core(page: Blocks, likely: list[int]) -> tuple[int, int]:
    """The smallest element with most of the likely text: its index and where it ends."""
    places = [page.places[i] for i in likely]
    sizes = [len(page.texts[i]) for i in likely]
    sums = np.zeros(len(page.elements.tags) + 1)
    np.cumsum(np.bincount(places, sizes, len(page.elements.tags)), out=sums[1:])
    ends = _ends(page.elements.parents)
    core = int(np.flatnonzero(sums[ends] - sums[:-1] >= _MOST * sums[-1])[-1])
    return core, int(ends[core])


def _all_but_frame(page: Blocks) -> list[int]:
    """All blocks outside navigation and footers (Lim 2016, §9.4); all where nothing else is."""
    around = page.elements.around
    found = [i for i, place in enumerate(page.places) if not around[place] & _FRAME]
    return found or list(range(len(page.texts)))


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
        return np.asarray(1 / (1 + np.exp(-np.clip(scores, -30, 30))), np.float32)


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
    product: Numbers = np.concatenate(parts) + bias
    return product


def _window(rows: Numbers, step: int) -> Numbers:
    """Each row with its neighbours, two on either side."""
    count, width = rows.shape
    padded = np.zeros((count + 4 * step, width), np.float32)
    padded[2 * step : 2 * step + count] = rows
    return np.hstack([padded[i * step : i * step + count] for i in range(5)])


def features(page: Blocks, title: str) -> Numbers:
    """One row of numbers for each block: of its text, of its place, and bits."""
    counts, said = zip(*_texts(page, title), strict=True)
    texts = np.array(counts, np.float32).T
    place, parent = np.array(page.places), np.array(page.elements.parents)
    own, around = np.array([page.elements.own, page.elements.around], np.uint64)
    up = parent[place]
    bits = np.array([said, own[place], own[up] | own[parent[up]], around[place]], np.uint64)
    numbers = [_columns(texts), *_surroundings(texts, place, parent), _bits(bits)]
    return np.hstack(numbers, dtype=np.float32, casting="unsafe")


def _texts(page: Blocks, title: str) -> Iterator[tuple[tuple[int, ...], int]]:
    """Counts of each text (characters, words, links, punctuation), and bits of what it says."""
    tags = page.elements.tags
    seen: set[str] = set()
    for text, place, linked, links in zip(*page[1:], strict=True):
        size = len(text)
        words = text.count(" ") + 1
        if size > 15 * words:
            words = size // 4  # a script without spaces
        bits = (text[-1] in _ENDS) | text[0].isupper() << 1 | text[0].isdigit() << 2
        bits |= (text in seen) << 3 | _TAG.get(tags[place], 0)
        seen.add(text)
        if size < _SHORT:
            bits |= text.isupper() << 4 | ("|" in text) << 5 | (text in title) << 6
            bits |= bits_of_text(text) << _OF_TEXT
            marks = (text.count(","), 0, 0)
        else:
            marks = _punctuation(text)
        yield (size, words, min(linked, size), links, *marks), bits


def _punctuation(text: str) -> tuple[int, int, int]:
    """Commas, ends of sentences, ends of lines."""
    commas, stops = text.count(","), text.count(". ")
    if not text.isascii():
        commas += text.count("，") + text.count("،") + text.count("、")
        stops += text.count("。")
    return commas, stops, text.count("\n")


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
    return np.array(
        [np.cumsum(size) - size, np.cumsum(good) - good, index / len(size), first, last]
    ).T


def _ends(parents: Sequence[int]) -> Places:
    """Where the elements inside each element end in the list of elements."""
    sizes = [1] * len(parents)
    for i in range(len(parents) - 1, 0, -1):
        sizes[parents[i]] += sizes[i]
    return np.arange(len(sizes)) + sizes


def _bits(masks: NDArray[np.uint64]) -> NDArray[np.uint8]:
    """The bits of each column."""
    octets = np.ascontiguousarray(masks.T).view(np.uint8)
    return np.unpackbits(octets, axis=1, bitorder="little")
