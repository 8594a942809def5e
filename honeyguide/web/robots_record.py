"""What a site's robots.txt said, in a form that a resumed crawl can read again."""

from typing import NamedTuple

import msgspec
import zstandard

from honeyguide.contracts import OfHost
from honeyguide.web.decoding import decode
from honeyguide.web.request_url import host_of

MAX_BYTES = 600 * 1024  # of a file; RFC 9309, 2.5 asks for at least 500 KiB
LIFETIME = 86_400.0  # seconds that a file holds; RFC 9309, 2.4
_WHAT = "robots.txt "  # followed by the origin, as what is learnt of a host


class Record(NamedTuple):
    """An answer to a request for robots.txt, or the lack of one."""

    asked: float  # seconds since 1970
    until: float  # seconds since 1970
    body: bytes | None  # the file, compressed; None: nothing may be fetched
    reason: str = ""  # why there is no file to go by
    failure: str = ""  # of a response that is refused for that reason
    failures: int = 0  # in a row

    @property
    def weight(self) -> int:
        """Bytes of memory that its texts take, about."""
        return len(self.body or b"") + len(self.reason) + len(self.failure)

    def seconds_left(self, now: float) -> float:
        """How long it still holds; nothing when it was asked for in the future."""
        if now < self.asked:  # the clock was set back: how old it is, nobody knows
            return 0.0
        return min(self.until, self.asked + LIFETIME) - now

    def file(self) -> bytes:
        """The file itself, within bounds also when somebody else wrote the record."""
        return decode(self.body or b"", "zstd", MAX_BYTES)[0] if self.body else b""


def compress(file: bytes) -> bytes:
    """A file as records hold it."""
    return zstandard.ZstdCompressor(level=1).compress(file) if file else b""


def to_learnt(origin: str, record: Record) -> OfHost:
    """A record as what is learnt of a host."""
    return OfHost(host_of(f"{origin}/"), _WHAT + origin, _encode(record))


def from_learnt(learnt: OfHost) -> tuple[str, Record] | None:
    """The origin and the record in what was learnt of a host; None when it is something else."""
    if not isinstance(learnt.value, bytes) or not learnt.what.startswith(_WHAT):
        return None
    try:
        return learnt.what.removeprefix(_WHAT), _decode(learnt.value)
    except msgspec.DecodeError:  # it was written by another version: the file is asked for again
        return None


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Record).decode
