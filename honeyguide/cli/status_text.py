"""The status of a crawl as lines to read."""

from collections.abc import Iterator, Mapping
from dataclasses import fields
from datetime import UTC, datetime
from typing import Any

ALWAYS_SHOWN = ("topic", "seeds", "world", "judge", "encoder", "agent", "budget")
# texts of pages that `like` names, and settings that nobody chooses
NEVER_SHOWN = ("examples", "year", "bounded", "host_globs")
LONGEST_SETTING = 200  # characters


def lines(status: Mapping[str, Any]) -> Iterator[str]:
    """Return a line for each figure, then one for each setting that differs from the default."""
    settings, known = status["settings"], dict(status)
    del known["settings"], known["pages"]  # those relevant and those not
    known["visits"] = f"{status['visits']:,} of {settings.get('budget', 0):,}"
    for name in ("started", "last"):
        known[name] = _moment(status[name])
    in_force = known.pop("in_force")
    known |= {f"now {name}": value for name, value in in_force.items()}
    if not known["orders_waiting"]:
        del known["orders_waiting"]
    for name, value in known.items():
        yield f"{name.replace('_', ' '):<12} {_readable(value)}"
    yield "settings"
    for name, value in settings.items():
        if name in ALWAYS_SHOWN or (name not in NEVER_SHOWN and _is_chosen(name, value)):
            yield f"  {name.replace('_', '-'):<14} {_short(_readable(value))}"


def _is_chosen(name: str, value: object) -> bool:
    """Whether a setting differs from its default; one that this version does not know does."""
    from honeyguide.plan import Plan

    defaults = {field.name: field.default for field in fields(Plan)}
    default = defaults.get(name)
    return value != (list(default) if isinstance(default, tuple) else default)


def _moment(seconds: float | None) -> str:
    if seconds is None:
        return ""
    return datetime.fromtimestamp(seconds, UTC).isoformat(" ", "seconds")


def _readable(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name}: {count:,}" for name, count in value.items()) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:g}"
    return ", ".join(map(str, value)) or "none" if isinstance(value, list) else str(value or "none")


def _short(text: str) -> str:
    return text if len(text) <= LONGEST_SETTING else f"{text[:LONGEST_SETTING]} ..."
