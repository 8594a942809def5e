"""Whether example pages help: a topic alone, and with --like, on the whole of wikispeedia.

python benchmarks/example_pages.py DATA [--part dev] [--topics 10] [--examples 3]

DATA holds the folder wikispeedia, imported or not. The examples are drawn from the pages with the
label; F1 is counted on the others.
"""

import argparse
import json
import statistics
import sys
from pathlib import Path

import numpy as np

from honeyguide.registry import make

sys.path.insert(0, str(Path(__file__).parent))
from teaching import f1, read_web
from teaching_topics import has_subject, topics

FIELDS = ("topic", "with examples", "examples alone")


def main():
    """Print the figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--part", choices=("dev", "test"), default="test")
    parser.add_argument("--topics", type=int, default=1000, help="so many of them, at most")
    parser.add_argument("--examples", type=int, default=3)
    settings = parser.parse_args()
    pages, encoder = read_web(settings.data), make("encoder", "wordllama")
    rows = {}
    for subject, phrase in list(topics(settings.part).items())[: settings.topics]:
        truth = np.array([has_subject(page.labels, subject) for page in pages])
        rows[phrase] = measure(pages, truth, phrase, encoder, settings.examples)
        print(phrase, rows[phrase], file=sys.stderr, flush=True)
    means = {name: round(statistics.mean(row[name] for row in rows.values()), 4) for name in FIELDS}
    print(json.dumps({"part": settings.part, "means": means, "topics": rows}, indent=1))


def measure(pages, truth, phrase, encoder, count):
    """F1 of three judges on all pages but the examples."""
    drawn = np.random.default_rng(0).choice(np.flatnonzero(truth), count, replace=False)
    rest = np.ones(len(pages), bool)
    rest[drawn] = False
    examples = [f"{pages[number].title}\n{pages[number].text}" for number in drawn.tolist()]
    told = {"topic": phrase, "examples": examples, "encoder": encoder}
    judges = [make("judge", name, **told) for name in ("topic", "topic_and_like", "like")]
    said = [verdicts(judge, pages)[rest] for judge in judges]
    return {name: f1(each, truth[rest]) for name, each in zip(FIELDS, said, strict=True)}


def verdicts(judge, pages):
    """Which pages are relevant, after a calibration to all of them if the judge has one."""
    found = [judge(page) for page in pages]
    if not hasattr(judge, "calibration"):
        return np.array([verdict.relevant for verdict in found])
    calibration = judge.calibration()
    measures = np.array([verdict.measures for verdict in found], np.float32)
    calibration.fit(measures)
    return calibration.decide(measures)[1]


if __name__ == "__main__":
    main()
