"""Give orders to a crawl, running or not: what `honeyguide control` and dashboards call.

told = give_order("crawl", Deny(("news.example.org",)))
print(told.sentence)  # denied: news.example.org (131 waiting links withdrawn)
"""

import os
import shlex
import time
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from honeyguide.engine.orders import AnyOrder, Pause, Standing, Stop, read_standing
from honeyguide.errors import HoneyguideError
from honeyguide.storage.database import STANDING, about, reading
from honeyguide.storage.lock import holder
from honeyguide.storage.order_desk import REFUSED
from honeyguide.storage.orders import has_order, send_order

PAUSE = 0.02  # seconds between two looks at whether an order was carried out
WAIT = 10.0  # seconds that a crawl is given to carry out an order
CUT_OFF = "cut off"


class Told(NamedTuple):
    """What came of an order."""

    is_done: bool  # False: it is kept until the crawl is resumed, or not carried out yet
    sentence: str


def give_order(folder: str | Path, order: AnyOrder, wait: float = WAIT) -> Told:
    """Give an order to a crawl, and wait so many seconds until it is carried out.

    A crawl that does not run keeps the order until it is resumed. A HoneyguideError says why an
    order is refused.
    """
    place = Path(folder)
    orders_in_force(place)  # raises if there is no crawl
    _check_owner(place)
    if not holder(place) and isinstance(order, Pause | Stop):
        raise HoneyguideError(f"{place} does not run: there is nothing to {_name(order)}")
    file = send_order(place, order)
    deadline = time.monotonic() + wait
    while holder(place) and has_order(place, file) and time.monotonic() < deadline:
        time.sleep(PAUSE)
    return _told(place, file)


def give_orders(folder: str | Path, orders: Iterable[AnyOrder]) -> None:
    """Keep orders for a crawl that is about to be resumed."""
    _check_owner(Path(folder))
    for order in orders:
        send_order(Path(folder), order)


def orders_in_force(folder: str | Path) -> Standing:
    """The orders that are in force in a crawl, and what came of the last ones."""
    with reading(Path(folder)) as database:
        return read_standing(about(database).get(STANDING))


def _told(folder: Path, file: str) -> Told:
    if has_order(folder, file):
        return Told(False, _kept(folder))
    result = orders_in_force(folder).done.get(file, "done")
    if result.startswith(REFUSED):
        raise HoneyguideError(result.removeprefix(REFUSED))
    return Told(True, result)


def _kept(folder: Path) -> str:
    if holder(folder):
        return f"{folder} has not carried out the order yet: it will do so when it can"
    with reading(folder) as database:
        stopped = about(database).get("stopped") or CUT_OFF
    resume = f"honeyguide resume {shlex.quote(str(folder))}"
    return f"{folder} does not run ({stopped}): the order is kept, and '{resume}' carries it out"


def _check_owner(folder: Path) -> None:
    if hasattr(os, "geteuid") and folder.stat().st_uid != os.geteuid():
        raise HoneyguideError(f"only the owner of {folder} can give orders to its crawl")


def _name(order: AnyOrder) -> str:
    return type(order).__name__.lower()
