"""A MediaWiki export, such as Wikipedia's pages-articles.xml.bz2, to a recorded web."""

import hashlib
from array import array
from collections.abc import Callable, Collection, Iterable, Sequence
from functools import partial
from pathlib import Path
from urllib.parse import quote

from honeyguide.errors import HoneyguideError
from honeyguide.recorded.importers.mediawiki import Export, RawPage
from honeyguide.recorded.importers.pagelinks import LinkTables, PageLinks
from honeyguide.recorded.importers.streams import Progress
from honeyguide.recorded.importers.wikireader import Kept
from honeyguide.recorded.importers.wikitext import Article, Site
from honeyguide.recorded.writer import GraphWriter

UNQUOTED = ";@$!*(),/~:"  # what MediaWiki leaves in the URLs of its pages
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
    """Build a recorded web from an export, or a random part of it, and count what is in it."""
    if not 0 < sample <= 1:
        raise HoneyguideError(f"the sample must be above 0 and at most 1, not {sample:g}")
    source, out = Path(source), Path(out)
    tables = LinkTables(Path(pagelinks)) if pagelinks else None
    files = [source, *([Path(pagelinks)] if pagelinks else []), source]
    reading, *listing, writing = _steps(files, progress)
    with GraphWriter(out) as writer, Kept(out.parent) as kept:
        export = Export(source)
        titles = Titles(namespaces, sample, random_seed)
        for page in export.pages(reading):
            if titles.add(page, export.site):
                kept.add(page.text)
        if not titles.names:
            raise HoneyguideError(f"{source} has no pages to record")
        titles.follow()
        known = None
        if tables is not None:
            known = tables.read(titles.ids(), titles.finder(export.site), out.parent, listing[0])
        outside = _write(kept.articles(export.site, writing), export.base, titles, known, writer)
    return writer.counts | {"outside": outside, "redirects": titles.redirects}


def _steps(files: Sequence[Path], progress: Progress | None) -> list[Progress]:
    """A progress for each step, which counts all of them by the sizes of their files."""
    sizes = [path.stat().st_size if path.is_file() else 0 for path in files]

    def step(number: int, done: int, total: int) -> None:
        if progress is not None:
            progress(sum(sizes[:number]) + sizes[number] * done // max(total, 1), sum(sizes))

    return [partial(step, number) for number in range(len(sizes))]


class Titles:
    """The pages to be recorded, by number, and every title that leads to one of them."""

    def __init__(self, namespaces: Collection[int], sample: float, random_seed: int) -> None:
        self.names: list[str] = []  # by number, as URLs have them
        self.redirects = 0  # that lead to a recorded page
        self._namespaces = frozenset(namespaces)
        self._below = sample * 2**64
        self._key = str(random_seed).encode()[:64]
        self._ids = array("q")  # of MediaWiki, by number
        self._numbers: dict[str, int] = {}
        self._targets: dict[str, str] = {}  # of redirects
        self.get = self._numbers.get

    def add(self, page: RawPage, site: Site) -> bool:
        """Note a page's title, and say whether it is to be recorded."""
        name = page.title.replace(" ", "_")
        if page.redirect:
            self._targets[name] = site.title(page.redirect).name
            return False
        if page.namespace not in self._namespaces or name in self._numbers or not self._drawn(name):
            return False
        self._numbers[name] = len(self.names)
        self.names.append(name)
        self._ids.append(page.id)
        return True

    def _drawn(self, name: str) -> bool:
        """Whether a page is in the sample: by a hash, so that each page can be asked alone."""
        digest = hashlib.blake2b(name.encode(), digest_size=8, key=self._key).digest()
        return int.from_bytes(digest, "little") < self._below

    def follow(self) -> None:
        """Let each redirect stand for the page at its end; those that go in circles have none."""
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

    def ids(self) -> dict[bytes, int]:
        """Numbers by page id, as SQL writes it."""
        return {b"%d" % id: number for number, id in enumerate(self._ids)}

    def finder(self, site: Site) -> Callable[[int, str], int | None]:
        """What finds a page by namespace and title, as SQL tables have them."""
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
    """Append all pages, and count the links that lead to none of them."""
    outside = 0
    for number, (name, article) in enumerate(zip(titles.names, articles, strict=True)):
        rows, dropped = _links(article, titles, number)
        outside += dropped
        if known is not None:
            rows = _as_known(rows, known[number], titles, number)
        url = base + quote(name, safe=UNQUOTED) if base else ""
        labels = [f"category:{category}" for category in article.categories]
        writer.add(name, url, name.replace("_", " "), article.text, rows, labels)
    return outside


def _links(article: Article, titles: Titles, number: int) -> tuple[list[Row], int]:
    """The links to other recorded pages, and how many lead to none."""
    names, find, outside = titles.names, titles.get, 0
    rows: list[Row] = []
    for name, start, end in article.links:
        target = find(name)
        if target is None:
            outside += 1
        elif target != number:
            rows.append((names[target], article.anchor(start, end), article.context(start, end)))
    return rows, outside


def _as_known(rows: list[Row], known: list[int], titles: Titles, number: int) -> list[Row]:
    """The links that the wiki itself lists: those in the text first, as the text shows them."""
    targets = {titles.names[target] for target in known if target != number}
    rows = [row for row in rows if row[0] in targets]
    shown = {row[0] for row in rows}
    return [*rows, *((target, "", "") for target in sorted(targets - shown))]
