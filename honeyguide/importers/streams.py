"""Files to read from end to end, compressed or not, that say when they are cut off."""

import gzip
import io
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

import zstandard

from honeyguide.errors import HoneyguideError

Progress = Callable[[int, int], None]  # done, total


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
        self._begin()

    def _begin(self) -> None:
        # archives made with --long need windows of up to 2 GB
        self._frame = zstandard.ZstdDecompressor(max_window_size=2**31).decompressobj()
        self._started = False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            data = self._frame.unused_data if self._frame.eof else self._file.read(1 << 15)
            if self._frame.eof:
                self._begin()
                data = data or self._file.read(1 << 15) or b""
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

    def _decompressed(self, data: bytes) -> bytes:
        try:
            return self._frame.decompress(data)
        except zstandard.ZstdError as error:
            raise HoneyguideError(f"{self._path} is damaged: {error}") from None

    def close(self) -> None:
        self._file.close()
        super().close()


class _Gunzip(io.RawIOBase):
    """Decompresses gzip."""

    def __init__(self, file: _Watched, path: Path) -> None:
        self._file, self._path = gzip.GzipFile(fileobj=file), path
        self._raw = file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            return self._file.readinto(buffer)
        except EOFError:
            raise HoneyguideError(f"{self._path} is cut off") from None
        except (OSError, zlib.error) as error:
            raise HoneyguideError(f"{self._path} is damaged: {error}") from None

    def close(self) -> None:
        self._file.close()
        self._raw.close()
        super().close()
