"""What is kept of a request and its answer, besides the page."""

from collections.abc import Mapping

from honeyguide.contracts import Request
from honeyguide.urls.spelling import MAX_LENGTH
from honeyguide.web.politeness import retry_after
from honeyguide.web.request_url import Target, follow


def request_of(
    place: Target,
    sent: float,  # seconds since 1970
    seconds: float,
    status: int,
    headers: Mapping[str, str],
    failure: str,
    received: int,  # bytes of the body, as transferred
) -> Request:
    """A request that has ended."""
    wait = retry_after(headers, sent + seconds) if "retry-after" in headers else None
    leads_on = 300 <= status < 400 and "location" in headers
    location = follow(place.url, headers["location"]) if leads_on else ""
    location = location if len(location) <= MAX_LENGTH else ""  # never followed
    return Request(place.host, place.url, sent, seconds, status, failure, received, wait, location)
