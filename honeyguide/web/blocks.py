"""The text of a page as blocks: paragraphs, headings, list items, table cells."""

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
_AS_TYPED = frozenset(["pre", "listing", "xmp"])
_BREAK = "\x02"  # stands for <br> until a block is complete


class Element(NamedTuple):
    """An element that begins a new line of text."""

    tag: str
    node: Any
    parent: int  # where its parent is in the list of elements; of the first: 0
    row: int  # where the table row is that it is in; -1 outside tables
    own: int  # bits of what its tag and names say
    all: int  # bits of it and of all around it


class Block(NamedTuple):
    """A run of text that no other block interrupts."""

    text: str  # its lines are those of <br> and <pre>
    element: int  # where its element is in the list of elements
    linked: int  # characters in links
    links: int


class Blocks(NamedTuple):
    """The blocks of a page and their elements, in the order of the document."""

    blocks: list[Block]
    elements: list[Element]


def read_blocks(tree: LexborHTMLParser) -> Blocks:
    """Walk the page once, in time linear in the number of its nodes."""
    walk = _Walk()
    root = tree.body or tree.root
    places = walk.places
    for node in root.traverse(include_text=True) if root is not None else ():
        tag = node.tag
        if tag == "-text":
            text = node.text_content or ""
            if text.isspace():
                walk.pieces.append(" ")
            elif (place := places.get(node.parent.mem_id)) is not None:
                walk.text(text, place)
        elif tag in _INLINE:
            place = places.get(node.parent.mem_id)
            places[node.mem_id] = walk.link(place) if tag == "a" and place else place
        elif tag == "br":
            walk.line()
        elif tag and tag[0] != "-":
            walk.element(node, tag)
    walk.end()
    return Blocks(walk.blocks, walk.elements)


class _Walk:
    """What a walk through the nodes of a page has met."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.elements: list[Element] = []
        # of each node: its element and whether it is in a link; None in what is not shown
        self.places: dict[int, tuple[int, bool] | None] = {}
        self.pieces: list[str] = []  # of the block that is being collected
        self._element = -1  # its element
        self._linked = self._links = 0

    def text(self, text: str, place: tuple[int, bool]) -> None:
        element, in_link = place
        if element != self._element:
            self.end()
            self._element = element
        self.pieces.append(text)
        if in_link:
            self._linked += len(text.strip())

    def link(self, place: tuple[int, bool]) -> tuple[int, bool]:
        if place[0] != self._element:
            self.end()
        self._links += 1
        return place[0], True

    def line(self) -> None:
        """End a line; at an empty line, end the block."""
        for piece in reversed(self.pieces):
            if piece is _BREAK:
                return self.end()
            if piece != " ":
                break
        return self.pieces.append(_BREAK)

    def element(self, node: Any, tag: str) -> None:
        self.end()
        self._links = 0
        elements = self.elements
        place = self.places.get(node.parent.mem_id) if elements else (0, False)
        if place is None or tag in _UNSEEN:
            self.places[node.mem_id] = None
            return
        above = place[0]
        index = len(elements)
        own = bits_of_element(tag, node.attributes)
        row, bits = -1, own
        if index:
            around = elements[above]
            row = around.row if tag != "table" else -1
            bits |= around.all
        elements.append(Element(tag, node, above, index if tag == "tr" else row, own, bits))
        self.places[node.mem_id] = index, place[1]

    def end(self) -> None:
        """Complete the block that is being collected."""
        if self._element >= 0:
            typed = self.elements[self._element].tag in _AS_TYPED
            text = (_typed if typed else _lines)("".join(self.pieces))
            if text:
                self.blocks.append(Block(text, self._element, self._linked, self._links))
            self._element = -1
            self._linked = self._links = 0
        self.pieces.clear()


def _lines(text: str) -> str:
    if _BREAK not in text:
        return " ".join(text.split())
    return "\n".join(filter(None, (" ".join(line.split()) for line in text.split(_BREAK))))


def _typed(text: str) -> str:
    lines = [line.rstrip() for line in text.replace(_BREAK, "\n").splitlines()]
    return "\n".join(lines).strip("\n")
