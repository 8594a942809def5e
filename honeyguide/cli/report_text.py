"""Reports on hosts as text for the owner of a site."""

import heapq
import math
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

from honeyguide.storage.host_report import (
    LONGEST_CRAWL_DELAY,
    LONGEST_RETRY_AFTER,
    Coverage,
    Gaps,
    HostReport,
    Wait,
    Waits,
)
from honeyguide.text.words import counted

MOST_HOSTS = 50  # in an overview
MOST_RULES = 20
MOST_DAYS = 31
_UNKNOWN_RULE = "a rule of a file that was not kept, or of the host that they redirect to"


def letter(report: HostReport) -> Iterator[str]:
    """Describe one host in sentences and a table."""
    yield _requests(report)
    yield from _missing(report.missing)
    yield from _gaps(report)
    yield from _robots(report)
    yield from _crawl_delay(report)
    yield from _waits(report.retry_after)
    yield ""
    yield from _table(report)


def overview(reports: Iterable[HostReport]) -> Iterator[str]:
    """List the hosts with the most requests, one a line, and the sum of all."""
    hosts = asked = refused = missing = 0
    most: list[tuple[int, int, HostReport]] = []
    for report in reports:
        hosts, asked, refused = hosts + 1, asked + report.requests, refused + report.refusals
        missing += report.missing
        heapq.heappush(most, (report.requests, -hosts, report))
        if len(most) > MOST_HOSTS:
            heapq.heappop(most)
    width = max(len(report.host) for *_, report in most)
    yield f"{'host':<{width}} requests  refused  smallest gap  median gap         bytes  failures"
    for _, _, report in sorted(most, reverse=True):
        yield _overview_line(report, width)
    if hosts > len(most):
        yield f"... and {counted(hosts - len(most), 'other host')} that were asked less."
    yield ""
    yield (
        f"{counted(asked, 'request')} to {counted(hosts, 'host')}; robots.txt refused"
        f" {counted(refused, 'URL')}. --host NAME tells more of one host, --json all of all."
    )
    yield from _missing(missing)


def remarks(status: Mapping[str, Any], coverage: Coverage) -> Iterator[str]:
    """Say what a reader must know of the crawl to judge the figures."""
    if status["process"]:
        yield "The crawl is running: these are its requests so far."
    if coverage.requests and coverage.earlier_visits:
        yield (
            f"{counted(coverage.earlier_visits, 'earlier page')} of this crawl came with a version"
            " of honeyguide that did not keep requests: they are not counted here."
        )
    if coverage.requests:
        yield "Times are those of the crawler's clock when a request was sent."
    times, visits = coverage.unclean_ends
    if coverage.requests and times:
        yield (
            f"The crawl was cut off {counted(times, 'time')}, by a kill or a loss of power:"
            f" requests of at most {counted(visits, 'visit')} that were under way then, and those"
            " of the last second before, may be missing."
        )
    contact = status["settings"].get("contact")
    if contact:
        yield f"Every request named a contact for questions about the crawl: {contact}"
    elif coverage.requests:
        yield "The requests named no contact for questions about the crawl: it had no --contact."


# --------------------------------------------------------------------------- sentences


def _requests(report: HostReport) -> str:
    if not report.requests:
        verb = "kept" if report.missing else "sent"
        return f"honeyguide {verb} no request to {report.host}."
    between = f"Between {_moment(report.first)} and {_moment(report.last, report.first)} (UTC)"
    if report.gaps is None:
        return (
            f"{between}, honeyguide visited {counted(report.requests, 'page')} of {report.host}."
            " Requests for robots.txt and hops of redirects were not kept, nor when a request was"
            " sent: gaps cannot be shown."
        )
    others = report.requests - report.robots_txt - report.redirect_hops
    parts = [
        f"{report.robots_txt:,} for robots.txt" if report.robots_txt else "",
        f"{report.redirect_hops:,} to follow redirects" if report.redirect_hops else "",
        f"{others:,} for pages and sitemaps" if others else "",
    ]
    said = f"{between}, honeyguide made {counted(report.requests, 'request')} to {report.host}: "
    said += f"{', '.join(filter(None, parts))}."
    if report.unsent:
        said += f" For {report.unsent:,} of them, no connection could be made."
    return said


def _missing(visits: int) -> Iterator[str]:
    if visits:
        was, is_not = ("was", "it is") if visits == 1 else ("were", "they are")
        yield (
            f"{counted(visits, 'further request')} brought a page, but {was} not recorded before"
            f" the crawler was killed: {is_not} not counted here. Requests that were under way then"
            " may be missing, too."
        )


def _gaps(report: HostReport) -> Iterator[str]:
    gaps, follow_ups = report.gaps, report.follow_ups
    if gaps is None or follow_ups is None:
        return
    if gaps.smallest is not None and gaps.median is not None:
        where = "From one visit to the next, two" if follow_ups.count else "Two"
        yield (
            f"{where} requests were never less than {_at_least(gaps.smallest)} apart, from start to"
            f" start; half of the gaps were {_at_least(gaps.median)} or longer."
        )
    if follow_ups.smallest is not None:
        yield (
            f"Within a visit, {counted(follow_ups.count, 'request')} followed at once, one after"
            " another: a page after robots.txt, the next hop of a redirect (smallest gap:"
            f" {follow_ups.smallest:.3f} s)."
        )
    if report.clock_set_back:
        yield (
            f"The crawler's clock was set back {counted(report.clock_set_back, 'time')}; the gaps"
            " there are not known."
        )


def _robots(report: HostReport) -> Iterator[str]:
    if not report.refused:
        yield "No link was left out because of robots.txt."
        return
    yield (
        f"robots.txt refused {counted(report.refusals, 'URL')} that the crawl had links to, and"
        " none was asked for:"
    )
    for refusals in report.refused[:MOST_RULES]:
        rule = _clean(refusals.rule)
        why = f"line {refusals.line}, {rule!r}" if refusals.line else rule or _UNKNOWN_RULE
        yield f"  {why}: {refusals.count:,}, such as {_clean(refusals.example)}"
    if len(report.refused) > MOST_RULES:
        yield f"  {counted(len(report.refused) - MOST_RULES, 'other line')}"


def _crawl_delay(report: HostReport) -> Iterator[str]:
    wish = report.crawl_delay
    if wish is None:
        return
    most = f", of which {LONGEST_CRAWL_DELAY:g} s are kept" if wish > LONGEST_CRAWL_DELAY else ""
    ends = {
        True: "no two visits were closer.",
        False: "some visits were closer: those from before it was read, or without that line.",
        None: "there were no two visits to keep apart.",
    }
    end = ends[report.crawl_delay_obeyed]
    yield f"robots.txt asks for a Crawl-delay of {wish:g} s{most}: {end}"


def _waits(waits: Waits | None) -> Iterator[str]:
    if waits is None or not waits.asked:
        return
    yield (
        f"{counted(waits.asked, 'answer')} asked to wait (Retry-After);"
        f" {waits.obeyed:,} {'was' if waits.obeyed == 1 else 'were'} obeyed:"
    )
    for wait in waits.examples:
        yield f"  {_wait(wait)}"
    if waits.asked > len(waits.examples):
        yield f"  and {waits.asked - len(waits.examples):,} more"


def _wait(wait: Wait) -> str:
    asked = f"{_moment(wait.answered)} status {wait.status}: asked for {wait.asked:g} s"
    if wait.asked > LONGEST_RETRY_AFTER:
        asked += f" (honeyguide waits {LONGEST_RETRY_AFTER:,.0f} s at most)"
    if wait.waited is None:
        return f"{asked}, and was not asked again"
    return f"{asked}, the next request came {_at_least(wait.waited)} later"


# --------------------------------------------------------------------------- tables


def _table(report: HostReport) -> Iterator[str]:
    rows = {f"status {status}": count for status, count in report.statuses.items()}
    rows |= {f"failed: {_clean(what)}": count for what, count in report.failures.items()}
    days = list(report.bytes_per_day.items())
    rows |= {f"bytes on {day}": size for day, size in days[-MOST_DAYS:]}
    rows["bytes in all"] = report.bytes
    width = max(map(len, rows))
    for name, count in rows.items():
        yield f"{name:<{width}} {count:>15,}"


def _overview_line(report: HostReport, width: int) -> str:
    gaps = report.gaps or Gaps(0)
    failures = sum(report.failures.values())
    return (
        f"{report.host:<{width}} {report.requests:>8,} {report.refusals:>8,}"
        f" {_short(gaps.smallest):>13} {_short(gaps.median):>11} {report.bytes:>13,} {failures:>9,}"
    )


def _short(seconds: float | None) -> str:
    return "-" if seconds is None else _at_least(seconds)


def _at_least(seconds: float) -> str:
    """Format seconds, rounded down: a report does not promise more than was measured."""
    return f"{math.floor(seconds * 100) / 100:,.2f} s"


def _moment(seconds: float, after: float | None = None) -> str:
    """Format a date and time (UTC), or only the time if `after` is on the same day."""
    when = datetime.fromtimestamp(seconds, UTC)
    is_same_day = after is not None and datetime.fromtimestamp(after, UTC).date() == when.date()
    return f"{when:%H:%M:%S}" if is_same_day else f"{when:%Y-%m-%d %H:%M:%S}"


def _clean(text: str) -> str:
    """Replace everything that is not printable, so that the text stays on one line."""
    return "".join(sign if sign.isprintable() else "\ufffd" for sign in text)
