"""Answers of a person about pages, given one key at a time; the crawl learns after a pause."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Protocol

from honeyguide.errors import HoneyguideError

QUIET = 1.5  # seconds after the last answer before the judge is taught


class Teacher(Protocol):
    """A session that teaches a crawl's judge, such as `honeyguide.Teaching`."""

    @property
    def is_applied(self) -> bool: ...
    def answer(self, url: str, relevant: bool) -> None: ...
    def withdraw(self, url: str) -> None: ...
    def knows(self, url: str) -> bool: ...
    def refresh(self) -> None: ...
    def apply(self) -> object: ...  # it reads as a sentence on what has changed


MakeTeacher = Callable[[Path], Teacher]


class Labels:
    """Takes answers about the pages of one crawl, and teaches its judge by them."""

    def __init__(self, folder: Path, make_teacher: MakeTeacher) -> None:
        self._folder = folder
        self._make_teacher = make_teacher
        self._threads = ThreadPoolExecutor(1, "labels")  # answers are taken one after another
        self._teaching: Teacher | None = None
        self._timer: threading.Timer | None = None
        self.news = ""  # what came of the last answers

    def answer(self, url: str, relevant: bool | None) -> str:
        """Say whether a page is relevant; None takes an answer back. Returns a sentence."""
        return self._threads.submit(self._answer, url, relevant).result()

    def close(self) -> None:
        """End the threads; answers are kept, also those that nobody has been taught yet."""
        if self._timer is not None:
            self._timer.cancel()
        self._threads.shutdown(cancel_futures=True)

    def _answer(self, url: str, relevant: bool | None) -> str:
        teaching = self._session(url)
        if relevant is None:
            teaching.withdraw(url)
        else:
            teaching.answer(url, relevant)
        self._apply_later()
        said = {True: "relevant", False: "not relevant", None: "answer taken back"}[relevant]
        return f"{said}: the crawl judges its pages again in a moment"

    def _session(self, url: str) -> Teacher:
        """The session, with the pages that the crawl has by now."""
        if self._teaching is None:
            self._teaching = self._make_teacher(self._folder)
        elif not self._teaching.knows(url):
            self._teaching.refresh()
        return self._teaching

    def _apply_later(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = threading.Timer(QUIET, lambda: self._threads.submit(self._apply))
        self._timer.daemon = True
        self._timer.start()

    def _apply(self) -> None:
        teaching = self._teaching
        if teaching is None or teaching.is_applied:
            return
        try:
            self.news = str(teaching.apply() or "")
        except HoneyguideError as error:
            self.news = str(error)
