"""The plan that a crawl folder holds, and the files that it names."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from honeyguide.disk.files import inside
from honeyguide.errors import HoneyguideError
from honeyguide.plan import PARTS, Plan
from honeyguide.registry import (
    Outside,
    Part,
    Spec,
    find,
    lasting_spec,
    place_of,
    split,
    unannounced,
)
from honeyguide.storage.database import settings

Warn = Callable[[str], None]  # called with a sentence for each loss that a crawl can do without
TAUGHT = r"taught:taught-\d+\.model"  # a judge that learnt from answers, with its file


def ignore_warning(sentence: str) -> None:
    """Do nothing."""


def with_absolute_paths(kind: str, spec: str) -> str:
    """Make the file names in a part's spec absolute: it then works from any working directory."""
    name, rest = split(kind, lasting_spec(kind, spec))
    found = find(kind, name)
    if not found.files or not rest:
        return str(Spec(name, rest))
    pieces = [rest] if found.is_list or _names_file(rest) else rest.split(",")
    return f"{name}:{','.join(_absolute_piece(found, piece, rest) for piece in pieces)}"


def outside_parts(plan: Plan) -> Outside:
    """Return the places of a plan's parts that are not honeyguide's own, without importing them."""
    named = [place_of(kind, getattr(plan, kind)) for kind in PARTS if getattr(plan, kind)]
    places = dict.fromkeys([*filter(None, named), *plan.outside_parts])
    folders = [folder for folder in plan.part_folders if Path(folder).is_absolute()]
    return Outside(tuple(places), tuple(folders) if places else ())


def _absolute_piece(found: Part, piece: str, rest: str) -> str:
    key = f"{found.files}=" if piece.startswith(f"{found.files}=") else ""
    path = piece.removeprefix(key)
    absolute = str(Path(path).absolute())
    is_safe = "," not in absolute or (piece == rest and not key)  # commas also separate settings
    is_file = not found.is_name(path) and _names_file(path)
    return key + absolute if is_file and is_safe else piece


def _names_file(path: str) -> bool:
    """Whether a path exists, or a glob pattern matches any file."""
    try:
        return bool(path) and (Path(path).exists() or any(Path().glob(path)))
    except (OSError, ValueError, NotImplementedError):  # too long, or not a relative pattern
        return False


def announced_outside(plan: Plan, warn: Warn) -> Outside:
    """The parts from outside that a plan may import; `warn` names those that nobody has named."""
    outside = outside_parts(plan)
    for place in unannounced(outside.places):
        where = f" (looked for in {', '.join(outside.folders)})" if outside.folders else ""
        warn(f"this crawl runs code from outside honeyguide: {place}{where}")
    return outside


def with_own_files(folder: Path, plan: Plan) -> Plan:
    """The plan with the paths of files in the crawl folder, which may have been moved."""
    if plan.policy:
        plan = replace(plan, policy=str(inside(folder, plan.policy)))
    if is_of_folder(folder, plan.judge):
        name, file = plan.judge.split(":", 1)
        plan = replace(plan, judge=f"{name}:{inside(folder, file)}")
    return plan


def is_of_folder(folder: Path, judge: str) -> bool:
    """Whether a judge's file is one that `honeyguide teach` has put into the crawl folder."""
    return re.fullmatch(TAUGHT, judge) is not None and (folder / judge.split(":")[1]).is_file()


def stored_plan(folder: Path) -> Plan:
    """The plan of a crawl."""
    try:
        # a crawl that an earlier version began goes on by the rules of that version
        return Plan(**{"bounded": False, "host_globs": False} | settings(folder))
    except TypeError as error:
        raise HoneyguideError(
            f"{folder} cannot be resumed: this version of honeyguide does not know all of its"
            f" settings ({error})"
        ) from None
