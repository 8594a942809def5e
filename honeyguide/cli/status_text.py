"""How a crawl stands, in words for people."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

ALWAYS = ("topic", "seeds", "world", "judge", "encoder", "agent", "budget")  # settings to show
# whole pages, which `like` names; when it was begun, and by which rules
NEVER = ("examples", "year", "bounded")
LONGEST = 200  # characters of a setting


def lines(status: Mapping[str, Any]) -> Iterator[str]:
    """A line for each thing that is known, then one for each setting that was chosen."""
    settings, known = status["settings"], dict(status)
    del known["settings"]
    known["visits"] = f"{status['visits']:,} of {settings.get('budget', 0):,}"
    for name in ("started", "last"):
        known[name] = _moment(status[name])
    for name, value in known.items():
        yield f"{name.replace('_', ' '):<12} {_readable(value)}"
    yield "settings"
    for name, value in settings.items():
        if name in ALWAYS or (name not in NEVER and value and value != "none"):
            yield f"  {name.replace('_', '-'):<14} {_short(_readable(value))}"


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
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value or "none")


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} ..."
