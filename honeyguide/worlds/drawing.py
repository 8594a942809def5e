"""Pages drawn by lot."""

import numpy as np

from honeyguide.errors import HoneyguideError


def drawn(count: int, pages: int, rng: np.random.Generator) -> list[int]:
    """The numbers of so many of a web's pages, each as likely as any other."""
    if count > pages:
        raise HoneyguideError(f"{count:,} random pages are more than the {pages:,} of this web")
    numbers: list[int] = rng.integers(pages, size=count).tolist()
    return numbers
