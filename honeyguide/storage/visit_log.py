"""Log what visits tell an operator: failing and resting hosts, new kinds of failures, traps."""

import logging

from honeyguide.contracts import Guard, Visit
from honeyguide.errors import explained
from honeyguide.storage.crawl_log import LOG, tell
from honeyguide.text.words import counted
from honeyguide.urls.spelling import host_of
from honeyguide.web.host_schedule import FAILURES, Limits

GIVEN_UP = Limits().failures  # failures in a row after which a host is left alone
CUTS_EVERY = 64  # visits between two looks at what guards have cut
MOST_HOSTS = 10_000  # hosts of which it is remembered what was told


class VisitLog:
    """Looks at each absorbed visit; without a log, that is one comparison."""

    def __init__(self) -> None:
        self._kinds: set[str] = set()  # of failures that were told
        self._told: set[tuple[str, str]] = set()  # event and host
        self._cut: dict[str, int] = {}  # by reason: the count that was told last
        self._visits = 0

    def note(self, visit: Visit, guard: Guard) -> None:
        """Log what a visit tells, and now and then what the guard has cut."""
        if not LOG.isEnabledFor(logging.WARNING):
            return
        if LOG.isEnabledFor(logging.DEBUG):
            _tell_page(visit)
        if visit.failure:
            self._tell_failure(visit)
        for host, what, value in visit.learnt:
            if what == FAILURES and value == GIVEN_UP:
                message = f"{host} failed {GIVEN_UP} times in a row: it rests for an hour"
                tell("host unreachable", message, logging.WARNING, host=host)
        self._visits += 1
        if self._visits % CUTS_EVERY == 0 and LOG.isEnabledFor(logging.INFO):
            self._tell_cuts(guard)

    def _tell_failure(self, visit: Visit) -> None:
        failure, host = visit.failure, host_of(visit.link.url)
        rest = max(visit.host_delay or 0.0, 0.0)
        if failure in ("status 429", "status 503"):
            message = f"{host} wants a pause of {rest:.0f} s"
            tell("host limited", message, logging.WARNING, host=host, seconds=rest, kind=failure)
        elif failure == "resting":
            self._tell_once("host resting", f"{host} rests for {rest:.0f} s", host)
        elif failure == "robots unreachable":
            self._tell_once("robots refused", f"{host} has a robots.txt that cannot be read", host)
        elif failure == "robots":
            self._tell_once("robots refused", f"robots.txt of {host} forbids some pages", host)
        if failure not in self._kinds:
            self._kinds.add(failure)
            message = f"first failure of this kind: {explained(failure)}"
            tell("failure", message, kind=failure, url=visit.link.url)

    def _tell_once(self, event: str, message: str, host: str) -> None:
        """Log an event of a host, unless it was told before."""
        if (event, host) not in self._told and len(self._told) < MOST_HOSTS:
            self._told.add((event, host))
            tell(event, message, host=host)

    def _tell_cuts(self, guard: Guard) -> None:
        """Log reasons that are new, and those whose counts have doubled since they were told."""
        for cut in guard.report():
            if cut.count >= 2 * self._cut.get(cut.reason, 0):
                self._cut[cut.reason] = cut.count
                message = f"{counted(cut.count, 'link')} left out: {cut.reason}"
                tell("cut", message, reason=cut.reason, count=cut.count, example=cut.example)


def _tell_page(visit: Visit) -> None:
    verdict, response = visit.verdict, visit.response
    how = visit.failure or ("relevant" if verdict.relevant else "not relevant")
    tell(
        "page",
        f"{visit.link.url} {how}",
        logging.DEBUG,
        url=visit.link.url,
        status=response.status if response else 0,
        failure=visit.failure,
        relevant=verdict.relevant,
        relevance=round(verdict.relevance, 4),
        seconds=round(visit.seconds, 4),
        bytes=len(response.body) if response else 0,
    )
