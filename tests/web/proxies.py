"""Proxies on loopback: HTTP with CONNECT and absolute URLs, and SOCKS5."""

import asyncio
import base64
import contextlib
import struct
from collections.abc import Mapping
from typing import Any


class ProxyServer:
    """Forwards to places by host name; notes what it was asked for."""

    def __init__(self, places: Mapping[str, tuple[str, int]], login: str = "") -> None:
        self.places = places
        self.login = login  # "NAME:PASSWORD"
        self.asked: list[str] = []  # "host:port"
        self._tasks: set[asyncio.Task[Any]] = set()

    async def __aenter__(self) -> "ProxyServer":
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task
        self._tasks.add(task)
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            await self.serve(reader, writer)
        writer.close()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        raise NotImplementedError

    async def open(self, host: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        self.asked.append(f"{host}:{port}")
        return await asyncio.open_connection(*self.places[host])


async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while piece := await reader.read(1 << 16):
        writer.write(piece)
        await writer.drain()
    writer.close()


async def join(
    near: tuple[asyncio.StreamReader, asyncio.StreamWriter],
    far: tuple[asyncio.StreamReader, asyncio.StreamWriter],
) -> None:
    await asyncio.gather(pump(near[0], far[1]), pump(far[0], near[1]))


class HttpProxy(ProxyServer):
    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        method, where, _ = head.split("\r\n")[0].split(" ")
        wanted = f"Proxy-Authorization: Basic {base64.b64encode(self.login.encode()).decode()}"
        if self.login and wanted not in head:
            writer.write(b"HTTP/1.1 407 Log in\r\ncontent-length: 0\r\n\r\n")
            return
        if method == "CONNECT":
            host, _, port = where.partition(":")
            if host not in self.places:
                writer.write(b"HTTP/1.1 502 No such host\r\ncontent-length: 0\r\n\r\n")
                return
            far = await self.open(host, int(port))
            writer.write(b"HTTP/1.1 200 Connected\r\n\r\n")
        else:
            host, _, path = where.removeprefix("http://").partition("/")
            far = await self.open(host.partition(":")[0], 80)
            far[1].write(head.replace(where, f"/{path}", 1).encode())
        await join((reader, writer), far)


class SocksProxy(ProxyServer):
    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        _, count = await reader.readexactly(2)
        methods = await reader.readexactly(count)
        method = 2 if self.login else 0
        writer.write(bytes((5, method if method in methods else 255)))
        if method not in methods:
            return
        if self.login and not await self._logged_in(reader, writer):
            return
        _, _, _, kind, length = await reader.readexactly(5)
        assert kind == 3, "names are left to the proxy"
        host = (await reader.readexactly(length)).decode()
        (port,) = struct.unpack("!H", await reader.readexactly(2))
        if host not in self.places:
            writer.write(bytes((5, 4, 0, 1, 0, 0, 0, 0, 0, 0)))
            return
        far = await self.open(host, port)
        writer.write(bytes((5, 0, 0, 1, 127, 0, 0, 1, 0, 80)))
        await join((reader, writer), far)

    async def _logged_in(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        said = []
        await reader.readexactly(1)
        for _ in range(2):
            (length,) = await reader.readexactly(1)
            said.append((await reader.readexactly(length)).decode())
        is_right = ":".join(said) == self.login
        writer.write(bytes((1, 0 if is_right else 1)))
        return is_right
