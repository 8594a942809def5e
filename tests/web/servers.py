"""A server on loopback that answers with given bytes."""

import asyncio
import contextlib
import threading
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any

from honeyguide.contracts import Link, Response
from honeyguide.web.fetch_limits import Timeouts
from honeyguide.web.host_schedule import HostSchedule, Limits
from honeyguide.web.http import HttpFetcher

Answer = bytes | Callable[[asyncio.StreamWriter], Awaitable[None]]
PATIENT = Timeouts(dns=5.0, connect=5.0, read=5.0, total=10.0, turn=10.0)
QUICK = Timeouts(connect=5.0, read=0.5, total=1.0)


def page(
    body: bytes = b"<p>hello</p>",
    status: str = "200 OK",
    length: int | None = None,
    **headers: str,
) -> bytes:
    """Return an HTTP response; header names have underscores in place of hyphens."""
    lines = {"content_type": "text/html", "content_length": str(len(body)), **headers}
    if length is not None:
        lines["content_length"] = str(length)
    head = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in lines.items())
    return f"HTTP/1.1 {status}\r\n{head}\r\n".encode() + body


def redirect(location: str, status: str = "302 Found") -> bytes:
    """Return a redirect without a body."""
    return page(b"", status, location=location)


class Server:
    """Answers each path with bytes, or with a coroutine that writes to the connection."""

    def __init__(self, answers: Mapping[str, Answer], port: int = 0) -> None:
        self.answers = dict(answers)
        self.asked: list[str] = []  # "host path", in order
        self.times: list[float] = []  # of requests, in seconds since 1970
        self.requests: list[dict[str, str]] = []  # their headers
        self.connections = 0
        self.port = port  # 0: any free port, kept across restarts

    async def __aenter__(self) -> "Server":
        place = "127.0.0.1", self.port
        self._server = await asyncio.start_server(self._serve, *place, limit=1 << 20)
        self.port = self._server.sockets[0].getsockname()[1]
        self._tasks: set[asyncio.Task[Any]] = set()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def hosts(self, *names: str) -> dict[str, tuple[str, int]]:
        return dict.fromkeys(names or ("site.test",), ("127.0.0.1", self.port))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._tasks.add(task)
        self.connections += 1
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while await self._answer(reader, writer):
                pass
        writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        path = head[0].split(" ")[1]
        headers = {line.partition(":")[0].lower(): line.partition(": ")[2] for line in head[1:]}
        self.times.append(time.time())
        self.asked.append(f"{headers['host'].partition(':')[0]} {path}")
        self.requests.append(headers)
        answer = self.answers.get(path, page(b"", "404 Not Found"))
        if isinstance(answer, bytes):
            writer.write(answer)
            await writer.drain()
            return True
        await answer(writer)
        return False


@contextlib.contextmanager
def served(answers: Mapping[str, Answer], port: int = 0) -> Iterator[Server]:
    """Run a Server in a thread, for callers that run an event loop of their own."""
    server, loop, done = Server(answers, port), asyncio.new_event_loop(), asyncio.Event()
    ready = threading.Event()

    async def run() -> None:
        async with server:
            ready.set()
            await done.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(run()))
    thread.start()
    ready.wait()
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(done.set)
        thread.join()
        loop.close()


def unhurried(**limits: Any) -> HostSchedule:
    """Return a schedule without an interval between requests to one address."""
    return HostSchedule(limits=Limits(**{"address_interval": 0.0, **limits}))


def fetcher(server: Server, *names: str, **settings: Any) -> HttpFetcher:
    """Return a fetcher that resolves these names to the server."""
    given = {"timeouts": PATIENT, "allow_private": True, "hosts": server.hosts(*names)}
    given = {"schedule": unhurried(), **given, **settings}
    return HttpFetcher("honeyguide/0 (+test@example.org)", **given)


def ask(answers: Mapping[str, Answer], path: str = "/", **settings: Any) -> Response:
    """Return the response to one request to a server with these answers."""

    async def run() -> Response:
        async with Server(answers) as server:
            http = fetcher(server, **settings)
            try:
                return await http.fetch(Link(f"http://site.test{path}"))
            finally:
                await http.close()

    return asyncio.run(run())
