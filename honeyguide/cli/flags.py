"""Flags that several commands share, and the TOML file that can give them."""

import difflib
import tomllib
from pathlib import Path
from typing import Annotated, Any, NewType, get_args, get_type_hints

import typer

from honeyguide.cli import help_groups as groups
from honeyguide.engine.machine import check_limit
from honeyguide.errors import HoneyguideError

MemorySize = NewType("MemorySize", str)  # "512M", "2G", or a number of bytes
NO_SIZE = MemorySize("")
# types that a TOML file may use for a flag, by the flag's type in the program
TOML_TYPES: dict[Any, tuple[tuple[type, ...], str]] = {
    bool: ((bool,), "true or false"),
    int: ((int,), "a whole number"),
    float: ((int, float), "a number"),
    str: ((str,), "text"),
    Path: ((str,), "text"),
    MemorySize: ((str, int), 'text such as "2G", or a number of bytes'),
}


def show_help(context: typer.Context) -> None:
    """Print the help of a group of commands when no command is named."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), err=True)
        raise typer.Exit(2)


def refuse_unused(world: str, read_as: str = "", **settings: Any) -> None:
    """Raise an error for settings that this world does not use: those of the live web.

    `read_as` is the world's argument that several flags are read into.
    """
    from honeyguide.registry import accepts

    for name, value in settings.items():
        if value and not accepts("world", world, read_as or name):
            flag = f"--{name.replace('_', '-')}"
            raise HoneyguideError(
                f"{flag} is a flag of the live web: world {world!r} has no use for it"
            )


# --------------------------------------------------------------------------- TOML files


def _read_config(context: typer.Context, path: Path | None) -> Path | None:
    """Use the keys of a TOML file as defaults of the flags with the same names."""
    if path is None:
        return None
    known = {name: parameter for parameter in context.command.params for name in _names(parameter)}
    hints = get_type_hints(context.command.callback)
    for key, value in _read_toml(path).items():
        name = key.replace("-", "_")
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else ""
            raise HoneyguideError(f"{path}: no flag is called {key!r}{hint}")
        name = known[name].name
        checked = _checked(f"{path}: {key}", _spec(value), hints[name])
        context.default_map = {**(context.default_map or {}), name: checked}
    return path


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise HoneyguideError(f"cannot read {path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:  # no TOML, no UTF-8, a number of many digits
        raise HoneyguideError(f"{path} is not TOML: {error}") from None


def _names(parameter: Any) -> set[str]:
    flags = {flag.lstrip("-").replace("-", "_") for flag in parameter.opts}
    return flags | ({parameter.name} if parameter.name else set())


def _checked(what: str, value: Any, hint: Any) -> Any:
    """Return the value if its type fits the flag; a list of one may be given as its only item."""
    if hint == list[str]:
        return [_checked(what, each, str) for each in (value if type(value) is list else [value])]
    kind = next(kind for kind in get_args(hint) or (hint,) if kind in TOML_TYPES)
    types, words = TOML_TYPES[kind]
    if type(value) not in types:
        raise HoneyguideError(f"{what} should be {words}, not {value!r}")
    if "\0" in str(value):
        raise HoneyguideError(f"{what} has a null character in it, which no flag can have")
    return value


def _spec(value: Any) -> Any:
    """Turn a table such as {name = "x", gamma = 0.9} into "x:gamma=0.9"."""
    if not isinstance(value, dict):
        return value
    settings = ",".join(f"{key}={setting}" for key, setting in value.items() if key != "name")
    return ":".join(filter(None, [str(value.get("name", "")), settings]))


# --------------------------------------------------------------------------- what to look for

Topic = Annotated[
    str, groups.look_for_flag("--topic", help="The topic: words or a sentence.", show_default=False)
]
Search = Annotated[
    list[str],
    groups.look_for_flag(
        "--search", help="A word or phrase to look for; repeat for more.", show_default=False
    ),
]
Like = Annotated[
    list[str],
    groups.look_for_flag(
        "--like",
        help="An example of a relevant page, a file or URL; repeat for more.",
        show_default=False,
    ),
]
Judge = Annotated[
    str,
    groups.look_for_flag(
        "--judge",
        help="What decides whether a page is relevant; see `honeyguide list judges`, or"
        " MODULE:CLASS.",
        autocompletion=groups.names_of("judge"),
    ),
]

# --------------------------------------------------------------------------- where to start

Seeds = Annotated[
    list[str],
    groups.start_flag(
        "--seed",
        help="A page to start from, or a file with one a line (- is standard input); repeat for"
        " more. hubs: well-known pages with many links; hubs:FILE: those of a list.",
        show_default=False,
    ),
]
World = Annotated[
    str,
    groups.start_flag(
        "--world",
        help="The web to crawl: web, graph:PATH, archive:PATHS or synthetic:pages=N,seed=N.",
        autocompletion=groups.names_of("world"),
    ),
]
Allow = Annotated[
    list[str],
    groups.start_flag(
        "--allow",
        help="Fetch only from this host, URL prefix or pattern with * (of hosts or URLs), or from"
        " those listed in a file; repeat for more.",
        show_default=False,
    ),
]
Deny = Annotated[
    list[str],
    groups.start_flag(
        "--deny",
        help="Never fetch from these; takes the same as --allow, and wins over it.",
        show_default=False,
    ),
]

# --------------------------------------------------------------------------- limits

Budget = Annotated[int, groups.limit_flag("--budget", min=1, help="Stop after this many pages.")]
MaxRelevant = Annotated[
    int | None,
    groups.limit_flag("--max-relevant", min=1, help="Stop after this many relevant pages."),
]
MaxSeconds = Annotated[
    float | None, groups.limit_flag("--max-seconds", min=0, help="Stop after this many seconds.")
]
MaxBytes = Annotated[
    int | None,
    groups.limit_flag("--max-bytes", min=1, help="Stop after downloading this many bytes."),
]
MaxBarren = Annotated[
    int | None,
    groups.limit_flag(
        "--max-barren",
        min=1,
        help="Stop after this many pages in a row without a new relevant one.",
    ),
]
MaxWaiting = Annotated[
    int | None,
    groups.limit_flag(
        "--max-waiting",
        min=1,
        help="Keep at most this many waiting links; drop those with the lowest scores.",
    ),
]


def _memory_size(size: object) -> str:
    """Return a memory limit as it was given, or empty."""
    if size == "":
        return ""
    try:
        check_limit(str(size))
    except HoneyguideError as error:
        raise typer.BadParameter(str(error)) from None
    return str(size)


def _max_memory(default: str) -> Any:
    return groups.limit_flag(
        "--max-memory",
        help="Use at most this much memory, such as 2G; at least 512M. Links with the lowest scores"
        f" are dropped to keep to it. [{default}]",
        parser=_memory_size,
        metavar="<size>",
        show_default=False,
    )


MaxMemory = Annotated[MemorySize, _max_memory("default: half of the machine's")]
OtherMaxMemory = Annotated[MemorySize, _max_memory("default: as before")]

# --------------------------------------------------------------------------- live web

Contact = Annotated[
    str, groups.live_flag("--contact", help="Your web or e-mail address, sent with every request.")
]
Delay = Annotated[
    float | None,
    groups.live_flag(
        "--delay",
        min=0,
        help="Seconds between two requests to a host. [default: 1 on the live web, else 0]",
    ),
]
SiteDelay = Annotated[
    float, groups.live_flag("--delay", min=0, help="Seconds between two requests to a host.")
]
Patience = Annotated[
    float | None,
    groups.live_flag(
        "--patience",
        min=0,
        help="Wait up to this many seconds for hosts with better links; 0: read what can be read"
        " now. [default: what two visits to a host take]",
    ),
]
PerHost = Annotated[
    int,
    groups.live_flag(
        "--per-host",
        min=1,
        help="Requests at once to a host that is yours or allows it. Hosts with a Crawl-delay or"
        " trouble get one.",
    ),
]
InFlight = Annotated[
    int | None,
    groups.live_flag(
        "--in-flight", min=1, help="Visits at the same time. [default: 16 on the live web, else 1]"
    ),
]
AllowPrivate = Annotated[
    bool,
    groups.live_flag("--allow-private", help="Allow addresses of this machine and its network."),
]
Resolve = Annotated[
    str,
    groups.live_flag(
        "--resolve",
        help='Where hosts are, instead of asking DNS: "NAME=ADDRESS:PORT,..."; * is any host.',
    ),
]

# --------------------------------------------------------------------------- parts

Encoder = Annotated[
    str,
    groups.part_flag(
        "--encoder",
        help="What turns words into vectors of meaning; see `honeyguide list encoders`.",
        autocompletion=groups.names_of("encoder"),
    ),
]
IdfSample = Annotated[
    str,
    groups.part_flag(
        "--idf-sample",
        help="Weigh words by their idf in this recorded web, not in the pages fetched; for glove.",
    ),
]
Gate = Annotated[
    str,
    groups.part_flag(
        "--gate",
        help="What may skip links whose turn has come; see `honeyguide list gates`.",
        autocompletion=groups.names_of("gate"),
    ),
]
Survey = Annotated[
    int,
    groups.part_flag(
        "--survey",
        min=0,
        help="For agents that read URLs: count the words of this many URLs first.",
    ),
]
RandomSeed = Annotated[
    int,
    groups.part_flag("--random-seed", min=0, help="The same number gives the same random choices."),
]

# --------------------------------------------------------------------------- output and settings


def _results_folder(name: str | Path) -> Path:
    """Return the folder that --out names; refuse an empty name, which would be this folder."""
    if not str(name).strip():
        raise HoneyguideError("--out names no folder")
    return Path(name)


Out = Annotated[
    Path,
    groups.output_flag(
        "--out",
        help="The folder for the results.",
        parser=_results_folder,
        metavar="<path>",
        show_default=False,
    ),
]
Config = Annotated[
    Path | None,
    groups.output_flag(
        "--config",
        callback=_read_config,
        is_eager=True,
        help="A TOML file with flags as keys; flags of the command line win.",
    ),
]
Folder = Annotated[Path, typer.Argument(help="The folder of a crawl.", show_default=False)]


def with_idf_sample(encoder: str, sample: str) -> str:
    """Return the spec of an encoder that takes its idf weights from a recorded web."""
    from honeyguide.registry import accepts, find, split

    if not sample:
        return encoder
    if not accepts("encoder", encoder, "idf_sample"):
        raise HoneyguideError(
            f"--idf-sample is for encoders that weigh words by idf, such as glove, not {encoder}"
        )
    if "," in sample:
        raise HoneyguideError(f"--idf-sample {sample} has a comma: rename the folder")
    name, settings = split("encoder", encoder)
    if settings and "=" not in settings:  # a bare argument would take all that follows it
        settings = f"{find('encoder', name).argument}={settings}"
    pieces = [*filter(None, [settings]), f"idf_sample={Path(sample).absolute()}"]
    return f"{name}:{','.join(pieces)}"
