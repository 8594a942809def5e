"""Count the processes that ended without closing their crawl folder: killed, or by a power cut."""

from collections.abc import Mapping
from typing import Any, NamedTuple

VISITS_AT_ONCE = "visits_at_once"  # of the process that has the folder open; 0 after it closed it
_ENDS, _VISITS = "unclean_ends", "cut_off_visits"
_DEFAULT_VISITS = 16  # assumed visits at once, where an older version did not store the number
_MOST = 1 << 40  # a larger count is damage


class UncleanEnds(NamedTuple):
    """How often the process of a crawl was killed."""

    times: int
    visits: int  # that were in flight then, at most

    def row(self) -> dict[str, int]:
        """The same as rows of the table `about`."""
        return {_ENDS: self.times, _VISITS: self.visits}


def unclean_ends(about: Mapping[str, Any], has_started: bool) -> UncleanEnds:
    """All unclean ends of a crawl, if no process has the folder open now."""
    assumed = _DEFAULT_VISITS if has_started and not about.get("stopped") else 0
    last = _number(about.get(VISITS_AT_ONCE, assumed))
    times, visits = _number(about.get(_ENDS)), _number(about.get(_VISITS))
    return UncleanEnds(times + (last > 0), visits + last)


def earlier_unclean_ends(about: Mapping[str, Any]) -> UncleanEnds:
    """The unclean ends before the process that has the folder open now."""
    return unclean_ends({**about, VISITS_AT_ONCE: 0}, True)


def _number(value: object) -> int:
    return value if isinstance(value, int) and 0 <= value < _MOST else 0
