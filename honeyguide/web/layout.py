"""Where a browser draws the links of a page: playwright with the system's Chromium."""

import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from msgspec import structs

from honeyguide import urls
from honeyguide.contracts import Link, Page
from honeyguide.errors import HoneyguideError

PROGRAMS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
WINDOW: Any = {"width": 1280, "height": 800}
LONGEST = 10_000  # milliseconds for a page
_BOXES = """() => [...document.querySelectorAll('a[href], area[href]')].map(link => {
    const box = link.getBoundingClientRect();
    return [link.href, box.x + scrollX, box.y + scrollY, box.width, box.height];
})"""


def chromium() -> str:
    """The path of the system's Chromium; an error says how to install it."""
    for program in PROGRAMS:
        if path := shutil.which(program):
            return path
    raise HoneyguideError(
        "a browser is needed and there is none: install Chromium, on Debian 'apt install chromium'"
    )


class Layout:
    """Adds to each link the box that a browser draws it in, without any request."""

    def __init__(self, window: Any) -> None:
        self._window = window

    async def __call__(self, page: Page) -> Page:
        """The page with a box for each link; zeros for links that the browser did not find."""
        html = page.html.decode("utf-8", "replace")
        base = f'<base href="{page.url}">'
        await self._window.set_content(html.replace("<head>", f"<head>{base}", 1))
        boxes: dict[str, list[tuple[float, float, float, float]]] = {}
        for href, *box in await self._window.evaluate(_BOXES):
            boxes.setdefault(urls.canonical(href) or "", []).append(tuple(box))
        return replace(page, links=tuple(_boxed(link, boxes) for link in page.links))


def _boxed(link: Link, boxes: dict[str, list[tuple[float, float, float, float]]]) -> Link:
    """A link with the next box of its URL: both lists are in the order of the page."""
    waiting = boxes.get(link.url)
    box = (waiting.pop(0) if len(waiting) > 1 else waiting[0]) if waiting else (0.0,) * 4
    return structs.replace(link, box=box)


@asynccontextmanager
async def open_layout() -> AsyncIterator[Layout]:
    """Start a browser, and close it at the end."""
    try:
        from playwright.async_api import async_playwright  # noqa: PLC0415 an extra
    except ModuleNotFoundError:
        raise HoneyguideError(
            "a browser needs an extra: pip install 'honeyguide[browser]'"
        ) from None
    program = chromium()
    async with async_playwright() as play:
        browser = await play.chromium.launch(executable_path=program, headless=True)
        try:
            window: Any = await browser.new_page(viewport=WINDOW, java_script_enabled=False)
            window.set_default_timeout(LONGEST)
            await window.route("**/*", lambda route: route.abort())
            yield Layout(window)
        finally:
            await browser.close()
