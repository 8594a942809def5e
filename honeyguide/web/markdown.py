"""HTML as Markdown (CommonMark with the tables of GitHub): links, lists, tables and code stay."""

import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any, NamedTuple

from ada_url import join_url
from selectolax.lexbor import LexborHTMLParser

from honeyguide.web.blocks import read_blocks
from honeyguide.web.html import title_of, tree
from honeyguide.web.main_text import main_blocks

MAX_DEPTH = 80  # of nested tags; what is nested deeper is plain text
MAX_COLUMNS = 60  # of a table
MAX_ADDRESS = 2048  # characters; longer addresses are left out

_FRAME = frozenset("nav footer aside".split())  # around the main content
_LEFT_OUT = frozenset(
    "script style template noscript iframe object embed svg math canvas audio video head title"
    " button input select textarea dialog".split()
)
_BLOCKS = frozenset(
    "address article aside blockquote body center dd details dir div dl dt fieldset figcaption"
    " figure footer frameset h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol"
    " p pre section summary table tbody td tfoot th thead tr ul caption listing xmp".split()
)
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_LISTS = frozenset("ul ol dir menu".split())
_STRONG, _EMPHASISED = frozenset(("b", "strong")), frozenset(("i", "em"))
_CODE = frozenset("code kbd samp tt".split())
_VERBATIM = frozenset("pre listing xmp".split())
_IN_LAYOUTS = "table, pre, h1, h2, h3, h4, blockquote, article, section"  # not in tables of data

# characters that CommonMark or GitHub's tables would obey; _ inside a word is harmless
_obeyed = re.compile(r"[\\`*\[\]<|~]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;|#?\w*$)|(?<!\S)#").sub
_starts_block = re.compile(r"(?:[-+=:>]|\d{1,9}(?=[.)]))").match
_control = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f\ufeff\ud800-\udfff\ufffe\uffff]").sub
_backticks = re.compile(r"`+").findall
_language = re.compile(
    r"(?:^|\s)(?:language|lang|highlight-source)-([\w+#.-]{1,20})(?=\s|$)"
).search
_unsafe = re.compile(r"[^!#$%&'*+,\-./0-9:;=?@A-Z\[\]_a-z~]").sub
_entity = re.compile(r"&(?=#?\w+;)").sub
_is_hidden = re.compile(r"display\s*:\s*none", re.IGNORECASE).search
_number = re.compile(r"\d{1,9}").fullmatch


def to_markdown(body: bytes, url: str, content_type: str = "") -> str:
    """The main content of an HTML page as Markdown; links become absolute."""
    parsed = tree(body, content_type)
    return _content(parsed, url) or convert(parsed, url)


def convert(parsed: LexborHTMLParser, url: str) -> str:
    """A page as Markdown: all but navigation, sidebars, footers and forms."""
    part = main_part(parsed)
    return "" if part is None else Converter(_base(parsed, url)).document(part)


def _content(parsed: LexborHTMLParser, url: str) -> str:
    """The blocks of a page that its main text is made of, as Markdown."""
    root = parsed.body or parsed.root
    blocks = read_blocks(parsed)
    content = {block.id for block in main_blocks(blocks, title_of(parsed))}
    if root is None or not content:
        return ""
    around: set[int] = set()
    for node in root.traverse():
        if node.mem_id in content:
            _add_with_parents(node, around)
    chosen = Chosen(content, around, set(blocks.elements.ids))
    return Converter(_base(parsed, url), chosen).document(root)


def _add_with_parents(node: Any, known: set[int]) -> None:
    while node is not None and node.mem_id not in known:
        known.add(node.mem_id)
        node = node.parent


def _base(parsed: LexborHTMLParser, url: str) -> str:
    """The URL that addresses of a page are relative to."""
    base = parsed.css_first("base[href]")
    return _joined((base.attributes.get("href") or "") if base is not None else "", url) or url


def text_to_markdown(text: str) -> str:
    """A plain text as Markdown that shows the same text: each line is a paragraph."""
    lines = (_line_start(escaped(" ".join(line.split()))) for line in text.splitlines())
    return "\n\n".join(filter(None, lines))


def main_part(parsed: LexborHTMLParser) -> Any:
    """The node with the main content: main, the only article, or the body."""
    mains = parsed.css("main, [role=main]") or parsed.css("article")
    body = parsed.body or parsed.root
    if len(mains) == 1 and body is not None and 3 * _size(mains[0]) > _size(body):
        return mains[0]
    return body


def _size(node: Any) -> int:
    return len(node.text())


def escaped(text: str) -> str:
    """A text in which Markdown finds nothing to obey, but for the beginning of a line."""
    return _obeyed(r"\\\g<0>", _control("\ufffd", text))


def _line_start(line: str) -> str:
    """A line that begins no list, heading, quotation or rule."""
    found = _starts_block(line)
    if found is None:
        return line
    end = found.end() if line[0].isdigit() else 0
    return f"{line[:end]}\\{line[end:]}"


class Chosen(NamedTuple):
    """Which elements have content, by `mem_id`."""

    content: set[int]  # whose own text is content
    around: set[int]  # these, and all that they are in
    elements: set[int]  # all that begin a line of text

    def has_text_of(self, node: Any) -> bool:
        """Whether the text directly in a node is content."""
        while node is not None and node.mem_id not in self.elements:
            node = node.parent
        return node is not None and node.mem_id in self.content

    def has_any_of(self, node: Any) -> bool:
        """Whether any text in a node is content."""
        if node.mem_id in self.around:
            return True
        # items of lists and parts of a line have their text in the element around them
        return node.mem_id not in self.elements and self.has_text_of(node)


class Converter:
    """Converts nodes of a tree; addresses are relative to `base`."""

    def __init__(self, base: str, chosen: Chosen | None = None) -> None:
        self._base = base
        self._chosen = chosen  # None: all but what frames a page
        self._makers: dict[str, Callable[[Any, int, str], list[str]]] = {
            **dict.fromkeys(_HEADINGS, self._heading),
            **dict.fromkeys(_LISTS, self._list),
            **dict.fromkeys(_VERBATIM, lambda node, depth, href: _fenced(node)),
            "a": self._around,
            "blockquote": self._quotation,
            "hr": lambda node, depth, href: ["***"],
            "table": self._table,
        }

    def document(self, node: Any) -> str:
        """A node with all its content."""
        return "\n\n".join(self._blocks(node, 0))

    # ------------------------------------------------------------------ blocks

    def _blocks(self, node: Any, depth: int, href: str = "") -> list[str]:
        """The content of a node as blocks; `href` is the address of a link around it."""
        found: list[str] = []
        run = _Run()
        has_text = self._chosen is None or self._chosen.has_text_of(node)
        for child in self._children(node):
            if _is_inline(child):
                if has_text:
                    self._inline(child, run, depth + 1)
                continue
            found += run.paragraph(href)
            run = _Run()
            found += self._block(child, depth + 1, href)
        return found + run.paragraph(href)

    def _block(self, node: Any, depth: int, href: str) -> list[str]:
        if self._chosen is not None and not self._chosen.has_any_of(node):
            return []
        if depth > MAX_DEPTH:
            return _Run(node.text(separator=" ")).paragraph(href)
        make = self._makers.get(node.tag or "", self._blocks)
        return make(node, depth, href)

    def _around(self, node: Any, depth: int, href: str) -> list[str]:
        """The blocks inside a link, each linked."""
        return self._blocks(node, depth, self._address(node, "href") or href)

    def _quotation(self, node: Any, depth: int, href: str) -> list[str]:
        blocks = self._blocks(node, depth, href)
        return [_prefixed("\n\n".join(blocks), "> ", "> ")] if blocks else []

    def _heading(self, node: Any, depth: int, href: str) -> list[str]:
        text = self._in_one_line(node, depth)
        marks = "#" * _HEADINGS[node.tag]
        return [f"{marks} {_linked(text, href)}"] if text else []

    def _list(self, node: Any, depth: int, href: str) -> list[str]:
        start = node.attributes.get("start") or ""
        number = int(start) if node.tag == "ol" and _number(start) else 1
        items: list[str] = []
        loose = False
        for child in self._children(node):
            blocks = self._blocks(child, depth + 1, href) if child.tag == "li" else []
            if child.tag != "li":  # lists inside lists without an item, or text
                blocks = self._stray(child, depth, href)
            if not blocks:
                continue
            mark = f"{min(number, 999_999_999)}. " if node.tag == "ol" else "- "
            is_tight = len(blocks) == 1 or (len(blocks) == 2 and _is_list(blocks[1]))
            loose |= not is_tight
            text = ("\n" if is_tight else "\n\n").join(blocks)
            items.append(_prefixed(text, mark, " " * len(mark)))
            number += 1
        return [("\n\n" if loose else "\n").join(items)] if items else []

    def _stray(self, node: Any, depth: int, href: str) -> list[str]:
        if not _is_inline(node):
            return self._block(node, depth + 1, href)
        run = _Run()
        self._inline(node, run, depth + 1)
        return run.paragraph(href)

    def _table(self, node: Any, depth: int, href: str) -> list[str]:
        if not _is_data(node):
            return self._blocks(node, depth, href)
        rows = [self._cells(row, depth) for row in node.css("tr")]
        rows = [row for row in rows if any(row)]
        width = max(map(len, rows), default=0)
        if not rows or width > MAX_COLUMNS:
            return []
        lines = [f"| {' | '.join(row + [''] * (width - len(row)))} |" for row in rows]
        above = [text for each in node.css("caption") for text in self._blocks(each, depth + 1)]
        return [*above, "\n".join([lines[0], f"|{' --- |' * width}", *lines[1:]])]

    def _cells(self, row: Any, depth: int) -> list[str]:
        cells: list[str] = []
        for cell in row.iter():
            if cell.tag in ("td", "th"):
                span = cell.attributes.get("colspan") or ""
                is_content = self._chosen is None or self._chosen.has_any_of(cell)
                cells.append(self._in_one_line(cell, depth + 2, True) if is_content else "")
                cells += [""] * (min(int(span), MAX_COLUMNS) - 1 if _number(span) else 0)
        return cells

    def _in_one_line(self, node: Any, depth: int, cell: bool = False) -> str:
        run = _Run(breaks=" ", cell=cell)
        for child in self._children(node):
            self._inline(child, run, depth)
        return run.text()

    # ------------------------------------------------------------------ inside a block

    def _inline(self, node: Any, run: "_Run", depth: int) -> None:
        tag = node.tag or ""
        if tag == "-text":
            run.add_text(node.text(deep=False))
        elif tag == "br":
            run.add_break()
        elif tag == "img":
            self._image(node, run)
        elif depth > MAX_DEPTH:
            run.add_text(node.text(separator=" "))
        elif tag in _CODE:
            run.add_code(node.text())
        else:
            self._span(tag, node, run, depth)

    def _span(self, tag: str, node: Any, run: "_Run", depth: int) -> None:
        inner = _Run(breaks=run.breaks, cell=run.cell)
        if tag in _BLOCKS:  # a block where only text can be
            run.add_text(" ")
        for child in self._children(node):
            self._inline(child, inner, depth + 1)
        if tag == "a":
            run.add_markup(inner, lambda text: _linked(text, self._address(node, "href")))
        elif tag in _STRONG:
            run.add_emphasis(inner, "**")
        elif tag in _EMPHASISED:
            run.add_emphasis(inner, "*")
        else:
            run.add_markup(inner, lambda text: text)
        if tag in _BLOCKS:
            run.add_text(" ")

    def _image(self, node: Any, run: "_Run") -> None:
        shown = escaped(" ".join((node.attributes.get("alt") or "").split()))
        address = self._address(node, "src")
        if shown:
            run.add_raw(f"![{shown}]({address})" if address else shown)

    def _children(self, node: Any) -> Iterator[Any]:
        """The children that are shown: text and elements of the content."""
        frames = self._chosen is None
        for child in node.iter(include_text=True):
            if child.tag == "-text" or (
                child.is_element_node and _is_shown(child) and not (frames and _is_of_frame(child))
            ):
                yield child

    def _address(self, node: Any, name: str) -> str:
        """The absolute address in an attribute, as Markdown; empty if it is none to follow."""
        return _destination(_joined(node.attributes.get(name) or "", self._base))


class _Run:
    """Text, links and emphasis of one paragraph."""

    def __init__(self, text: str = "", breaks: str = "  \n", cell: bool = False) -> None:
        self.breaks = breaks  # what a line break becomes
        self.cell = cell  # of a table, where a bar ends the cell even inside code
        self._pieces: list[str] = []
        self._after_emphasis = False  # the next piece touches the end of an emphasis
        self.add_text(text)

    def add_text(self, text: str) -> None:
        """Add plain text; whitespace is collapsed in the end."""
        if text:
            self.add_raw(escaped(" ".join(f"x{text}x".split())[1:-1]))

    def add_raw(self, text: str) -> None:
        """Add Markdown."""
        if not text:
            return
        if text[0] == "[" and self._pieces and self._pieces[-1][-1] == "!":
            self._pieces[-1] = self._pieces[-1][:-1] + "\\!"  # or it would be an image
        self._pieces.append(text)
        self._after_emphasis = False

    def add_break(self) -> None:
        """End a line."""
        self.add_raw("\n" if self.breaks != " " else " ")

    def add_code(self, text: str) -> None:
        """Add a piece of code."""
        code = _control("\ufffd", " ".join(text.split()))
        if not code:
            self.add_text(" ")
            return
        fence = "`" * (1 + max(map(len, _backticks(code)), default=0))
        pad = " " if "`" in (code[0], code[-1]) else ""
        code = code.replace("|", "\\|") if self.cell else code
        self.add_raw(f"{fence}{pad}{code}{pad}{fence}")

    def add_markup(self, inner: "_Run", wrap: Callable[[str], str]) -> None:
        """Add what another run has, wrapped; spaces at its ends stay outside."""
        text = "".join(inner._pieces)
        core = text.strip()
        if not core:
            self.add_raw(" " if text else "")
            return
        before, after = text[: text.index(core)], text[text.index(core) + len(core) :]
        self.add_raw(before + wrap(core) + after)
        self._after_emphasis = inner._after_emphasis and not after

    def add_emphasis(self, inner: "_Run", mark: str) -> None:
        """Add an emphasis, where Markdown is sure to find it: around letters and digits."""
        text = "".join(inner._pieces)
        start, end = _core(text)
        touches = self._after_emphasis and start == 0
        if start >= end or touches or "\n" in text or not _is_plain(text[start:end]):
            self.add_raw(text)
            return
        self.add_raw(f"{text[:start]}{mark}{text[start:end]}{mark}{text[end:]}")
        self._after_emphasis = end == len(text)

    def text(self) -> str:
        """The run in one line for each line break."""
        lines = (" ".join(line.split(" ")) for line in "".join(self._pieces).split("\n"))
        kept = [re.sub(r" {2,}", " ", line).strip() for line in lines]
        return self.breaks.join(filter(None, kept))

    def paragraph(self, href: str = "") -> list[str]:
        """The run as a block; none if it is empty."""
        text = self.text()
        if not text:
            return []
        if href:
            return [_linked(text.replace(self.breaks, " "), href)]
        return [self.breaks.join(_line_start(line) for line in text.split(self.breaks))]


def _core(text: str) -> tuple[int, int]:
    """Where the part of a text begins and ends that starts and ends with a letter or digit."""
    places = [place for place, sign in enumerate(text) if sign.isalnum()]
    return (places[0], places[-1] + 1) if places else (0, 0)


def _is_plain(text: str) -> bool:
    """Whether a text has no markup of its own, only escaped signs."""
    return not re.search(r"(?<!\\)[\[`*]", text)


def _linked(text: str, address: str) -> str:
    if not address or not text or _has_link(text):
        return text
    return f"[{text}]({address})"


def _has_link(text: str) -> bool:
    return re.search(r"(?<!\\)\]\(", text) is not None and not text.startswith("![")


def _joined(address: str, base: str) -> str:
    said = address.strip()
    if not said or len(said) > MAX_ADDRESS:
        return ""
    try:
        return join_url(base, said)
    except ValueError:
        return ""


def _destination(url: str) -> str:
    """An absolute address between parentheses; empty unless it is of the web or of mail."""
    if not url.startswith(("http://", "https://", "mailto:")) or len(url) > MAX_ADDRESS:
        return ""
    safe = _unsafe(lambda sign: "".join(f"%{byte:02X}" for byte in _bytes(sign[0])), url)
    return _entity(r"\\&", safe)


def _bytes(sign: str) -> bytes:
    return sign.encode("utf-8", "replace")


# ----------------------------------------------------------------------- nodes


def _is_shown(node: Any) -> bool:
    """Whether an element is neither a control nor hidden."""
    given = node.attributes
    if node.tag in _LEFT_OUT or "hidden" in given:
        return False
    return _is_hidden(given.get("style") or "") is None


def _is_of_frame(node: Any) -> bool:
    """Whether an element frames the content of a page."""
    tag = node.tag
    if tag == "header":
        return node.css_first("h1") is None
    if tag == "form":  # some hold whole pages
        return node.css_first("p, h1, h2, article") is None
    return tag in _FRAME


def _is_inline(node: Any) -> bool:
    """Whether a node is text, or an element without blocks in it."""
    tag = node.tag
    if tag in _BLOCKS:
        return False
    return tag == "-text" or not _has_blocks(node)


def _has_blocks(node: Any) -> bool:
    return any(each.tag in _BLOCKS for each in islice(node.traverse(), 1, 200))


def _is_data(table: Any) -> bool:
    """Whether a table shows data; others only arrange the parts of a page."""
    if any(each.mem_id != table.mem_id for each in table.css(_IN_LAYOUTS)):
        return False
    rows = [sum(cell.tag in ("td", "th") for cell in row.iter()) for row in table.css("tr")]
    return len(rows) > 1 and max(rows) > 1


def _fenced(node: Any) -> list[str]:
    """Preformatted text as a block of code."""
    for line_break in node.css("br"):
        line_break.replace_with("\n")
    text = _control("\ufffd", "\n".join(node.text().splitlines())).strip("\n").rstrip()
    if not text:
        return []
    fence = "`" * max(3, 1 + max(map(len, _backticks(text)), default=0))
    return [f"{fence}{_named_language(node)}\n{text}\n{fence}"]


def _named_language(node: Any) -> str:
    """The programming language that a block of code names in a class."""
    around = (node, node.css_first("code"), node.parent)
    said = " ".join(each.attributes.get("class") or "" for each in around if each is not None)
    found = _language(said)
    return found[1] if found else ""


def _is_list(block: str) -> bool:
    return re.match(r"- |\d{1,9}\. ", block) is not None


def _prefixed(text: str, first: str, other: str) -> str:
    """A block with something before its first line, and before each other line."""
    lines = text.split("\n")
    rest = [f"{other}{line}".rstrip() if not line else other + line for line in lines[1:]]
    return "\n".join([first + lines[0], *rest])
