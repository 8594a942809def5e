"""Read the texts of example pages from files, or from pages of the world to crawl."""

import asyncio
import threading
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any

from honeyguide.contracts import World
from honeyguide.errors import HoneyguideError
from honeyguide.judges.like import read_examples


def example_texts(names: Sequence[str], world: World) -> tuple[str, ...]:
    """The texts of example pages; each name is a file, or a page that `World.find` knows."""
    return tuple(_text(name, world) for name in names)


def _text(name: str, world: World) -> str:
    if Path(name).is_file():
        return read_examples([name])[0]
    return _run(_text_in_world(name, world))


async def _text_in_world(name: str, world: World) -> str:
    visit = await world.visit(world.find(name))
    await world.close()
    if visit.page is None or not visit.page.text.strip():
        reason = visit.failure or "it has no text"
        raise HoneyguideError(f"the example page {name} cannot be read: {reason}")
    return f"{visit.page.title}\n{visit.page.text}"


def _run(work: Coroutine[Any, Any, str]) -> str:
    """Run a coroutine in a thread of its own, because an event loop may run in this one."""
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
