"""Every complaint honeyguide makes to its user: one clear sentence."""

import difflib
from collections.abc import Iterable


class HoneyguideError(Exception):
    """Bad input or a bad setting, said in one sentence that helps."""


def unknown(kind: str, name: str, known: Iterable[str]) -> HoneyguideError:
    """Say that a name is unknown, and which known one is nearest."""
    names = sorted(known)
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    if near:
        return HoneyguideError(f"no {kind} named {name!r}; did you mean {near[0]!r}?")
    shown = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
    return HoneyguideError(f"no {kind} named {name!r}; known: {shown or 'none'}")
