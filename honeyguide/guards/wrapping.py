"""Shared by guards that wrap another guard."""

from collections.abc import Sequence
from itertools import compress

from honeyguide.contracts import Guard, Mask, MemoryView


def screened_by(guard: Guard, memory: MemoryView, urls: Sequence[str], passing: Mask) -> Mask:
    """The URLs marked in `passing` that the wrapped guard lets through as well."""
    let_through = passing.copy()
    if passing.any():
        let_through[passing] = guard.screen(memory, list(compress(urls, passing.tolist())))
    return let_through
