"""Watch one crawl folder: a thread that reads its store and asks a running crawl, now and then.

The store is read by short queries of a connection of its own, which never block the writer. A
running crawl is asked at most every two seconds, and so seldom that answering takes it less than
one per cent of its time. Nothing is read while nobody looks.
"""

import json
import sqlite3
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from honeyguide.contracts import Link
from honeyguide.dashboard.tally import Tally
from honeyguide.engine.orders import read_standing
from honeyguide.engine.view import LinkView
from honeyguide.errors import HoneyguideError
from honeyguide.storage.answers import read_answers
from honeyguide.storage.database import STANDING, about, open_crawl
from honeyguide.storage.figures import Figures
from honeyguide.storage.found_pages import FoundPage, link_on, pages_of, text_of
from honeyguide.storage.lock import holder
from honeyguide.storage.looking import Answer, Question, ask, seen
from honeyguide.storage.restored import restored
from honeyguide.storage.why import Passage, passage_finder, with_words
from honeyguide.text.words import terms

EVERY = 1.0  # seconds between two looks at the store
ASK_EVERY = 2.0  # seconds between two questions to a running crawl, at least
SHARE = 100  # times the seconds that an answer took: the least time to the next question
PATIENCE = 5.0  # seconds that a request for metrics waits for the store to be read
IDLE = 15.0  # seconds without a request after which nothing is read
LINKS, HOSTS, PAGES = 12, 40, 25  # that are shown
WORDS = 40  # words that the agent is asked about
SHOWN_WORDS = 10  # of them, for and against each

Json = dict[str, Any]


class CrawlWatch:
    """One crawl, as the dashboard shows it."""

    def __init__(
        self, folder: Path, name: str = "", clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.folder = folder
        self._name = name or folder.resolve().name
        self._clock = clock
        self._database = open_crawl(folder)  # raises before a thread is started
        self._tally = Tally()
        self._passage: Passage | None = None
        self._passages: dict[int, str] = {}  # by event
        self._answer = Answer()
        self._asked, self._wait = 0.0, 0.0
        self._events = -1  # of a crawl that does not run, when it was restored
        self._wanted = clock()
        self._ready = threading.Event()
        self._ended = threading.Event()
        self.state: Json = {"folder": str(folder), "name": self._name, "reading": True}
        self._thread = threading.Thread(target=self._run, name="dashboard", daemon=True)
        self._thread.start()

    def look(self) -> Json:
        """The newest state; somebody looks, so that the next one is read."""
        if self._clock() - self._wanted > IDLE:
            self._ready.set()
        self._wanted = self._clock()
        return self.state

    def figures(self) -> Figures:
        """The figures for metrics; they are read anew where nobody has looked lately."""
        before, is_old = self.state, self._clock() - self._wanted > 2 * EVERY
        until = self._clock() + PATIENCE
        self.look()
        while (is_old and self.state is before) or self.state.get("reading"):
            if self._clock() > until:
                break
            time.sleep(0.02)
        return _figures(self.state)

    @property
    def name(self) -> str:
        """The short name of the crawl."""
        return self._name

    def close(self) -> None:
        """End the thread."""
        self._ended.set()
        self._ready.set()
        self._thread.join()
        self._database.close()

    def refresh(self) -> None:
        """Look and ask again at once: something was ordered."""
        self._wait = 0.0
        self._ready.set()

    def _run(self) -> None:
        while not self._ended.is_set():
            if self._clock() - self._wanted < IDLE:
                try:
                    self._read()
                except (HoneyguideError, sqlite3.Error, OSError, ValueError) as error:
                    self.state = {**self.state, "error": str(error)}
            self._ready.wait(EVERY)
            self._ready.clear()

    def _read(self) -> None:
        self._reopen()
        while self._tally.read(self._database) and not self._ended.is_set():
            self.state = {**self.state, "reading": True, "visits": len(self._tally)}
        running = holder(self.folder)
        self._look_inside(running)
        self.state = self._state(running)

    def _reopen(self) -> None:
        """Open the store again: without a log it was opened as a file that nobody writes."""
        self._database.close()
        self._database = open_crawl(self.folder)

    # ------------------------------------------------------------------ inside

    def _look_inside(self, running: str) -> None:
        """Ask a running crawl, or look at one that does not run whenever it has changed."""
        if running:
            self._events = -1
            if self._clock() - self._asked >= self._wait:
                self._ask()
            return
        [[events]] = self._database.execute("SELECT max(n) FROM journal")
        if events != self._events:
            self._events = events
            self._answer = seen(*restored(self.folder), self._question())

    def _ask(self) -> None:
        self._asked = self._clock()
        answer = ask(self.folder, self._question(), timeout=5.0)
        if answer is not None:
            self._answer = answer
            self._wait = max(ASK_EVERY, SHARE * answer.seconds)

    def _question(self) -> Question:
        return Question(links=LINKS, hosts=HOSTS, words=self._words(), crawl=True)

    def _words(self) -> tuple[str, ...]:
        """Words of the latest titles and of the best links' anchors, the most frequent first."""
        titles = [page.title for page in pages_of(self._database, self._tally.latest(200))]
        counts = Counter(word for title in titles for word in set(terms(title)) if len(word) > 2)
        return tuple(word for word, _ in counts.most_common(WORDS))

    # ------------------------------------------------------------------ state

    def _state(self, running: str) -> Json:
        known = about(self._database)
        tally, settings = self._tally, json.loads(known["settings"])
        crawl = self._answer.crawl
        now = time.time() if running else (known.get("last") or 0.0)
        return {
            "folder": str(self.folder),
            "name": self._name,
            "reading": False,
            "error": self._answer.error,
            "topic": settings.get("topic", ""),
            "agent": settings.get("agent", ""),
            "judge": settings.get("judge", ""),
            "world": settings.get("world", ""),
            "running": bool(running),
            "stopped": "" if running else str(known.get("stopped") or "cut off"),
            "orders": _orders(known),
            "visits": len(tally),
            "relevant": tally.relevant,
            "harvest": tally.harvest(),
            "rate": tally.rate(now) if running else 0.0,
            "budget": settings.get("budget", 0),
            "in_flight": settings.get("in_flight"),
            "waiting": known.get("waiting") or 0,
            "flying": known.get("in_flight") or 0,
            "started": tally.first,
            "last": known.get("last"),
            "bytes": tally.bytes,
            "disk": _size(self.folder),
            "tables": crawl.bytes if crawl else {},
            "memory": _memory(running),
            "errors": dict(tally.errors.most_common(12)),
            "cuts": [list(cut) for cut in crawl.cuts[:12]] if crawl else [],
            "curve": tally.curve(),
            "hosts": self._hosts(),
            "host_count": tally.host_count,
            "links": self._links(),
            "forms": _plain(self._answer.frontier.forms) if self._answer.frontier else [],
            "pages": self._pages(),
            "learnt": self._learnt(),
            "answers": _answers(self.folder),
        }

    def _hosts(self) -> list[Json]:
        queues = self._answer.frontier.hosts if self._answer.frontier else ()
        by_name = {queue.host: queue for queue in queues}
        rows = self._tally.hosts(HOSTS)
        for row in rows:
            queue = by_name.get(row["host"])
            row["waiting"] = queue.waiting if queue else 0
            row["rests"] = round(queue.rests, 1) if queue else 0.0
        return rows

    def _links(self) -> list[Json]:
        links = self._answer.frontier.links if self._answer.frontier else ()
        return [self._worded(link) for link in links]

    def _worded(self, link: LinkView) -> Json:
        """A link with the words of its anchor, read from the page that it was found on."""
        n = self._tally.find(link.source) if link.source else None
        found = None if n is None else link_on(self._database, n, link.url)
        shown: Json = _plain(with_words(link, found or Link(link.url)))
        return shown | {"anchor": " ".join(found.anchor.split()) if found else ""}

    @property
    def _latest(self) -> list[FoundPage]:
        return pages_of(self._database, self._tally.latest(PAGES))

    def _pages(self) -> list[Json]:
        shown = self._latest
        self._passages = {page.n: self._passage_of(page) for page in shown}
        return [
            {
                "n": page.n,
                "url": page.page_url or page.url,
                "title": page.title,
                "failure": page.failure,
                "relevance": page.relevance,
                "relevant": page.relevant,
                "reasons": page.reasons[:3],
                "passage": self._passages[page.n],
                "when": page.fetched,
                "score": page.score if abs(page.score) < 1e9 else None,
                "depth": page.depth,
            }
            for page in shown
        ]

    def _passage_of(self, page: FoundPage) -> str:
        if page.n in self._passages or not page.page_url:
            return self._passages.get(page.n, "")
        if self._passage is None:
            self._passage = passage_finder(self.folder)
        return self._passage(text_of(self._database, page.n))

    def _learnt(self) -> Json:
        learnt = self._answer.learnt
        if learnt is None:
            return {"for": [], "against": [], "signs": []}
        words = learnt.words
        return {
            "for": [[each.word, each.value] for each in words[:SHOWN_WORDS]],
            "against": [[each.word, each.value] for each in words[::-1][:SHOWN_WORDS]],
            "signs": [[part.name, part.value] for part in learnt.signs if " of " not in part.name],
        }


def _plain(value: Any) -> Any:
    return msgspec.to_builtins(value)


def _orders(known: Json) -> Json:
    """The orders in force."""
    return read_standing(known.get(STANDING)).in_force()


def _answers(folder: Path) -> dict[str, bool]:
    return dict(read_answers(folder))


def _size(folder: Path) -> int:
    """Bytes on the disk."""
    total = 0
    for path in folder.rglob("*"):
        with suppress(OSError):
            total += path.stat().st_size
    return total


def _figures(state: Json) -> Figures:
    same = ("relevant", "bytes", "waiting", "budget", "rate", "harvest")
    return Figures(
        pages=state.get("visits", 0),
        failures=state.get("errors", {}),
        hosts=state.get("host_count", 0),
        in_flight=state.get("flying", 0) if state.get("running") else 0,
        memory=state.get("memory") or 0,
        is_running=state.get("running", False),
        is_paused="paused" in state.get("orders", {}),
        **{name: state.get(name, 0) for name in same},
    )


def _memory(process: str) -> int | None:
    """Bytes that the crawl's process takes; None if that is not known."""
    with suppress(OSError, ValueError, IndexError):
        pages = Path(f"/proc/{process}/statm").read_text().split()[1]
        return int(pages) * 4096
    return None
