"""Features in the states of crawls that an earlier version saved."""

from typing import Any

import numpy as np

from honeyguide.contracts import Features, State, Upgradable, dtype_of

PAGES = ("page", "ids", "id")  # names of the pages that rows "x" belong to


def upgraded(features: Features, state: State) -> State:
    """The state of a part with rows as these features make them now, whatever made them."""
    if not isinstance(features, Upgradable):
        return state
    inner: State = {
        name: upgraded(features, value) if isinstance(value, dict) else value
        for name, value in state.items()
    }
    ids = next((inner[name] for name in PAGES if name in inner), None)
    if ids is not None and "x" in inner and not _fits(features, inner["x"]):
        inner["x"] = features.upgrade(ids, inner["x"])
    return inner


def _fits(features: Features, x: Any) -> bool:
    return bool(np.shape(x)[1] == features.width and x.dtype == dtype_of(features))
