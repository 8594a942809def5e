"""Sites named on the command line: a generated set, or a file of URLs."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from honeyguide import urls
from honeyguide.cli.flags import refuse_unused
from honeyguide.contracts import Verdict
from honeyguide.disk.line_files import read_lines
from honeyguide.errors import HoneyguideError
from honeyguide.registry import make

if TYPE_CHECKING:
    from honeyguide.source_finder.training.finder import SiteGroup


class Row(msgspec.Struct):
    """A labelled site: its home page and its source pages."""

    home: str
    sources: list[str]


def labelled_group(name_or_file: str, kind: str, contact: str, pages: int) -> "SiteGroup":
    """Return sites with known source pages, to learn from."""
    from honeyguide.source_finder.training.finder import SiteGroup

    if not Path(name_or_file).is_file():
        world, homes = _generated(name_or_file)
        label = f"source:{kind}"
        return SiteGroup(
            world=world, homes=homes, worth=lambda page: float(label in page.labels),
            most_pages=pages,
        )  # fmt: skip
    rows = [
        _row(name_or_file, number, line)
        for number, line in enumerate(read_lines(Path(name_or_file)), 1)
    ]
    known = {urls.canonical(url) for row in rows for url in row.sources}
    return SiteGroup(
        world=open_world("web", contact=contact),
        homes=[row.home for row in rows],
        worth=lambda page: float(page.url in known),
        most_pages=pages,
    )


def address(said: str) -> str:
    """Return the canonical form of a URL that may lack its scheme."""
    found = urls.typed(said)
    if found is None:
        raise HoneyguideError(f"{said!r} is no web address, such as https://example.org/")
    return found


def _generated(spec: str) -> tuple[Any, tuple[str, ...]]:
    sites: Any = make("world", spec, judge=lambda page: Verdict(0.0, False))
    if not hasattr(sites, "homes"):
        raise HoneyguideError(f"world {spec!r} is not made of sites; use organisations:SET")
    return sites, sites.homes


def open_sites(world: str, delay: float, **live_settings: Any) -> Any:
    """Open a world of sites; settings of the live web are refused for other worlds."""
    refuse_unused(world, **live_settings)
    return open_world(world, delay=delay, **live_settings)


def open_world(world: str, **settings: Any) -> Any:
    """Open a world without a judge; settings that are empty are left out, but a delay of 0."""
    given = {name: value for name, value in settings.items() if value or name == "delay"}
    return make("world", world, judge=lambda page: Verdict(0.0, False), **given)


def _row(path: str, number: int, line: str) -> Row:
    try:
        row = msgspec.json.decode(line, type=Row)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError) as error:
        raise HoneyguideError(f"{path} line {number} is no labelled site: {error}") from None
    return Row(address(row.home), [address(source) for source in row.sources])
