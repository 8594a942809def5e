"""Read the table of real URLs with their optimal values, and split it by domain."""

import csv
import io
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

import zstandard

from honeyguide.errors import HoneyguideError
from honeyguide.urls.domains import registrable

TABLE = "values.csv.zst"  # columns url, domain, value
TEST, VALIDATION = 0.5, 0.1  # shares: of all domains, and of the others (§3.7)


class Example(NamedTuple):
    """A URL with its optimal value."""

    url: str
    value: float

    @property
    def host(self) -> str:
        """The host of the URL."""
        return self.url.partition("://")[2].partition("/")[0].partition("?")[0].partition(":")[0]

    @property
    def is_full(self) -> bool:
        """Whether the URL has more than a host."""
        return bool(self.url.partition("://")[2].partition("/")[2])

    @property
    def is_uk(self) -> bool:
        """Whether the host is a .uk one."""
        return self.host.endswith(".uk")


def read_table(path: Path) -> list[Example]:
    """The rows of a table, each URL once."""
    if not path.exists():
        raise HoneyguideError(f"there is no {path}: the table of URLs with their optimal values")
    with path.open("rb") as file:
        text = io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(file), "utf-8")
        values = {row["url"].lower(): float(row["value"]) for row in csv.DictReader(text)}
    return [Example(f"http://{url}", value) for url, value in values.items()]


def side(example: Example) -> str:
    """The side of the split that a URL is on: "train", "validation" or "test".

    It depends on the name before the public suffix alone, so that all pages of a site are on one
    side, and name.blogspot.com with name.blogspot.co.uk.
    """
    name = registrable(example.host.removeprefix("www.")).partition(".")[0]
    place = int.from_bytes(blake2b(name.encode(), digest_size=8).digest(), "big") / 2**64
    if place < TEST:
        return "test"
    return "validation" if place < TEST + VALIDATION * (1 - TEST) else "train"
