"""How long to leave a host alone after what it answered."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC
from email.utils import parsedate_to_datetime

from honeyguide.contracts import OfHost, Response
from honeyguide.web.addresses import TOO_MANY_FILES
from honeyguide.web.admission import NOT_ADMITTED

# Failures that say nothing about the host's health, because it was not asked.
NOT_ASKED = frozenset({"robots", "scheme", "port", "bad url", "private address", *NOT_ADMITTED})
# The same, but another try is worth it.
NOT_YET_ASKED = frozenset({"resting", TOO_MANY_FILES})
# Failures of a host, as against failures of a page.
HOST_FAILURES = frozenset(
    {
        "timeout",
        "connection refused",
        "connection reset",
        "unreachable",
        "dns",
        "tls",
        "busy",
        "bad response",
        "robots unreachable",
    }
)
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
FAILURES = "failures"  # in a row, as what is learnt of a host
_SMOOTHING = 0.3  # weight of the latest response time
_CAPACITY = 100_000  # hosts that are remembered


@dataclass(slots=True)
class _Record:
    seconds: float | None = None  # smoothed response time
    failures: int = 0  # in a row


class Politeness:
    """Turns what a host answered into the seconds to leave it alone."""

    def __init__(
        self,
        delay: float = 1.0,  # seconds between two requests to a host; 0: also when it is slow
        slowness: float = 2.0,  # a host that takes a second rests for two
        longest: float = 60.0,  # seconds; no Crawl-delay, slowness or error asks for more
        longest_retry_after: float = 86_400.0,  # seconds
        failures: int = 5,  # in a row, until a host is given up for now
        pause: float = 3_600.0,  # seconds until a host that was given up is tried again
    ) -> None:
        self._delay = delay
        self._slowness = slowness
        self._longest = longest
        self._longest_retry_after = longest_retry_after
        self._failures = failures
        self._pause = pause
        self._records: dict[str, _Record] = {}
        self._news: dict[str, OfHost] = {}

    def rest(
        self,
        host: str,
        response: Response,
        seconds: float,  # that the response took
        now: float,  # seconds since 1970
        crawl_delay: float | None = None,
    ) -> float:
        """Seconds to leave the host alone after this response."""
        if response.failure in NOT_ASKED:
            return 0.0
        record = self._record(host)
        asked_for = min(retry_after(response.headers, now) or 0.0, self._longest_retry_after)
        if response.failure in NOT_YET_ASKED:
            return max(self._delay, asked_for)
        usual = self._usual(record, seconds, crawl_delay)
        if _is_well(response):
            self._count(host, record, 0)
            return max(usual, asked_for) if 300 <= response.status < 400 else usual
        self._count(host, record, record.failures + 1)
        if record.failures >= self._failures:
            return max(usual, asked_for, self._pause)
        backing_off = min(self._longest, max(self._delay, 1.0) * 2.0**record.failures)
        return max(usual, asked_for, backing_off)

    def given_up(self) -> list[str]:
        """The hosts that are left alone for now because they kept failing."""
        return [host for host, record in self._records.items() if record.failures >= self._failures]

    def recall(self, host: str, failures: int) -> None:
        """Know how often a host has failed in a row before."""
        if failures:  # those that answer would only take the room of those that do not
            self._record(host).failures = failures
            self._news.pop(host, None)

    def news(self) -> tuple[OfHost, ...]:
        """How often hosts have failed in a row, where that is new since this was last asked."""
        news, self._news = tuple(self._news.values()), {}
        return news

    def _count(self, host: str, record: _Record, failures: int) -> None:
        if failures != record.failures:
            record.failures = failures
            self._news[host] = OfHost(host, FAILURES, failures)

    def _record(self, host: str) -> _Record:
        record = self._records.get(host)
        if record is None:
            if len(self._records) >= _CAPACITY:
                del self._records[next(iter(self._records))]
            record = self._records[host] = _Record()
            self._news[host] = OfHost(host, FAILURES, 0)
        return record

    def _usual(self, record: _Record, seconds: float, crawl_delay: float | None) -> float:
        before = seconds if record.seconds is None else record.seconds
        record.seconds = before + _SMOOTHING * (seconds - before)
        slow = self._slowness * record.seconds if self._delay else 0.0
        return max(self._delay, min(max(slow, crawl_delay or 0.0), self._longest))


def leads_on(response: Response) -> bool:
    """Whether a response is a redirect that can be followed."""
    return response.status in _REDIRECTS and "location" in response.headers


def may_pass(response: Response) -> bool:
    """Whether a response speaks of something which may be over the next time."""
    return not _is_well(response) or _leads_on_later(response)


def _is_well(response: Response) -> bool:
    is_unwell = response.status == 429 or response.status >= 500
    return not is_unwell and response.failure not in HOST_FAILURES | NOT_YET_ASKED


def _leads_on_later(response: Response) -> bool:
    """Whether a response is a redirect that was not followed because it asks to wait for long."""
    return leads_on(response) and not response.failure and "retry-after" in response.headers


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Seconds that a Retry-After header asks for, from a number or a date."""
    value = headers.get("retry-after", "").strip()
    number = value.partition(",")[0]  # a header given twice is joined by a comma
    try:
        if number[:1].isdigit() and number.isascii():
            return float(number)  # too large a number is infinite
        date = parsedate_to_datetime(value)
        # HTTP has no other zone, whether a date names one or not (RFC 9110, 5.6.7)
        when = date if date.tzinfo else date.replace(tzinfo=UTC)
        return max(0.0, when.timestamp() - now)
    except (ValueError, TypeError, OverflowError):
        return None
