"""Texts of example pages, read from files or visited in the world to crawl."""

import asyncio
import threading
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any

from honeyguide.contracts import World
from honeyguide.errors import HoneyguideError, explained
from honeyguide.judges.like import read_examples

FILE_ENDINGS = (".html", ".htm", ".txt", ".text")  # which no host has


def example_texts(names: Sequence[str], world: World) -> tuple[str, ...]:
    """The texts of example pages: of files, and of pages that the world knows by name or URL."""
    return tuple(_text(name, world) for name in names)


def _text(name: str, world: World) -> str:
    if Path(name).is_file():
        return read_examples([name])[0]
    if "://" not in name and name.lower().endswith(FILE_ENDINGS) and world.live:
        raise HoneyguideError(f"there is no file {name} to read; a URL begins with https://")
    return _run(_visited(name, world))


async def _visited(name: str, world: World) -> str:
    visit = await world.visit(world.find(name))
    await world.close()
    if visit.page is None or not visit.page.text.strip():
        reason = explained(visit.failure) or "it has no text"
        raise HoneyguideError(f"the example page {name} cannot be read: {reason}")
    return f"{visit.page.title}\n{visit.page.text}"


def _run(work: Coroutine[Any, Any, str]) -> str:
    """Run to the end, in a thread of its own, where a loop may be running in this one."""
    answer: list[str | HoneyguideError] = []

    def run() -> None:
        try:
            answer.append(asyncio.run(work))
        except HoneyguideError as error:
            answer.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if isinstance(answer[0], HoneyguideError):
        raise answer[0]
    return answer[0]
