"""How good a trained judge is: trained on half of a labelled web, asked about the other half.

python benchmarks/classifier_judge.py GRAPH LABEL [LABEL ...] [--network]

The network (--network) was chosen on the halves that it is trained on here, for the labels course
and project of webkb and Geology_and_geophysics and Food_and_agriculture of wikispeedia. Its figures
are those of other labels: student and faculty, Politics_and_government, Writers_and_critics and
Chemical_elements.
"""

import argparse
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from labelled_texts import without_labels

from honeyguide.recorded.graph import Graph, label_matches
from honeyguide.registry import make
from honeyguide.training.judge import fit_linear, train_judge
from honeyguide.training.network_judge import fit_network
from honeyguide.training.quality import quality


def main():
    """Print a table row a label."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("graph")
    parser.add_argument("labels", nargs="+")
    parser.add_argument("--network", action="store_true")
    settings = parser.parse_args()
    graph, encoder = Graph.open(settings.graph), make("encoder", "wordllama")
    pages = [graph.page(number, False) for number in range(len(graph))]
    pages = [replace(page, text=without_labels(page.text)) for page in pages]
    schooled = np.random.default_rng(1).random(len(pages)) < 0.5
    print("label | pages | accuracy | precision | recall | AUC | calibration error", end=" | ")
    print("ms a page | training, s")
    for label in settings.labels:
        learner = fit_network if settings.network else fit_linear
        measure(label, pages, schooled, encoder, learner)


def measure(label, pages, schooled, encoder, learner):
    """Train, save, load, judge."""
    true = np.array([any(label_matches(own, label) for own in page.labels) for page in pages])
    positive = [pages[number] for number in np.flatnonzero(schooled & true)]
    negative = [pages[number] for number in np.flatnonzero(schooled & ~true)]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "judge"
        begin = time.process_time()
        train_judge(positive, negative, encoder, learner=learner).model.save(file)
        training = time.process_time() - begin
        judge = make("judge", f"classifier:{file}", encoder=encoder)
    others = [pages[number] for number in np.flatnonzero(~schooled)]
    begin = time.process_time()
    relevance = np.array([judge(page).relevance for page in others])
    seconds = time.process_time() - begin
    found = quality(relevance, true[~schooled])
    numbers = (found.accuracy, found.precision, found.recall, found.auc, found.calibration_error)
    shown = " | ".join(f"{number:.3f}" for number in numbers)
    times = f"{1000 * seconds / len(others):.2f} | {training:.1f}"
    print(f"{label} | {len(positive)} | {shown} | {times}", flush=True)


if __name__ == "__main__":
    main()
