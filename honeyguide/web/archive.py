"""Fetch pages from WARC files."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from honeyguide import urls
from honeyguide.contracts import Link, Response
from honeyguide.errors import HoneyguideError
from honeyguide.registry import part
from honeyguide.warc.reader import Archived, locations, read_at
from honeyguide.web.decoding import decode
from honeyguide.web.fetch_limits import Terms

_MAGIC = {"gzip": b"\x1f\x8b", "x-gzip": b"\x1f\x8b", "zstd": b"\x28\xb5\x2f\xfd"}


@part("fetcher", "archive", argument="paths")
class ArchiveFetcher:
    """Fetches from WARC files; of several captures of a URL, the last one in the files.

    `paths` are files, folders or patterns, in one text separated by commas.
    """

    def __init__(self, paths: str | Sequence[str | Path], terms: Terms | None = None) -> None:
        self._terms = terms or Terms()
        self._files = list(warc_files([paths] if isinstance(paths, str) else paths))
        self._places: dict[str, tuple[int, int]] = {}  # URL: file, offset
        for number, path in enumerate(self._files):
            for url, offset in locations(path):
                self._places[urls.canonical(url) or url] = number, offset

    def __len__(self) -> int:
        return len(self._places)

    async def fetch(self, link: Link, terms: Terms | None = None) -> Response:
        """The archived response for a link."""
        terms = terms or self._terms
        place = self._places.get(urls.canonical(link.url) or link.url)
        if place is None:
            return Response(link, link.url, 0, failure="not archived")
        try:
            found = read_at(self._files[place[0]], place[1], terms.max_bytes)
        except (HoneyguideError, OSError):
            found = None
        if found is None:
            return Response(link, link.url, 0, failure="damaged archive")
        body, failure = answer(found, terms)
        return Response(link, found.url, found.status, found.headers, body, failure)

    async def close(self) -> None:
        """Do nothing: no file stays open."""


def warc_files(paths: Sequence[str | Path]) -> Iterator[Path]:
    """The WARC files that paths, folders and patterns name, in order."""
    for name in paths:
        path = Path(name)
        if path.is_file():
            yield path
            continue
        inside = path.rglob("*.warc*") if path.is_dir() else path.parent.glob(path.name)
        found = sorted(file for file in inside if file.suffix in (".gz", ".warc", ".zst"))
        if not found and "," in str(name):
            found = list(warc_files(str(name).split(",")))
        if not found:
            raise HoneyguideError(f"no WARC file at {name}")
        yield from found


def answer(found: Archived, terms: Terms) -> tuple[bytes, str]:
    """The decoded body, and the failure if it is not what the terms ask for."""
    kind = found.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind and terms.content_types and kind not in terms.content_types and found.status < 300:
        return b"", "content type"
    encoding = found.headers.get("content-encoding", "").lower()
    body, failure = found.body, ""
    # many archives keep the header but store the decoded body
    if encoding and body.startswith(_MAGIC.get(encoding, b"")):
        body, failure = decode(body, encoding, terms.max_decoded_bytes)
    return body, "truncated" if found.cut and not terms.cut else failure
