"""Pseudo-random numbers as a hash of their purpose: the same on every machine, in any order."""

_WORD = 0xFFFFFFFFFFFFFFFF
# odd constants of SplitMix64 (Steele, Lea and Flood 2014)
_STEP, _FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB


def draw(key: int, *numbers: int) -> int:
    """64 pseudo-random bits from a key and numbers."""
    x = key
    for number in numbers:
        x = (x + (number + 1) * _STEP) & _WORD
        x = ((x ^ (x >> 30)) * _FIRST) & _WORD
        x = ((x ^ (x >> 27)) * _SECOND) & _WORD
        x ^= x >> 31
    return x


def draws(start: int, count: int) -> list[int]:
    """`count` independent draws from one draw (SplitMix64)."""
    drawn = []
    for _ in range(count):
        start = (start + _STEP) & _WORD
        x = ((start ^ (start >> 30)) * _FIRST) & _WORD
        x = ((x ^ (x >> 27)) * _SECOND) & _WORD
        drawn.append(x ^ (x >> 31))
    return drawn


def key(seed: int, purpose: str) -> int:
    """The key of a purpose, for `draw`."""
    return draw(seed & _WORD, *purpose.encode())


def field(bits: int, place: int) -> int:
    """One of the four independent 16-bit numbers of a draw."""
    return (bits >> (place << 4)) & 0xFFFF


def share(bits: int, place: int) -> float:
    """One of the four numbers in [0, 1) of a draw."""
    return ((bits >> (place << 4)) & 0xFFFF) / 65536
