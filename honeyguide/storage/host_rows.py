"""The hosts of a crawl: requests, errors, rests, yield, bytes, robots.txt, waiting links."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from msgspec import Struct

from honeyguide.engine.view import HostQueue
from honeyguide.storage.database import reading, settings
from honeyguide.storage.host_report import HostReport, host_reports
from honeyguide.storage.looking import Question, look
from honeyguide.storage.stored_plan import Warn, ignore_warning
from honeyguide.urls.spelling import host_of

_ALL = 1_000_000  # hosts whose queues are read


class HostRow(Struct, frozen=True):
    """One host of a crawl."""

    host: str
    pages: int  # visits, failed ones included
    relevant: int
    failed: dict[str, int]  # visits without a page, by the kind of failure
    requests: int  # robots.txt and redirects included; 0 on recorded and generated webs
    statuses: dict[str, int]
    bytes: int
    rests_asked: int  # answers with Retry-After
    crawl_delay: float | None  # seconds, by its robots.txt
    refused: int  # URLs that its robots.txt forbids
    waiting: int
    rests: float  # seconds until it may be asked again

    @property
    def share(self) -> float:
        """Relevant pages a visit."""
        return self.relevant / self.pages if self.pages else 0.0


def host_rows(folder: str | Path, warn: Warn = ignore_warning) -> list[HostRow]:
    """The hosts of a crawl, which may be running: those with most relevant pages first."""
    folder = Path(folder)
    visits = _Visits(folder)
    queues = {queue.host: queue for queue in _queues(folder, warn)}
    reports = {report.host: report for report in _reports(folder)}
    names = dict.fromkeys((*visits.pages, *queues, *reports))
    rows = [_row(name, visits, queues.get(name), reports.get(name)) for name in names if name]
    return sorted(rows, key=lambda row: (-row.relevant, -row.pages, -row.waiting, row.host))


class _Visits:
    """Visits by host."""

    def __init__(self, folder: Path) -> None:
        self.pages: Counter[str] = Counter()
        self.relevant: Counter[str] = Counter()
        self.bytes: Counter[str] = Counter()
        self.failed: dict[str, Counter[str]] = {}
        query = "SELECT coalesce(page_url, url), relevant, failure, bytes FROM pages"
        with reading(folder) as database:
            for url, relevant, failure, size in database.execute(query):
                self._add(host_of(url), relevant, failure, size)

    def _add(self, host: str, relevant: int, failure: str, size: int) -> None:
        self.pages[host] += 1
        self.relevant[host] += relevant
        self.bytes[host] += size
        if failure:
            self.failed.setdefault(host, Counter())[failure] += 1


def _queues(folder: Path, warn: Warn) -> tuple[HostQueue, ...]:
    frontier = look(folder, Question(links=1, hosts=_ALL), warn).frontier
    return frontier.hosts if frontier else ()


def _reports(folder: Path) -> Iterator[HostReport]:
    """What was requested; nothing on recorded and generated webs."""
    if str(settings(folder).get("world", "")).partition(":")[0] != "web":
        return
    yield from host_reports(folder)


def _row(name: str, visits: _Visits, queue: HostQueue | None, report: HostReport | None) -> HostRow:
    waits = report.retry_after if report else None
    return HostRow(
        host=name,
        pages=visits.pages[name],
        relevant=visits.relevant[name],
        failed=dict(visits.failed.get(name, Counter()).most_common()),
        requests=report.requests if report else 0,
        statuses=report.statuses if report else {},
        bytes=report.bytes if report else visits.bytes[name],
        rests_asked=waits.asked if waits else 0,
        crawl_delay=report.crawl_delay if report else None,
        refused=report.refusals if report else 0,
        waiting=queue.waiting if queue else 0,
        rests=queue.rests if queue else 0.0,
    )
