"""The text of a page as blocks: paragraphs, headings, list items, table cells."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from selectolax.lexbor import LexborHTMLParser

from honeyguide.web.block_names import bits_of_element

_INLINE = frozenset(
    "a abbr acronym b bdi bdo big cite code data del dfn em font i img ins kbd label mark nobr"
    " output q rp rt ruby s samp small span strike strong sub sup time tt u var wbr audio picture"
    " video source track map area input link meta".split()
)
_UNSEEN = frozenset(
    "script style template noscript head title select option textarea button svg iframe object"
    " applet canvas datalist noframes noembed math".split()
)
_ITEMS = frozenset(["li", "dd", "dt"])
_AS_TYPED = frozenset(["pre", "listing", "xmp"])
_NOWHERE = -1  # the place of what is not shown
_OUTSIDE = ("", 0, 0, _NOWHERE, 0, 0)  # around the first element
_BREAK = "\x02"  # stands for <br> until a block is complete


class Elements(NamedTuple):
    """The elements that begin a new line of text, as columns in the order of the document."""

    tags: Sequence[str] = ()
    ids: Sequence[int] = ()  # `mem_id` of their nodes
    parents: Sequence[int] = ()  # indexes of elements; of the first: 0
    rows: Sequence[int] = ()  # the table row that each is in, an index; -1 outside tables
    own: Sequence[int] = ()  # bits of what their tags and names say
    around: Sequence[int] = ()  # bits of them and of all around them


class Blocks(NamedTuple):
    """Runs of text that no other block interrupts, as columns in the order of the document."""

    elements: Elements
    texts: Sequence[str] = ()  # their lines are those of list items, <br> and <pre>
    places: Sequence[int] = ()  # indexes of elements
    linked: Sequence[int] = ()  # characters in links
    links: Sequence[int] = ()


def read_blocks(tree: LexborHTMLParser) -> Blocks:
    """Walk the page once, in time linear in the number of its nodes."""
    walk = _Walk()
    root = tree.body or tree.root
    places, pieces = walk.places, walk.pieces
    place_of = places.get
    nodes: Iterable[Any] = root.traverse(include_text=True) if root is not None else ()
    for node in nodes:
        tag = node.tag
        if tag == "-text":
            text = node.text_content or " "
            if text.isspace():
                pieces.append(text)
            elif (place := place_of(node.parent.mem_id, _NOWHERE)) >= 0:
                if place != walk.place:
                    walk.go(place)
                pieces.append(text)
                if place & 1:
                    walk.linked += len(text.strip())
        elif tag in _INLINE:
            place = place_of(node.parent.mem_id, _NOWHERE)
            places[node.mem_id] = walk.link(place) if tag == "a" else place
        elif tag == "br":
            walk.line()
        elif tag in _ITEMS:
            walk.item(node)
        elif tag and tag[0] != "-":
            walk.element(node, tag)
    walk.end()
    elements = Elements(*zip(*walk.elements, strict=True))
    return Blocks(elements, *zip(*walk.blocks, strict=True))


class _Walk:
    """What a walk through the nodes of a page has met.

    A place is twice the index of an element, and one more in a link.
    """

    def __init__(self) -> None:
        self.blocks: list[tuple[str, int, int, int]] = []  # rows of Blocks
        self.elements: list[tuple[str, int, int, int, int, int]] = []  # rows of Elements
        self.places: dict[int, int] = {}  # of nodes
        self.pieces: list[str] = []  # of the block that is being collected
        self.place = _NOWHERE  # of its last piece
        self.linked = self.links = 0

    def go(self, place: int) -> None:
        """Go on in another element, or into or out of a link."""
        if self.place >> 1 != place >> 1:
            self.end()
        self.place = place

    def link(self, place: int) -> int:
        if place < 0:
            return place
        if self.place >> 1 != place >> 1:
            self.end()
        elif self.place & 1:
            self.pieces.append(" ")  # two links side by side are two words
        self.links += 1
        return place | 1

    def line(self) -> None:
        """End a line; at an empty line, end the block."""
        for piece in reversed(self.pieces):
            if piece is _BREAK:
                return self.end()
            if not piece.isspace():
                break
        return self.pieces.append(_BREAK)

    def item(self, node: Any) -> None:
        """Begin an item: a new line in the block of its list."""
        place = self.places.get(node.parent.mem_id, _NOWHERE)
        self.places[node.mem_id] = place
        if self.place >> 1 != place >> 1:
            self.end()
        elif place >= 0:
            self.pieces.append(_BREAK)

    def element(self, node: Any, tag: str) -> None:
        """Begin an element, on a new line."""
        if self.place >= 0:
            self.end()
        self.pieces.clear()
        self.links = 0
        elements = self.elements
        index = len(elements)
        id = node.mem_id
        above = self.places.get(node.parent.mem_id, _NOWHERE) if index else 0
        if above < 0 or tag in _UNSEEN:
            self.places[id] = _NOWHERE
            return
        self.places[id] = index << 1 | above & 1
        own = bits_of_element(tag, node.attributes)
        above >>= 1
        _, _, _, row, _, around = elements[above] if index else _OUTSIDE
        if tag == "tr":
            row = index
        elif tag == "table":
            row = _NOWHERE
        elements.append((tag, id, above, row, own, own | around))

    def end(self) -> None:
        """Complete the block that is being collected."""
        if self.place >= 0:
            element = self.place >> 1
            text = "".join(self.pieces)
            if self.elements[element][0] in _AS_TYPED:
                text = _typed(text)
            elif _BREAK in text:
                text = _lines(text)
            else:
                text = " ".join(text.split())
            if text:
                self.blocks.append((text, element, self.linked, self.links))
            self.place = _NOWHERE
            self.linked = self.links = 0
        self.pieces.clear()


def _lines(text: str) -> str:
    return "\n".join(filter(None, (" ".join(line.split()) for line in text.split(_BREAK))))


def _typed(text: str) -> str:
    lines = [line.rstrip() for line in text.replace(_BREAK, "\n").splitlines()]
    return "\n".join(lines).strip("\n")
