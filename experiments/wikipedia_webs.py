"""Prepare the webs of a wiki's dump as Pertejo (2021) does: all pages, and a tenth of them.

Each step is done once: its result, times and memory are kept in a file beside the webs.
"""

import hashlib
import json
import resource
import shutil
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from honeyguide.bench.link_statistics import link_statistics
from honeyguide.disk.files import replacing
from honeyguide.errors import HoneyguideError
from honeyguide.recorded.graph import Graph
from honeyguide.recorded.importers.wikipedia import import_wikipedia
from honeyguide.recorded.writer import GraphWriter, drafts
from honeyguide.text.words import Term, fold

FULL, REDUCED = "full", "reduced"
SAMPLE_SEED = 0
TOP = 1000  # pages in figures 4.1 and 4.2
DIGESTED = 1 << 20  # bytes of a dump by which it is recognised, with its size
Result = dict[str, Any]
Say = Callable[[str], None]


class Steps:
    """Finished steps by name, in a JSON file: results, seconds, and memory until then."""

    def __init__(self, path: Path, source: Result, say: Say) -> None:
        self._path, self._say = path, say
        self.done: dict[str, Result] = {}
        kept: Result = {"source": source, "steps": {}}
        if path.exists():
            kept = json.loads(path.read_text())
        if kept["source"] != source:
            raise HoneyguideError(
                f"{path.parent} was made from another dump, or with another --share or "
                "--pagelinks: choose another folder with --out"
            )
        self.source, self.done = source, kept["steps"]
        self._peak: int = kept.get("peak_megabytes", 0)

    def peak_megabytes(self, workers: int) -> int:
        """The most memory that the command had until now, earlier starts of it included."""
        self._peak = max(self._peak, peak_megabytes(workers))
        self._save()
        return self._peak

    def run(self, name: str, work: Callable[[], Result]) -> Result:
        """Return the stored result of a step, or do it, store it and say what it took."""
        if name not in self.done:
            begin, before = time.perf_counter(), processor_seconds()
            result = work()
            self.done[name] = {
                "result": result,
                "seconds": round(time.perf_counter() - begin, 1),
                "processor_seconds": round(processor_seconds() - before, 1),
                "megabytes": peak_megabytes(),
            }
            self._save()
            self._say(_said(name, self.done[name]))
        found: Result = self.done[name]["result"]
        return found

    def _save(self) -> None:
        with replacing(self._path) as file:
            data = {"source": self.source, "peak_megabytes": self._peak, "steps": self.done}
            file.write(json.dumps(data, indent=1).encode())


def _said(name: str, step: Result) -> str:
    return (
        f"{name}: {step['processor_seconds']} s of processor time, "
        f"at most {step['megabytes']:,} MB so far"
    )


def processor_seconds() -> float:
    """Processor seconds of this process and of those that it has waited for."""
    who = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    used = [resource.getrusage(each) for each in who]
    return sum(each.ru_utime + each.ru_stime for each in used)


def peak_megabytes(children: int = 1) -> int:
    """The most memory of this process, and that many times the most of a child, at any time."""
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10  # of ru_maxrss: bytes, kilobytes
    own, child = (
        resource.getrusage(who).ru_maxrss
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    return (own + children * child) // unit


@dataclass(frozen=True, slots=True)
class Dump:
    """The files of a dump, and how much of it the reduced one has."""

    pages: Path
    share: float = 0.1
    pagelinks: Path | None = None  # the wiki's own table of links

    def recognised(self) -> Result:
        """What tells one dump from another."""
        links = {} if self.pagelinks is None else {"pagelinks": _recognised(self.pagelinks)}
        return {"dump": _recognised(self.pages), "share": self.share, **links}


@dataclass(frozen=True, slots=True)
class Prepared:
    """The webs of a dump, and what is known of them."""

    folder: Path  # with a folder for each web
    seeds: Mapping[str, str]  # by topic: the URL of its article
    facts: Mapping[str, Result]  # by web: pages, links, relevant pages by topic
    steps: Steps

    def pages(self, web: str) -> int:
        """Number of pages of a web."""
        return int(self.facts[web]["pages"])


def prepare(dump: Dump, out: Path, topics: Mapping[str, Sequence[str]], say: Say) -> Prepared:
    """Import a dump, find the topics' articles, draw a sample and count links and relevant pages.

    `topics` has the titles to try for the article of each topic; those without one are left out.
    """
    source = dump.recognised()
    folder = out / "webs"
    folder.mkdir(parents=True, exist_ok=True)
    steps = Steps(out / "steps.json", source, say)
    imported = steps.run("import", lambda: _import(dump, folder / FULL))
    seeds = steps.run("articles of topics", lambda: _articles(folder / FULL, topics))
    steps.run("sample", lambda: _sample(folder, dump.share, list(seeds.values())))
    facts = {
        web: steps.run(f"links and words, {web}", lambda web=web: _facts(folder / web, topics))  # type: ignore[misc]
        for web in (FULL, REDUCED)
    }
    for word in topics.keys() - seeds.keys():
        say(f"topic {word} is left out: the dump has no article {' or '.join(topics[word])}")
    facts[FULL]["outside"] = imported["outside"]
    facts[FULL]["redirects"] = imported["redirects"]
    return Prepared(folder, seeds, facts, steps)


def _recognised(path: Path) -> Result:
    try:
        with path.open("rb") as file:
            head = hashlib.sha256(file.read(DIGESTED)).hexdigest()
        return {"name": path.name, "bytes": path.stat().st_size, "sha256_of_first_megabyte": head}
    except OSError as error:
        raise HoneyguideError(f"cannot read the dump {path}: {error.strerror}") from None


def _import(dump: Dump, out: Path) -> Result:
    _clear(out)
    return dict(import_wikipedia(dump.pages, out, pagelinks=dump.pagelinks))


def _clear(out: Path) -> None:
    """Remove what an interrupted step has left."""
    for path in (out, *drafts(out)):
        shutil.rmtree(path, ignore_errors=True)


def _articles(web: Path, topics: Mapping[str, Sequence[str]]) -> Result:
    graph, found = Graph.open(web), {}
    for word, titles in topics.items():
        for title in titles:
            try:
                found[word] = graph.url(graph.find(title))
            except HoneyguideError:  # no page has this title
                continue
            break
    if not found:
        raise HoneyguideError("the dump has no article on any of the topics")
    return found


def _sample(folder: Path, share: float, seeds: Sequence[str]) -> Result:
    _clear(folder / REDUCED)
    return cut_sample(folder / FULL, folder / REDUCED, share, seeds)


def cut_sample(source: Path, out: Path, share: float, keep: Sequence[str]) -> dict[str, int]:
    """Record a share of a web's pages, drawn at random, and the links between them.

    The pages with the URLs `keep` are always among them: crawls start there.
    """
    graph = Graph.open(source)
    drawn = np.random.default_rng(SAMPLE_SEED).permutation(len(graph))
    chosen = np.zeros(len(graph), np.bool_)
    chosen[drawn[: round(share * len(graph))]] = True
    chosen[[graph.index(url) for url in keep]] = True
    with GraphWriter(out) as writer:
        for number in np.flatnonzero(chosen).tolist():
            page = graph.page(number)
            rows = [
                (link.url, link.anchor, link.context)
                for link in page.links
                if chosen[graph.index(link.url)]
            ]
            writer.add(graph.id(number), page.url, page.title, page.text, rows, page.labels)
    return writer.counts


def _facts(web: Path, words: Sequence[str] | Mapping[str, Any]) -> Result:
    graph = Graph.open(web)
    statistics = link_statistics(graph)
    outlinks, inlinks = statistics.curves(TOP)
    return {
        "pages": len(graph),
        "pages_with_links": statistics.pages_with_links,
        "recorded": statistics.recorded,
        "links": statistics.links,
        "outlinks": outlinks.tolist(),
        "inlinks": inlinks.tolist(),
        "relevant": relevant_pages(graph, list(words)),
    }


def relevant_pages(graph: Graph, words: Sequence[str]) -> dict[str, int]:
    """Count the pages that have each word in their title or text."""
    terms, counts = [Term(word) for word in words], dict.fromkeys(words, 0)
    for number in range(len(graph)):
        page = graph.page_without_links(number)
        folded = fold(f"{page.title}\n{page.text}", "".join(words))
        for term in terms:
            counts[term.word] += bool(term.count(folded))
    return counts
