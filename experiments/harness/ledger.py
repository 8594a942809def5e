"""Store finished runs as JSON lines, so that a kill loses at most the run under way."""

import fcntl
import os
from collections.abc import Container, Iterator
from pathlib import Path
from typing import Any

import msgspec

from honeyguide.disk.files import replacing

Record = dict[str, Any]
_decode = msgspec.json.Decoder(dict[str, Any]).decode


class Ledger:
    """A file of JSON lines that several processes may append to."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def append(self, record: Record) -> None:
        """Append a record; first end a half-written line that an earlier kill has left."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - 1))
            torn = size > 0 and file.read(1) != b"\n"
            file.write(b"\n" * torn + msgspec.json.encode(record) + b"\n")
            file.flush()
            os.fsync(file.fileno())

    def read(self) -> list[Record]:
        """Return every complete record; of two records of the same run, the first."""
        found: dict[tuple[Any, ...], Record] = {}
        for record in self._lines():
            found.setdefault(key(record), record)
        return list(found.values())

    def forget(self, digests: Container[str]) -> None:
        """Remove the records with these digests; a kill leaves the old file or the new one."""
        if not self.path.exists():
            return
        kept = [record for record in self._lines() if record["digest"] not in digests]
        with replacing(self.path) as file:
            file.writelines(msgspec.json.encode(record) + b"\n" for record in kept)

    def _lines(self) -> Iterator[Record]:
        if not self.path.exists():
            return
        for line in self.path.read_bytes().splitlines():
            try:
                record = _decode(line)
            except msgspec.DecodeError:
                continue  # half-written: the process was killed
            if "digest" in record:
                yield record


def key(record: Record) -> tuple[Any, ...]:
    """Return what identifies a run."""
    return record["digest"], record["trial"], record["repeat"]
