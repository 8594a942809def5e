"""Reads word vectors from text files in the formats of GloVe and word2vec: one word a line."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from honeyguide.contracts import Matrix
from honeyguide.errors import HoneyguideError


def read_vectors(path: str | Path) -> tuple[dict[str, int], Matrix]:
    """The row number of each word, and the vectors; a word2vec header line is optional."""
    try:
        with Path(path).open(encoding="utf-8") as file:
            return _parse(str(path), file)
    except OSError as error:
        raise HoneyguideError(f"cannot read word vectors {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise HoneyguideError(f"word vectors {path} are not UTF-8 text (a binary file?)") from None


def _parse(path: str, lines: Iterator[str]) -> tuple[dict[str, int], Matrix]:
    first = next(lines, "")
    announced, width = _shape(path, first)
    row: dict[str, int] = {}
    vectors: list[Matrix] = []
    body = lines if announced is not None else _with_first(first, lines)
    for number, line in enumerate(body, start=1 if announced is None else 2):
        if not line.strip():
            continue
        word, *numbers = line.rstrip().rsplit(" ", width)
        try:
            vector = np.array(numbers, np.float32)
        except ValueError:
            vector = np.empty(0, np.float32)
        if len(vector) != width or not np.isfinite(vector).all():
            raise HoneyguideError(
                f"word vectors {path}: line {number} is not a word and {width} numbers"
            )
        if word not in row:
            row[word] = len(vectors)
            vectors.append(vector)
    if announced is not None and len(vectors) < announced:
        raise HoneyguideError(
            f"word vectors {path} end early: {len(vectors)} words where {announced} were announced"
        )
    return row, np.array(vectors, np.float32)


def _shape(path: str, first: str) -> tuple[int | None, int]:
    """The number of words in a header, None without one, and the width of the vectors."""
    fields = first.split()
    if len(fields) == 2 and fields[0].isdecimal() and fields[1].isdecimal() and int(fields[1]) > 1:
        return int(fields[0]), int(fields[1])
    if len(fields) < 2:
        raise HoneyguideError(f"word vectors {path} do not start with a word and its numbers")
    return None, len(fields) - 1


def _with_first(first: str, lines: Iterator[str]) -> Iterator[str]:
    yield first
    yield from lines
