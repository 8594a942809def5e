"""Find and make parts by name: make("agent", "best_first"), make("judge", "label:Birds")."""

import inspect
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from honeyguide.errors import HoneyguideError, unknown
from honeyguide.registry.outside import (
    checked,
    error_text,
    import_allowed,
    import_installed,
    import_outside,
    known_names,
    note_outside,
    offered,
    place_of_class,
)
from honeyguide.registry.registration import (
    Part,
    Spec,
    import_family,
    is_built_in,
    is_ours,
    module_names,
    not_installed,
    registered,
    settings_of,
    source_of,
)

_place = re.compile(r"([^:]+\.py|[^\W\d][\w.]*):([^\W\d][\w.]*)(?::(.*))?", re.DOTALL).fullmatch


def parts(kind: str) -> dict[str, Part]:
    """All parts of a kind that can be made on this machine, by name."""
    import_family(kind)
    for name in offered(kind):
        with suppress(HoneyguideError):  # `broken` names it
            find(kind, name)
    return dict(sorted(registered.get(kind, {}).items()))


def broken(kind: str) -> dict[str, str]:
    """Parts that installed packages offer and that cannot be imported: name -> why."""
    found: dict[str, str] = {}
    for name in offered(kind):
        try:
            find(kind, name)
        except HoneyguideError as error:
            found[name] = str(error)
    return found


def missing(kind: str) -> dict[str, str]:
    """Parts of a kind that need an extra that is not installed: name -> extra."""
    import_family(kind)
    registered = re.compile(rf'@part\(\s*"{kind}", "(\w+)"')
    return {
        name: extra
        for module, extra in not_installed.get(kind, {}).items()
        for name in registered.findall(source_of(module))
    }


def make(kind: str, spec: str | Callable[..., Any], /, **offers: Any) -> Any:
    """Make the part that "name", "name:value", "name:key=value,..." or a class describes.

    Each of `offers` is passed on where the part's constructor has a parameter of that name.
    """
    if isinstance(spec, str):
        name, settings = split(kind, spec)
        found = find(kind, name)
    else:
        found, settings = checked(kind, spec.__qualname__, spec), ""
    accepted = inspect.signature(found.make).parameters
    arguments = {key: value for key, value in offers.items() if key in accepted}
    arguments |= settings_of(found, settings, accepted)
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
    return found.make(**arguments) if is_ours(found.make) else _made(found, arguments)


def _made(found: Part, arguments: Mapping[str, Any]) -> Any:
    """Make a part from outside; an error in its constructor is told in a sentence."""
    try:
        return found.make(**arguments)
    except HoneyguideError:
        raise
    except Exception as error:
        raise HoneyguideError(
            f"the {found.kind} {found.name} cannot be made: {error_text(error)}"
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
        return import_outside(kind, name)
    if name not in registered.get(kind, {}):
        import_family(kind, naming=name)  # only what has it: others may be slow to import
    if found := registered.get(kind, {}).get(name):
        note_outside(kind, found)
        return found
    for module, extra in not_installed.get(kind, {}).items():
        if module_names(module, name):
            raise HoneyguideError(
                f"{kind} {name!r} needs an extra: pip install 'honeyguide[{extra}]'"
            )
    if offers := offered(kind).get(name):
        return import_installed(kind, name, offers)
    if import_allowed(kind) and (found := registered.get(kind, {}).get(name)):
        return found
    if name.endswith(".py") or Path(f"{name}.py").is_file():
        raise HoneyguideError(f"{name} is a file, not a {kind}: name a class in it, {name}:CLASS")
    raise unknown(kind, name, known_names(kind))


def place_of(kind: str, spec: str) -> str:
    """The place of an outside part, found without importing it; empty for one of honeyguide's."""
    name = split(kind, spec).name
    if ":" in name:
        return name
    if not is_built_in(kind, name) and (offers := offered(kind).get(name)):
        return offers[0].value
    found = registered.get(kind, {}).get(name)
    return "" if found is None or is_ours(found.make) else place_of_class(found.make)


def lasting_spec(kind: str, spec: str | type) -> str:
    """The same part, named so that another process finds it: by its place, if it is outside."""
    if isinstance(spec, type):
        return place_of_class(checked(kind, spec.__qualname__, spec).make)
    name, settings = split(kind, spec)
    if ":" not in name and (is_built_in(kind, name) or name in offered(kind)):
        return spec
    place = place_of(kind, spec)
    where, _, attribute = place.rpartition(":")
    if where.endswith(".py"):
        place = f"{Path(where).absolute()}:{attribute}"
    return str(Spec(place, settings)) if place else spec


def _is_known(kind: str, name: str) -> bool:
    return name in known_names(kind)
