"""Orders to a running crawl: files in its folder, which only the folder's owner can write.

An order is a small JSON object with the field `order`. A file appears whole or not at all. The
crawl carries orders out in the order of their files' names, and removes each when that is done.
Orders to a crawl that does not run wait until it is resumed.
"""

import json
import os
import stat
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from honeyguide.disk.files import inside, make_folder, open_inside, replacing
from honeyguide.engine.orders import AnyOrder
from honeyguide.errors import HoneyguideError

FOLDER = "orders"
ASK = "ask"  # the order that is a question
PAUSE = 0.25  # seconds between two looks at the folder
_MOST = 1 << 20  # bytes of an order


class Order(NamedTuple):
    """An order, and the file that it is in."""

    file: str
    what: dict[str, Any]


def send_order(folder: Path, order: AnyOrder | Mapping[str, Any]) -> str:
    """Put an order into a crawl's folder; return the name of its file."""
    orders, name = inside(folder, FOLDER), f"{time.time_ns():020}-{os.getpid()}.json"
    try:
        make_folder(orders)
        orders.chmod(0o700)
        with replacing(orders / name) as file:
            file.write(msgspec.json.encode(order))
        (orders / name).chmod(0o600)
    except OSError as error:
        raise HoneyguideError(f"cannot write an order into {orders}: {error.strerror}") from None
    return name


def has_order(folder: Path, name: str) -> bool:
    """Whether the file of an order is still there."""
    return inside(inside(folder, FOLDER), name).exists()


def waiting_orders(folder: Path) -> Iterator[Order]:
    """The orders that wait in a folder, oldest first; files of others and damaged ones are left."""
    orders = inside(folder, FOLDER)
    with suppress(OSError):
        names = sorted(path.name for path in orders.glob("*.json"))
        for name in names:
            what = _read(orders, name)
            if what is not None:
                yield Order(name, what)


def remove_order(folder: Path, order: Order) -> None:
    """Remove an order that was carried out."""
    with suppress(FileNotFoundError):
        inside(inside(folder, FOLDER), order.file).unlink()


class OrderWatch:
    """A thread that calls `obey` with each new order, until it is closed."""

    def __init__(self, folder: Path, obey: Callable[[Order], None]) -> None:
        self._folder = folder
        self._obey = obey
        self._seen: set[str] = set()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="honeyguide orders", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the thread."""
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._ended.wait(PAUSE):
            for order in waiting_orders(self._folder):
                if order.file not in self._seen:
                    self._seen.add(order.file)
                    self._obey(order)


def _read(orders: Path, name: str) -> dict[str, Any] | None:
    try:
        with open_inside(orders, name) as file:
            about = os.fstat(file.fileno())
            is_owners = about.st_uid == orders.parent.stat().st_uid and not about.st_mode & 0o022
            if not (is_owners and stat.S_ISREG(about.st_mode) and about.st_size <= _MOST):
                return None
            what = json.loads(file.read(_MOST))
    except (OSError, ValueError, HoneyguideError):
        return None
    return what if isinstance(what, dict) and isinstance(what.get("order"), str) else None
