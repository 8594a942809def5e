"""Company domains against domains of a random sample of the web, by their words: ROC-AUC.

Only domains are compared: against whole URLs, the length of a URL would tell companies apart.
"""

import argparse
import io
import json
from pathlib import Path

import numpy as np
import zstandard

from honeyguide.contracts import Goal
from honeyguide.features.url_words import UrlWords
from honeyguide.learning.url_values import UrlValues
from honeyguide.registry import make
from honeyguide.training.quality import quality

BATCH = 200


def read(path: Path) -> list[str]:
    """The URLs of a file, its heading left out."""
    with path.open("rb") as file:
        text = io.TextIOWrapper(
            zstandard.ZstdDecompressor().stream_reader(file), "utf-8", "replace"
        )
        lines = [line.strip().strip('"') for line in text]
    return [line for line in dict.fromkeys(lines) if line and line != "url"]


def domain(url: str) -> str:
    """What decides on which side of the split a URL is."""
    return url.removeprefix("http://").removeprefix("www.").partition("/")[0].lower()


def bare(url: str) -> str:
    """The domain alone, so that no path gives the answer away."""
    return f"http://{domain(url)}/"


def linear(
    rows: np.ndarray, labels: np.ndarray, steps: int, rng: np.random.Generator
) -> np.ndarray:
    """A weight a word, by logistic regression and Adam: the weights."""
    weights = np.zeros(int(rows.max()) + 1)
    mean, square = np.zeros_like(weights), np.zeros_like(weights)
    for step in range(1, steps + 1):
        chosen = rng.integers(0, len(rows), BATCH)
        words = rows[chosen].astype(int)
        errors = 1 / (1 + np.exp(-weights[words].sum(axis=1))) - labels[chosen]
        gradient = np.zeros_like(weights)
        np.add.at(gradient, words, errors[:, None] / BATCH)
        gradient[0] = 0.0
        mean += 0.1 * (gradient - mean)
        square += 0.001 * (gradient**2 - square)
        scale = 0.01 * np.sqrt(1 - 0.999**step) / (1 - 0.9**step)
        weights -= scale * mean / (np.sqrt(square) + 1e-8)
    return weights


def network(
    encoder: str, urls: list[str], labels: np.ndarray, train: np.ndarray, steps: int
) -> np.ndarray:
    """The convolution over this encoder's vectors of words: values of the test URLs."""
    rng = np.random.default_rng(1)
    values = UrlValues(Goal("companies", make("encoder", encoder)), rng, 0.003)
    rows, places = numbered(values.features, urls, train), np.flatnonzero(train)
    for _ in range(steps):
        chosen = rng.choice(places, BATCH)
        values.learn(rows[chosen], labels[chosen])
    return values.score(rows[~train])


def numbered(words: UrlWords, urls: list[str], train: np.ndarray) -> np.ndarray:
    """Rows of words; test URLs bring no new ones."""
    words.rows([url for url, inside in zip(urls, train, strict=True) if inside])
    words.vocabulary = len(words.words) - 1
    return words.rows(urls)


def _squashed(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def measure(data: Path, steps: int) -> dict[str, object]:
    """Train on half of the domains, test on the others."""
    rng = np.random.default_rng(0)
    companies = read(data / "domains_list.csv.zst")
    others = read(data / "random_url_sample.csv.zst")
    known = {domain(url) for url in companies}
    unknown = [bare(url) for url in others if domain(url) not in known]
    others = list(dict.fromkeys(unknown))  # each domain once
    urls = [*map(bare, companies), *others]
    labels = np.array([1] * len(companies) + [0] * len(others), np.float32)
    domains = sorted({domain(url) for url in urls})
    kept = {domains[n] for n in rng.permutation(len(domains))[: len(domains) // 2]}
    train = np.array([domain(url) in kept for url in urls])
    words = UrlWords()
    rows = numbered(words, urls, train)
    weights = linear(rows[train], labels[train], steps, rng)
    by_weight = weights[rows[~train].astype(int)].sum(axis=1)
    by_network = {
        name: network(name, urls, labels, train, steps) for name in ("wordllama", "glove")
    }
    order = np.argsort(-np.abs(weights))[:20]
    return {
        "companies": len(companies),
        "others": len(others),
        "words": len(words.words) - 1,
        "auc_linear": round(quality(_squashed(by_weight), labels[~train] > 0).auc, 4),
        "auc_network": {
            name: round(quality(found, labels[~train] > 0).auc, 4)
            for name, found in by_network.items()
        },
        "weights": {words.words[n]: round(float(weights[n]), 2) for n in order},
    }


def main() -> None:
    """Print the figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with uk-companies/")
    parser.add_argument("--steps", type=int, default=2000, help="batches of 200")
    arguments = parser.parse_args()
    found = measure(arguments.data / "uk-companies", arguments.steps)
    print(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
