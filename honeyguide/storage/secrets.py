"""Secrets of a crawl: its folder holds which there are, never their values.

Files with secrets must be named again as well: a folder that somebody else has made must not
choose which files of this machine are read.
"""

import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from honeyguide.errors import HoneyguideError
from honeyguide.plan import Plan
from honeyguide.web.access import HARMLESS
from honeyguide.web.proxies import parse_proxy

# settings whose values are not stored
SECRETS = ("header", "cookie", "auth_file", "proxy", "client_cert", "client_key", "ca_file")


def secrets_of(plan: Plan) -> dict[str, Any]:
    """The settings of a plan that its folder does not hold."""
    return {name: value for name in SECRETS if (value := getattr(plan, name))}


def without_secrets(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as they are stored: flags to say again instead of the values of secrets."""
    stored = dict(settings)
    again = [flag for name in SECRETS for flag in _flags(name, stored.get(name) or ())]
    if "header" in stored:
        stored["header"] = [each for each in stored["header"] if _is_harmless(each)]
    empty = {"cookie": [], **dict.fromkeys(SECRETS[2:], "")}
    stored |= {name: value for name, value in empty.items() if name in stored}
    return stored | ({"secrets": again} if again else {})


def with_secrets(plan: Plan, given: Mapping[str, Any]) -> dict[str, Any]:
    """What a run is given of the secrets; an error names those that are missing."""
    missing = [flag for flag in plan.secrets if _name(flag) not in given]
    if missing:
        raise HoneyguideError(
            f"this crawl needs what its folder does not hold: say {' '.join(missing)} again"
        )
    header = (*plan.header, *given.get("header", ()))
    return {**given, "header": header} if header else dict(given)


def check_values(plan: Plan) -> None:
    """Raise an error for a header without a value."""
    for each in plan.header:
        if not each.startswith("@") and each.rstrip().endswith(":"):
            raise HoneyguideError(f"the header {each.rstrip(': ')!r} has no value")


def _name(flag: str) -> str:
    return flag.split(maxsplit=1)[0].removeprefix("--").replace("-", "_")


def _flags(name: str, said: str | Sequence[str]) -> list[str]:
    """The flags to say again, with what may be stored of their values."""
    flag = f"--{name.replace('_', '-')}"
    if name == "header":
        return [f"{flag} {_header(each)}" for each in said if not _is_harmless(each)]
    if name == "cookie":
        return [f"{flag} {_cookie(each)}" for each in said]
    if name == "proxy" and said:
        return [f"{flag} {parse_proxy(str(said))}"]
    return [f"{flag} {_path(str(said))}"] if said else []


def _is_harmless(header: str) -> bool:
    return header.partition(":")[0].strip().lower() in HARMLESS


def _header(said: str) -> str:
    if said.startswith("@"):
        return f"@{_path(said[1:])}"
    host = re.match(r"https?://", said)
    start = host.end() if host else 0
    return f"'{said[:start]}{said[start:].partition(':')[0]}: ...'"


def _cookie(said: str) -> str:
    return f"{said.partition('=')[0].strip()}=..." if "=" in said else _path(said)


def _path(path: str) -> str:
    return shlex.quote(str(Path(path).absolute()))
