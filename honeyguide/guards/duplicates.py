"""Near-duplicate pages: the fingerprint of a text, and a bounded memory of those seen."""

import hashlib
from array import array
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from honeyguide.contracts import State

Hashes = NDArray[np.uint64]

NEAR = 3  # bits of 64 in which near-duplicates may differ (Manku, Jain and Das Sarma, 2007)
BANDS = 4  # so that one of them is the same in both
FEW_WORDS = 64  # a text of fewer is only a duplicate of its like, word for word
LONGEST = 1 << 14  # bytes of a text that are looked at
LOOKS = 1000  # fingerprints compared in one band, so that no site can slow the crawl down

_SPACE = 32
# ASCII letters become small, other ASCII signs become spaces, bytes of other letters stay
_SMALL = bytes(
    (byte | 32 if 65 <= byte <= 90 else byte) if byte >= 128 or chr(byte).isalnum() else _SPACE
    for byte in range(256)
)
_BASE = 0x9E3779B97F4A7C15  # odd, so that it has an inverse modulo 2**64
_MIX = np.uint64(0xBF58476D1CE4E5B9)  # both from splitmix64
_STIR = np.uint64(0x94D049BB133111EB)
_HALF = np.uint64(31)


def fingerprint(text: str) -> int:
    """A number of 64 bits, nearly the same for nearly the same texts; 0 where there is no word."""
    words = _word_hashes(text)
    if len(words) < FEW_WORDS:
        return _exact(words) if len(words) else 0
    shingles = (words[:-2] * _MIX + words[1:-1]) * _STIR + words[2:]
    shingles ^= shingles >> _HALF
    shingles *= _MIX
    shingles ^= shingles >> _HALF
    bits = np.unpackbits(shingles.view(np.uint8)).reshape(-1, 64)
    votes = np.ones(len(bits), np.float32) @ bits.astype(np.float32)  # simhash (Charikar, 2002)
    return int.from_bytes(np.packbits(2 * votes > len(bits)).tobytes(), "big")


def _exact(words: Hashes) -> int:
    return int.from_bytes(hashlib.blake2b(words.tobytes(), digest_size=8).digest(), "big")


def _word_hashes(text: str) -> Hashes:
    """A hash of every word; Chinese and Japanese signs one by one."""
    raw = text[:LONGEST].encode("utf-8", "surrogatepass")[:LONGEST].translate(_SMALL)
    letters = np.frombuffer(b" " + raw + b" ", np.uint8)
    inside = letters != _SPACE
    first = inside[1:] & ~inside[:-1]
    if not raw.isascii():
        sign = (letters[1:] >= 0xE3) & (letters[1:] <= 0xE9)  # lead bytes of U+3000 to U+9FFF
        first |= sign
    last = inside[1:-1] & (~inside[2:] | first[1:])
    starts, ends = np.flatnonzero(first[:-1]), np.flatnonzero(last) + 1
    powers, inverses = _powers()
    sums = np.zeros(len(raw) + 1, np.uint64)
    np.multiply(letters[1:-1], powers[: len(raw)], out=sums[1:])
    np.cumsum(sums, out=sums)  # modulo 2**64, so that a word's own sum is a difference
    hashes: Hashes = (sums[ends] - sums[starts]) * inverses[starts]
    return hashes


@cache
def _powers() -> tuple[Hashes, Hashes]:
    tables = []
    for base in (_BASE, pow(_BASE, -1, 1 << 64)):
        factors = np.full(LONGEST, base, np.uint64)
        factors[0] = 1
        tables.append(np.multiply.accumulate(factors))
    return tables[0], tables[1]


class Near(NamedTuple):
    """A page seen before whose text is nearly the same."""

    slot: int
    page: int  # its number in Memory
    address: int  # checksum of its URL
    repeats: int  # pages like it that came after


class Fingerprints:
    """The latest fingerprints with the pages they belong to, found again within three bits.

    Each band of 16 bits has 65,536 chains of places, newest first; a place is a running
    number, and the chains end where the oldest has been overwritten.
    """

    def __init__(self, capacity: int = 1 << 20) -> None:  # 30 bytes each
        self.capacity = capacity
        self._count = 0  # ever added
        self._prints = array("Q")
        self._pages = array("i")  # numbers in Memory
        self._addresses = array("I")  # checksums of their URLs
        self._repeats = array("H")
        self._heads = [_nothing() for _ in range(BANDS)]
        self._older = [array("i") for _ in range(BANDS)]

    def __len__(self) -> int:
        return len(self._prints)

    def find(self, fingerprint: int) -> Near | None:
        """The page of a fingerprint that is near; none when there is none."""
        slot = self._find(fingerprint)
        if slot < 0:
            return None
        return Near(slot, self._pages[slot], self._addresses[slot], self._repeats[slot])

    def repeat(self, near: Near) -> None:
        """Count one more page like an earlier one."""
        self._repeats[near.slot] = min(near.repeats + 1, 65_535)

    def add(self, fingerprint: int, page: int, address: int) -> None:
        """Remember a fingerprint, in place of the oldest when there is no room."""
        slot = self._count % self.capacity
        _set(self._prints, slot, fingerprint)
        _set(self._pages, slot, page)
        _set(self._addresses, slot, address)
        _set(self._repeats, slot, 0)
        for band in range(BANDS):
            heads, key = self._heads[band], _key(fingerprint, band)
            _set(self._older[band], slot, heads[key])
            heads[key] = self._count
        self._count += 1

    def state(self) -> State:
        """All of it, oldest first."""
        turn = -(self._count % self.capacity) if self._count > self.capacity else 0
        return {
            name: np.roll(np.array(column, column.typecode), turn)
            for name, column in self._columns().items()
        }

    def load(self, state: State) -> None:
        """Become what was saved."""
        for name, column in self._columns().items():
            del column[:]
            column.frombytes(state[name][-self.capacity :].astype(column.typecode).tobytes())
        self._count = len(self)
        prints = np.array(self._prints, np.uint64)
        for band in range(BANDS):
            keys = (prints >> np.uint64(16 * band)).astype(np.uint16)
            self._heads[band], self._older[band] = _chains(keys)

    def _find(self, fingerprint: int) -> int:
        prints, capacity = self._prints, self.capacity
        oldest = max(0, self._count - capacity)
        for band in range(BANDS):
            older = self._older[band]
            place = self._heads[band][_key(fingerprint, band)]
            for _ in range(LOOKS):
                if place < oldest:
                    break
                slot = place % capacity
                if (prints[slot] ^ fingerprint).bit_count() <= NEAR:
                    return slot
                place = older[slot]
        return -1

    def _columns(self) -> "dict[str, array[int]]":
        return {
            "prints": self._prints,
            "pages": self._pages,
            "addresses": self._addresses,
            "repeats": self._repeats,
        }


def _key(fingerprint: int, band: int) -> int:
    return fingerprint >> 16 * band & 0xFFFF


def _nothing() -> "array[int]":
    return array("i", [-1]) * 65_536


def _set(column: "array[int]", slot: int, value: int) -> None:
    if slot < len(column):
        column[slot] = value
    else:
        column.append(value)


def _chains(keys: NDArray[np.uint16]) -> "tuple[array[int], array[int]]":
    """The newest place of each key, and the next older place of the same key."""
    order = np.argsort(keys, kind="stable").astype(np.int32)
    older = np.full(len(keys), -1, np.int32)
    same = keys[order[1:]] == keys[order[:-1]]
    older[order[1:][same]] = order[:-1][same]
    heads = np.full(65_536, -1, np.int32)
    np.maximum.at(heads, keys, np.arange(len(keys), dtype=np.int32))
    return array("i", heads.tobytes()), array("i", older.tobytes())
