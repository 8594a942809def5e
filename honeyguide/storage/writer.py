"""A thread that writes, so that the crawl need not wait for the disk."""

import queue
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator

Job = Callable[[], None]
Steps = Iterator[None]  # a long job: it may be left after any of them


class Writer:
    """Does jobs in order and commits what they did once a second, or at once when asked to.

    After an error nothing more is done, and the error reaches whoever hands in the next job.
    """

    def __init__(
        self,
        commit: Job,
        seconds: float = 1.0,  # from a job to its commit, at most
        jobs: int = 2000,  # in one commit, at most
        max_waiting: int = 64_000_000,  # bytes handed in and not yet written
    ) -> None:
        self._commit = commit
        self._seconds = seconds
        self._jobs = jobs
        self._max_waiting = max_waiting
        self._queue: queue.SimpleQueue[tuple[Job, int] | threading.Event | None] = (
            queue.SimpleQueue()
        )
        self._long: deque[Steps] = deque()
        self._given = self._done = 0  # bytes; each is changed by one thread only
        self._open = 0  # jobs done and not committed
        self._due = 0.0
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._run, name="honeyguide store", daemon=True)
        self._thread.start()

    def put(self, job: Job, size: int = 0) -> None:
        """Hand in a job that holds so many bytes; waits only when the disk is far behind."""
        self._raise()
        if size:  # only the thread that absorbs hands in anything large
            self._given += size
        self._queue.put((job, size))
        if self._given - self._done > self._max_waiting:
            while self._given - self._done > self._max_waiting // 2:
                time.sleep(0.002)

    def put_long(self, steps: Steps) -> None:
        """Hand in a job that is done little by little, so that others do not wait for it."""
        self.put(lambda: self._long.append(steps))

    def flush(self) -> None:
        """Return once all that was handed in is committed."""
        done = threading.Event()
        self._queue.put(done)
        done.wait()
        self._raise()

    def stop(self) -> None:
        """End the thread; what is not committed by now stays so."""
        self._queue.put(None)
        self._thread.join()

    def _raise(self) -> None:
        if self._error is not None:
            raise self._error

    def _run(self) -> None:
        while (item := self._next()) is not None:
            if isinstance(item, threading.Event):
                while self._long:
                    self._do(self._step)
                self._finish()
                item.set()
                continue
            job, size = item
            self._do(job)
            self._done += size

    def _do(self, job: Job) -> None:
        self._try(job)
        self._open += 1
        if self._open == 1:
            self._due = time.monotonic() + self._seconds
        if self._open >= self._jobs or time.monotonic() >= self._due:
            self._finish()

    def _next(self) -> tuple[Job, int] | threading.Event | None:
        """What was handed in next; in between, a step of what takes long."""
        if self._long:
            self._do(self._step)
        while self._open or self._long:
            wait = 0.0 if self._long else self._due - time.monotonic()
            try:
                return self._queue.get(timeout=max(wait, 0.0))
            except queue.Empty:
                if self._long:
                    self._do(self._step)
                else:
                    self._finish()
        return self._queue.get()

    def _step(self) -> None:
        steps = self._long[0]
        if next(steps, self) is self:  # it is done
            self._long.popleft()

    def _finish(self) -> None:
        self._try(self._commit)
        self._open = 0

    def _try(self, job: Job) -> None:
        if self._error is None:
            try:
                job()
            except Exception as error:  # carried to the thread that can tell the user
                self._error = error
                self._long.clear()
