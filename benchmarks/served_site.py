"""Sites for crawlers to crawl, served under many host names on one port of this machine.

As a program it serves one: served_site.py SITE.pickle, or served_site.py generated PAGES SEED
"""

import asyncio
import json
import pickle
import posixpath
import re
import subprocess
import sys
import tarfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast
from urllib.parse import unquote, urljoin
from zlib import crc32

import uvloop
import zstandard

HOSTS = 64  # more than visits in flight: a polite crawler asks one thing of each at a time
ADDRESS = "127.0.0.1"
FEWEST_LINKS, MOST_BYTES = 35, 42_000  # of the pages chosen: medians near 60 and 30 KB
_host = re.compile(rb"(?:^|\n)host: *([^\r\n ]+)", re.IGNORECASE).search
_anchor = re.compile(rb'(<(?:a|area)\b[^>]*?\bhref=")([^"#]*)([^"]*")', re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Site:
    """Pages by URL; every link on them leads to one of them."""

    source: str  # where the pages are from, for the report
    seed: str
    pages: dict[str, bytes]  # URL -> HTML


# --------------------------------------------------------------------------- pages


def real_site(data: Path, count: int) -> Site:
    """Pages of the Wikipedia for Schools of 2007."""
    files = dict(_unpacked(data / "schools-wiki" / "html.tar.zst"))
    fit = [name for name, html in files.items() if _fits(html)][:count]
    chosen = {name: _address(name) for name in fit}
    pages = {url: _rewired(files[name], name, chosen) for name, url in chosen.items()}
    seed = next((url for url in pages if url.endswith("/Geology.htm")), next(iter(pages)))
    return Site(f"Wikipedia for Schools: {len(files):,} files", seed, _reachable(pages, seed))


def generated_site(count: int) -> Site:
    """Pages of the generated web, rendered: a quarter of the size of usual ones."""
    from honeyguide.worlds.synthetic.html import render  # noqa: PLC0415
    from honeyguide.worlds.synthetic.layout import FINE  # noqa: PLC0415

    world = generated_world(2 * count)
    spots = [spot for spot in map(world.layout.spot, range(2 * count)) if spot.status == FINE]
    names = {world.names.url(spot): None for spot in spots[:count]}
    chosen = {name: _address(name.partition("://")[2]) for name in names}
    drafts = {name: world.draft(name) for name in names}
    html = {name: render(draft).encode() for name, draft in drafts.items() if draft}
    pages = {chosen[name]: _rewired(page, name, chosen) for name, page in html.items()}
    seed = next(iter(pages))
    return Site("generated, not real: give --data for real ones", seed, _reachable(pages, seed))


def generated_world(pages: int, seed: int = 1) -> Any:
    """A generated web that nobody judges."""
    from honeyguide.contracts import Verdict  # noqa: PLC0415 only needed without real pages
    from honeyguide.worlds.synthetic import SyntheticWorld  # noqa: PLC0415

    return SyntheticWorld(lambda page: Verdict(0.0, False), pages, seed)


def _unpacked(archive: Path) -> Iterator[tuple[str, bytes]]:
    with archive.open("rb") as file:
        plain = zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(file)
        with tarfile.open(fileobj=plain, mode="r|") as tar:
            for member in tar:
                content = tar.extractfile(member)
                if content is not None and member.name.endswith(".htm"):
                    yield posixpath.normpath(member.name), content.read()


def _fits(html: bytes) -> bool:
    """Whether a page is of a usual kind, and may be kept."""
    degree = len(set(links_of(html)))
    return len(html) <= MOST_BYTES and degree >= FEWEST_LINKS and b"noindex" not in html


def _address(name: str) -> str:
    """Where a file is served: its own path, on the host that its name falls to."""
    path = re.sub(r"[^\w./-]", "_", "/".join(name.split("/")[-3:]), flags=re.ASCII)
    return f"http://h{crc32(name.encode()) % HOSTS:03}.example.com/{path}"


def _rewired(html: bytes, name: str, chosen: dict[str, str]) -> bytes:
    """The page with its links made absolute; one that leads outside leads to a chosen page."""
    addresses = list(chosen.values())

    def replaced(found: re.Match[bytes]) -> bytes:
        before, link, rest = found.groups()
        if not link:
            return found[0]
        file = unquote(urljoin(name, link.decode("utf-8", "replace")))
        url = chosen.get(file) or addresses[crc32(file.encode()) % len(addresses)]
        return before + url.encode() + rest

    return _anchor.sub(replaced, html)


def _reachable(pages: dict[str, bytes], seed: str) -> dict[str, bytes]:
    seen, queue = {seed: pages[seed]}, [seed]
    for url in queue:
        for link in links_of(pages[url]):
            if link not in seen:
                seen[link] = pages[link]
                queue.append(link)
    return seen


def links_of(html: bytes) -> list[str]:
    """The URLs that a page of a site links to."""
    return [link.decode("utf-8", "replace") for _, link, _ in _anchor.findall(html) if link]


# --------------------------------------------------------------------------- server


class _Server(asyncio.Protocol):
    """Answers GET; what was asked for since it was last told is told under /counts."""

    def __init__(
        self, answer: Callable[[bytes, bytes], bytes | None], counts: dict[str, float]
    ) -> None:
        self._answer_to = answer
        self._counts = counts
        self._rest = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._counts["connections"] += 1

    def data_received(self, data: bytes) -> None:
        *requests, self._rest = (self._rest + data).split(b"\r\n\r\n")
        for request in requests:
            self._transport.write(self._answer(request))

    def _answer(self, request: bytes) -> bytes:
        line, _, headers = request.partition(b"\r\n")
        path, counts = line.split(b" ", 2)[1], self._counts
        if path == b"/counts":
            told = message(json.dumps(counts).encode(), b"application/json")
            counts.update(dict.fromkeys(counts, 0))
            return told
        counts["first"] = counts["first"] or time.time()
        host = _host(headers)
        answer = self._answer_to(host[1] if host else b"", path)
        if answer is None:
            counts["missing"] += 1
            return message(b"<h1>Sorry</h1>", status=b"404 Not Found")
        counts["robots" if path == b"/robots.txt" else "pages"] += 1
        if counts["pages"] == 1:
            counts["first_page"] = counts["first_page"] or time.time()
        counts["bytes"] += len(answer)
        return answer


def message(
    body: bytes, kind: bytes = b"text/html; charset=utf-8", status: bytes = b"200 OK"
) -> bytes:
    """An answer as it goes over the wire."""
    head = b"HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n"
    return head % (status, kind, len(body)) + body


def from_memory(site: Site) -> Callable[[bytes, bytes], bytes | None]:
    """Answers that were made beforehand."""
    answers = {url.partition("://")[2].encode(): message(h) for url, h in site.pages.items()}
    robots = message(b"User-agent: *\nDisallow: /private/\n", b"text/plain")
    return lambda host, path: robots if path == b"/robots.txt" else answers.get(host + path)


def generated(pages: int, seed: int) -> Callable[[bytes, bytes], bytes | None]:
    """Answers of a generated web, made when they are asked for."""
    from honeyguide.worlds.synthetic.html import render  # noqa: PLC0415

    world = generated_world(pages, seed)

    def answer(host: bytes, path: bytes) -> bytes | None:
        place = world.names.find_host(host.decode())
        if place is None:
            return None
        if path == b"/robots.txt":
            return message(world.house.robots_txt(place).encode(), b"text/plain")
        draft = world.draft(f"http://{host.decode()}{path.decode()}")
        return message(render(draft).encode()) if draft else None

    return answer


async def serve(answer: Callable[[bytes, bytes], bytes | None]) -> None:
    """Answer on a free port, which is printed, until standard input ends."""
    names = ("first", "first_page", "connections", "robots", "pages", "bytes", "missing")
    counts = dict.fromkeys(names, 0.0)
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: _Server(answer, counts), ADDRESS, 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        # ends with whoever started it
        await loop.run_in_executor(None, sys.stdin.read)


def served(*what: str) -> AbstractContextManager[int]:
    """Serve in another process as long as this lasts, and say on which port."""
    return served_by(__file__, *what)


@contextmanager
def served_by(program: str, *what: str) -> Iterator[int]:
    """The same by another program that calls `serve`."""
    command = [sys.executable, program, *what]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin and process.stdout
        try:
            yield int(process.stdout.readline())
        finally:
            process.stdin.close()


def counts(port: int) -> dict[str, float]:
    """What was asked for since this was last asked for."""
    with urllib.request.urlopen(f"http://{ADDRESS}:{port}/counts") as answer:
        told: dict[str, float] = json.load(answer)
    return told


if __name__ == "__main__":
    if sys.argv[1] == "generated":
        uvloop.run(serve(generated(int(sys.argv[2]), int(sys.argv[3]))))
    else:
        uvloop.run(serve(from_memory(pickle.loads(Path(sys.argv[1]).read_bytes()))))
