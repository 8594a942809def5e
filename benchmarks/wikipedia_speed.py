"""Wikipedia dumps: pages a second and peak memory of an import, for two sizes of dump.

    python benchmarks/wikipedia_speed.py [--pages 20000 80000] [--packing bz2]

Writes exports in MediaWiki's format with pages of the size and markup of the Simple English
Wikipedia's, one redirect for four articles, and imports them. Prints one JSON object.
"""

import argparse
import bz2
import gzip
import json
import multiprocessing
import random
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

from honeyguide.recorded.importers.wikipedia import import_wikipedia

PACKINGS: dict[str, Callable[..., Any]] = {"xml": open, "gz": gzip.open, "bz2": bz2.open}
HEAD = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" \
xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" \
xsi:schemaLocation="http://www.mediawiki.org/xml/export-0.11/ \
http://www.mediawiki.org/xml/export-0.11.xsd" version="0.11" xml:lang="en">
  <siteinfo>
    <sitename>Wikipedia</sitename>
    <dbname>simplewiki</dbname>
    <base>https://simple.wikipedia.org/wiki/Main_Page</base>
    <generator>MediaWiki 1.43.0</generator>
    <case>first-letter</case>
    <namespaces>
      <namespace key="-1" case="first-letter">Special</namespace>
      <namespace key="0" case="first-letter" />
      <namespace key="1" case="first-letter">Talk</namespace>
      <namespace key="6" case="first-letter">File</namespace>
      <namespace key="10" case="first-letter">Template</namespace>
      <namespace key="14" case="first-letter">Category</namespace>
    </namespaces>
  </siteinfo>
"""
PAGE = """  <page>
    <title>{title}</title>
    <ns>0</ns>
    <id>{id}</id>
{redirect}    <revision>
      <id>{revision}</id>
      <parentid>{parent}</parentid>
      <timestamp>2020-10-01T12:00:00Z</timestamp>
      <contributor>
        <username>Example</username>
        <id>7</id>
      </contributor>
      <comment>an edit</comment>
      <origin>{revision}</origin>
      <model>wikitext</model>
      <format>text/x-wiki</format>
      <text bytes="{size}" sha1="{sha1}" xml:space="preserve">{text}</text>
      <sha1>{sha1}</sha1>
    </revision>
  </page>
"""
INFOBOX = """{{{{Infobox settlement
| name = {0}
| image = {0}.jpg
| population = {{{{formatnum:{1}}}}}<ref>{{{{cite web|url=http://example.org/{1}|title={0}}}}}</ref>
| coordinates = {{{{Coord|{1}|N|{1}|E|display=inline,title}}}}
}}}}
[[File:{0}.jpg|thumb|right|A view of [[{0}]] in 1990]]
"""
TABLE = """
{{| class="wikitable"
! Year !! Count
|-
| 1990 || [[{0}]]
|-
| 2000 || {1}
|}}
"""


class Author:
    """Writes articles that look like articles to a parser."""

    def __init__(self, pages: int, seed: int) -> None:
        self._rng = random.Random(seed)
        signs = "aeioubcdfglmnprstv"
        self._words = [
            "".join(self._rng.choices(signs, k=self._rng.randint(2, 9))) for _ in range(5000)
        ]
        self.titles = [f"{self._word().title()} {self._word()} {n}" for n in range(pages)]

    def _word(self) -> str:
        # small numbers are drawn more often, as in any language
        return self._words[int(len(self._words) * self._rng.random() ** 3)]

    def _link(self) -> str:
        kind, target = self._rng.random(), self._target()
        if kind < 0.45:
            return f"[[{target}]]"
        if kind < 0.55:
            return f"[[{target[0].lower()}{target[1:]}]]s"
        if kind < 0.6:
            return f"[[{target}#History|''{self._word()}'']]"
        if kind < 0.7:
            return f"[[{self._word()} nowhere]]"
        return f"[[{target}|{self._word()} {self._word()}]]"

    def _target(self) -> str:
        number = int(len(self.titles) * self._rng.random() ** 2)
        return f"Old {self.titles[number]}" if number % 4 == 0 else self.titles[number]

    def _sentence(self) -> str:
        words = [self._word() for _ in range(self._rng.randint(6, 18))]
        if self._rng.random() < 0.6:
            words[self._rng.randrange(len(words))] = self._link()
        source = "<ref>{{cite web|url=http://example.org/|title=x}}</ref>"
        return " ".join(words).capitalize() + "." + (source if self._rng.random() < 0.08 else "")

    def article(self, number: int) -> str:
        """The wikitext of a page."""
        rng, title = self._rng, self.titles[number]
        size = min(60, max(3, int(rng.lognormvariate(2.2, 0.8))))
        parts = [INFOBOX.format(title, number)] if rng.random() < 0.4 else []
        parts.append(f"'''{title}''' is a {self._link()} &nbsp;in {self._link()}.")
        parts += [self._sentence() for _ in range(size)]
        parts.insert(len(parts) // 2, f"\n\n== {self._word().title()} ==\n")
        if rng.random() < 0.15:
            parts.append(TABLE.format(title, number))
        parts.append("\n\n== Related pages ==\n" + "\n".join(f"* {self._link()}" for _ in "123"))
        parts.append("\n\n{{stub}}\n{{DEFAULTSORT:" + title + "}}\n")
        parts.append("\n".join(f"[[Category:{self._word().title()}]]" for _ in "12"))
        return " ".join(parts)


def write_export(path: Path, pages: int, packing: str, seed: int = 1) -> dict[str, float]:
    """Write an export of so many articles, and say how large it and its texts are."""
    author, size, number = Author(pages, seed), 0, 0
    with PACKINGS[packing](path, "wt", encoding="utf-8") as file:
        file.write(HEAD)
        for article in range(pages):
            number += 1
            text = author.article(article)
            size += len(text)
            file.write(_page(author.titles[article], number, text))
            if article % 4 == 0:
                number += 1
                title = author.titles[article]
                file.write(_page(f"Old {title}", number, f"#REDIRECT [[{title}]]", title))
        file.write("</mediawiki>\n")
    return {"pages": pages, "characters_per_page": round(size / pages)}


def _page(title: str, number: int, text: str, redirect: str = "") -> str:
    return PAGE.format(
        title=escape(title),
        id=number,
        redirect=f'    <redirect title="{escape(redirect)}" />\n' if redirect else "",
        revision=number * 7,
        parent=number * 6,
        size=len(text.encode()),
        sha1="phoiac9h4m842xq45sp7s6u21eteeq1",
        text=escape(text, {'"': "&quot;"}),
    )


def importing(source: Path, out: Path) -> dict[str, float]:
    """How long an import takes, and the most memory it and its helper need."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started, worked = time.perf_counter(), time.process_time()
    counts = import_wikipedia(source, out)
    seconds, processor = time.perf_counter() - started, time.process_time() - worked
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    helper = resource.getrusage(resource.RUSAGE_CHILDREN)
    return counts | {
        "seconds": round(seconds, 2),
        "processor_seconds": round(processor + helper.ru_utime + helper.ru_stime, 2),
        "pages_per_second": round(counts["pages"] / seconds),
        "peak_megabytes": round(peak / 1e3, 1),
        "peak_megabytes_more_than_before": round((peak - before) / 1e3, 1),
        "peak_megabytes_of_helper": round(helper.ru_maxrss / 1e3, 1),
        "megabytes_read": round(source.stat().st_size / 1e6, 1),
        "megabytes_written": round(sum(f.stat().st_size for f in out.iterdir()) / 1e6, 1),
    }


def main() -> None:
    """Measure both sizes, each in a process of its own, so that its memory is its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, nargs=2, default=(20_000, 80_000))
    parser.add_argument("--packing", choices=PACKINGS, default="bz2")
    given = parser.parse_args()
    report = []
    spawn = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder, spawn.Pool(1, maxtasksperchild=1) as pool:
        for pages in given.pages:
            source, out = Path(folder, f"{pages}.xml"), Path(folder, f"web{pages}")
            wrote = pool.apply(write_export, (source, pages, given.packing))
            report.append(wrote | pool.apply(importing, (source, out)))
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
