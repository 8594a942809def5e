"""Two finite webs for crawls that are killed, served with a log of every request.

As a program it serves one until its input ends: soak_web.py calm LOG, or soak_web.py trapped LOG
"""

import asyncio
import random
import re
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast
from zlib import crc32

import uvloop

ADDRESS = "127.0.0.1"
CALM, TRAPPED = "calm", "trapped"
HOSTS = 24  # more than visits in flight: a polite crawl asks one thing of each at a time
PAGES = 700
PRIVATE = 1500  # addresses that robots.txt forbids: links that are known at no cost
MOVED = 30  # as many addresses are missing
HUBS, FAN_OUT = (0, 5, 60), 1_300  # pages with more links than a table first has room for
TRAP = 400  # addresses of one form with nothing behind them, of a trapped web
SLOWEST = 0.006  # seconds until an answer
ROBOTS = b"User-agent: *\nDisallow: /private/\n"
MARK = b"/mark"
_host = re.compile(rb"(?:^|\n)host: *([^\r\n :]+)", re.IGNORECASE).search
_ABOUT = "geology rock mineral sediment fossil basalt granite crust mantle tectonic strata quartz"
_OTHER = (
    "ship harbour sail captain cargo music violin concert singer recipe flour oven bread football"
    " goal league player garden rose tulip seed paint canvas museum artist train station ticket"
    " rail coffee tea cup kettle cinema actor film stage novel poem author library engine wheel"
)


@dataclass(slots=True)
class Web:
    """Pages by URL; what is not among them is missing."""

    pages: dict[str, bytes] = field(default_factory=dict)  # URL -> HTML
    moved: dict[str, str] = field(default_factory=dict)  # URL -> where it leads
    links: dict[str, list[str]] = field(default_factory=dict)  # URL -> URLs

    @property
    def seed(self) -> str:
        """The page to start from."""
        return _page(0)


def build(kind: str) -> Web:
    """The web of a kind, the same every time; `trapped` has hundreds of links that lead nowhere."""
    chance, web = random.Random(kind), Web()
    for number in range(PAGES):
        links = [_page(2 * number + 1), _page(2 * number + 2)] if 2 * number + 2 < PAGES else []
        links += [_page(chance.randrange(PAGES)) for _ in range(6)]
        if number < MOVED:
            links += [_url(number, f"/old/{number}.html"), _lost(number)]
        if number in HUBS:
            links += _fan_out(chance)
        if kind == TRAPPED:
            links += [_trap(chance.randrange(TRAP)) for _ in range(4)]
        _add(web, _page(number), links, chance.random() < 0.4, chance)
    for number in range(MOVED):  # what it leads to is linked to by nothing else
        target = _url(number + 1, f"/new/{number}.html")
        web.moved[_url(number, f"/old/{number}.html")] = target
        _add(web, target, [_page(number)], True, chance)
    return web


def _url(number: int, path: str) -> str:
    return f"http://h{number % HOSTS:02}.soak.example{path}"


def _page(number: int) -> str:
    return _url(number, f"/{_OTHER.split()[number % 40]}/{number}.html")


def _lost(number: int) -> str:
    return _url(number, f"/{_OTHER.split()[number]}/lost/{_OTHER.split()[-number]}.html")


def _trap(number: int) -> str:
    return _url(number % 8, f"/archive/{number}.html")


def _fan_out(chance: random.Random) -> list[str]:
    private = [_url(n, f"/private/{n}.html") for n in chance.sample(range(PRIVATE), FAN_OUT - 300)]
    return private + [_page(n) for n in chance.sample(range(PAGES), 300)]


def _add(web: Web, url: str, links: list[str], relevant: bool, chance: random.Random) -> None:
    words = (_ABOUT if relevant else _OTHER).split()
    said = [" ".join(chance.choices(words, k=6)) for _ in links]
    text = " ".join(chance.choices(words, k=60) + chance.choices(_OTHER.split(), k=30))
    anchors = "".join(f"<li><a href='{to}'>{a}</a>" for to, a in zip(links, said, strict=True))
    title = " ".join(chance.choices(words, k=3))
    web.pages[url] = f"<title>{title}</title><p>{text}</p><ul>{anchors}</ul>".encode()
    web.links[url] = links


# --------------------------------------------------------------------------- server


class _Server(asyncio.Protocol):
    """Writes each request down before it answers it, a little later."""

    def __init__(self, web: Web, log: BinaryIO) -> None:
        self._web = web
        self._log = log
        self._rest = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        *requests, self._rest = (self._rest + data).split(b"\r\n\r\n")
        for request in requests:
            line, _, headers = request.partition(b"\r\n")
            path, found = line.split(b" ", 2)[1], _host(headers)
            host = found[1] if found else b""
            self._log.write(b"%.6f %s %s\n" % (time.time(), host, path))
            wait = 0.0 if path.startswith(MARK) else SLOWEST * (crc32(path) % 100) / 100
            asyncio.get_running_loop().call_later(wait, self._send, self._answer(host, path))

    def _send(self, answer: bytes) -> None:
        if not self._transport.is_closing():
            self._transport.write(answer)

    def _answer(self, host: bytes, path: bytes) -> bytes:
        if path == b"/robots.txt" or path.startswith(MARK):
            return _message(ROBOTS, kind=b"text/plain")
        url = f"http://{host.decode()}{path.decode()}"
        if url in self._web.moved:
            location = b"Location: " + self._web.moved[url].encode() + b"\r\n"
            return _message(b"", b"301 Moved Permanently", location)
        html = self._web.pages.get(url)
        return _message(b"<h1>Sorry</h1>", b"404 Not Found") if html is None else _message(html)


def _message(
    body: bytes, status: bytes = b"200 OK", more: bytes = b"", kind: bytes = b"text/html"
) -> bytes:
    head = b"HTTP/1.1 %s\r\nContent-Type: %s\r\n%sContent-Length: %d\r\n\r\n"
    return head % (status, kind, more, len(body)) + body


async def _serve(web: Web, log: Path) -> None:
    loop = asyncio.get_running_loop()
    with log.open("ab", buffering=0) as file:
        server = await loop.create_server(lambda: _Server(web, file), ADDRESS, 0, backlog=1024)
        print(server.sockets[0].getsockname()[1], flush=True)
        async with server:
            await loop.run_in_executor(None, sys.stdin.read)  # ends with whoever started it


# --------------------------------------------------------------------------- its user's side


class Request(NamedTuple):
    """What a server was asked for."""

    when: float  # seconds since 1970
    host: str
    path: str

    @property
    def url(self) -> str:
        """The whole address."""
        return f"http://{self.host}{self.path}"


class Served:
    """A web that another process serves, and its log."""

    def __init__(self, port: int, log: Path) -> None:
        self.port = port
        self._log = log
        self._read = 0  # bytes of the log

    def requests(self) -> list[Request]:
        """What was asked for since this was last called."""
        for _ in range(2):  # all that a dead process has sent is written down before the second
            urllib.request.urlopen(f"http://{ADDRESS}:{self.port}{MARK.decode()}").close()
        with self._log.open("rb") as file:
            file.seek(self._read)
            data = file.read()
        self._read += len(data)
        asked = [line.split(" ") for line in data.decode().splitlines()]
        return [Request(float(w), h, p) for w, h, p in asked if not p.startswith(MARK.decode())]


@contextmanager
def served(kind: str, log: Path) -> Iterator[Served]:
    """Serve a web in a process of its own as long as this lasts."""
    command = [sys.executable, __file__, kind, str(log)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin and process.stdout
        try:
            yield Served(int(process.stdout.readline()), log)
        finally:
            process.stdin.close()


if __name__ == "__main__":
    uvloop.run(_serve(build(sys.argv[1]), Path(sys.argv[2])))
