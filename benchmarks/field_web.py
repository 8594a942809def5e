"""Webs of many hosts with labelled pages, served with the latencies of real servers.

As a program it serves one until its input ends: field_web.py WEB.pickle
"""

import asyncio
import json
import math
import pickle
import random
import re
import sys
import tarfile
import time
import urllib.request
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import cast
from urllib.parse import urldefrag, urljoin, urlsplit
from zlib import crc32

import uvloop
import zstandard
from served_site import ADDRESS, message

from honeyguide.contracts import Page, Verdict

MARK = b"<!-- field: relevant -->"  # at the end of pages that have the label looked for
READABLE_PAGES = 16_000
ASKED = b"/asked"  # tells which pages were asked for, and forgets them
ROBOTS = message(b"User-agent: *\nDisallow: /private/\n", b"text/plain")
_host = re.compile(rb"(?:^|\n)host: *([^\r\n ]+)", re.IGNORECASE).search
_anchor = re.compile(rb"(<a\b[^>]*?)\bhref\s*=\s*[\"']?([^\"'>\s]*)[\"']?", re.IGNORECASE)


class Marked:
    """Judges a page by the mark that its server has put there."""

    def __call__(self, page: Page) -> Verdict:
        """Relevance 1 or 0."""
        is_relevant = page.html.endswith(MARK)
        return Verdict(float(is_relevant), is_relevant)


@dataclass(frozen=True, slots=True)
class FieldWeb:
    """Pages by URL; every link on them leads to one of them."""

    source: str
    topic: str
    pages: dict[str, bytes]  # URL -> HTML
    median: float  # seconds until an answer
    spread: float  # standard deviation of its logarithm, for hosts and for pages

    @property
    def relevant(self) -> int:
        """How many pages have the label."""
        return sum(html.endswith(MARK) for html in self.pages.values())

    def starts(self, count: int) -> list[str]:
        """Pages from which most of the web can be reached."""
        chance, links = random.Random(0), {url: self._links(url) for url in self.pages}
        found: list[str] = []
        for url in chance.sample(sorted(self.pages), len(self.pages)):
            if len(links[url]) >= 5 and len(_reached(links, url)) > len(self.pages) / 5:
                found.append(url)
            if len(found) == count:
                return found
        sys.exit(f"only {len(found)} pages lead to a fifth of this web")

    def _links(self, url: str) -> list[str]:
        found = {_target(url, link) for _, link in _anchor.findall(self.pages[url])}
        return sorted(found & self.pages.keys())


def _reached(links: dict[str, list[str]], start: str) -> set[str]:
    seen, queue = {start}, [start]
    for url in queue:
        new = [link for link in links[url] if link not in seen]
        seen.update(new)
        queue += new
    return seen


def _target(url: str, link: bytes) -> str:
    try:
        return urldefrag(urljoin(url, link.decode("latin-1")))[0]
    except ValueError:
        return ""


def webkb(data: Path, hosts: int, label: str, topic: str, median: float, spread: float) -> FieldWeb:
    """The largest hosts of the computer-science departments of 1997, with their own names."""
    pages: dict[str, bytes] = {}
    with (data / "webkb" / "html.tar.zst").open("rb") as file:
        plain = zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(file)
        with tarfile.open(fileobj=plain, mode="r|") as tar:
            for member in tar:
                content = tar.extractfile(member)
                if content is not None and member.name.count("/") == 5:
                    kind, url = member.name.split("/")[3], member.name.split("/")[5]
                    html = content.read().partition(b"\n\n")[2]
                    pages[_url(url)] = html + (MARK if kind == label else b"")
    largest = Counter(urlsplit(url).netloc for url in pages).most_common(hosts)
    names = {name for name, _ in largest}
    kept = {url: html for url, html in pages.items() if urlsplit(url).netloc in names}
    inside = {url: _inside(url, html, kept) for url, html in kept.items()}
    return FieldWeb(f"webkb: {label}, {hosts} hosts", topic, inside, median, spread)


def _url(name: str) -> str:
    url = "http://" + name.partition("^^")[2].replace("^", "/")  # its colon is written otherwise
    return url if url.count("/") > 2 else f"{url}/"


def _inside(url: str, html: bytes, pages: dict[str, bytes]) -> bytes:
    """The page without links that lead outside."""

    def replaced(found: re.Match[bytes]) -> bytes:
        to = _target(url, found[2])
        return found[1] + (b'href="%s"' % to.encode() if to in pages else b"")

    return _anchor.sub(replaced, html)


def readable(hosts: int, topic: str, median: float, spread: float) -> FieldWeb:
    """The readable generated web, on so many hosts; each has several of its sites."""
    from honeyguide.worlds.readable.world import ReadableWorld  # noqa: PLC0415 only for this web
    from honeyguide.worlds.synthetic.html import render  # noqa: PLC0415

    def moved(url: str) -> str:
        place = urlsplit(url)
        host = f"h{crc32(place.netloc.encode()) % hosts:03}.example"
        return f"http://{host}/{place.netloc.partition('.')[0]}{place.path}"

    world = ReadableWorld(lambda page: Verdict(0.0, False), READABLE_PAGES)
    drafts = [world.writer.draft(spot) for spot in world.layout.spots if world._can_be_read(spot)]
    known = {draft.url: moved(draft.url) for draft in drafts}
    pages: dict[str, bytes] = {}
    for draft in drafts:
        mark = MARK if f"topic:{topic}" in draft.labels else b""
        html = re.sub(
            r'href="([^"]*)"',
            lambda found: f'href="{known[found[1]]}"' if found[1] in known else "",
            render(draft),
        )
        pages[known[draft.url]] = html.strip().encode() + mark
    return FieldWeb(f"readable: {topic}, {hosts} hosts", topic, pages, median, spread)


# --------------------------------------------------------------------------- server


class _Server(asyncio.Protocol):
    """Answers after a lognormal time, the same for a page in every run."""

    def __init__(self, web: FieldWeb, asked: list[tuple[float, str]]) -> None:
        self._web = web
        self._asked = asked
        self._rest = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        *requests, self._rest = (self._rest + data).split(b"\r\n\r\n")
        for request in requests:
            line, _, headers = request.partition(b"\r\n")
            path, found = line.split(b" ", 2)[1], _host(headers)
            host = found[1].decode() if found else ""
            self._answer(host, path)

    def _answer(self, host: str, path: bytes) -> None:
        if path == ASKED:
            self._transport.write(message(json.dumps(self._asked).encode(), b"application/json"))
            self._asked.clear()
            return
        url = f"http://{host}{path.decode()}"
        wait = self._web.median * math.exp(self._web.spread * (_normal(host) + _normal(url)))
        asyncio.get_running_loop().call_later(wait, self._send, url, path)

    def _send(self, url: str, path: bytes) -> None:
        if self._transport.is_closing():
            return
        if path == b"/robots.txt":
            self._transport.write(ROBOTS)
            return
        html = self._web.pages.get(url)
        self._asked.append((time.time(), url))
        answer = message(b"", status=b"404 Not Found") if html is None else message(html)
        self._transport.write(answer)


def _normal(name: str) -> float:
    return random.Random(name).gauss(0.0, 1.0)


async def _serve(web: FieldWeb) -> None:
    asked: list[tuple[float, str]] = []
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: _Server(web, asked), ADDRESS, 0, backlog=1024)
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await loop.run_in_executor(None, sys.stdin.read)  # ends with whoever started it


def asked_for(port: int) -> list[tuple[float, str]]:
    """The time and URL of each page since this was last called."""
    with urllib.request.urlopen(f"http://{ADDRESS}:{port}{ASKED.decode()}") as answer:
        return [(when, url) for when, url in json.load(answer)]


if __name__ == "__main__":
    sys.modules["field_web"] = sys.modules["__main__"]  # of the class in the pickle
    uvloop.run(_serve(pickle.loads(Path(sys.argv[1]).read_bytes())))
