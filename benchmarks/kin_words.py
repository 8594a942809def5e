"""Write the words of like meaning that stand for a generated web's own: GloVe's nearest."""

import argparse
import gzip
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from honeyguide.features.segmenting import dictionary
from honeyguide.registry import make
from honeyguide.worlds.synthetic.words import vocabulary

KIN = 30  # for each word
SHORTEST = 4  # letters


def kin(topics: Sequence[Sequence[str]], known: Sequence[str]) -> dict[str, list[str]]:
    """For each word of each topic the known words nearest to it and to the topic's middle."""
    encoder = make("encoder", "glove")
    own = {word for words in topics for word in words}
    candidates = [word for word in known if len(word) >= SHORTEST and word not in own]
    rows, found = encoder(candidates), dict[str, list[str]]()
    for words in topics:
        vectors = encoder(list(words))
        for word, near in zip(words, (vectors + vectors.mean(axis=0)) @ rows.T, strict=True):
            best = np.argsort(-near, kind="stable")[:KIN]
            found.setdefault(word, [candidates[place] for place in best])
    return found


def main() -> None:
    """Write the file that the package has."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    arguments = parser.parse_args()
    found = kin(vocabulary().words, dictionary())
    packed = json.dumps(found, separators=(",", ":")).encode()
    arguments.out.write_bytes(gzip.compress(packed, mtime=0))


if __name__ == "__main__":
    main()
