"""Import a MediaWiki export, such as Wikipedia's pages-articles.xml.bz2."""

import hashlib
from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from urllib.parse import quote

from honeyguide import urls
from honeyguide.errors import HoneyguideError
from honeyguide.recorded.importers.mediawiki import Export, RawPage
from honeyguide.recorded.importers.pagelinks import LinkTables, PageLinks
from honeyguide.recorded.importers.streams import Progress
from honeyguide.recorded.importers.wikireader import TextSpool
from honeyguide.recorded.importers.wikitext import Article, Site
from honeyguide.recorded.writer import GraphWriter

UNQUOTED = ";@$!*(),/~:"  # characters that MediaWiki does not quote in URLs
Row = tuple[str, str, str]  # target, anchor, context


def import_wikipedia(
    source: Path,
    out: Path,
    progress: Progress | None = None,
    *,
    sample: float = 1.0,
    pagelinks: Path | None = None,
    namespaces: Collection[int] = (0,),
    random_seed: int = 0,
) -> dict[str, int]:
    """Write a recorded web from an export, or a random sample of it; return counts."""
    if not 0 < sample <= 1:
        raise HoneyguideError(f"the sample must be above 0 and at most 1, not {sample:g}")
    source, out = Path(source), Path(out)
    tables = LinkTables(Path(pagelinks)) if pagelinks else None
    files = [source, *([Path(pagelinks)] if pagelinks else []), source]
    reading, *listing, writing = _steps(files, progress)
    with GraphWriter(out) as writer, TextSpool(out.parent) as spool:
        export = Export(source)
        titles = Titles(namespaces, sample, random_seed)
        for page in export.pages(reading):
            if titles.add(page, export.site):
                spool.add(page.text)
        if not titles.names:
            raise HoneyguideError(f"{source} has no pages to record")
        titles.resolve_redirects()
        known = None
        if tables is not None:
            known = tables.read(titles.ids(), titles.finder(export.site), out.parent, listing[0])
        outside = _write(spool.articles(export.site, writing), export.base, titles, known, writer)
        for name, target in titles.resolved_redirects():
            url = _url(export.base, name)
            names = {name, name.replace("_", " "), urls.canonical(url) or url} - {""}
            writer.add_aliases(target, sorted(names))
    return writer.counts | {"outside": outside, "redirects": titles.redirects}


def _steps(files: Sequence[Path], progress: Progress | None) -> list[Progress]:
    """Return a progress callback per step; together they count the bytes of all files."""
    sizes = [path.stat().st_size if path.is_file() else 0 for path in files]

    def step(number: int, done: int, total: int) -> None:
        if progress is not None:
            progress(sum(sizes[:number]) + sizes[number] * done // max(total, 1), sum(sizes))

    return [partial(step, number) for number in range(len(sizes))]


class Titles:
    """The pages to record, numbered, and all titles that lead to one, redirects included."""

    def __init__(self, namespaces: Collection[int], sample: float, random_seed: int) -> None:
        self.names: list[str] = []  # by number, as in URLs
        self.redirects = 0  # that lead to a recorded page
        self._namespaces = frozenset(namespaces)
        self._below = sample * 2**64
        self._key = str(random_seed).encode()[:64]
        self._ids = array("q")  # MediaWiki's page ids, by number
        self._numbers: dict[str, int] = {}
        self._targets: dict[str, str] = {}  # of redirects
        self.get = self._numbers.get

    def add(self, page: RawPage, site: Site) -> bool:
        """Add a page's title and return whether the page is to be recorded."""
        name = page.title.replace(" ", "_")
        if page.redirect:
            self._targets[name] = site.title(page.redirect).name
            return False
        if (
            page.namespace not in self._namespaces
            or name in self._numbers
            or not self._in_sample(name)
        ):
            return False
        self._numbers[name] = len(self.names)
        self.names.append(name)
        self._ids.append(page.id)
        return True

    def _in_sample(self, name: str) -> bool:
        """Return whether a page is in the sample, by a hash of its name."""
        digest = hashlib.blake2b(name.encode(), digest_size=8, key=self._key).digest()
        return int.from_bytes(digest, "little") < self._below

    def resolve_redirects(self) -> None:
        """Map each redirect to the page at its end; circular redirects are dropped."""
        while self._targets:
            name, target = self._targets.popitem()
            if name in self._numbers:
                continue
            chain = [name]
            while target not in self._numbers and target in self._targets:
                chain.append(target)
                target = self._targets.pop(target)
            page = self._numbers.get(target)
            if page is not None:
                self.redirects += len(chain)
                self._numbers.update(dict.fromkeys(chain, page))

    def resolved_redirects(self) -> Iterator[tuple[str, str]]:
        """Yield each redirect that leads to a recorded page, and that page."""
        for name, number in self._numbers.items():
            if name != self.names[number]:
                yield name, self.names[number]

    def ids(self) -> dict[bytes, int]:
        """Return page numbers by MediaWiki's page id, as SQL dumps write it."""
        return {b"%d" % id: number for number, id in enumerate(self._ids)}

    def finder(self, site: Site) -> Callable[[int, str], int | None]:
        """Return a function from namespace and title, as in SQL tables, to a page number."""
        prefixes = {
            number: name.replace(" ", "_") + ":" if name else ""
            for number, name in site.namespaces.items()
        }

        def find(namespace: int, title: str) -> int | None:
            prefix = prefixes.get(namespace)
            return None if prefix is None else self._numbers.get(prefix + title)

        return find


def _write(
    articles: Iterable[Article],
    base: str,
    titles: Titles,
    known: PageLinks | None,
    writer: GraphWriter,
) -> int:
    """Append all pages; return the number of links that lead to none of them."""
    outside = 0
    for number, (name, article) in enumerate(zip(titles.names, articles, strict=True)):
        rows, dropped = _links(article, titles, number)
        outside += dropped
        if known is not None:
            rows = _as_listed(rows, known[number], titles, number)
        url = _url(base, name)
        labels = [f"category:{category}" for category in article.categories]
        writer.add(name, url, name.replace("_", " "), article.text, rows, labels)
    return outside


def _url(base: str, name: str) -> str:
    """Return the URL of a page; empty if the wiki does not say where it is."""
    return base + quote(name, safe=UNQUOTED) if base else ""


def _links(article: Article, titles: Titles, number: int) -> tuple[list[Row], int]:
    """Return the links to other recorded pages, and the number of links to none."""
    names, find, outside = titles.names, titles.get, 0
    rows: list[Row] = []
    for name, start, end in article.links:
        target = find(name)
        if target is None:
            outside += 1
        elif target != number:
            rows.append((names[target], article.anchor(start, end), article.context(start, end)))
    return rows, outside


def _as_listed(rows: list[Row], listed: list[int], titles: Titles, number: int) -> list[Row]:
    """Return the links in the wiki's own table: first those in the text, with their anchors."""
    targets = {titles.names[target] for target in listed if target != number}
    rows = [row for row in rows if row[0] in targets]
    shown = {row[0] for row in rows}
    return [*rows, *((target, "", "") for target in sorted(targets - shown))]
