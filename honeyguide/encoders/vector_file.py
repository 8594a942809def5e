"""Reads word vectors from text files, as GloVe and word2vec write them: one word a line."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from honeyguide.contracts import Matrix
from honeyguide.errors import HoneyguideError


def read_vectors(path: str | Path) -> tuple[dict[str, int], Matrix]:
    """The row of each word, and the rows; a word2vec header line may say how many there are."""
    try:
        with Path(path).open(encoding="utf-8") as file:
            return _parse(str(path), file)
    except OSError as error:
        raise HoneyguideError(f"cannot read word vectors {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise HoneyguideError(f"word vectors {path} are not UTF-8 text (a binary file?)") from None


def _parse(path: str, lines: Iterator[str]) -> tuple[dict[str, int], Matrix]:
    first = next(lines, "")
    promised, width = _shape(path, first)
    row: dict[str, int] = {}
    vectors: list[Matrix] = []
    body = lines if promised is not None else _again(first, lines)
    for number, line in enumerate(body, start=1 if promised is None else 2):
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
    if promised is not None and len(vectors) < promised:
        raise HoneyguideError(
            f"word vectors {path} end early: {len(vectors)} words where {promised} were announced"
        )
    return row, np.array(vectors, np.float32)


def _shape(path: str, first: str) -> tuple[int | None, int]:
    """How many words the first line announces, if it does, and how many numbers each has."""
    fields = first.split()
    if len(fields) == 2 and fields[0].isdecimal() and fields[1].isdecimal() and int(fields[1]) > 1:
        return int(fields[0]), int(fields[1])
    if len(fields) < 2:
        raise HoneyguideError(f"word vectors {path} do not start with a word and its numbers")
    return None, len(fields) - 1


def _again(first: str, lines: Iterator[str]) -> Iterator[str]:
    yield first
    yield from lines
