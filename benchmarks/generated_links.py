"""A web of any size as memory-mapped arrays: hosts of like size, words in its URLs."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from honeyguide.recorded.writer import write_arrays

HOST = 50  # pages of a host, if nothing else is said
WORDS = (
    "river cloud window paper garden market bridge carpet lawyer tax account music film report "
    "travel school health energy sport recipe history science engine letter village museum"
).split()


def page_urls(pages: int, size: int = HOST) -> Iterator[str]:
    """The URL of each page in order; every hundredth host is a law firm."""
    count = len(WORDS)
    for page in range(pages):
        host = page // size
        name = "lawfirm" if host % 100 == 0 else WORDS[host % count]
        words = WORDS[page % count], WORDS[page * 7 % count]
        yield f"http://{name}{host}.example/{words[0]}/{words[1]}-{page}"


def targets(pages: int, size: int = HOST) -> str:
    """The law firms' domains, for the judge of that name."""
    return ",".join(f"lawfirm{host}.example" for host in range(0, -(-pages // size), 100))


def write(out: Path, pages: int, links: float, size: int = HOST, seed: int = 0) -> None:
    """A third of the links stay on the host, the others go anywhere; a tenth of pages are ends."""
    rng = np.random.default_rng(seed)
    counts = rng.poisson(links / 0.9, pages)
    counts[rng.random(pages) < 0.1] = 0
    offsets = np.concatenate([[0], np.cumsum(counts)])
    to = rng.integers(0, pages, offsets[-1], dtype=np.int32)
    for first in range(0, len(to), 1 << 24):  # a piece at a time, for the sake of memory
        piece = slice(first, min(first + (1 << 24), len(to)))
        near = np.flatnonzero(rng.random(piece.stop - piece.start) < 1 / 3) + first
        sources = np.searchsorted(offsets, near, side="right") - 1
        to[near] = np.minimum(sources // size * size + to[near] % size, pages - 1)
    write_arrays(out, page_urls(pages, size), offsets, to)
