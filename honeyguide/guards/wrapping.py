"""What guards that wrap another guard share."""

from collections.abc import Sequence
from itertools import compress

from honeyguide.contracts import Guard, Mask, MemoryView


def screened_by(guard: Guard, memory: MemoryView, urls: Sequence[str], near: Mask) -> Mask:
    """Which URLs pass: those marked in `near` that the wrapped guard lets through as well."""
    let_through = near.copy()
    if near.any():
        let_through[near] = guard.screen(memory, list(compress(urls, near.tolist())))
    return let_through
