"""Texts of every kind: broken ones, and ones drawn from all of Unicode, the same every time."""

import numpy as np

ODD_TEXTS = ("", " \n\t", "\x00\x00", "\ud800 lone", "地质学 岩石", "جيولوجيا", "a" * 100_000)
_RANGES = (  # first and last code point, and its share: letters, the first plane, all of it
    (0x20, 0x7E, 0.6),
    (0x00, 0x2FF, 0.2),
    (0x300, 0xD7FF, 0.15),
    (0xE000, 0x10FFFF, 0.05),
)
_WORDS = "the geology of rocks Lava 12 cup résumé Ärzte".split()


def any_texts(longest: int, count: int) -> list[str]:
    """So many texts, of at most so many characters."""
    rng = np.random.default_rng(longest)
    return [_text(rng, longest) for _ in range(count)]


def _text(rng: np.random.Generator, longest: int) -> str:
    length = int(rng.integers(0, longest + 1))
    if rng.random() < 0.5:  # words, so that something is known
        words = rng.choice(_WORDS, length // 6)
        return str(rng.choice([" ", ", ", "\u00a0", "\n"])).join(words)
    places = rng.choice(len(_RANGES), length, p=[share for _, _, share in _RANGES])
    lows = np.array([low for low, _, _ in _RANGES])[places]
    highs = np.array([high for _, high, _ in _RANGES])[places]
    return "".join(map(chr, rng.integers(lows, highs + 1).tolist()))
