"""honeyguide control: pause, stop or steer a crawl, running or not."""

import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from honeyguide.cli import flags
from honeyguide.errors import HoneyguideError, unknown

if TYPE_CHECKING:
    from honeyguide.engine.orders import AnyOrder

Number = TypeVar("Number", int, float)
USES = {  # the orders, and what follows each of them
    "pause": "",
    "unpause": "",
    "stop": "",
    "deny": "PATTERN...",
    "allow": "PATTERN...",
    "seed": "URL...",
    "budget": "PAGES",
    "delay": "HOST [SECONDS]",
    "in-flight": "VISITS",
    "forget": "HOST",
    "answer": "URL yes|no",
}


def control(
    folder: flags.Folder,
    order: Annotated[
        str,
        typer.Argument(
            help="What to do: " + ", ".join(" ".join(use).strip() for use in USES.items()) + ".",
            show_default=False,
            autocompletion=lambda incomplete: [
                name for name in USES if name.startswith(incomplete)
            ],
        ),
    ],
    what: Annotated[
        list[str] | None,
        typer.Argument(help="Hosts, patterns, URLs or a number.", show_default=False),
    ] = None,
) -> None:
    """Steer a crawl: a running one obeys within a second, another when it is resumed.

    deny takes hosts, beginnings of URLs and patterns with *, as crawl --deny does; allow undoes
    it. delay without seconds goes back to the crawl's own delay. forget drops the waiting links of
    a host. answer teaches the judge, as honeyguide teach does.
    """
    from honeyguide.storage.control import give_order

    words = list(what or ())
    if order not in USES:
        raise unknown("order", order, USES)
    if order == "answer":
        _answer(folder, words)
        return
    typer.echo(give_order(folder, read_words(order, words)).sentence)


def read_words(name: str, words: Sequence[str]) -> "AnyOrder":
    """The order that these words of the command line say."""
    from honeyguide.engine import orders
    from honeyguide.guards.lists import read_list

    makers: dict[str, Callable[..., AnyOrder]] = {
        "pause": orders.Pause,
        "unpause": orders.Unpause,
        "stop": orders.Stop,
        "deny": lambda *said: orders.Deny(read_list(said)),
        "allow": lambda *said: orders.Allow(read_list(said)),
        "seed": lambda *said: orders.Seed(said),
        "budget": lambda pages: orders.Budget(_number(pages, int)),
        "delay": _delay,
        "in-flight": lambda visits: orders.InFlight(_number(visits, int)),
        "forget": lambda host: orders.Forget(orders.host_named(host)),
    }
    try:
        return makers[name](*words)
    except TypeError:  # too few words, or too many
        raise _usage(name) from None


def _delay(host: str, seconds: str | None = None) -> "AnyOrder":
    from honeyguide.engine.orders import Delay, host_named

    return Delay(host_named(host), None if seconds is None else _number(seconds, float))


def _number(said: str, kind: type[Number]) -> Number:
    try:
        return kind(said)
    except ValueError:
        what = "whole number" if kind is int else "number"
        raise HoneyguideError(f"{said!r} is no {what}") from None


def _usage(name: str) -> HoneyguideError:
    return HoneyguideError(f"say: honeyguide control DIR {name} {USES[name]}".rstrip())


def _answer(folder: Path, words: Sequence[str]) -> None:
    """Teach the judge of a crawl by one answer."""
    from honeyguide.cli.teach import print_error
    from honeyguide.training.crawl_teaching import Teaching

    if len(words) != 2 or words[1].lower() not in ("yes", "no", "y", "n"):
        raise _usage("answer")
    teaching = Teaching(folder, print_error)
    teaching.answer(words[0], words[1].lower().startswith("y"))
    rejudged = teaching.apply(wait=False)
    judges = f"the running crawl {shlex.quote(str(folder))} judges its pages again"
    typer.echo(judges if rejudged is None else str(rejudged))
