"""Look at a crawl, running or not: a running one answers itself, another is restored.

A question is an order (storage/orders.py); the crawl answers between two visits, by a file in the
same folder. So its frontier is seen as it is, and the asker needs none of its memory.
"""

import re
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from honeyguide.disk.files import inside, open_inside, write_all
from honeyguide.engine.navigator import Navigator
from honeyguide.engine.view import (
    CrawlView,
    FrontierView,
    LearntView,
    UrlView,
    crawl_view,
    frontier_view,
    learnt_view,
    url_view,
)
from honeyguide.errors import HoneyguideError
from honeyguide.storage.lock import holder
from honeyguide.storage.orders import ASK, FOLDER, Order, remove_order, send_order, waiting_orders
from honeyguide.storage.restored import restored
from honeyguide.storage.stored_plan import Warn, ignore_warning

TIMEOUT = 20.0  # seconds to wait for an answer: a crawl may be judging its pages again
_PAUSE = 0.02  # seconds between two looks for the answer
_OLD = 60.0  # seconds after which nobody waits for an answer
_is_token = re.compile(r"[0-9a-f]{16}").fullmatch


class Question(Struct, frozen=True, omit_defaults=True):
    """What to look at."""

    links: int = 0  # best waiting links, with hosts and forms
    hosts: int = 20  # best hosts that are shown with them
    url: str = ""  # what became of it
    words: tuple[str, ...] | None = None  # what the agent thinks of them; () for its signs alone
    crawl: bool = False  # counts and tables


class Answer(Struct, frozen=True):
    """What was seen; None where the question did not ask."""

    frontier: FrontierView | None = None
    url: UrlView | None = None
    learnt: LearntView | None = None
    crawl: CrawlView | None = None
    seconds: float = 0.0  # that looking took the crawl
    error: str = ""


def look(folder: Path, question: Question, warn: Warn = ignore_warning) -> Answer:
    """Look at a crawl, without disturbing it if it runs."""
    answer = ask(folder, question) if holder(folder) else None
    if answer is None:
        navigator, now = restored(folder, warn)
        answer = seen(navigator, now, question)
    if answer.error:
        raise HoneyguideError(answer.error)
    return answer


def seen(navigator: Navigator, now: float, question: Question) -> Answer:
    """The answer to a question."""
    begin = time.perf_counter()
    try:
        return Answer(
            _frontier(navigator, now, question),
            url_view(navigator, question.url, now) if question.url else None,
            None if question.words is None else learnt_view(navigator, question.words),
            crawl_view(navigator) if question.crawl else None,
            time.perf_counter() - begin,
        )
    except HoneyguideError as error:
        return Answer(error=str(error))


def _frontier(navigator: Navigator, now: float, question: Question) -> FrontierView | None:
    if not question.links:
        return None
    return frontier_view(navigator, now, question.links, question.hosts)


def ask(folder: Path, question: Question, timeout: float = TIMEOUT) -> Answer | None:
    """The answer of a running crawl; None if it has ended."""
    token = secrets.token_hex(8)
    asked: dict[str, Any] = msgspec.to_builtins(question)
    order = {"order": ASK, "question": asked, "token": token, "asked": time.time()}
    send_order(folder, order)
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        with suppress(FileNotFoundError, msgspec.DecodeError):  # not there yet, or not whole
            return _read_answer(folder, token)
        if not (running := holder(folder)):
            _withdraw(folder, token)
            return None
        time.sleep(_PAUSE)
    _withdraw(folder, token)
    raise HoneyguideError(
        f"the crawl in {folder} (process {running}) did not answer within {timeout:.0f} seconds"
    )


def answer_order(
    folder: Path, order: Order, navigator: Navigator, clock: Callable[[], float]
) -> None:
    """Answer the question in an order; called between two visits of a running crawl."""
    token, asked = order.what.get("token"), order.what.get("asked")
    remove_order(folder, order)
    is_fresh = isinstance(asked, int | float) and abs(time.time() - asked) < _OLD
    if not (isinstance(token, str) and _is_token(token) and is_fresh):
        return
    try:
        question = msgspec.convert(order.what.get("question"), Question)
    except msgspec.ValidationError as error:
        answer = Answer(error=f"the question is not understood: {error}")
    else:
        answer = seen(navigator, clock(), question)
    _write_answer(folder, token, answer)


def _write_answer(folder: Path, token: str, answer: Answer) -> None:
    """Write an answer; nothing is synced, as nobody needs it after a crash."""
    orders = inside(folder, FOLDER)
    with suppress(OSError):  # the disk is full, or the folder is gone: the asker gets no answer
        _remove_old(orders)
        with open_inside(orders, f"{token}.answer", "xb") as file:
            write_all(file, msgspec.json.encode(answer))


def _read_answer(folder: Path, token: str) -> Answer:
    orders = inside(folder, FOLDER)
    with open_inside(orders, f"{token}.answer") as file:
        answer = msgspec.json.decode(file.readall(), type=Answer)
    (orders / f"{token}.answer").unlink(missing_ok=True)
    return answer


def _remove_old(orders: Path) -> None:
    """Remove answers that nobody has fetched."""
    for path in orders.glob("*.answer"):
        if time.time() - path.stat().st_mtime > _OLD:
            path.unlink(missing_ok=True)


def _withdraw(folder: Path, token: str) -> None:
    for order in waiting_orders(folder):
        if order.what.get("token") == token:
            remove_order(folder, order)
