"""Pages with the main text that a person marked: reading, splitting by site, and scoring."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from io import TextIOWrapper
from pathlib import Path
from statistics import fmean
from typing import NamedTuple
from zlib import crc32

import zstandard

from honeyguide import urls
from honeyguide.urls.domains import registrable

SHINGLE = 4  # words
FOLDS = 10
TEST_FOLDS = (0, 1, 2)  # the other folds are for development

words_of = re.compile(r"\w+").findall
_HREF = r"[^>]*?\b(?:href|content)\s*=\s*[\"']?\s*(https?://[^\"'\s>]+)"
_says_its_url = re.compile(
    rf"<link(?=[^>]*rel=[\"']?canonical){_HREF}|<meta(?=[^>]*og:url){_HREF}|<base{_HREF}",
    re.IGNORECASE,
).search
_linked_urls = re.compile(r"href\s*=\s*[\"']?\s*(https?://[^\"'\s>]+)", re.IGNORECASE).findall


class MarkedPage(NamedTuple):
    """A page and its main text."""

    id: str
    html: str
    text: str

    @property
    def site(self) -> str:
        """The domain that the page names as its own, else the one it links to most, else its id."""
        said = _says_its_url(self.html)
        found = [next(filter(None, said.groups()))] if said else _linked_urls(self.html)
        domains = Counter(filter(None, (_domain(url) for url in found)))
        return domains.most_common(1)[0][0] if domains else self.id

    @property
    def fold(self) -> int:
        """All pages of a site are in one fold."""
        return crc32(self.site.encode()) % FOLDS

    @property
    def is_test(self) -> bool:
        return self.fold in TEST_FOLDS

    @property
    def is_article(self) -> bool:
        """Whether the page is from a news site or a blog."""
        return self.id.startswith("dragnet")


class Score(NamedTuple):
    """How much of a text agrees with the marked one."""

    precision: float
    recall: float

    @property
    def f1(self) -> float:
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


def marked_pages(path: Path) -> Iterator[MarkedPage]:
    """The pages of a file of JSON lines that have a marked text."""
    with path.open("rb") as file:
        stream = zstandard.ZstdDecompressor().stream_reader(file)
        for line in TextIOWrapper(stream, encoding="utf-8"):
            page = MarkedPage(**json.loads(line))
            if page.text.strip():
                yield page


def score(text: str, marked: str) -> Score:
    """Precision and recall of a page's text over 4-word shingles."""
    found, wanted = shingles(text), shingles(marked)
    both = len(found & wanted)
    return Score(both / len(found) if found else 0.0, both / len(wanted) if wanted else 0.0)


def mean(scores: list[Score]) -> Score:
    """Mean precision and mean recall over pages."""
    return Score(fmean(s.precision for s in scores), fmean(s.recall for s in scores))


def shingles(text: str) -> set[tuple[str, ...]]:
    """All runs of four words; a shorter text is one shingle."""
    words = words_of(text)
    return {tuple(words[i : i + SHINGLE]) for i in range(max(1, len(words) - SHINGLE + 1))} - {()}


def _domain(url: str) -> str:
    canonical = urls.canonical(url)
    return registrable(urls.host(canonical)) if canonical else ""
