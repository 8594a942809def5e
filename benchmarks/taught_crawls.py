"""Whether teaching pays in a crawl: truly relevant pages found, taught and untaught.

python benchmarks/taught_crawls.py DATA [--part dev] [--tasks 10]

DATA holds wikispeedia/pages.jsonl.zst. Each task is a subject with at least 40 pages, sought from
its first page. The untaught crawl fetches 1,000 pages. The taught one stops after 200, is asked 20
questions as `honeyguide teach` asks them, which the labels answer, and goes on. Both are counted by
the labels.
"""

import argparse
import json
import math
import sqlite3
import sys
import tempfile
import zlib
from contextlib import closing
from pathlib import Path

import zstandard

from honeyguide.plan import Plan
from honeyguide.recorded.graph import Graph
from honeyguide.recorded.importers.jsonl import import_jsonl
from honeyguide.storage.crawl_folder import create_crawl, run_crawl
from honeyguide.training.crawl_teaching import Teaching

sys.path.insert(0, str(Path(__file__).parent))
from labelled_texts import without_labels
from teaching_topics import has_subject, topics

PAGES, TAUGHT_AFTER, QUESTIONS, FEWEST = 1000, 200, 20, 40


def main():
    """Print the figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--part", choices=("dev", "test"), default="test")
    parser.add_argument("--tasks", type=int, default=10)
    settings = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        graph = import_web(settings.data / "wikispeedia" / "pages.jsonl.zst", folder)
        truth = {page.url: page.labels for page in pages_of(graph)}
        rows = {}
        for subject, phrase in tasks(settings.part, truth)[: settings.tasks]:
            rows[phrase] = row = measure(folder, subject, phrase, truth)
            print(phrase, row, file=sys.stderr, flush=True)
    ratios = [(row["taught"] + 1) / (row["untaught"] + 1) for row in rows.values()]
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(json.dumps({"part": settings.part, "geometric mean": round(mean, 3), **rows}, indent=1))


def import_web(source, folder):
    """A recorded web whose texts do not list the subjects of their pages."""
    plain = folder / "pages.jsonl"
    with source.open("rb") as file, plain.open("w") as out:
        data = zstandard.ZstdDecompressor().stream_reader(file).read()
        for line in data.decode().splitlines():
            row = json.loads(line)
            out.write(json.dumps(row | {"text": without_labels(row["text"])}) + "\n")
    import_jsonl(plain, folder / "graph")
    return Graph.open(str(folder / "graph"))


def pages_of(graph):
    """All pages without their links."""
    return [graph.page(number, False) for number in range(len(graph))]


def tasks(part, truth):
    """Subjects with enough pages, in an order that has nothing to do with what they are."""
    chosen = [
        (subject, phrase)
        for subject, phrase in topics(part).items()
        if sum(has_subject(labels, subject) for labels in truth.values()) >= FEWEST
    ]
    return sorted(chosen, key=lambda each: zlib.crc32(each[1].encode()))


def measure(folder, subject, phrase, truth):
    """Crawl twice."""
    seed = next(url for url, labels in truth.items() if has_subject(labels, subject))
    plan = Plan(topic=phrase, seeds=(seed,), world=f"graph:{folder / 'graph'}", budget=PAGES)
    name = str(zlib.crc32(phrase.encode()))
    untaught, taught = folder / f"{name}-untaught", folder / f"{name}-taught"
    for crawl in (untaught, taught):
        create_crawl(crawl, plan)
    run_crawl(untaught, lambda *_: None)
    run_crawl(taught, lambda *_: None, budget=TAUGHT_AFTER)
    row = {"relevant": sum(has_subject(labels, subject) for labels in truth.values())}
    row["after 200"] = found(taught, subject, truth)
    teaching = Teaching(taught)
    while len(teaching.answers) < QUESTIONS and (question := teaching.question()) is not None:
        teaching.answer(question.url, has_subject(truth[question.url], subject))
    row["yes"] = sum(teaching.answers.values())
    row["changed"] = str(teaching.apply())
    run_crawl(taught, lambda *_: None, budget=PAGES)
    return row | {
        name: found(each, subject, truth)
        for name, each in (("untaught", untaught), ("taught", taught))
    }


def found(folder, subject, truth):
    """How many different pages of a crawl are relevant by their labels."""
    with closing(sqlite3.connect(folder / "crawl.sqlite")) as database:
        rows = database.execute("SELECT DISTINCT page_url FROM pages WHERE page_url NOT NULL")
        return sum(has_subject(truth[url], subject) for (url,) in rows)


if __name__ == "__main__":
    main()
