"""Measure how well cosines separate pages with a topic's word from others.

    python -m experiments.cosines --graph FOLDER

The linear agents are rewarded by these cosines. FOLDER is a recorded web (`honeyguide import`).
Prints one JSON object for each encoder and topic.
"""

import argparse
import json
import sys
from pathlib import Path

import numpy as np

from experiments.topics import TOPICS
from honeyguide.judges.closeness import head
from honeyguide.recorded.graph import Graph
from honeyguide.registry import make
from honeyguide.text.words import Term, fold

# above it a page without the word earns 20: in Han et al. (2018), in the code of Pertejo (2021)
THRESHOLDS = (0.4, 0.5)


def main() -> None:
    """Draw pages and compare each with each topic."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--graph", type=Path, required=True)
    parser.add_argument("--pages", type=int, default=800)
    given = parser.parse_args()
    graph = Graph.open(str(given.graph))
    drawn = np.random.default_rng(0).choice(len(graph), given.pages, replace=False)
    pages = [graph.page(int(number)) for number in drawn]
    for name in ("glove", "wordllama"):
        encoder = make("encoder", name)
        if name == "glove":
            encoder.fit(page.text for page in pages)
        vectors = encoder([head(page) for page in pages])
        for topic in TOPICS:
            term = Term(topic.word)
            has = np.array(
                [term.count(fold(f"{p.title}\n{p.text}", topic.word)) > 0 for p in pages]
            )
            cosines = vectors @ encoder([topic.word])[0]
            told = {
                "encoder": name,
                "topic": topic.word,
                "pages_with_the_word": int(has.sum()),
                "mean_cosine_with": round(float(cosines[has].mean()), 3),
                "mean_cosine_without": round(float(cosines[~has].mean()), 3),
                "shares_without_above": {
                    threshold: round(float((cosines[~has] > threshold).mean()), 3)
                    for threshold in THRESHOLDS
                },
            }
            sys.stdout.write(f"{json.dumps(told)}\n")


if __name__ == "__main__":
    main()
