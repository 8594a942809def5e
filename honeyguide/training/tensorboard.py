"""Write scalars in TensorBoard's event file format (TFRecords of protocol buffers)."""

import struct
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from types import TracebackType

from honeyguide.errors import HoneyguideError

_LENGTH, _CHECK = struct.Struct("<Q"), struct.Struct("<I")
_POLYNOMIAL = 0x82F63B78  # of CRC-32C, bits reversed


class EventLog:
    """An event file of scalars."""

    def __init__(self, folder: Path, now: float) -> None:
        self.path = folder / f"events.out.tfevents.{int(now)}.honeyguide"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file = self.path.open("ab", buffering=0)
        except OSError as error:
            raise HoneyguideError(f"cannot write logs to {folder}: {error.strerror}") from None
        self._record(_event(now, 0, _field(3, b"brain.Event:2")))

    def write(self, step: int, figures: Mapping[str, float], now: float) -> None:
        """Append scalars, by name, of one step; `now` is in seconds since 1970."""
        values = b"".join(
            _field(1, _field(1, tag.encode()) + b"\x15" + struct.pack("<f", value))
            for tag, value in figures.items()
        )
        self._record(_event(now, step, _field(5, values)))

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> "EventLog":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _record(self, data: bytes) -> None:
        length = _LENGTH.pack(len(data))
        try:
            self._file.write(length + _masked(length) + data + _masked(data))
        except OSError as error:
            self.close()
            raise HoneyguideError(f"cannot write {self.path}: {error.strerror}") from None


def _event(now: float, step: int, content: bytes) -> bytes:
    return b"\x09" + struct.pack("<d", now) + b"\x10" + _varint(step) + content


def _field(number: int, data: bytes) -> bytes:
    """Return a length-delimited protocol buffer field."""
    return bytes([number << 3 | 2]) + _varint(len(data)) + data


def _varint(number: int) -> bytes:
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def _masked(data: bytes) -> bytes:
    """Return the masked CRC-32C of a TFRecord."""
    crc = crc32c(data)
    return _CHECK.pack((((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF)


def crc32c(data: bytes) -> int:
    """Return the CRC-32C (Castagnoli) of data."""
    table, crc = _table(), 0xFFFFFFFF
    for byte in data:
        crc = table[(crc ^ byte) & 255] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


@cache
def _table() -> list[int]:
    table = []
    for number in range(256):
        crc = number
        for _ in range(8):
            crc = (crc >> 1) ^ (_POLYNOMIAL if crc & 1 else 0)
        table.append(crc)
    return table
