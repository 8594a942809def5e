"""The answers of people to "is this page relevant?", one a line in a file of the crawl folder."""

import json
import os
from collections.abc import Iterator, Mapping
from io import FileIO
from pathlib import Path
from typing import NamedTuple

from honeyguide.disk.files import open_inside, write_all
from honeyguide.errors import HoneyguideError

FILE = "answers.jsonl"
_MOST = 1 << 28  # bytes of a file of answers


class Line(NamedTuple):
    """One line of a file of answers."""

    number: int  # from 1
    url: str
    relevant: bool | None  # None: the answer is withdrawn
    wrong: str = ""  # why the line cannot be used; empty if it can


def read_answers(folder: Path) -> dict[str, bool]:
    """The answers that a crawl has been given, by URL; later ones replace earlier ones."""
    return answers_in(line for line in read_lines(folder / FILE) if not line.wrong)


def answers_in(lines: Iterator[Line]) -> dict[str, bool]:
    """The last answer to each URL, without those that were withdrawn."""
    last = {line.url: line.relevant for line in lines}
    return {url: said for url, said in last.items() if said is not None}


def write_answers(folder: Path, answers: Mapping[str, bool | None]) -> None:
    """Add answers to those of a crawl; they are on disk when this returns."""
    rows = [json.dumps({"url": url, "relevant": said}) for url, said in answers.items()]
    try:
        with open_inside(folder, FILE, "ab+") as file:
            write_all(file, _cut_off(file) + "".join(f"{row}\n" for row in rows).encode())
            os.fsync(file.fileno())
    except OSError as error:
        raise HoneyguideError(f"cannot write {folder / FILE}: {error.strerror}") from None


def _cut_off(file: FileIO) -> bytes:
    """What ends the last line of a file, if a kill has cut it off."""
    size = file.seek(0, os.SEEK_END)
    if not size:
        return b""
    file.seek(size - 1)
    return b"" if file.read(1) == b"\n" else b"\n"


def read_lines(path: Path) -> Iterator[Line]:
    """The lines of a file of answers: {"url": ..., "relevant": true}; none if it does not exist."""
    try:
        data = path.read_bytes()[:_MOST] if path.exists() else b""
    except OSError as error:
        raise HoneyguideError(f"cannot read {path}: {error.strerror}") from None
    for number, line in enumerate(data.decode("utf-8", "replace").splitlines(), 1):
        if line.strip():
            yield _line(number, line)


def _line(number: int, line: str) -> Line:
    try:
        row = json.loads(line)
        url, said = row["url"], row["relevant"]
    except (ValueError, TypeError, LookupError):
        return Line(number, "", None, 'is no object with "url" and "relevant"')
    if not isinstance(url, str) or not (said is None or isinstance(said, bool)):
        return Line(number, "", None, '"relevant" must be true, false or null')
    return Line(number, url, said)
