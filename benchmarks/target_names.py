"""How long the judge `targets` takes to look for thousands of names in a page."""

import argparse
import gzip
import json
import time
from importlib.resources import files

import numpy as np

from honeyguide.contracts import Page
from honeyguide.judges.targets import Targets

ENDINGS = ("Ltd.", "& Co. Ltd.", "& Sons", "Accountants", "LLP", "Group plc")


def main() -> None:
    """Print milliseconds a page, with and without names in the text."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--names", type=int, default=20_000)
    parser.add_argument("--pages", type=int, default=500)
    parser.add_argument("--words", type=int, default=800, help="words of a page")
    said = parser.parse_args()
    rng = np.random.default_rng(0)
    vocabulary = json.loads(
        gzip.decompress(files("honeyguide.features").joinpath("words.json.gz").read_bytes())
    )
    names = list(dict.fromkeys(_name(rng, vocabulary) for _ in range(2 * said.names)))[: said.names]
    pages = [
        _page(rng, vocabulary, said.words, "" if number % 2 else names[number])
        for number in range(said.pages)
    ]
    for text in (False, True):
        judge = Targets(",".join(names), text=text)
        begin = time.perf_counter()
        found = sum(judge(page).relevant for page in pages)
        each = 1000 * (time.perf_counter() - begin) / len(pages)
        where = "titles and texts" if text else "titles"
        print(
            f"{len(names):,} names in {where}: {each:.3f} ms a page, {found} of {len(pages)} found"
        )


def _name(rng: np.random.Generator, vocabulary: list[str]) -> str:
    """One or two words and an ending: "Harbour Stone & Co. Ltd."."""
    drawn = rng.choice(len(vocabulary), size=rng.integers(1, 3))
    return " ".join([*(vocabulary[word].capitalize() for word in drawn), rng.choice(ENDINGS)])


def _page(rng: np.random.Generator, vocabulary: list[str], words: int, name: str) -> Page:
    """A page of common words, with a name at its end."""
    # ranks by Zipf's law: most words of a page are common ones
    ranks = np.minimum(rng.zipf(1.3, words) - 1, len(vocabulary) - 1)
    text = " ".join(vocabulary[rank] for rank in ranks)
    return Page("http://h.example/", " ".join(text.split()[:8]), f"{text} {name}")


if __name__ == "__main__":
    main()
