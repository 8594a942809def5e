"""How well the judge `keyphrases` decides, on topics of two labelled webs; prints JSON.

python benchmarks/keyphrases.py DATA [--topics development|test] [--encoders wordllama,glove]
    [--judges keyphrases,topic]

DATA has the folders wikispeedia and mdn with pages.jsonl.zst. Settings are chosen on the
development topics; the test topics are for reports alone. For each topic 50 pages with its label
and 200 without are judged, weighed by how many of each the web has. `best` is what the threshold
would give that fits the topic best.
"""

import argparse
import io
import json
import time
from pathlib import Path

import numpy as np
import zstandard
from labelled_texts import without_labels

from honeyguide.contracts import Page
from honeyguide.recorded.graph import label_matches
from honeyguide.registry import make

DEVELOPMENT = {
    "wikispeedia": {
        "birds": "Birds",
        "dinosaurs": "Dinosaurs",
        "mathematics": "Mathematics",
        "philosophy": "Philosophy",
        "astronomy": "Space_Astronomy",
        "insects": "Insects_Reptiles_and_Fish",
        "poetry": "Poetry_and_Opera",
        "medicine": "Health_and_medicine",
        "military history": "Military_History_and_War",
        "chemical compounds": "Chemical_compounds",
    },
    "mdn": {
        "xml": "section:Web/XML",
        "accessibility": "section:Web/Accessibility",
        "indexeddb": "apigroup:IndexedDB",
        "css fonts": "apigroup:CSS Font Loading API",
        "speech recognition": "apigroup:Web Speech API",
        "payment": "apigroup:Payment Request API",
    },
}
TEST = {
    "wikispeedia": {
        "geology": "Geology_and_geophysics",
        "religion": "Religious_movements_traditions_and_organizations",
        "food": "Food_and_agriculture",
        "ships": "Air_and_Sea_transport",
        "cartoons": "Cartoons",
        "earthquake": "Natural_Disasters",
        "railway": "Railway_transport",
        "mammals": "Mammals",
        "chemical elements": "Chemical_elements",
        "video games": "Computer_and_Video_games",
        "tropical storms": "Storms",
    },
    "mdn": {
        "WebRTC": "apigroup:WebRTC",
        "WebGL": "apigroup:WebGL",
        "SVG": "apigroup:SVG",
        "http": "section:Web/HTTP",
        "canvas": "apigroup:Canvas API",
        "WebAssembly": "section:WebAssembly",
        "web audio": "apigroup:Web Audio API",
        "service workers": "apigroup:Service Workers API",
    },
}
SPLIT = {"development": DEVELOPMENT, "test": TEST}
LABELLED, OTHERS = 50, 200  # pages of a topic that are judged


def main() -> None:
    """Print a row for each topic, encoder and judge, and their means."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--topics", choices=SPLIT, default="development")
    parser.add_argument("--encoders", default="wordllama,glove")
    parser.add_argument("--judges", default="keyphrases,topic", help="with ; before settings")
    asked = parser.parse_args()
    encoders = {name: make("encoder", name) for name in asked.encoders.split(",")}
    rows = []
    for web, topics in SPLIT[asked.topics].items():
        pages = read(asked.data / web / "pages.jsonl.zst")
        for topic, label in topics.items():
            chosen, true, weights = sample(pages, label)
            for name, encoder in encoders.items():
                for judge in asked.judges.split(","):
                    spec = judge.replace(";", ",")
                    found = measured(spec, topic, encoder, chosen, true, weights)
                    rows.append(
                        {"web": web, "topic": topic, "encoder": name, "judge": spec} | found
                    )
    print(json.dumps({"topics": rows, "means": means(rows)}, indent=1))


def read(path: Path) -> list[Page]:
    """The pages of a web, without labels in their texts."""
    with path.open("rb") as file:
        unpacked = zstandard.ZstdDecompressor(max_window_size=1 << 31).stream_reader(file)
        found = [json.loads(line) for line in io.TextIOWrapper(unpacked, encoding="utf-8")]
    return [
        Page(
            each["id"],
            each["title"],
            without_labels(each["text"]),
            labels=tuple(each["labels"]),
        )
        for each in found
    ]


def sample(pages: list[Page], label: str) -> tuple[list[Page], np.ndarray, np.ndarray]:
    """Pages with and without a label, which have it, and how many pages each stands for."""
    has = np.array([any(label_matches(own, label) for own in page.labels) for page in pages])
    rng = np.random.default_rng(0)
    chosen, weights = [], []
    for numbers, most in ((np.flatnonzero(has), LABELLED), (np.flatnonzero(~has), OTHERS)):
        some = rng.permutation(numbers)[:most]
        chosen += some.tolist()
        weights += [len(numbers) / len(some)] * len(some)
    return [pages[number] for number in chosen], has[chosen], np.array(weights)


def measured(
    spec: str, topic: str, encoder: object, pages: list[Page], true: np.ndarray, weights: np.ndarray
) -> dict[str, float]:
    """Precision, recall and F1 of a judge, its F1 with the best threshold, and its time."""
    judge = make("judge", spec, topic=topic, encoder=encoder)
    begin = time.process_time()
    verdicts = [judge(page) for page in pages]
    seconds = time.process_time() - begin
    relevance = np.array([verdict.relevance for verdict in verdicts])
    best = max(
        (scores(relevance >= least, true, weights)["f1"], float(least))
        for least in np.unique(relevance)
    )
    said = np.array([verdict.relevant for verdict in verdicts])
    return scores(said, true, weights) | {
        "best": best[0],
        "best_threshold": best[1],
        "ms": 1000 * seconds / len(pages),
    }


def scores(said: np.ndarray, true: np.ndarray, weights: np.ndarray) -> dict[str, float]:
    """Precision, recall and F1 over weighed pages."""
    right = float(weights[said & true].sum())
    precision = right / max(float(weights[said].sum()), 1e-9)
    recall = right / float(weights[true].sum())
    return {
        "precision": precision,
        "recall": recall,
        "f1": 2 * precision * recall / max(precision + recall, 1e-9),
    }


def means(rows: list[dict]) -> list[dict]:
    """The means over the topics of each web."""
    groups: dict[tuple[str, str, str], list[dict]] = {}
    for row in rows:
        groups.setdefault((row["web"], row["encoder"], row["judge"]), []).append(row)
    names = ("precision", "recall", "f1", "best", "ms")
    return [
        {"web": web, "encoder": encoder, "judge": judge, "topics": len(found)}
        | {name: float(np.mean([row[name] for row in found])) for name in names}
        for (web, encoder, judge), found in groups.items()
    ]


if __name__ == "__main__":
    main()
