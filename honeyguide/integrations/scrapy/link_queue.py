"""The waiting links of a spider, best first: a navigator, recorded if there is a folder."""

import time
from collections.abc import Sequence
from pathlib import Path

from honeyguide.assemble import table_bytes
from honeyguide.contracts import Judge, Link, Page, Verdict, Visit
from honeyguide.engine.navigator import Navigator
from honeyguide.plan import Plan
from honeyguide.storage.crawl_folder import create_crawl
from honeyguide.storage.database import FILE
from honeyguide.storage.store import RecordingNavigator, Store

NOTHING = Verdict(0.0, False)


class LinkQueue:
    """Chooses links, and learns from the pages that they led to.

    With a folder, every choice and every page is an event in it: after a kill the queue is as it
    was, and `honeyguide status`, `export` and `why` read the folder.
    """

    def __init__(self, plan: Plan, folder: Path | None = None) -> None:
        self._store: Store | None = None
        if folder is not None and not (folder / FILE).exists():
            create_crawl(folder, plan)
        opened = plan.open()
        self.judge: Judge = opened.judge
        self._navigator: Navigator | RecordingNavigator = opened.navigator()
        self._begin = 0.0
        if folder is not None:
            self._store = Store(folder, visits_at_once=opened.in_flight)
            limit = plan.memory_limit
            recorded = RecordingNavigator(
                opened.navigator(), self._store, limit and table_bytes(limit)
            )
            recorded.seed(())
            self._navigator, self._begin = recorded, max(recorded.started_at, time.time())
        self._begun = time.monotonic()

    def __len__(self) -> int:
        return len(self._navigator.frontier)

    @property
    def leased(self) -> tuple[str, ...]:
        """The URLs of pages that are being fetched."""
        return tuple(self._navigator.leases)

    @property
    def relevant(self) -> int:
        """How many relevant pages were found."""
        return self._navigator.memory.relevant_found

    def knows(self, url: str) -> bool:
        """Whether a page was seen before, as a start page or behind a link."""
        return int(self._navigator.memory.urls.find([url])[0]) >= 0

    def was_visited(self, url: str) -> bool:
        """Whether a page was fetched before."""
        (id,) = self._navigator.memory.urls.find([url]).tolist()
        return id >= 0 and self._navigator.memory.is_visited(id)

    def choose(self) -> str | None:
        """The URL of the best link whose host may be asked now."""
        link = self._navigator.choose(self._now())
        return None if link is None else link.url

    def lease(self, url: str) -> None:
        """Count a page as being fetched that was not chosen here, such as a start page."""
        now, navigator = self._now(), self._navigator
        if isinstance(navigator, RecordingNavigator):
            navigator.navigator.follow(url, now)
            navigator.store.record_choice(Link(url), now)
        else:
            navigator.follow(url, now)

    def absorb(self, url: str, page: Page, links: Sequence[Link], measured: Verdict) -> Verdict:
        """Learn from a page, let its links wait, and return what it counts for."""
        lease = self._navigator.leases[url]
        whole = Page(
            page.url,
            page.title,
            page.text,
            tuple(links),
            declared_language=page.declared_language,
            metadata=page.metadata,
        )
        visit = Visit(lease.link, whole, measured)
        return self._navigator.absorb(visit, self._now()).verdict

    def fail(self, url: str, failure: str) -> None:
        """End the visit of a page that did not come."""
        lease = self._navigator.leases[url]
        self._navigator.absorb(Visit(lease.link, None, NOTHING, failure=failure), self._now())

    def close(self, reason: str) -> None:
        """Write all of it to the folder."""
        if self._store is None or not isinstance(self._navigator, RecordingNavigator):
            return
        try:
            self._store.snapshot(self._navigator.navigator.state())
            self._store.note(stopped=reason)
            self._store.flush()
        finally:
            self._store.close()

    def _now(self) -> float:
        return self._begin + time.monotonic() - self._begun
