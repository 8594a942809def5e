"""Spool wikitext to disk until all titles are known, then parse it in another process."""

import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, cast

import msgspec
import zstandard

from honeyguide.errors import HoneyguideError
from honeyguide.recorded.importers.streams import Progress
from honeyguide.recorded.importers.wikitext import Article, Site, parse

BATCH = 1 << 20  # characters per batch
FEW = 4  # up to so many batches, no process is started
_PROGRAM = "from honeyguide.recorded.importers.wikireader import work; work()"
_articles = msgspec.msgpack.Decoder(list[Article]).decode
_texts = msgspec.msgpack.Decoder(list[str]).decode
_names = msgspec.msgpack.Decoder(tuple[dict[int, str], list[int]]).decode


class TextSpool:
    """Compressed texts, in order, in an unnamed temporary file."""

    def __init__(self, folder: Path) -> None:
        self._file = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - closed with this
        self._batch: list[str] = []
        self._size = self._batches = 0
        self._compress = zstandard.ZstdCompressor(level=1).compress

    def __enter__(self) -> "TextSpool":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def add(self, text: str) -> None:
        """Append a text."""
        self._batch.append(text)
        self._size += len(text)
        if self._size > BATCH:
            self._flush()

    def _flush(self) -> None:
        _send(self._file, self._compress(msgspec.msgpack.encode(self._batch)))
        self._batch.clear()
        self._size = 0
        self._batches += 1

    def articles(self, site: Site, progress: Progress) -> Iterator[Article]:
        """Parse all texts as wikitext and yield the articles."""
        self._flush()
        batches = self._read_back(progress)
        if self._batches <= FEW:
            for batch in batches:
                yield from [parse(text, site) for text in _unpacked(batch)]
            return
        with _Process(site) as process, ThreadPoolExecutor(1) as ahead:
            coming = ahead.submit(process.ask, next(batches))
            for batch in batches:
                answer = coming.result()
                coming = ahead.submit(process.ask, batch)
                yield from _articles(answer)
            yield from _articles(coming.result())

    def _read_back(self, progress: Progress) -> Iterator[bytes]:
        total = self._file.tell()
        self._file.seek(0)
        while batch := _receive(self._file):
            yield batch
            progress(self._file.tell(), total)


class _Process:
    """A child process that parses batches of wikitext."""

    def __init__(self, site: Site) -> None:
        command = (sys.executable, "-c", _PROGRAM)
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe)  # noqa: S603 - our own
        self._questions = cast(BinaryIO, self._process.stdin)
        self._answers = cast(BinaryIO, self._process.stdout)
        self._about = msgspec.msgpack.encode((site.namespaces, list(site.as_written)))

    def __enter__(self) -> "_Process":
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(OSError):
            self._questions.close()
        self._answers.close()
        self._process.wait()

    def ask(self, batch: bytes) -> bytes:
        """Send a batch and return the encoded articles."""
        try:
            for message in filter(None, (self._about, batch)):
                _send(self._questions, message)
            self._about = b""
            self._questions.flush()
            answer = _receive(self._answers)
        except OSError:
            answer = b""
        if not answer:
            raise HoneyguideError("the process that parses wikitext has ended")
        return answer


def work() -> None:
    """Run the child process: parse batches from standard input until it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends it by closing the pipe
    questions, answers = sys.stdin.buffer, sys.stdout.buffer
    namespaces, as_written = _names(_receive(questions))
    site = Site(namespaces, frozenset(as_written))
    while batch := _receive(questions):
        _send(answers, msgspec.msgpack.encode([parse(text, site) for text in _unpacked(batch)]))
        answers.flush()


def _unpacked(batch: bytes) -> list[str]:
    return _texts(zstandard.ZstdDecompressor().decompress(batch))


def _send(file: BinaryIO, message: bytes) -> None:
    file.write(len(message).to_bytes(8, "little") + message)


def _receive(file: BinaryIO) -> bytes:
    """Return the next message; empty if there is no complete one."""
    size = int.from_bytes(file.read(8), "little")
    message = file.read(size)
    return message if len(message) == size else b""
