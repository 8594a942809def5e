"""Make the character model of URLs from a list of words, and see how it tells words from noise."""

import argparse
import base64
import gzip
import json
import random
from pathlib import Path

import numpy as np

from honeyguide.features import url_signs
from honeyguide.features.url_signs import SIGNS

STEP = 0.04  # of a log-probability


def main() -> None:
    """Count, smooth, write, look."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", type=Path, help="a file of words, one a line, frequent ones first")
    parser.add_argument("--most", type=int, default=60_000, help="words used")
    parser.add_argument("--out", type=Path, help="where the model goes; else it is only measured")
    given = parser.parse_args()
    words = [word for word in given.words.read_text().lower().split() if usable(word)]
    train = words[: given.most : 2] + words[1 : given.most : 4]
    held_out = [word for word in words[3 : given.most : 4] if len(word) >= url_signs.SHORTEST]
    if given.out:
        given.out.write_bytes(packed(train))
    chance = random.Random(1)
    letters = ["".join(chance.choices(SIGNS[:26], k=len(word))) for word in held_out]
    hashes = ["".join(chance.choices("0123456789abcdef", k=len(word) + 4)) for word in held_out]
    for name, group in (("words", held_out), ("letters", letters), ("hashes", hashes)):
        scores = np.array([url_signs.likelihood(word) for word in group])
        share = np.mean(scores < url_signs.GIBBERISH)
        quantiles = np.quantile(scores, [0.01, 0.05, 0.5, 0.95, 0.99]).round(2).tolist()
        print(f"{name:8} {len(group):7,}  gibberish {share:.3f}  quantiles {quantiles}")


def usable(word: str) -> bool:
    """Letters, perhaps with a digit or two."""
    return word.isascii() and word.isalnum() and not word.isdigit()


def packed(words: list[str]) -> bytes:
    """The model in a few kilobytes."""
    size = len(SIGNS)
    counts = np.full((size, size, size), 0.05)
    for word in words:
        places = [size - 1] * 2 + [SIGNS.index("0" if c.isdigit() else c) for c in word]
        places.append(size - 1)
        for one, two, three in zip(places, places[1:], places[2:], strict=False):
            counts[one, two, three] += 1
    pairs = counts.sum(axis=0, keepdims=True) + 1.0  # what follows one sign, whatever came before
    counts += 2.0 * pairs / pairs.sum(axis=2, keepdims=True)
    steps = np.clip(-np.log(counts / counts.sum(axis=2, keepdims=True)) / STEP, 0, 255)
    table = base64.b85encode(steps.round().astype(np.uint8).tobytes()).decode()
    return gzip.compress(json.dumps({"step": STEP, "table": table}).encode(), 9, mtime=0)


if __name__ == "__main__":
    main()
