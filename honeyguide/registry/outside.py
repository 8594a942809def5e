"""Parts from outside: imported by their place, if the caller or the crawl has named them."""

import importlib
import importlib.util
import inspect
import os
import sys
import sysconfig
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import replace
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from honeyguide.errors import HoneyguideError, unknown
from honeyguide.registry.registration import (
    Part,
    built_in,
    is_built_in,
    is_ours,
    registered,
    registrations,
)

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
_importing: list[str] = []  # places of outside parts that are being imported, innermost last


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


def import_outside(kind: str, place: str) -> Part:
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
    found = checked(kind, place, made)
    note_outside(kind, found)
    return found


def _classes(owner: Any) -> list[str]:
    """The classes that a module defines itself, or all of its classes if it defines none."""
    classes = {name: value for name, value in vars(owner).items() if inspect.isclass(value)}
    own = [name for name, value in classes.items() if value.__module__ == owner.__name__]
    return own or list(classes)


def import_allowed(kind: str) -> bool:
    """Import what a resumed crawl declares: it may register the name that is looked for."""
    allowed = _allowed.get()
    for place in allowed.places if allowed else ():
        with suppress(HoneyguideError):  # a part of another kind
            import_outside(kind, place)
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


def import_installed(kind: str, name: str, offers: Sequence[EntryPoint]) -> Part:
    """Import a part that an installed package offers."""
    values = sorted({offer.value for offer in offers})
    if len(values) > 1:
        raise HoneyguideError(
            f"several installed packages offer the {kind} {name!r}: choose {' or '.join(values)}"
        )
    _permitted(kind, values[0])
    with _explained(kind, values[0]):
        made = offers[0].load()
    found = checked(kind, name, made)
    registered.setdefault(kind, {})[name] = found
    note_outside(kind, found, values[0])
    return found


def note_outside(kind: str, found: Part, place: str = "") -> None:
    """Tell `noting_outside` of a part, if it is from outside."""
    used = _used.get()
    if used is not None and not is_ours(found.make):
        used[place or place_of_class(found.make)] = kind


def checked(kind: str, name: str, made: Any) -> Part:
    """The part that a class makes: as it was registered, or with no more than its name."""
    same = registrations.get(made) if callable(made) else None
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
        raise HoneyguideError(
            f"the {kind} {place} cannot be imported: {error_text(error)}"
        ) from error
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


def error_text(error: BaseException) -> str:
    """An error of a stranger's code, with its file and line."""
    if isinstance(error, SyntaxError):
        return f"SyntaxError: {error.msg} ({error.filename}, line {error.lineno})"
    line = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__}: {error} ({line.filename}, line {line.lineno})"


def offered(kind: str) -> dict[str, list[EntryPoint]]:
    """What installed packages offer of a kind, by name; honeyguide's own names come first."""
    found: dict[str, list[EntryPoint]] = {}
    for each in entry_points(group=GROUP):
        of, _, name = each.name.partition(".")
        if of == kind and not is_built_in(kind, name):
            found.setdefault(name, []).append(each)
    return found


def place_of_class(made: Callable[..., Any]) -> str:
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


def known_names(kind: str) -> set[str]:
    """Names of all parts of a kind, whether or not they can be made here; nothing is imported."""
    return {*built_in(kind), *registered.get(kind, {}), *offered(kind)}
