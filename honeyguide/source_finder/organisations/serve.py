"""Serve generated sites over HTTP on one loopback port, by host name."""

from typing import Self

from aiohttp import web

from honeyguide.source_finder.organisations.world import OrganisationsWorld

ADDRESS = "127.0.0.1"


class Server:
    """An HTTP server for all sites of a world; the Host header selects the site."""

    def __init__(self, world: OrganisationsWorld, port: int = 0) -> None:
        self.world = world
        self.port = port  # 0: any free port
        self.requests: list[str] = []  # requested URLs, in order

    async def __aenter__(self) -> Self:
        app = web.Application()
        app.router.add_get("/{path:.*}", self._answer)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, ADDRESS, self.port).start()
        self.port = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    async def _answer(self, request: web.Request) -> web.Response:
        name = request.host.partition(":")[0].lower()
        url = f"http://{name}{request.raw_path}"
        self.requests.append(url)
        body = self.world.html(url)
        if body is None:
            return web.Response(status=404, text="<h1>Sorry</h1>", content_type="text/html")
        return web.Response(body=body, content_type="text/html", charset="utf-8")
