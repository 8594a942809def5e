"""Decode content and transfer encodings within bounds, so that no compression bomb harms."""

import asyncio
import zlib
from collections.abc import Callable

import brotli  # type: ignore[import-untyped]
import zstandard

_MAX_LAYERS = 2  # encodings on top of one another
_MAX_MEMBERS = 32  # gzip files in a row
_PIECE = 1 << 17  # bytes; it is allocated whole before it is filled
_MAX_WINDOW = 1 << 23  # bytes; the limit of RFC 9659 for zstd in HTTP

_QUICK = 1 << 16  # bytes; larger bodies are decoded in a thread
_QUICK_DECODED = 1 << 18  # bytes; so are bodies that become larger than this

_Undo = Callable[[bytes, int], tuple[bytes, bool]]  # (data, limit) -> (decoded, whole)


async def decode_apart(body: bytes, encodings: str, limit: int) -> tuple[bytes, str]:
    """Decode a body, in a thread if it may take long; the decoders release the GIL."""
    if len(body) <= _QUICK:
        decoded, failure = decode(body, encodings, min(limit, _QUICK_DECODED))
        if failure != "too large" or limit <= _QUICK_DECODED:
            return decoded, failure
    return await asyncio.to_thread(decode, body, encodings, limit)


def decode(body: bytes, encodings: str, limit: int) -> tuple[bytes, str]:
    """Decode a body, the last encoding first: what fits into the limit, and the failure."""
    layers = [_UNDO[name] for name in map(str.strip, encodings.lower().split(",")) if name in _UNDO]
    if len(layers) > _MAX_LAYERS:
        return b"", "bad encoding"
    for undo in reversed(layers):
        try:
            body, whole = undo(body, limit)
        except (zlib.error, brotli.error, zstandard.ZstdError):
            return b"", "bad encoding"
        if len(body) > limit:
            return body[:limit], "too large"
        if not whole:
            return body, "truncated"
    return body, ""


def _gzip(data: bytes, limit: int) -> tuple[bytes, bool]:
    decoded = b""
    for _ in range(_MAX_MEMBERS):
        engine = zlib.decompressobj(wbits=31)
        decoded += engine.decompress(data, limit + 1 - len(decoded))
        data = engine.unused_data
        if len(decoded) > limit or not engine.eof:
            return decoded, engine.eof
        if not data.startswith(b"\x1f\x8b"):  # padding is common, and ignored
            return decoded, True
    raise zlib.error("too many members")


def _deflate(data: bytes, limit: int) -> tuple[bytes, bool]:
    # RFC 9110 means zlib (RFC 1950); some servers send the raw stream (RFC 1951).
    is_zlib = len(data) > 1 and data[0] & 15 == 8 and (data[0] << 8 | data[1]) % 31 == 0
    engine = zlib.decompressobj(wbits=15 if is_zlib else -15)
    return engine.decompress(data, limit + 1), engine.eof


def _brotli(data: bytes, limit: int) -> tuple[bytes, bool]:
    engine = brotli.Decompressor()
    decoded = engine.process(data, output_buffer_limit=limit + 1)
    return decoded, engine.is_finished()


def _zstd(data: bytes, limit: int) -> tuple[bytes, bool]:
    engine = zstandard.ZstdDecompressor(max_window_size=_MAX_WINDOW)
    pieces: list[bytes] = []
    room = limit + 1
    with engine.stream_reader(data, read_across_frames=True) as stream:
        while room and (piece := stream.read(min(room, _PIECE))):
            pieces.append(piece)
            room -= len(piece)
    return b"".join(pieces), True  # a cut stream shows in the message's length, not here


_UNDO: dict[str, _Undo] = {
    "gzip": _gzip,
    "x-gzip": _gzip,
    "deflate": _deflate,
    "br": _brotli,
    "zstd": _zstd,
}
