"""Pages read in processes of their own, which end with this one, however it ends."""

import asyncio
import signal
import struct
import sys
from collections import deque
from typing import BinaryIO, cast

import msgspec

from honeyguide.contracts import Link, Verdict, Visit
from honeyguide.errors import HoneyguideError
from honeyguide.parsers.html import MAX_BODY, Parsed, parse
from honeyguide.serialise import pack_visit, text_from_bytes, text_to_bytes, unpack_visit

LONGEST = 60.0  # seconds for a page, and for all that the process has to read before it
_PROGRAM = "from honeyguide.parsers.pool import work; work()"
_HEAD = struct.Struct("<I")  # bytes of a message
_NOTHING = Verdict(0.0, False)


class ParserPool:
    """Reads what `parse` reads, and finds the same in it; None for a page that kills its reader."""

    def __init__(self, processes: int = 1, longest: float = LONGEST) -> None:
        self._processes = processes
        self._longest = longest
        self._readers: list[_Reader] = []
        self._opening = asyncio.Lock()

    async def __call__(self, body: bytes, url: str, content_type: str = "") -> Parsed | None:
        """Have a page read by whoever has least to do."""
        message = _packed(msgspec.msgpack.encode((url, content_type, body[:MAX_BODY])))
        while True:
            reader = await self._least_busy()
            try:
                async with asyncio.timeout(self._longest):
                    answer = await reader.ask(message)
            except TimeoutError:
                reader.kill()
                return None
            if answer is not None:
                return _parsed(answer)
            if reader.culprit is message:
                return None

    async def close(self) -> None:
        """End all of them."""
        readers, self._readers = self._readers, []
        for reader in readers:
            await reader.close()

    async def _least_busy(self) -> "_Reader":
        async with self._opening:
            self._readers = [reader for reader in self._readers if reader.alive]
            while len(self._readers) < self._processes:
                self._readers.append(await _open())
        return min(self._readers, key=lambda reader: len(reader.waiting))


class _Reader(asyncio.SubprocessProtocol):
    """One process: answers come in the order of the questions."""

    def __init__(self) -> None:
        self.waiting: deque[tuple[bytes, asyncio.Future[bytes | None]]] = deque()
        self.alive = True
        self.culprit: bytes | None = None  # the message that it died of
        self._answered = False
        self._pieces = bytearray()
        self._ended = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take hold of its ends."""
        self._process = cast(asyncio.SubprocessTransport, transport)
        self._input = cast(asyncio.WriteTransport, self._process.get_pipe_transport(0))

    async def ask(self, message: bytes) -> bytes | None:
        """Its answer; None when it ended without one."""
        answer: asyncio.Future[bytes | None] = asyncio.get_running_loop().create_future()
        self.waiting.append((message, answer))
        self._input.write(message)
        return await answer

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Hand out the answers that are whole."""
        self._pieces += data
        while len(self._pieces) >= _HEAD.size:
            end = _HEAD.size + _HEAD.unpack_from(self._pieces)[0]
            if len(self._pieces) < end:
                return
            answer = bytes(self._pieces[_HEAD.size : end])
            del self._pieces[:end]
            self._answered = True
            self._give(self.waiting.popleft()[1], answer)

    def process_exited(self) -> None:
        """Let go of all that wait: the first is what it died of."""
        self.alive = False
        if self.waiting:
            self.culprit = self.waiting[0][0]
        while self.waiting:
            self._give(self.waiting.popleft()[1], None)
        self._give(self._ended, None)

    def kill(self) -> None:
        """End it at once."""
        self.alive = False
        self._process.kill()

    async def close(self) -> None:
        """Let it finish, but not for long."""
        self._input.close()
        try:
            async with asyncio.timeout(2.0):
                await asyncio.shield(self._ended)
        except TimeoutError:
            self.kill()
        self._process.close()

    def _give(self, future: "asyncio.Future[bytes | None]", answer: bytes | None) -> None:
        if not future.done():  # whoever waited may have been cancelled
            future.set_result(answer)
