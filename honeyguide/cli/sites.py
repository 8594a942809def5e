"""Sites named on the command line: a generated set, or a file of URLs."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from honeyguide import urls
from honeyguide.cli.flags import refuse_unused
from honeyguide.contracts import Judge, Page, Verdict
from honeyguide.disk.line_files import read_lines
from honeyguide.errors import HoneyguideError
from honeyguide.registry import make
from honeyguide.source_finder.find import JudgedWorld

if TYPE_CHECKING:
    from honeyguide.source_finder.training.finder import SiteSet


class Row(msgspec.Struct):
    """A labelled site: its home page and its source pages."""

    home: str
    sources: list[str]


def labelled_place(name_or_file: str, kind: str, contact: str) -> "tuple[SiteSet, Judge]":
    """Return sites with known source pages, and the judge that recognises these."""
    from honeyguide.source_finder.training.finder import SiteSet

    if not Path(name_or_file).is_file():
        return _generated(name_or_file), make("judge", f"label:source:{kind}")
    rows = [
        _row(name_or_file, number, line)
        for number, line in enumerate(read_lines(Path(name_or_file)), 1)
    ]
    known = {urls.canonical(url) for row in rows for url in row.sources}

    def judge(page: Page) -> Verdict:
        return Verdict(float(page.url in known), page.url in known)

    return SiteSet(lambda judge: _web(judge, contact), [row.home for row in rows]), judge


def unlabelled_place(name_or_file: str, contact: str) -> "SiteSet":
    """Return sites whose source pages are not known."""
    from honeyguide.source_finder.training.finder import SiteSet

    if not Path(name_or_file).is_file():
        return _generated(name_or_file)
    return SiteSet(
        lambda judge: _web(judge, contact),
        [address(line) for line in read_lines(Path(name_or_file))],
    )


def address(said: str) -> str:
    """Return the canonical form of a URL that may lack its scheme."""
    found = urls.typed(said)
    if found is None:
        raise HoneyguideError(f"{said!r} is no web address, such as https://example.org/")
    return found


def _generated(world: str) -> "SiteSet":
    from honeyguide.source_finder.training.finder import SiteSet

    sites: Any = make("world", world, judge=lambda page: Verdict(0.0, False))
    if not hasattr(sites, "homes"):
        raise HoneyguideError(f"world {world!r} is not made of sites; use organisations:SET")
    return SiteSet(lambda judge: make("world", world, judge=judge), sites.homes)


def open_sites(world: str, delay: float, **live_settings: Any) -> Any:
    """Open a world of sites; settings of the live web are refused for other worlds."""
    refuse_unused(world, **live_settings)
    return open_world(world, delay=delay, **live_settings)


def open_world(world: str, **settings: Any) -> Any:
    """Open a world without a judge; settings that are empty are left out, but a delay of 0."""
    given = {name: value for name, value in settings.items() if value or name == "delay"}
    return make("world", world, judge=lambda page: Verdict(0.0, False), **given)


def _web(judge: Judge, contact: str) -> Any:
    return JudgedWorld(open_world("web", contact=contact), judge)


def _row(path: str, number: int, line: str) -> Row:
    try:
        row = msgspec.json.decode(line, type=Row)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
        raise HoneyguideError(f"{path} line {number} is no labelled site: {error}") from None
    return Row(address(row.home), [address(source) for source in row.sources])
