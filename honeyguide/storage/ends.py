"""Processes that ended without closing their crawl's folder: by a kill or a loss of power."""

from collections.abc import Mapping
from typing import Any, NamedTuple

VISITS_AT_ONCE = "visits_at_once"  # of the process that has the folder open; 0 once it is closed
_ENDS, _VISITS = "unclean_ends", "cut_off_visits"
_USUAL = 16  # visits at once of crawls by a version that did not note them
_MOST = 1 << 40  # no crawl counts so far: the row was changed


class UncleanEnds(NamedTuple):
    """How often a crawl was cut off."""

    times: int
    visits: int  # that were under way then, at most

    def row(self) -> dict[str, int]:
        """As it is kept about the crawl."""
        return {_ENDS: self.times, _VISITS: self.visits}


def unclean_ends(about: Mapping[str, Any], has_begun: bool) -> UncleanEnds:
    """All that are known of, given that nobody has the folder open now."""
    usual = _USUAL if has_begun and not about.get("stopped") else 0
    last = _number(about.get(VISITS_AT_ONCE, usual))
    times, visits = _number(about.get(_ENDS)), _number(about.get(_VISITS))
    return UncleanEnds(times + (last > 0), visits + last)


def earlier_unclean_ends(about: Mapping[str, Any]) -> UncleanEnds:
    """Those before the process that has the folder open."""
    return unclean_ends({**about, VISITS_AT_ONCE: 0}, True)


def _number(value: object) -> int:
    return value if isinstance(value, int) and 0 <= value < _MOST else 0
