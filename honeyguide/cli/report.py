"""honeyguide report: show the owner of a site what a crawl requested."""

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from honeyguide.cli import flags
from honeyguide.errors import HoneyguideError

if TYPE_CHECKING:
    from honeyguide.storage.host_report import HostReport


def report(
    folder: flags.Folder,
    host: Annotated[
        str | None,
        typer.Option("--host", help="Report on this host in full; a URL stands for its host."),
    ] = None,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", help="Print a line of JSON for each host; times are seconds since 1970."
        ),
    ] = False,
    out: Annotated[
        Path | None, typer.Option("--out", help="The file to write; - is standard output.")
    ] = None,
) -> None:
    """Show the owner of a site what a crawl requested, and when."""
    from honeyguide.storage.host_report import host_named, host_reports

    name = "" if host is None else host_named(host)
    if host is not None and not name:
        raise typer.BadParameter(f"{host!r} is no host or web address", param_hint="'--host'")
    found = host_reports(folder, name)
    lines = _json(found) if as_json else _readable(folder, found)
    if out is None or str(out) == "-":
        for line in lines:
            typer.echo(line)
    else:
        _write(out, lines)


def _json(found: Iterable["HostReport"]) -> Iterator[str]:
    return (json.dumps(asdict(each)) for each in found)


def _readable(folder: Path, found: Iterator["HostReport"]) -> Iterator[str]:
    from honeyguide.cli import report_text
    from honeyguide.storage.exports import status
    from honeyguide.storage.host_report import request_coverage

    first, second = next(found, None), next(found, None)
    if first is None:
        yield "No request was sent yet." if status(folder)["process"] else "No request was sent."
        return
    if first.is_empty:
        yield f"{folder} asked nothing of {first.host}."
        return
    if second is None:
        yield from report_text.letter(first)
    else:
        yield from report_text.overview(chain((first, second), found))
    yield ""
    yield from report_text.remarks(status(folder), request_coverage(folder))


def _write(out: Path, lines: Iterator[str]) -> None:
    if out.exists():
        raise HoneyguideError(f"{out} already exists: choose another place for the report")
    first = next(lines, "")  # a wrong folder or host leaves no file
    try:
        with out.open("x", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in (first, *lines))
    except OSError as error:
        raise HoneyguideError(f"cannot write {out}: {error.strerror}") from None
