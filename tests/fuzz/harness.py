"""Mutate inputs, and limit the time and memory of reading them.

FUZZ_EXAMPLES=5000 FUZZ_RANDOM=1 (make fuzz) tries many inputs, different ones each time; without
them the examples are few and always the same. Inputs that failed once are in seeds/, by target.
"""

import hashlib
import os
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from honeyguide.disk.serialise import DamagedError
from honeyguide.errors import HoneyguideError

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "0"))
RANDOM = bool(os.environ.get("FUZZ_RANDOM"))
SEEDS = Path(__file__).parent / "seeds"
SECONDS = 2.0  # processor time for an input of some kilobytes: generous
ROOM, TIMES = 48 << 20, 200  # bytes of memory for any input, plus so many per input byte
EXPECTED = (HoneyguideError, DamagedError)
_NASTY = [b"\0", b"\xff", b"\x80", b"\xed\xa0\x80", b"\r", b"\n", b" ", b"-1", b"%", b"[", b"{",
          b"<", b"\xef\xbb\xbf", b"\xe2\x80\xae", b"1e999", b"9" * 20, b"..", b"//"]  # fmt: skip


def bounded(read: Callable[[], Any], size: int) -> None:
    """Call `read`: it may raise only expected errors, within limits of time and memory."""
    tracemalloc.start(1)
    start = time.process_time()
    try:
        read()
    except EXPECTED:
        pass
    finally:
        spent = time.process_time() - start
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert spent < SECONDS, f"it took {spent:.1f} s"
    assert peak < ROOM + TIMES * size, f"it took {peak >> 20} MB"


@contextmanager
def _keeping(target: str, data: bytes) -> Iterator[None]:
    """Save an input that fails to seeds/ in random runs."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"the input: {data[:2000]!r}")
        if RANDOM and data not in kept(target):
            (SEEDS / target).mkdir(exist_ok=True)
            (SEEDS / target / hashlib.sha256(data).hexdigest()[:16]).write_bytes(data)
        raise


def fuzz(few: int) -> Callable[[Any], Any]:
    """Return hypothesis settings with so many examples, unless FUZZ_EXAMPLES says more."""
    return settings(
        max_examples=EXAMPLES or few,
        derandomize=not RANDOM,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )


def kept(target: str) -> list[bytes]:
    """Return the saved inputs of a target."""
    return [path.read_bytes() for path in sorted((SEEDS / target).glob("*"))]


def fuzzed(target: str, seeds: Sequence[bytes], tokens: Sequence[bytes] = (), few: int = 60) -> Any:
    """Decorate test(place, data) to run on the seeds, then on mutated ones."""

    def decorate(test: Callable[..., None]) -> Any:
        def run(place: Any) -> None:
            try_all(target, seeds, tokens, few, lambda data: test(place, data))

        run.__name__, run.__doc__ = test.__name__, test.__doc__
        return run

    return decorate


def try_all(
    target: str,
    seeds: Sequence[bytes],
    tokens: Sequence[bytes],
    few: int,
    check: Callable[[bytes], None],
) -> None:
    """Check given seeds, saved seeds, and mutations of both."""
    whole = [*seeds, *kept(target)]

    def one(data: bytes) -> None:
        with _keeping(target, data):
            bounded(lambda: check(data), len(data))

    @fuzz(few)
    @given(st.integers(0, 2**63))
    def many(seed: int) -> None:
        one(mutated(Random(seed), whole, tokens))

    for data in whole:
        one(data)
    many()


def mutated(random: Random, seeds: Sequence[bytes], tokens: Sequence[bytes] = ()) -> bytes:
    """Return a seed with bytes flipped, cut, doubled, nested, replaced or spliced."""
    data = bytearray(random.choice(seeds))
    for _ in range(random.randint(1, 6)):
        at = random.randint(0, len(data))
        end = min(len(data), at + random.choice([0, 1, 2, 8, 64, 1000]))
        data[at:end] = _changed(random, bytes(data[at:end]), seeds, tokens)
    return bytes(data)


def _changed(
    random: Random, piece: bytes, seeds: Sequence[bytes], tokens: Sequence[bytes]
) -> bytes:
    word = random.choice([*tokens, *_NASTY])
    mask, other = random.randrange(256), random.choice(seeds)
    changes = (
        b"",
        piece + piece,
        word,
        word + piece,
        word * random.choice([3, 50, 2000]),
        piece[:20] * random.choice([50, 1000]),
        random.randbytes(min(len(piece), 8)),
        bytes(byte ^ mask for byte in piece),
        other[len(other) // 2 :][:2000],
    )
    return random.choice(changes)
