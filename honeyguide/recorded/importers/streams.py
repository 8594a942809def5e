"""Read plain or compressed files as streams, with an error when they are cut off."""

import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import zstandard

from honeyguide.errors import HoneyguideError

Progress = Callable[[int, int], None]  # done, total
MOST_TIMES = 250  # largest ratio of unpacked to packed size; dumps of wikis have up to 30
ROOM = 1 << 28  # bytes that any file may be unpacked to, however small
_PIECE = 1 << 10  # packed bytes of zstd per step, which unpack to 32 MB at most
LONGEST_LINE = 1 << 26  # bytes


def open_stream(path: Path, progress: Progress | None = None) -> BinaryIO:
    """Open a plain, gzip or zstd file for reading; its first bytes say which."""
    try:
        file = _ProgressFile(path, progress)
        start = file.peek()
    except OSError as error:
        raise HoneyguideError(f"cannot read {path}: {error.strerror}") from None
    if start.startswith(b"\x28\xb5\x2f\xfd"):
        return io.BufferedReader(_Unzstd(file, path), 1 << 20)
    if start.startswith(b"\x1f\x8b"):
        return io.BufferedReader(_Gunzip(file, path), 1 << 20)
    return io.BufferedReader(file, 1 << 20)


class UnpackLimit:
    """Limits the unpacked size of a compressed file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._left = ROOM + MOST_TIMES * path.stat().st_size

    def count(self, size: int) -> None:
        """Count unpacked bytes; raise an error when there are too many."""
        self._left -= size
        if self._left < 0:
            raise HoneyguideError(
                f"{self._path} is a compression bomb: it unpacks to {MOST_TIMES} times its size"
            )


def lines(stream: BinaryIO, path: Path) -> Iterator[bytes]:
    """Yield the lines of a file; raise an error at one that is too long."""
    while line := stream.readline(LONGEST_LINE + 1):
        if len(line) > LONGEST_LINE:
            raise HoneyguideError(f"{path} has a line of more than {LONGEST_LINE >> 20} MB")
        yield line


class _ProgressFile(io.RawIOBase):
    """A file that reports how many of its bytes were read."""

    def __init__(self, path: Path, progress: Progress | None) -> None:
        self._file = path.open("rb")
        self._size = path.stat().st_size
        self._progress = progress

    def peek(self) -> bytes:
        """Return the first four bytes without consuming them."""
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
    """Decompresses zstd; unlike the library's own reader, it detects a missing end."""

    def __init__(self, file: _ProgressFile, path: Path) -> None:
        self._file, self._path = file, path
        self._ready = memoryview(b"")
        self._limit = UnpackLimit(path)
        self._packed = memoryview(b"")  # read, not unpacked yet
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
        self._limit.count(len(unpacked))
        return unpacked

    def close(self) -> None:
        self._file.close()
        super().close()


class _Gunzip(io.RawIOBase):
    """Decompresses gzip."""

    def __init__(self, file: _ProgressFile, path: Path) -> None:
        self._file, self._path = gzip.GzipFile(fileobj=file), path
        self._raw = file
        self._limit = UnpackLimit(path)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            count = self._file.readinto(buffer)
        except EOFError:
            raise HoneyguideError(f"{self._path} is cut off") from None
        except (OSError, zlib.error) as error:
            raise HoneyguideError(f"{self._path} is damaged: {error}") from None
        self._limit.count(count)
        return count

    def close(self) -> None:
        self._file.close()
        self._raw.close()
        super().close()
