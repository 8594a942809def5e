"""The text of a page as blocks: paragraphs, headings, list items, table cells."""

from typing import Any

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
_BREAK = "\x02"  # stands for <br> until a block is complete


class Elements:
    """The elements that begin a new line of text, as columns in the order of the document."""

    __slots__ = ("around", "ids", "own", "parents", "rows", "tags")

    def __init__(self) -> None:
        self.tags: list[str] = []
        self.ids: list[int] = []  # `mem_id` of their nodes
        self.parents: list[int] = []  # indexes of elements; of the first: 0
        self.rows: list[int] = []  # the table row that each is in; -1 outside tables
        self.own: list[int] = []  # bits of what their tags and names say
        self.around: list[int] = []  # bits of them and of all around them

    def __len__(self) -> int:
        return len(self.tags)


class Blocks:
    """Runs of text that no other block interrupts, as columns in the order of the document."""

    __slots__ = ("elements", "linked", "links", "places", "texts")

    def __init__(self) -> None:
        self.elements = Elements()
        self.texts: list[str] = []  # their lines are those of <br> and <pre>
        self.places: list[int] = []  # indexes of elements
        self.linked: list[int] = []  # characters in links
        self.links: list[int] = []

    def append(self, text: str, place: int, linked: int, links: int) -> None:
        """Add a block."""
        self.texts.append(text)
        self.places.append(place)
        self.linked.append(linked)
        self.links.append(links)

    def __len__(self) -> int:
        return len(self.texts)


def read_blocks(tree: LexborHTMLParser) -> Blocks:
    """Walk the page once, in time linear in the number of its nodes."""
    walk = _Walk()
    root = tree.body or tree.root
    places, pieces = walk.places, walk.pieces
    place_of = places.get
    for node in root.traverse(include_text=True) if root is not None else ():
        tag = node.tag
        if tag == "-text":
            text = node.text_content or " "
            if text.isspace():
                pieces.append(" ")
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
    return walk.blocks


class _Walk:
    """What a walk through the nodes of a page has met.

    A place is twice the index of an element, and one more in a link.
    """

    def __init__(self) -> None:
        self.blocks = Blocks()
        self.elements = self.blocks.elements
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
        self.links += 1
        return place | 1

    def line(self) -> None:
        """End a line; at an empty line, end the block."""
        for piece in reversed(self.pieces):
            if piece is _BREAK:
                return self.end()
            if piece != " ":
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
        index = len(elements.tags)
        above = self.places.get(node.parent.mem_id, _NOWHERE) if index else 0
        id = node.mem_id
        if above < 0 or tag in _UNSEEN:
            self.places[id] = _NOWHERE
            return
        self.places[id] = index << 1 | above & 1
        parent = above >> 1
        own = bits_of_element(tag, node.attributes)
        row, around = (elements.rows[parent], elements.around[parent]) if index else (_NOWHERE, 0)
        elements.rows.append(index if tag == "tr" else _NOWHERE if tag == "table" else row)
        elements.around.append(own | around)
        elements.tags.append(tag)
        elements.ids.append(id)
        elements.parents.append(parent)
        elements.own.append(own)

    def end(self) -> None:
        """Complete the block that is being collected."""
        if self.place >= 0:
            element = self.place >> 1
            text = "".join(self.pieces)
            if self.elements.tags[element] in _AS_TYPED:
                text = _typed(text)
            elif _BREAK in text:
                text = _lines(text)
            else:
                text = " ".join(text.split())
            if text:
                self.blocks.append(text, element, self.linked, self.links)
            self.place = _NOWHERE
            self.linked = self.links = 0
        self.pieces.clear()


def _lines(text: str) -> str:
    return "\n".join(filter(None, (" ".join(line.split()) for line in text.split(_BREAK))))


def _typed(text: str) -> str:
    lines = [line.rstrip() for line in text.replace(_BREAK, "\n").splitlines()]
    return "\n".join(lines).strip("\n")
