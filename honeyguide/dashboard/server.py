"""The dashboard's server: pages and figures for reading, orders from its own page only."""

import asyncio
import os
from collections.abc import Sequence
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any

import msgspec
from aiohttp import web

from honeyguide.dashboard.access import Access
from honeyguide.dashboard.crawl_watch import CrawlWatch
from honeyguide.dashboard.labels import Labels, MakeTeacher
from honeyguide.engine.orders import read_order
from honeyguide.errors import HoneyguideError
from honeyguide.storage.control import give_order
from honeyguide.storage.metrics import CONTENT_TYPE, exposition
from honeyguide.storage.why import why

LOOPBACK = "127.0.0.1"
ASSETS = {
    "index.html": "text/html",
    "style.css": "text/css",
    "app.js": "text/javascript",
    "view.js": "text/javascript",
    "chart.js": "text/javascript",
    "icon.svg": "image/svg+xml",
}
_MOST = 1 << 16  # bytes of an order


class Dashboard:
    """Serves the page for some crawls; `start` it in a running event loop."""

    def __init__(
        self,
        folders: Sequence[Path],
        make_teacher: MakeTeacher,  # of a crawl's judge, such as honeyguide.Teaching
        host: str = LOOPBACK,
        port: int = 0,  # 0: a free one
        token: str = "",  # that every request must have; made up where the host is not loopback
    ) -> None:
        self._access = Access(host, token)
        self._host, self._port = host, port
        self._watches = [CrawlWatch(*each) for each in zip(folders, _names(folders), strict=True)]
        self._labels = [Labels(folder, make_teacher) for folder in folders]
        self._runner: web.AppRunner | None = None

    @property
    def url(self) -> str:
        """The address to open."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        token = f"?token={self._access.token}" if self._access.token else ""
        return f"http://{host}:{self._access.port}/{token}"

    async def start(self) -> None:
        """Serve from now on; a HoneyguideError if the port is taken."""
        self._runner = web.AppRunner(self._app(), access_log=None)
        await self._runner.setup()
        site = web.TCPSite(self._runner, self._host, self._port)
        try:
            await site.start()
        except (OSError, UnicodeError) as error:
            await self.close()
            number = getattr(error, "errno", None) or 0
            reason = os.strerror(number) if number > 0 else "no such address"
            raise HoneyguideError(
                f"cannot serve a dashboard on port {self._port} of {self._host}: {reason}"
            ) from None
        self._access.port = self._runner.addresses[0][1]

    async def close(self) -> None:
        """End the server and its threads."""
        if self._runner is not None:
            await self._runner.cleanup()
        for watch in self._watches:
            await asyncio.to_thread(watch.close)
        for labels in self._labels:
            await asyncio.to_thread(labels.close)

    def _app(self) -> web.Application:
        app = web.Application(middlewares=[self._access.guard], client_max_size=_MOST)
        app.add_routes(
            [
                web.get("/", partial(self._asset, "index.html")),
                *(web.get(f"/{name}", partial(self._asset, name)) for name in list(ASSETS)[1:]),
                web.get("/metrics", self._metrics),
                web.get("/api/crawls", self._crawls),
                web.get("/api/crawls/{number}/why", self._why),
                web.post("/api/crawls/{number}/order", self._order),
                web.post("/api/crawls/{number}/answer", self._answer),
            ]
        )
        return app

    async def _asset(self, name: str, request: web.Request) -> web.Response:
        text = _read(name)
        if name == "index.html":
            text = text.replace("@CSRF@", self._access.csrf)
        return web.Response(text=text, content_type=ASSETS[name])

    async def _crawls(self, request: web.Request) -> web.Response:
        states = [
            watch.look() | {"news": labels.news}
            for watch, labels in zip(self._watches, self._labels, strict=True)
        ]
        return _json(states)

    async def _metrics(self, request: web.Request) -> web.Response:
        """Prometheus metrics of all crawls."""
        crawls = {each.name: await asyncio.to_thread(each.figures) for each in self._watches}
        return web.Response(text=exposition(crawls), headers={"Content-Type": CONTENT_TYPE})

    async def _why(self, request: web.Request) -> web.Response:
        watch = self._watches[self._number(request)]
        return await _told(why, watch.folder, request.query.get("url", ""))

    async def _order(self, request: web.Request) -> web.Response:
        watch = self._watches[self._number(request)]
        said = await _body(request)
        response = await _told(_give, watch.folder, said)
        watch.refresh()
        return response

    async def _answer(self, request: web.Request) -> web.Response:
        number = self._number(request)
        said = await _body(request)
        url, relevant = said.get("url"), said.get("relevant")
        if not isinstance(url, str) or relevant not in (True, False, None):
            raise web.HTTPBadRequest(reason="an answer has a url, and relevant: true or false")
        labels = self._labels[number]
        response = await _told(lambda: {"told": labels.answer(url, relevant)})
        self._watches[number].refresh()
        return response

    def _number(self, request: web.Request) -> int:
        said = request.match_info["number"]
        number = int(said) if said.isascii() and said.isdigit() else len(self._watches)
        if number >= len(self._watches):
            raise web.HTTPNotFound(reason="there is no such crawl")
        return number


def _names(folders: Sequence[Path]) -> list[str]:
    """Short names of folders: the last part of their paths, or more where that is not enough."""
    whole = [folder.resolve() for folder in folders]
    short = [path.name for path in whole]
    if len(set(short)) == len(short):
        return short
    return [f"{path.parent.name}/{path.name}" for path in whole]


def _give(folder: Path, said: dict[str, Any]) -> dict[str, str]:
    return {"told": give_order(folder, read_order(said)).sentence}


def _read(name: str) -> str:
    return (resources.files("honeyguide.dashboard") / "assets" / name).read_text("utf-8")


async def _body(request: web.Request) -> dict[str, Any]:
    try:
        said = msgspec.json.decode(await request.read())
    except msgspec.DecodeError:
        said = None
    if not isinstance(said, dict):
        raise web.HTTPBadRequest(reason="an order is a JSON object")
    return said


async def _told(do: Any, *arguments: Any) -> web.Response:
    """What a function returns as JSON; its HoneyguideError as a sentence."""
    try:
        return _json(await asyncio.to_thread(do, *arguments))
    except HoneyguideError as error:
        return _json({"error": str(error)}, 409)


def _json(value: Any, status: int = 200) -> web.Response:
    body = msgspec.json.encode(value)
    return web.Response(body=body, status=status, content_type="application/json")
