"""Data regions of a page: lists of similar records, found by MDR (Liu, Grossman, Zhai 2003)."""

from bisect import bisect_right
from dataclasses import dataclass
from itertools import pairwise

from honeyguide.source_finder.tag_tree import Anchor, TagTree, read_tags

LONGEST_NODE = 10  # K: tags in a row that may form one generalised node
THRESHOLD = 0.3  # largest normalised edit distance of similar nodes
DEPTH = 3  # levels of a tree that can hold records: list, record, and what is in it
LONGEST_SHAPE = 200  # tags of a node that are compared
FEW = 4  # a region of fewer records may be parts of a page instead of a list
WORK = 300_000  # cells of edit distances per page; beyond, only equal shapes are similar
MOST_REGIONS = 500
COMPARISONS = 100_000  # of nodes per page


@dataclass(frozen=True, slots=True)
class Record:
    """One entry of a list."""

    text: str
    links: tuple[Anchor, ...]
    nodes: int  # tags in it


@dataclass(frozen=True, slots=True)
class Region:
    """A data region: similar records that follow one another."""

    path: str  # tags from the root to the parent of the records: "html/body/main/ul"
    records: tuple[Record, ...]

    @property
    def nodes(self) -> int:
        """Number of tags in all records."""
        return sum(record.nodes for record in self.records)

    @property
    def text(self) -> str:
        """The text of all records, one line per record."""
        return "\n".join(record.text for record in self.records)


@dataclass(frozen=True, slots=True)
class _Span:
    """Generalised nodes: `count` times `length` children of a parent, from the child `first`."""

    parent: int
    first: int
    length: int
    count: int

    @property
    def covered(self) -> int:
        return self.length * self.count


def regions(tags: TagTree) -> list[Region]:
    """Return the data regions that have text, those with most tags first."""
    finder = _Finder(tags)
    found = []
    for span in finder.spans():
        records = [_record(tags, *node) for node in finder.records(span)]
        records = [record for record in records if record.text]
        if len(records) > 1:
            found.append(Region(tags.path(span.parent), tuple(records)))
    return sorted(found, key=lambda region: (-region.nodes, -len(region.records)))


def read_regions(body: bytes, url: str = "", content_type: str = "") -> list[Region]:
    """Return the data regions of an HTML page; broken HTML is read as browsers do."""
    return regions(read_tags(body, url, content_type))


class _Finder:
    """Compares adjacent nodes of a tag tree, up to a limit of work."""

    def __init__(self, tags: TagTree) -> None:
        self.tags = tags
        self._work = WORK
        self._comparisons = COMPARISONS
        self._known: dict[tuple[str, str], bool] = {}
        self._depth = _depths(tags)

    def spans(self) -> list[_Span]:
        """Return all data regions, also those inside nodes that no large region covers."""
        found: list[_Span] = []
        waiting = [0] if len(self.tags) else []
        while waiting and len(found) < MOST_REGIONS:
            node = waiting.pop()
            if self._depth[node] < DEPTH:
                continue
            here = self._spans_of(node)
            found.extend(here)
            covered = {
                span.first + k for span in here if span.count >= FEW for k in range(span.covered)
            }
            children = self.tags.children[node]
            waiting.extend(child for place, child in enumerate(children) if place not in covered)
        lists = [span for span in found if not self._is_frame(span, found)]
        ranges = sorted((nodes[0][0], nodes[-1][1]) for nodes in map(self._nodes, lists))
        return [span for span in lists if not _inside(span.parent, ranges)]

    def records(self, span: _Span) -> list[tuple[int, int]]:
        """Return start and end of each record: generalised nodes, or their children if similar."""
        nodes = self._nodes(span)
        if span.length == 1 and all(self._is_row(start) for start, _ in nodes):
            ends = self.tags.ends
            return [(cell, ends[cell]) for start, _ in nodes for cell in self.tags.children[start]]
        return nodes

    def _nodes(self, span: _Span) -> list[tuple[int, int]]:
        children, ends = self.tags.children[span.parent], self.tags.ends
        return [
            (children[first], ends[children[first + span.length - 1]])
            for first in range(span.first, span.first + span.covered, span.length)
        ]

    def _is_row(self, node: int) -> bool:
        """Return whether a node is a row of records; a table row is a record itself."""
        cells, ends = self.tags.children[node], self.tags.ends
        if self.tags.names[node] == "tr" or len(cells) < 2:
            return False
        deep = all(self._depth[cell] >= DEPTH - 1 for cell in cells)
        return deep and all(self._similar((a, ends[a]), (b, ends[b])) for a, b in pairwise(cells))

    def _is_frame(self, span: _Span, found: list[_Span]) -> bool:
        """Return whether a few nodes are similar only because they contain longer lists."""
        if span.count >= FEW:
            return False
        nodes = self._nodes(span)
        start, end = nodes[0][0], nodes[-1][1]
        return any(start <= other.parent < end and other.count > span.count for other in found)

    def _spans_of(self, node: int) -> list[_Span]:
        """Return the regions among a node's children, left to right, each as long as possible."""
        found: list[_Span] = []
        count = len(self.tags.children[node])
        longest = min(LONGEST_NODE, count // 2)
        alike = {length: self._alike(node, length) for length in range(1, longest + 1)}
        start = 0
        while (best := _best(node, start, alike)) is not None:
            found.append(best)
            start = best.first + best.covered
        return found

    def _alike(self, node: int, length: int) -> list[int]:
        """Return for each child how many nodes of this length follow it, each like the last."""
        children, ends = self.tags.children[node], self.tags.ends
        alike = [0] * len(children)
        for first in range(len(children) - 2 * length, -1, -1):
            second = first + length
            one = children[first], ends[children[second - 1]]
            other = children[second], ends[children[second + length - 1]]
            if self._similar(one, other):
                alike[first] = alike[second] + 1
        return alike

    def _similar(self, one: tuple[int, int], other: tuple[int, int]) -> bool:
        self._comparisons -= 1
        if self._comparisons < 0:
            return False
        shape = self.tags.shape
        a, b = shape[slice(*one)][:LONGEST_SHAPE], shape[slice(*other)][:LONGEST_SHAPE]
        if a[0] != b[0]:
            return False
        if a == b:
            return one[1] - one[0] == other[1] - other[0] or len(a) == LONGEST_SHAPE
        allowed = int(THRESHOLD * (len(a) + len(b)) / 2)
        if abs(len(a) - len(b)) > allowed:
            return False
        if (a, b) not in self._known:
            self._work -= len(a) * (2 * allowed + 1)
            self._known[a, b] = self._work > 0 and within(a, b, allowed)
        return self._known[a, b]


def _best(node: int, start: int, alike: dict[int, list[int]]) -> _Span | None:
    """Return the region that covers most children, among those that do not start later."""
    best: _Span | None = None
    for length, rows in alike.items():
        for offset in range(start, min(start + length, len(rows))):
            first = next((at for at in range(offset, len(rows), length) if rows[at]), None)
            if first is None:
                continue
            span = _Span(node, first, length, rows[first] + 1)
            if best is None or (span.covered > best.covered and span.first <= best.first):
                best = span
    return best


def _inside(node: int, ranges: list[tuple[int, int]]) -> bool:
    """Return whether a node lies in one of these sorted ranges."""
    return any(start <= node < end for start, end in ranges[: bisect_right(ranges, (node + 1, 0))])


def _record(tags: TagTree, start: int, end: int) -> Record:
    return Record(tags.text(start, end), tags.anchors(start, end), end - start)


def _depths(tags: TagTree) -> list[int]:
    """Return the number of levels of each node's subtree."""
    depths = [1] * len(tags)
    for node in range(len(tags) - 1, 0, -1):
        parent = tags.parents[node]
        depths[parent] = max(depths[parent], depths[node] + 1)
    return depths


def within(a: str, b: str, allowed: int) -> bool:
    """Return whether the edit distance of two texts is at most `allowed` (Ukkonen's band)."""
    far = allowed + 1
    row = [place if place <= allowed else far for place in range(len(b) + 1)]
    for place, sign in enumerate(a, 1):
        low, high = max(1, place - allowed), min(len(b), place + allowed)
        before = row[low - 1]
        row[low - 1] = place if low == 1 else far
        nearest = row[low - 1]
        for column in range(low, high + 1):
            above = row[column] if column < place + allowed else far
            change = before + (sign != b[column - 1])
            before = row[column]
            row[column] = min(change, above + 1, row[column - 1] + 1)
            nearest = min(nearest, row[column])
        if nearest > allowed:
            return False
    return row[len(b)] <= allowed
