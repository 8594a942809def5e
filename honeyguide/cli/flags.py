"""Flags that several commands share, and the file that can say the same."""

import difflib
import tomllib
from pathlib import Path
from typing import Annotated, Any, NewType, get_args, get_type_hints

import typer

from honeyguide.engine.machine import check_limit
from honeyguide.errors import HoneyguideError

MemorySize = NewType("MemorySize", str)  # "512M", "2G", or a number of bytes
NO_SIZE = MemorySize("")  # none was said
# what the value of a flag may be in a TOML file, by what the flag is in the program
KINDS: dict[Any, tuple[tuple[type, ...], str]] = {
    bool: ((bool,), "true or false"),
    int: ((int,), "a whole number"),
    float: ((int, float), "a number"),
    str: ((str,), "text"),
    Path: ((str,), "text"),
    MemorySize: ((str, int), 'text such as "2G", or a number of bytes'),
}


def _read_config(context: typer.Context, path: Path | None) -> Path | None:
    """Take a TOML file's keys as defaults for the flags of the same names."""
    if path is None:
        return None
    try:
        said = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise HoneyguideError(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:  # no TOML, no UTF-8, a number of many digits
        raise HoneyguideError(f"{path} is not TOML: {error}") from None
    known = {name: parameter for parameter in context.command.params for name in _names(parameter)}
    hints = get_type_hints(context.command.callback)
    for key, value in said.items():
        name = key.replace("-", "_")
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise HoneyguideError(f"{path}: no flag is called {key!r}{hint}")
        name = known[name].name
        fitting = _fitting(f"{path}: {key}", _spec(value), hints[name])
        context.default_map = {**(context.default_map or {}), name: fitting}
    return path


def show_help(context: typer.Context) -> None:
    """A group of commands that is given none shows what it has."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(2)


def check_heard(world: str, **said: Any) -> None:
    """A flag that a world would not hear is refused: where no server is asked, it means nothing."""
    from honeyguide.registry import accepts

    for name, value in said.items():
        if value and not accepts("world", world, name):
            flag = f"--{name.replace('_', '-')}"
            raise HoneyguideError(
                f"{flag} is a flag of the live web: world {world!r} has no use for it"
            )


def _names(parameter: Any) -> set[str]:
    flags = {flag.lstrip("-").replace("-", "_") for flag in parameter.opts}
    return flags | ({parameter.name} if parameter.name else set())


def _fitting(what: str, value: Any, hint: Any) -> Any:
    """The value as a flag of this type takes it; a list may be said as its only item."""
    if hint == list[str]:
        return [_fitting(what, each, str) for each in (value if type(value) is list else [value])]
    kind = next(kind for kind in get_args(hint) or (hint,) if kind in KINDS)
    types, words = KINDS[kind]
    if type(value) not in types:
        raise HoneyguideError(f"{what} should be {words}, not {value!r}")
    if "\0" in str(value):
        raise HoneyguideError(f"{what} has a null character in it, which no flag can have")
    return value


def _spec(value: Any) -> Any:
    """A table names a part and its settings: {name = "x", gamma = 0.9} is "x:gamma=0.9"."""
    if not isinstance(value, dict):
        return value
    settings = ",".join(f"{key}={setting}" for key, setting in value.items() if key != "name")
    return ":".join(filter(None, [str(value.get("name", "")), settings]))


Config = Annotated[
    Path | None,
    typer.Option(
        "--config",
        callback=_read_config,
        is_eager=True,
        help="A TOML file that says the same as the flags; flags given here win.",
    ),
]
Topic = Annotated[
    str, typer.Option("--topic", help="What to look for: words or a sentence.", show_default=False)
]
Search = Annotated[
    list[str],
    typer.Option(
        "--search", help="A word or phrase to look for; repeat for more.", show_default=False
    ),
]
Gate = Annotated[
    str, typer.Option("--gate", help="Whether a link is fetched; `honeyguide list gates`.")
]
MaxWaiting = Annotated[
    int | None,
    typer.Option("--max-waiting", min=1, help="Links that may wait; the worst are let go of."),
]


def _memory_size(said: object) -> str:
    """A limit of memory as it was said; empty if it was not."""
    if said == "":
        return ""
    try:
        check_limit(str(said))
    except HoneyguideError as error:
        raise typer.BadParameter(str(error)) from None
    return str(said)


def _max_memory(if_not_said: str) -> Any:
    return typer.Option(
        "--max-memory",
        help="Memory to keep to, such as 2G, at least 512M: the worst links are let go of."
        f" [{if_not_said}]",
        parser=_memory_size,
        metavar="<size>",
        show_default=False,
    )


MaxMemory = Annotated[MemorySize, _max_memory("default: half of the machine's")]
OtherMaxMemory = Annotated[MemorySize, _max_memory("as before if not said")]
Seeds = Annotated[
    list[str],
    typer.Option("--seed", help="A page to start from; repeat for more.", show_default=False),
]
Like = Annotated[
    list[str],
    typer.Option(
        "--like", help="A page like those sought, by file or URL; repeat.", show_default=False
    ),
]
World = Annotated[
    str,
    typer.Option("--world", help="web, graph:PATH, archive:PATHS or synthetic:pages=N,seed=N."),
]
Judge = Annotated[
    str, typer.Option("--judge", help="What counts as relevant; `honeyguide list judges`.")
]
Encoder = Annotated[
    str,
    typer.Option("--encoder", help="What turns words into meaning; `honeyguide list encoders`."),
]
Survey = Annotated[
    int,
    typer.Option("--survey", min=0, help="URLs of a recorded web to learn common words from."),
]
Budget = Annotated[int, typer.Option("--budget", min=1, help="Pages to fetch.")]
InFlight = Annotated[
    int | None,
    typer.Option("--in-flight", min=1, help="Visits at once; 16 on the live web, else 1."),
]
Contact = Annotated[str, typer.Option("--contact", help="Web or e-mail address shown to servers.")]
AllowPrivate = Annotated[
    bool, typer.Option("--allow-private", help="Allow addresses inside this network.")
]
Resolve = Annotated[
    str,
    typer.Option("--resolve", help='"NAME=ADDRESS:PORT,...": where hosts really are; * is any.'),
]
Delay = Annotated[
    float | None,
    typer.Option("--delay", min=0, help="Seconds between two requests to a host; live: 1, else 0."),
]
Patience = Annotated[
    float | None,
    typer.Option(
        "--patience", min=0, help="Seconds worth waiting for a much better link; twice the delay."
    ),
]
RandomSeed = Annotated[int, typer.Option("--random-seed", min=0, help="Makes a run repeatable.")]
