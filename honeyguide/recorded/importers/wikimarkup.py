"""Remove wikitext that readers do not see: templates, tables, references, comments."""

import re
from html import unescape

# Elements whose content is not part of the text; in nowiki and pre, markup is text.
_HIDDEN = (
    "ref references math chem ce score timeline gallery imagemap syntaxhighlight source"
    " templatedata templatestyles graph mapframe maplink hiero includeonly style script"
    " categorytree inputbox indicator section"
).split()
_LITERAL = ("nowiki", "pre")
_mark = re.compile(
    rf"""
      \{{ \{{++
    | \}} \}}++
    | < (?: !-- | ({"|".join((*_HIDDEN, *_LITERAL))}) (?=[\s/>]) [^<>]*+ > )
    | \n [ \t:*#;]*+ \{{\|
    | \n [ \t]*+ \|\}} (?: (?!\}}) | (?=\}}\}}(?!\}})) )  # |}}}} ends a template
    """,
    re.VERBOSE | re.IGNORECASE,
).search
_ends = {
    name: re.compile(rf"</{name}\s*+>", re.IGNORECASE).search for name in (*_HIDDEN, *_LITERAL)
}
_entity = re.compile("&(?:#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});").sub
_spaces = re.compile("[ \t\xa0]{2,}").sub
# line ends, empty lines and list markers
_breaks = re.compile(r"\n\s*+(?:[*#:;]++\s*+|----++\s*+)?").sub
_headings = re.compile(r"\n=[^\n]*=[ \t]*+(?=\n)").sub
_TABLE = 0


def without_hidden(wikitext: str) -> str:
    """Return wikitext without hidden parts, list markers and heading marks."""
    text = "\n" + wikitext.replace("\r", "")
    if "{" in text or "<" in text:
        text = _Cutter(text).rest()
    if "  " in text:
        text = _spaces(" ", text)
    text = _breaks("\n", text + "\n")
    if "\n=" in text:
        text = _headings(_heading, text)
    return text[1:]


def _heading(found: re.Match[str]) -> str:
    line = found[0].strip()
    left, right = (len(line) - len(rest) for rest in (line.lstrip("="), line.rstrip("=")))
    level = min(left, right, 6, (len(line) - 1) // 2)
    return "\n" + line[level : len(line) - level].strip()


def decoded(text: str) -> str:
    """Return a text with its entities (&nbsp; &#233;) decoded."""
    return _entity(_character, text) if "&" in text else text


def _character(found: re.Match[str]) -> str:
    return unescape(found[0]).replace("\xa0", " ")


class _Cutter:
    """Cuts templates, tables and elements out of a text; those never closed stay."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._cuts: list[tuple[int, int]] = []  # start and end, sorted, not nested
        self._opened: list[tuple[int, int]] = []  # position and number of braces; 0 for a table
        self._templates = self._tables = 0  # number of those opened
        self._unclosed: set[str] = set()  # elements without an end tag from here on

    def rest(self) -> str:
        """Return the text that is left."""
        text, position = self._text, 0
        while found := _mark(text, position):
            start, position = found.span()
            sign = text[start]
            if sign == "{":
                self._opened.append((start, position - start))
                self._templates += 1
            elif sign == "}":
                self._close_templates(start, position)
            elif sign == "<":
                position = self._element(found)
            elif text[position - 1] == "|":
                self._opened.append((start, _TABLE))
                self._tables += 1
            else:
                position = self._close_table(position)
        starts = [0, *(end for _, end in self._cuts)]
        ends = [*(start for start, _ in self._cuts), len(text)]
        return "".join([text[start:end] for start, end in zip(starts, ends, strict=True)])

    def _cut(self, start: int, end: int) -> None:
        while self._cuts and self._cuts[-1][0] >= start:
            self._cuts.pop()
        self._cuts.append((start, end))

    def _close_templates(self, position: int, end: int) -> None:
        while end - position >= 2 and self._templates:
            start, braces = self._opened.pop()
            if braces == _TABLE:  # left open inside the template
                self._tables -= 1
                continue
            closed = min(braces, end - position)
            position += closed
            self._cut(start + braces - closed, position)
            if braces - closed >= 2:
                self._opened.append((start, braces - closed))
            else:
                self._templates -= 1

    def _close_table(self, end: int) -> int:
        if not self._tables:
            return end - 1  # the brace may close a template
        while True:
            start, braces = self._opened.pop()
            if braces == _TABLE:
                break
            self._templates -= 1
        self._tables -= 1
        self._cut(start, end)
        return end

    def _element(self, found: re.Match[str]) -> int:
        start, end = found.span()
        if found[1] is None:
            closing = self._text.find("-->", end)
            end = len(self._text) if closing < 0 else closing + 3
            self._cut(start, end)
            return end
        name = found[1].lower()
        if found[0].endswith("/>") or name in self._unclosed:
            return end
        ending = _ends[name](self._text, end)
        if ending is None:
            self._unclosed.add(name)
            return end
        if name not in _LITERAL:
            self._cut(start, ending.end())
        return ending.end()
