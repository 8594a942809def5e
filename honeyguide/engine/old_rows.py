"""Features in the states of crawls that an earlier version saved."""

from honeyguide.contracts import Features, State, Upgradable

PAGES = ("page", "ids", "id")  # names of the pages that rows "x" belong to


def upgraded(features: Features, state: State) -> State:
    """The state of a part, with rows as these features make them now."""
    if not isinstance(features, Upgradable) or not features.outdated:
        return state
    inner: State = {
        name: upgraded(features, value) if isinstance(value, dict) else value
        for name, value in state.items()
    }
    ids = next((inner[name] for name in PAGES if name in inner), None)
    if ids is not None and "x" in inner:
        inner["x"] = features.upgrade(ids, inner["x"])
    return inner
