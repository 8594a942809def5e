"""Read the rows of a table from a MySQL dump, as Wikimedia publishes them."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from operator import itemgetter
from pathlib import Path
from typing import Any

from honeyguide.errors import HoneyguideError
from honeyguide.recorded.importers.mediawiki import chunks
from honeyguide.recorded.importers.streams import LONGEST_LINE, Progress

MOST_COLUMNS = 100

NUMBER, TEXT = rb"-?[0-9]{1,18}+", rb"(?:_binary )?'(?:[^'\\]++|\\.)*+'"  # patterns of values
_ANY = rb"(?:%s|NULL|-?[0-9][0-9.e+-]*+)" % TEXT
_column = re.compile(rb"^\s*`(\w+)`", re.MULTILINE).findall
_escape = re.compile(rb"\\(.)", re.DOTALL).sub
_ESCAPES = {b"0": b"\0", b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"Z": b"\x1a"}


class SqlTable:
    """A table in a dump file: its columns and rows."""

    def __init__(self, path: Path, name: str) -> None:
        self._path, self._name = path, name
        head = next(_whole_lines(path, None), b"")
        _, found, rest = head.partition(b"CREATE TABLE `%s` (" % name.encode())
        definition, ended, _ = rest.partition(b"\n)")
        if not (found and ended):
            raise HoneyguideError(f"{path} is not an SQL dump of the table {name}")
        self.columns = [column.decode() for column in _column(definition)]
        if len(set(self.columns)) != len(self.columns) or len(self.columns) > MOST_COLUMNS:
            raise HoneyguideError(f"{path}: {name} has duplicate or too many columns")

    def rows(
        self, columns: Mapping[str, bytes], progress: Progress | None = None
    ) -> Iterator[Iterable[tuple[bytes, ...]]]:
        """Yield batches of rows with the values of some columns, given as name -> pattern."""
        missing = [name for name in columns if name not in self.columns]
        if missing:
            raise HoneyguideError(f"{self._path}: {self._name} has no column {missing[0]}")
        values = [b"(%s)" % columns[name] if name in columns else _ANY for name in self.columns]
        insert = rb"INSERT INTO `%s` VALUES\s*+" % self._name.encode()
        row = re.compile(rb"((?:%s)?\(%s\)[,;]\s*+)" % (insert, b",".join(values)))
        statement = re.compile(rb"%s|(?=\()" % insert).match
        captured = [name for name in self.columns if name in columns]
        pick = itemgetter(*(captured.index(name) + 1 for name in columns))
        number, last = 0, b";"
        for chunk in _whole_lines(self._path, progress):
            found = row.findall(chunk)
            if sum(len(first) for first, *_ in found) != len(chunk):
                self._check(chunk, number, statement, row)
            number += chunk.count(b"\n")
            if found:
                last = found[-1][0].rstrip()[-1:]
                yield map(pick, found)
        if last != b";":
            raise HoneyguideError(f"{self._path} is cut off in line {number}")

    def _check(
        self, chunk: bytes, number: int, statement: Callable[..., Any], row: re.Pattern[bytes]
    ) -> None:
        """Raise an error at the first line that should be rows and is not."""
        for at, line in enumerate(chunk.splitlines(keepends=True), number + 1):
            begins = statement(line)
            rest = line[begins.end() :] if begins else b""
            if b"".join([first for first, *_ in row.findall(rest)]) != rest:
                wrong = "broken" if line.endswith(b"\n") else "cut off"
                raise HoneyguideError(f"{self._path} is {wrong} in line {at}")


def text(value: bytes) -> str:
    """Return the text of a quoted value."""
    value = value[value.find(b"'") + 1 : -1]
    if b"\\" in value:
        value = _escape(lambda sign: _ESCAPES.get(sign[1], sign[1]), value)
    return value.decode("utf-8", "replace")


def _whole_lines(path: Path, progress: Progress | None) -> Iterator[bytes]:
    """Yield the file in pieces that end with a line; values contain no line breaks."""
    kept: list[bytes] = []
    size = 0
    for chunk in chunks(path, progress):
        cut = chunk.rfind(b"\n") + 1
        if cut:
            yield b"".join([*kept, chunk[:cut]])
            kept, size = [], 0
        kept.append(chunk[cut:])
        size += len(kept[-1])
        if size > LONGEST_LINE:
            raise HoneyguideError(f"{path} has a line of more than {LONGEST_LINE >> 20} MB")
    if size:
        yield b"".join(kept)
