"""How good a judge becomes by a person's answers: wikispeedia, the answers taken from its labels.

python benchmarks/teaching.py DATA [--part dev] [--topics 10]

DATA holds the folder wikispeedia, imported or not. The whole web is the pool: questions are asked
as `honeyguide teach` asks them, and F1 is counted on the pages that were not asked about. With
--part dev, on the topics that the constants of the learner were chosen on. "untaught" is the base
judge on the same pages, those asked about in between left out for both; "best" is the F1 that the
best threshold of each topic would give.
"""

import argparse
import json
import statistics
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from experiments.harness.webs import Webs
from honeyguide.recorded.graph import Graph
from honeyguide.registry import make
from honeyguide.training.teaching import Lessons, ReadPages, next_question, probabilities
from honeyguide.web.judge_spec import JudgeSpec

sys.path.insert(0, str(Path(__file__).parent))
from labelled_texts import without_labels
from teaching_topics import has_subject, topics

MARKS = (0, 10, 20, 40)  # answers


def main():
    """Print the figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--part", choices=("dev", "test"), default="test")
    parser.add_argument("--topics", type=int, default=1000, help="so many of them, at most")
    settings = parser.parse_args()
    pages, encoder = read_web(settings.data), make("encoder", "wordllama")
    read = ReadPages(pages, encoder)
    rows = {}
    for subject, phrase in list(topics(settings.part).items())[: settings.topics]:
        truth = np.array([has_subject(page.labels, subject) for page in pages])
        lessons = Lessons(read, JudgeSpec("topic", "wordllama", {"topic": phrase}))
        rows[phrase] = measure(lessons, truth)
        print(phrase, rows[phrase], file=sys.stderr, flush=True)
    print(json.dumps({"part": settings.part, "summary": summary(rows), "topics": rows}, indent=1))


def read_web(data):
    """The pages of wikispeedia without the lists of their subjects."""
    with tempfile.TemporaryDirectory() as place:
        graph = Graph.open(Webs(data, Path(place)).world("wikispeedia").removeprefix("graph:"))
        pages = [graph.page(number, False) for number in range(len(graph))]
    return [replace(page, text=without_labels(page.text)) for page in pages]


def measure(lessons, truth):
    """Ask, answer by the truth, and count F1 after each few answers."""
    answers, row = {}, {"relevant": int(truth.sum())}
    untaught = probabilities(lessons, {})
    for count in range(MARKS[-1] + 1):
        if count in MARKS:
            rest = np.ones(len(truth), bool)
            rest[list(answers)] = False
            found = probabilities(lessons, answers)
            row[f"f1 {count}"] = f1(found[rest] >= 0.5, truth[rest])
            row[f"untaught {count}"] = f1(untaught[rest] >= 0.5, truth[rest])
            row[f"best {count}"] = best_f1(found[rest], truth[rest])
            row[f"yes {count}"] = sum(answers.values())
        if (asked := next_question(lessons, answers)) is not None:
            answers[asked] = bool(truth[asked])
    return row


def summary(rows):
    """Means over the topics, and the topic that lost most by being taught."""
    means = {
        name: round(statistics.mean(row[name] for row in rows.values()), 4)
        for name in next(iter(rows.values()))
    }
    for count in MARKS[1:]:
        lost = {topic: row[f"untaught {count}"] - row[f"f1 {count}"] for topic, row in rows.items()}
        worst = max(lost, key=lost.get)
        means[f"lost most {count}"] = {worst: round(lost[worst], 4)}
        means[f"topics below untaught {count}"] = sum(loss > 0 for loss in lost.values())
    return means


def f1(said, truth):
    """The harmonic mean of precision and recall."""
    return round(float(2 * (said & truth).sum() / max(1, said.sum() + truth.sum())), 4)


def best_f1(scores, truth):
    """F1 with the threshold that gives most."""
    right = np.cumsum(truth[np.argsort(-scores, kind="stable")])
    count = np.arange(1, len(truth) + 1) + truth.sum()
    return round(float((2 * right / count).max()), 4)


if __name__ == "__main__":
    main()
