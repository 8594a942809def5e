"""The tag tree of a page as arrays in document order."""

from dataclasses import dataclass
from typing import Any

from honeyguide import urls
from honeyguide.web.html import MAX_DEPTH, tree

_SKIPPED = frozenset({"head", "script", "style", "template", "noscript", "svg", "br", "hr", "wbr"})
_FIRST_SIGN = 0xE000  # a private character per tag: a subtree is a substring of `shape`


@dataclass(frozen=True, slots=True)
class Anchor:
    """A link in a tag tree."""

    url: str
    text: str


@dataclass(frozen=True, slots=True)
class TagTree:
    """Nodes numbered in document order; the subtree of node n is range(n, ends[n])."""

    title: str
    names: tuple[str, ...]  # tag names
    shape: str  # one character per node, the same for equal tags
    ends: list[int]
    parents: list[int]
    children: list[list[int]]
    pieces: list[str]  # pieces of text, in document order
    begins: list[int]  # by node: its first piece
    finishes: list[int]  # by node: the piece after its last
    hrefs: list[str]  # target of a link; "" for other nodes

    def __len__(self) -> int:
        return len(self.shape)

    def text(self, start: int, end: int) -> str:
        """Return the text of adjacent nodes in one line."""
        last = start
        while self.ends[last] < end:
            last = self.ends[last]
        return " ".join(self.pieces[self.begins[start] : self.finishes[last]])

    def anchors(self, start: int, end: int) -> tuple[Anchor, ...]:
        """Return the links among some nodes, each URL once with its longest text."""
        found: dict[str, str] = {}
        for node in range(start, end):
            if href := self.hrefs[node]:
                text = self.text(node, self.ends[node])
                if len(text) > len(found.setdefault(href, text)):
                    found[href] = text
        return tuple(Anchor(url, text) for url, text in found.items())

    def path(self, node: int) -> str:
        """Return the tags from the root to a node: "html/body/ul/li"."""
        tags: list[str] = []
        while node >= 0 and len(tags) < MAX_DEPTH:
            tags.append(self.names[node])
            node = self.parents[node]
        return "/".join(reversed(tags))

    def middle(self) -> str:
        """Return the text in the middle half of the page's tags (Liao and Chang 2022, §IV.E)."""
        if not len(self):
            return ""
        quarter = len(self) // 4
        stop = self.begins[len(self) - quarter] if quarter else len(self.pieces)
        return " ".join(self.pieces[self.begins[quarter] : stop])


def read_tags(body: bytes, url: str = "", content_type: str = "") -> TagTree:
    """Return the tag tree of an HTML page; broken HTML is read as browsers do."""
    parsed = tree(body, content_type)
    head = parsed.css_first("title")
    title = " ".join(head.text().split())[:300] if head is not None else ""
    return _Builder(url).build(parsed.root, title)


class _Builder:
    """Builds a TagTree without recursion: pages may be nested thousands of tags deep."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.signs: dict[str, str] = {}
        self.names: list[str] = []
        self.shape: list[str] = []
        self.ends: list[int] = []
        self.parents: list[int] = []
        self.children: list[list[int]] = []
        self.pieces: list[str] = []
        self.begins: list[int] = []
        self.finishes: list[int] = []
        self.hrefs: list[str] = []

    def build(self, root: Any, title: str) -> TagTree:
        """Return the tag tree below a root node."""
        node, parent = root, -1
        while node is not None:
            down = self._enter(node, parent)
            if down is not None:
                parent = len(self.shape) - 1
                node = down
                continue
            while node.next is None and parent >= 0:
                node = node.parent
                self.ends[parent] = len(self.shape)
                self.finishes[parent] = len(self.pieces)
                parent = self.parents[parent]
            if parent < 0:
                break
            node = node.next
        return TagTree(
            title,
            tuple(self.names),
            "".join(self.shape),
            self.ends,
            self.parents,
            self.children,
            self.pieces,
            self.begins,
            self.finishes,
            self.hrefs,
        )

    def _enter(self, node: Any, parent: int) -> Any:
        """Add a node, unless it is skipped; return its first child, or None."""
        tag = node.tag
        if tag == "-text":
            self._say(node.text_content if parent >= 0 else "")
            return None
        if tag is None or tag.startswith("-") or tag in _SKIPPED:
            return None
        number = len(self.shape)
        self.names.append(tag)
        self.shape.append(self.signs.setdefault(tag, chr(_FIRST_SIGN + len(self.signs) % 6000)))
        self.ends.append(number + 1)
        self.parents.append(parent)
        self.children.append([])
        self.begins.append(len(self.pieces))
        if tag == "img":
            self._say(node.attributes.get("alt"))
        self.finishes.append(len(self.pieces))
        self.hrefs.append(self._href(tag, node))
        if parent >= 0:
            self.children[parent].append(number)
        return node.child

    def _say(self, text: str | None) -> None:
        if text and (line := " ".join(text.split())):
            self.pieces.append(line)

    def _href(self, tag: str, node: Any) -> str:
        if tag != "a" or not (href := node.attributes.get("href")):
            return ""
        return urls.canonical(href, self.url) or ""
