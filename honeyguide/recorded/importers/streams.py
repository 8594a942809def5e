"""Files to read from end to end, compressed or not, that say when they are cut off."""

import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import zstandard

from honeyguide.errors import HoneyguideError

Progress = Callable[[int, int], None]  # done, total
MOST_TIMES = 250  # that a file may grow when it is unpacked; dumps of wikis grow up to 30 times
ROOM = 1 << 28  # bytes that also a small file may be unpacked to
_PIECE = 1 << 10  # bytes of zstd unpacked at once: 32 MB at most
LONGEST_LINE = 1 << 26  # bytes


def open_stream(path: Path, progress: Progress | None = None) -> BinaryIO:
    """Open a plain, gzip or zstd file for reading, whatever its name says."""
    try:
        file = _Watched(path, progress)
        start = file.peek()
    except OSError as error:
        raise HoneyguideError(f"cannot read {path}: {error.strerror}") from None
    if start.startswith(b"\x28\xb5\x2f\xfd"):
        return io.BufferedReader(_Unzstd(file, path), 1 << 20)
    if start.startswith(b"\x1f\x8b"):
        return io.BufferedReader(_Gunzip(file, path), 1 << 20)
    return io.BufferedReader(file, 1 << 20)


class Growth:
    """How much a compressed file may be unpacked to."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._left = ROOM + MOST_TIMES * path.stat().st_size

    def note(self, size: int) -> None:
        """Count bytes that were unpacked, and complain when there are too many."""
        self._left -= size
        if self._left < 0:
            raise HoneyguideError(
                f"{self._path} is a compression bomb: it unpacks to {MOST_TIMES} times its size"
            )


def lines(stream: BinaryIO, path: Path) -> Iterator[bytes]:
    """The lines of a file, none of them endless."""
    while line := stream.readline(LONGEST_LINE + 1):
        if len(line) > LONGEST_LINE:
            raise HoneyguideError(f"{path} has a line of more than {LONGEST_LINE >> 20} MB")
        yield line


class _Watched(io.RawIOBase):
    """A file that tells how far it has been read."""

    def __init__(self, path: Path, progress: Progress | None) -> None:
        self._file = path.open("rb")
        self._size = path.stat().st_size
        self._progress = progress

    def peek(self) -> bytes:
        """The first bytes."""
        return self._file.peek(4)[:4]

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count = self._file.readinto(buffer)
        if self._progress is not None:
            self._progress(self._file.tell(), self._size)
        return count

    def close(self) -> None:
        self._file.close()
        super().close()


class _Unzstd(io.RawIOBase):
    """Decompresses zstd; unlike the library's own reader it notices a missing end."""

    def __init__(self, file: _Watched, path: Path) -> None:
        self._file, self._path = file, path
        self._ready = memoryview(b"")
        self._growth = Growth(path)
        self._packed = memoryview(b"")  # read, but not unpacked
        self._begin()

    def _begin(self) -> None:
        # archives made with --long need windows of up to 2 GB
        self._frame = zstandard.ZstdDecompressor(max_window_size=2**31).decompressobj()
        self._started = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            rest = self._frame.unused_data if self._frame.eof else b""
            if self._frame.eof:
                self._begin()
            data = rest or self._next()
            if not data:
                if self._started:
                    raise HoneyguideError(f"{self._path} is cut off")
                return 0
            self._started = True
            self._ready = memoryview(self._decompressed(data))
        count = min(len(buffer), len(self._ready))
        buffer[:count] = self._ready[:count]
        self._ready = self._ready[count:]
        return count

    def _next(self) -> bytes:
        if not self._packed:
            self._packed = memoryview(self._file.read(1 << 15) or b"")
        piece, self._packed = self._packed[:_PIECE], self._packed[_PIECE:]
        return bytes(piece)

    def _decompressed(self, data: bytes) -> bytes:
        try:
            unpacked = self._frame.decompress(data)
        except (zstandard.ZstdError, MemoryError) as error:
            raise HoneyguideError(f"{self._path} is damaged: {error}") from None
        self._growth.note(len(unpacked))
        return unpacked

    def close(self) -> None:
        self._file.close()
        super().close()


class _Gunzip(io.RawIOBase):
    """Decompresses gzip."""

    def __init__(self, file: _Watched, path: Path) -> None:
        self._file, self._path = gzip.GzipFile(fileobj=file), path
        self._raw = file
        self._growth = Growth(path)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            count = self._file.readinto(buffer)
        except EOFError:
            raise HoneyguideError(f"{self._path} is cut off") from None
        except (OSError, zlib.error) as error:
            raise HoneyguideError(f"{self._path} is damaged: {error}") from None
        self._growth.note(count)
        return count

    def close(self) -> None:
        self._file.close()
        self._raw.close()
        super().close()
