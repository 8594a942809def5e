"""Secrets of a crawl: what of them its folder holds, and what a later run must be given again.

A folder holds the names of headers and cookies and the place of a proxy, never values or
passwords. It holds the paths of files with secrets, which are read again.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from honeyguide.errors import HoneyguideError
from honeyguide.plan import Plan
from honeyguide.web.access import HARMLESS

SECRETS = ("header", "cookie", "proxy")  # settings whose values are not stored
FILES = ("auth_file", "client_cert", "client_key", "ca_file")
_NO_LOGIN = "@"  # before the host of a proxy: there was a name and a password


def without_secrets(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as they are stored: without values of secrets, and with absolute paths."""
    stored = dict(settings)
    if "header" in stored:
        stored["header"] = [_header(each) for each in stored["header"]]
    if "cookie" in stored:
        stored["cookie"] = [cookie for each in stored["cookie"] for cookie in _cookies(each)]
    if stored.get("proxy"):
        stored["proxy"] = _proxy(stored["proxy"])
    return stored | {name: _absolute(stored[name]) for name in FILES if stored.get(name)}


def secrets_of(plan: Plan) -> dict[str, Any]:
    """The settings of a plan that its folder does not hold."""
    return {name: value for name in SECRETS if (value := getattr(plan, name))}


def check_secrets(plan: Plan) -> None:
    """Raise an error that names the secrets which this run was not given."""
    missing = [f"--header '{each} ...'" for each in plan.header if _lacks_value(each, ":")]
    missing += [f"--cookie {each}..." for each in plan.cookie if _lacks_value(each, "=")]
    if f"//{_NO_LOGIN}" in plan.proxy:
        missing.append(f"--proxy {plan.proxy.replace('//@', '//NAME:PASSWORD@')}")
    if missing:
        raise HoneyguideError(
            f"this crawl needs secrets, which its folder does not hold: say {' '.join(missing)}"
        )


def _lacks_value(said: str, separator: str) -> bool:
    return said.endswith(separator) and not said.startswith("@")


def _header(said: str) -> str:
    """A header without its value, unless that is no secret; a file by its absolute path."""
    if said.startswith("@"):
        return f"@{_absolute(said[1:])}"
    name = said.partition(":")[0]
    if said.startswith(("http://", "https://")):  # a host comes first
        host, _, rest = said.partition(" ")
        name = f"{host} {rest.partition(':')[0]}"
    return said if name.lower() in HARMLESS else f"{name}:"


def _cookies(said: str) -> list[str]:
    if "=" not in said:
        return [_absolute(said)]
    return [f"{pair.partition('=')[0].strip()}=" for pair in said.split(";") if pair.strip()]


def _proxy(said: str) -> str:
    login, at, place = said.rpartition("@")
    scheme = login.partition("://")[0] if "://" in login else "http"
    return f"{scheme}://{_NO_LOGIN}{place}" if at else said


def _absolute(path: str) -> str:
    return str(Path(path).absolute())
