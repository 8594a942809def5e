"""Import the HTML files of a site from a folder or a tar archive."""

import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

from honeyguide import urls
from honeyguide.contracts import Link
from honeyguide.errors import HoneyguideError
from honeyguide.recorded.importers.streams import Progress, open_stream
from honeyguide.recorded.importers.tar import TarError, tar_files
from honeyguide.recorded.writer import GraphWriter
from honeyguide.web.html import MAX_BODY, parse

# Files with other suffixes may be pages: old sites use many.
OTHER_FILES = frozenset(
    ".css .js .json .xml .txt .md .csv .png .jpg .jpeg .gif .svg .ico .bmp .tif .tiff .webp .pdf"
    " .ps .eps .dvi .doc .ppt .xls .zip .gz .z .tar .zst .bz2 .mp3 .mp4 .wav .au .avi .mpg .mov"
    " .woff .woff2 .ttf .eot .exe .jar .class .map".split()
)
INDEXES = ("index.html", "index.htm")
# Further index files of servers before 2000.
_old_index = re.compile(r"/(?:index|welcome|home|homepage)\.html?$", re.IGNORECASE).sub
_slashes = re.compile(r"(?<!:)/{2,}").sub
# A file named for its URL, with ^ for /; some file systems move ":" to a private character.
_as_url = re.compile(r"([a-z]+)[:\uf03a]?\^\^(.*)").fullmatch
_moved = re.compile("[\uf001-\uf07e]").sub
# Possessive quantifiers: else n lines without an end could be read in 2^n ways.
_http_head = re.compile(
    rb"(?:HTTP/\d[^\n]*+\n)?(?:[A-Za-z][\w-]*+:[^\n]*+\n(?:[ \t]++\S[^\n]*+\n)*+)++\r?\n"
).match
LONGEST_HEAD = 1 << 16  # bytes of HTTP headers before a page
_content_type = re.compile(rb"^content-type:([^\r\n]*)", re.IGNORECASE | re.MULTILINE).search


def import_html(source: Path, out: Path, progress: Progress | None = None) -> dict[str, int]:
    """Write a recorded web from HTML files; return counts."""
    source = Path(source)
    names = [name for name, _ in _files(source, None, bodies=False)]
    if not names:
        raise HoneyguideError(f"{source} has no HTML files")
    top = os.path.commonpath([str(PurePosixPath(name).parent) for name in names])
    with GraphWriter(out) as writer:
        site = _Site(writer.site, top, names)
        for name, body in _files(source, progress, bodies=True):
            site.add(writer, name, body)
    return writer.counts


class _Site:
    """Maps links to the files of a site."""

    def __init__(self, url: str, top: str, names: list[str]) -> None:
        self._url, self._top = url, top
        ids = [self._id(name) for name in names]
        self._ids = {urls.canonical(id) or id: id for id in ids} | {id: id for id in ids}
        longest_first = sorted(ids, key=lambda id: (-len(id), id))
        self._by_loose_name = {_loose(urls.canonical(id) or id): id for id in longest_first}

    def add(self, writer: GraphWriter, name: str, body: bytes) -> None:
        """Parse a file and append it."""
        id = self._id(name)
        head = _http_head(body, 0, LONGEST_HEAD)
        kind = _content_type(head[0]) if head else None
        url = urls.canonical(id) or urls.canonical(self._url + _quoted(id)) or self._url
        parsed = parse(
            body[head.end() :] if head else body,
            url,
            kind[1].decode("latin-1") if kind else "",
        )
        page = parsed.page
        links = [
            (self._target(link), link.anchor, link.context, link.tag_path) for link in page.links
        ]
        writer.add(id, url, page.title, page.text, links, _labels(self._within(name)))

    def _within(self, name: str) -> PurePosixPath:
        return PurePosixPath(name).relative_to(self._top)

    def _id(self, name: str) -> str:
        path = self._within(name)
        found = _as_url(path.name)
        if found is None:
            return str(path)
        rest = _moved(lambda sign: chr(ord(sign[0]) - 0xF000), found[2])
        return f"{found[1]}://{rest.strip().replace('^', '/')}"

    def _target(self, link: Link) -> str:
        """Return the id of the file that a link leads to, or its URL if there is none."""
        name = link.url
        if name.startswith(self._url):
            name = unquote(name[len(self._url) :].partition("?")[0])
        for spelling in (name, *_equivalents(name)):
            if spelling in self._ids:
                return self._ids[spelling]
        return self._by_loose_name.get(_loose(name), link.url)


def _equivalents(name: str) -> Iterator[str]:
    """Yield the names for which a server would send the same page: with /, with an index file."""
    folder, _, file = name.rpartition("/")
    if file and file not in INDEXES:
        folder = name
        yield folder + "/"
    elif file:
        yield folder + "/"
    yield folder
    for index in INDEXES:
        yield f"{folder}/{index}" if folder else index


def _loose(name: str) -> str:
    """Return a name without differences that servers ignore: //, %2B, Welcome.html, www."""
    plain = _slashes("/", unquote(name)).replace("://www.", "://", 1)
    return _old_index("", plain).rstrip("/")


def _quoted(path: str) -> str:
    return path.replace("%", "%25").replace("?", "%3F").replace("#", "%23")


def _labels(path: PurePosixPath) -> list[str]:
    folders = path.parts[:-1]
    if _as_url(path.name):
        return [f"{kind}:{name}" for kind, name in zip(("class", "univ"), folders, strict=False)]
    return [f"folder:{folders[0]}"] if folders else []


# ----------------------------------------------------------------------- files


def _files(source: Path, progress: Progress | None, bodies: bool) -> Iterator[tuple[str, bytes]]:
    """Yield names and contents of files that may be HTML, always in the same order."""
    if source.is_dir():
        yield from _in_folder(source, progress, bodies)
        return
    with open_stream(source, progress) as stream:
        try:
            for name, body in tar_files(stream, source, MAX_BODY if bodies else 0):
                plain = _relative(name)
                if plain and _may_be_html(plain):
                    yield plain, body
        except TarError as error:
            raise HoneyguideError(
                f"{source} is neither a folder nor a valid tar file: {error}"
            ) from None


def _relative(name: str) -> str:
    """Return a name relative to the archive, without .. and leading slashes."""
    return "/".join(part for part in name.split("/") if part not in ("", ".", ".."))


def _in_folder(
    source: Path, progress: Progress | None, bodies: bool
) -> Iterator[tuple[str, bytes]]:
    paths = sorted(path for path in source.rglob("*") if _is_page(path))
    for number, path in enumerate(paths, 1):
        name = os.fsencode(path.relative_to(source)).decode("utf-8", "replace")
        if not bodies:
            yield name, b""
            continue
        yield name, _beginning(path)
        if progress is not None:
            progress(number, len(paths))


def _is_page(path: Path) -> bool:
    """Return whether a path is a file that may be HTML; symbolic links are not followed."""
    return path.is_file() and not path.is_symlink() and _may_be_html(path.name)


def _beginning(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MAX_BODY)
    except OSError as error:
        raise HoneyguideError(f"cannot read {path}: {error.strerror}") from None


def _may_be_html(name: str) -> bool:
    file = PurePosixPath(name).name
    if file.startswith("."):
        return False
    return _as_url(file) is not None or PurePosixPath(file).suffix.lower() not in OTHER_FILES
