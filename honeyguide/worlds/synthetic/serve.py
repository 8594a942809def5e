"""The generated web over real HTTP: one port on loopback, many host names."""

import asyncio
from collections.abc import Iterator, Mapping
from typing import Self

from aiohttp import web

from honeyguide.worlds.synthetic.html import render
from honeyguide.worlds.synthetic.layout import BROKEN, GONE, MOVED, NOT_FOUND, SILENT, Host, Spot
from honeyguide.worlds.synthetic.world import SyntheticWorld

ADDRESS = "127.0.0.1"
SLOW = 1.0  # seconds; what takes less is answered at once
_STATUS = {NOT_FOUND: 404, GONE: 410, BROKEN: 500, SILENT: 504}


class Server:
    """An HTTP server for all hosts of a generated web, chosen by the Host header."""

    def __init__(
        self,
        world: SyntheticWorld,
        port: int = 0,  # 0: a free one
        slowest: float = 0.5,  # seconds that slow pages take at most, and hosts that do not answer
        latency: float = 0.0,  # seconds before every answer
    ) -> None:
        self.world = world
        self.port = port
        self.slowest = slowest
        self.latency = latency
        self.requests: list[str] = []  # URLs in the order of requests

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_get("/{path:.*}", self._answer)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, ADDRESS, self.port)
        await site.start()
        self.port = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    @property
    def hosts(self) -> Mapping[str, tuple[str, int]]:
        """The address and port of each host name, for a resolver."""
        return _Hosts(self.world, self.port)

    async def _answer(self, request: web.Request) -> web.Response:
        name = request.host.partition(":")[0].lower()
        self.requests.append(f"http://{name}{request.raw_path}")
        if self.latency:
            await asyncio.sleep(self.latency)
        host = self.world.names.find_host(name)
        if host is None:
            return web.Response(status=404, text="no such host")
        response = self._house(host, request.raw_path) or await self._page(host, request.raw_path)
        if "gzip" in request.headers.get("Accept-Encoding", ""):
            response.enable_compression(web.ContentCoding.gzip)
        return response

    def _house(self, host: Host, path: str) -> web.Response | None:
        """robots.txt or the sitemap of a host, if the path is theirs."""
        house = self.world.house
        manners = house.manners(host)
        if path == "/robots.txt" and manners.robots:
            return web.Response(text=house.robots_txt(host))
        if path == "/sitemap.xml" and manners.sitemap:
            return web.Response(text=house.sitemap_xml(host), content_type="application/xml")
        return None

    async def _page(self, host: Host, path: str) -> web.Response:
        url = f"http://{self.world.names.host_name(host.number)}{path}"
        spot = self.world.spot(url)
        await self._wait(spot)
        draft = self.world.draft(url)
        if draft is None:
            status = _STATUS[spot.status if spot else NOT_FOUND]
            return web.Response(status=status, text="<h1>Sorry</h1>", content_type="text/html")
        if spot is not None and spot.status == MOVED:
            return web.Response(status=301, text="", headers={"Location": draft.url})
        return web.Response(text=render(draft), content_type="text/html", charset="utf-8")

    async def _wait(self, spot: Spot | None) -> None:
        seconds = self.world.house.seconds(spot) if spot else 0.0
        if seconds >= SLOW:
            await asyncio.sleep(min(seconds, self.slowest))


class _Hosts(Mapping[str, tuple[str, int]]):
    """A mapping of all host names of a web that does not store them."""

    def __init__(self, world: SyntheticWorld, port: int) -> None:
        self._world, self._port = world, port

    def __getitem__(self, name: str) -> tuple[str, int]:
        if self._world.names.find_host(name) is None:
            raise KeyError(name)
        return ADDRESS, self._port

    def __iter__(self) -> Iterator[str]:
        return map(self._world.names.host_name, range(len(self)))

    def __len__(self) -> int:
        return self._world.layout.hosts
