"""Random samples of pages."""

import numpy as np

from honeyguide.errors import HoneyguideError


def drawn(count: int, pages: int, rng: np.random.Generator) -> list[int]:
    """`count` page numbers below `pages`, drawn uniformly with replacement."""
    if count > pages:
        raise HoneyguideError(f"{count:,} random pages are more than the {pages:,} of this web")
    numbers: list[int] = rng.integers(pages, size=count).tolist()
    return numbers
