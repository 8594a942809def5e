"""Queues before hosts and servers: a few at a time, a moment apart."""

import asyncio
from dataclasses import dataclass

_SWEEP_AT = 1024  # queues


@dataclass(slots=True)
class _Queue:
    places: asyncio.Semaphore
    users: int = 0  # inside or waiting
    ready: float = 0.0  # the loop's time at which the next may enter


class Turns:
    """Lets a few in at a time for each key, a moment apart."""

    def __init__(self, at_once: int | None, interval: float = 0.0, patience: float = 60.0) -> None:
        self._at_once = at_once  # None: as many as come
        self._interval = interval  # seconds between two entries
        self._patience = patience  # seconds to wait for a place
        self._queues: dict[str, _Queue] = {}
        self._sweep_at = _SWEEP_AT

    async def enter(self, key: str) -> bool:
        """Wait for a turn; false when it did not come in time. Whoever enters must leave."""
        if self._at_once is None:
            return True
        queue = self._queues.get(key) or self._open(key, self._at_once)
        queue.users += 1
        entered = False
        try:
            entered = await self._place(queue) and await self._moment(queue)
        finally:
            if not entered:
                self._count_out(key, queue)
        return entered

    def leave(self, key: str) -> None:
        """Make room for the next."""
        if self._at_once is not None:
            queue = self._queues[key]
            queue.places.release()
            self._count_out(key, queue)

    async def _place(self, queue: _Queue) -> bool:
        if not queue.places.locked():
            return await queue.places.acquire()
        try:
            async with asyncio.timeout(self._patience):
                return await queue.places.acquire()
        except TimeoutError:
            return False

    async def _moment(self, queue: _Queue) -> bool:
        if self._interval:
            now = asyncio.get_running_loop().time()
            wait = queue.ready - now
            queue.ready = max(now, queue.ready) + self._interval
            if wait > 0:
                try:
                    await asyncio.sleep(wait)
                except BaseException:
                    queue.places.release()
                    raise
        return True

    def _open(self, key: str, at_once: int) -> _Queue:
        if len(self._queues) >= self._sweep_at:
            now = asyncio.get_running_loop().time()
            for idle in [k for k, q in self._queues.items() if not q.users and q.ready <= now]:
                del self._queues[idle]
            self._sweep_at = max(_SWEEP_AT, 2 * len(self._queues))
        queue = self._queues[key] = _Queue(asyncio.Semaphore(at_once))
        return queue

    def _count_out(self, key: str, queue: _Queue) -> None:
        queue.users -= 1
        if not queue.users and not self._interval:
            del self._queues[key]
