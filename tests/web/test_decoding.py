"""Whatever a body claims to be, undoing it takes bounded memory."""

import gzip
import tracemalloc
import zlib

import brotli
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from honeyguide.web.decoding import decode

ENCODE = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstandard.compress,
}
LIMIT = 1_000_000


@settings(deadline=None)
@given(st.sampled_from(sorted(ENCODE)), st.binary(max_size=2000))
def test_what_was_encoded_comes_back(encoding: str, body: bytes):
    assert decode(ENCODE[encoding](body), encoding, LIMIT) == (body, "")


@settings(deadline=None)
@given(st.sampled_from(sorted(ENCODE)), st.binary(max_size=200), st.integers(0, 300))
def test_what_is_too_large_is_cut_at_the_limit(encoding: str, body: bytes, limit: int):
    expected = (body, "") if len(body) <= limit else (body[:limit], "too large")
    assert decode(ENCODE[encoding](body), encoding, limit) == expected


@settings(deadline=None)
@given(st.sampled_from(sorted(ENCODE)), st.binary(max_size=200))
def test_noise_is_a_failure_or_a_body(encoding: str, noise: bytes):
    body, failure = decode(noise, encoding, LIMIT)
    assert failure in ("", "bad encoding", "truncated", "too large")
    assert len(body) <= LIMIT


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br"])
def test_half_a_stream_is_not_taken_for_a_whole_one(encoding: str):
    body = bytes(range(256)) * 40
    half = ENCODE[encoding](body)[:-10]
    assert decode(half, encoding, LIMIT)[1] == "truncated"


@pytest.mark.parametrize("encoding", sorted(ENCODE))
@pytest.mark.parametrize("layers", [1, 2])
def test_a_bomb_costs_little_more_than_the_limit(encoding: str, layers: int):
    bomb = bytes(20_000_000)
    for _ in range(layers):
        bomb = ENCODE[encoding](bomb) if encoding != "br" else brotli.compress(bomb, quality=1)
    tracemalloc.start()
    body, failure = decode(bomb, ", ".join([encoding] * layers), LIMIT)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (len(body), failure) == (LIMIT, "too large")
    assert most < 5 * LIMIT


def test_layers_and_members_are_bounded():
    body = b"hello"
    for _ in range(3):
        body = gzip.compress(body)
    assert decode(body, "gzip, gzip, gzip", LIMIT) == (b"", "bad encoding")
    assert decode(gzip.compress(b"") * 100_000, "gzip", LIMIT) == (b"", "bad encoding")
