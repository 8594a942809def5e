"""How well cosines tell pages with a topic's word from others: what the linear agents' rewards say.

    python benchmarks/cosines.py --graph FOLDER

FOLDER is a recorded web (`honeyguide import`). One JSON object an encoder and topic.
"""

import argparse
import json
from pathlib import Path

import numpy as np

from honeyguide.bench.suites.topics import TOPICS
from honeyguide.judges.closeness import head
from honeyguide.judges.matching import Term, fold
from honeyguide.recorded.graph import Graph
from honeyguide.registry import make

THRESHOLD = 0.4  # above it a page without the word earns 20


def main() -> None:
    """Draw pages, compare each with each topic."""
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
                "share_without_above_threshold": round(
                    float((cosines[~has] > THRESHOLD).mean()), 3
                ),
            }
            print(json.dumps(told), flush=True)


if __name__ == "__main__":
    main()
