"""Train the judge `topic` on the development topics, and print its weights.

    python -m experiments.topic_training DATA [--left-out topics|webs] [--seed 0]

DATA holds wikispeedia, mdn and webkb as pages.jsonl.zst. Prints `FITTED` of
honeyguide/judges/topic_model.py. With --left-out it prints instead how well topics are judged that
were left out: those of one fold of four, or all of a web. So was everything chosen; the test topics
of `benchmarks/judged_topics.py` are never read.

Each topic is judged on its whole web, and on lists of 80 to 600 pages of which 2 to 90 % are
relevant: a threshold must fit both. It takes about fifteen minutes on one core.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from honeyguide.contracts import Mask, Matrix
from honeyguide.judges import topic_calibration as calibration
from honeyguide.judges.passages import Reader
from honeyguide.judges.topic_calibration import Fit
from honeyguide.judges.topic_model import TopicModel
from honeyguide.registry import make
from honeyguide.text.words import terms

sys.path.insert(0, str(Path(__file__).parents[1] / "benchmarks"))

Numbers = NDArray[np.float64]

WHOLE = "whole web"
PRECISE = 0.7  # beta of F where relevant pages are few: below 1, precision counts more
# share of relevant pages, pages, share of the others that are close to the topic, weight, beta
LISTS = (
    (0.02, 320, 0.15, 0.4, PRECISE),
    (0.08, 320, 0.5, 0.4, PRECISE),
    (0.25, 600, 0.3, 0.5, 1.0),
    (0.6, 120, 0.5, 0.4, 1.0),
    (0.9, 80, 0.5, 0.2, 1.0),
)
FOLDS = 4
POSITIVE, NEGATIVE = 200, 400  # pages of a topic that the logistic models learn from
PENALTY = 5.0  # of logistic weights, in pages
SOFT = 0.35  # logits: how far from the threshold a page is in part relevant
HELD = 0.5  # how strongly the threshold is held at the built-in one
KEPT = 1500  # surest pages of a list that its threshold is fitted on
GRID = np.arange(-6.0, 1.0, 0.25)  # built-in thresholds that are tried


class Task(NamedTuple):
    """A topic on a web."""

    web: str
    topic: str
    measures: Matrix  # shape (pages, measures)
    true: Mask
    rarity: Numbers


class List(NamedTuple):
    """Pages that are judged together."""

    task: Task
    kind: str
    weight: float
    beta: float  # of the F that thresholds are fitted to
    rows: NDArray[np.intp]

    @property
    def pages(self) -> Numbers:
        """Their measures."""
        return self.task.measures[self.rows].astype(float)

    @property
    def true(self) -> Mask:
        """Which of them are relevant."""
        return self.task.true[self.rows]


# ----------------------------------------------------------------------- pages


def measured(data: Path, web: str) -> list[Task]:
    """The development topics of a web on all its pages."""
    judged, benchmark = import_module("judged_topics"), import_module("topics")
    pages, _ = benchmark.read(data / web / "pages.jsonl.zst")
    encoder = benchmark.Encoded(make("encoder", "wordllama:cache_megabytes=0"))
    tasks = []
    for topic, rule in judged.topics(web, "dev").items():
        reader = Reader(topic, terms(topic), encoder)
        measures = np.array([reader(page).measures for page in pages], np.float32)
        true = np.array([judged.is_on(page.labels, rule) for page in pages])
        tasks.append(Task(web, topic, measures, true, reader.rarity))
    return tasks


def lists(task: Task, rng: np.random.Generator) -> list[List]:
    """The whole web, and lists drawn from it."""
    usable = (task.measures[:, calibration.LENGTH] > 0) & (task.measures[:, calibration.KNOWN] > 0)
    relevant, others = np.flatnonzero(usable & task.true), np.flatnonzero(usable & ~task.true)
    close = others[np.argsort(-task.measures[others, calibration.HEAD], kind="stable")]
    close = close[: max(300, len(others) // 10)]
    found = [List(task, WHOLE, 1.0, PRECISE, np.flatnonzero(usable))]
    for share, size, of_close, weight, beta in LISTS:
        chosen = rng.choice(relevant, min(len(relevant), int(share * size)), replace=False)
        rest = min(size - len(chosen), int(len(chosen) * (1 / share - 1)) + 3)
        near = rng.choice(close, min(len(close), int(rest * of_close)), replace=False)
        far = rng.choice(others, rest - len(near), replace=False)
        rows = np.unique(np.concatenate([chosen, near, far]))
        found.append(List(task, f"{100 * share:.0f} %", weight, beta, rows))
    return found


# ---------------------------------------------------------------------- models


def trained(given: Sequence[List], seed: int) -> TopicModel:
    """All weights, one model after the other, each on what those before it say."""
    rng = np.random.default_rng(seed)
    model = TopicModel(_usual(given), *_nothing(), *_nothing())
    fits = [_compared(each, model) for each in given]
    rows = [calibration.features(each.pages, fit) for each, fit in zip(given, fits, strict=True)]
    model = _with_first(model, *logistic(given, rows, rng))
    logits = [each @ model.first + model.first_bias for each in rows]
    built_in = best_fixed(given, logits)
    spread = spread_weights(given, logits, built_in)
    model = model._replace(first_threshold=built_in, first_spread=spread)
    rows = [
        _second_features(each, fit, said, model)
        for each, fit, said in zip(given, fits, logits, strict=True)
    ]
    weights, bias = logistic(given, rows, rng)
    logits = [each @ weights + bias for each in rows]
    built_in = best_fixed(given, logits)
    spread = spread_weights(given, logits, built_in)
    return model._replace(
        second=weights, second_bias=bias, second_threshold=built_in, second_spread=spread
    )


def _nothing() -> tuple[Numbers, float, float, Numbers]:
    return np.empty(0), 0.0, 0.0, np.empty(0)


def _with_first(model: TopicModel, weights: Numbers, bias: float) -> TopicModel:
    return model._replace(first=weights, first_bias=bias)


def _usual(given: Sequence[List]) -> Numbers:
    """The mean over webs of the mean over topics."""
    found: dict[str, list[Numbers]] = {}
    for each in given:
        if each.kind == WHOLE:
            weights = calibration.term_weights(each.pages, each.task.rarity)
            own = calibration.columns(each.pages, weights)
            found.setdefault(each.task.web, []).append(np.quantile(own, [0.1, 0.3, 0.5], axis=0))
    mean: Numbers = np.mean([np.mean(webs, axis=0) for webs in found.values()], axis=0)
    return mean


def _compared(given: List, model: TopicModel) -> Fit:
    return calibration.compared(given.pages, calibration.unfitted(given.task.rarity, model), model)


def _second_features(given: List, fit: Fit, logits: Numbers, model: TopicModel) -> Numbers:
    first = calibration.threshold(logits, model.first_spread, model.first_threshold)
    above = logits - (first + calibration.SURER)
    fit = calibration.with_words(given.pages, above, replace(fit, first=first))
    return calibration.second_features(given.pages, fit, model)


def logistic(
    given: Sequence[List], rows: Sequence[Numbers], rng: np.random.Generator
) -> tuple[Numbers, float]:
    """A logistic regression on pages of whole webs; each topic has the same weight."""
    drawn = [
        (features[chosen], each.true[chosen], weights)
        for each, features in zip(given, rows, strict=True)
        if each.kind == WHOLE
        for chosen, weights in [_drawn(each.true, rng)]
    ]
    features, true, weights = (np.concatenate(part) for part in zip(*drawn, strict=True))
    mean, spread = features.mean(axis=0), features.std(axis=0) + 1e-9
    scaled = np.column_stack([(features - mean) / spread, np.ones(len(features))])
    found = newton(scaled, true, weights / weights.mean())
    own: Numbers = found[:-1] / spread
    return own, float(found[-1] - own @ mean)


def _drawn(true: Mask, rng: np.random.Generator) -> tuple[NDArray[np.intp], Numbers]:
    """Some pages, and weights that make up for those left out."""
    rows, weights = [], []
    for kind, most in ((np.flatnonzero(true), POSITIVE), (np.flatnonzero(~true), NEGATIVE)):
        rows.append(rng.choice(kind, min(len(kind), most), replace=False))
        weight = len(kind) / max(1, len(rows[-1])) / max(1, int(true.sum()))
        weights.append(np.full(len(rows[-1]), weight))
    return np.concatenate(rows), np.concatenate(weights)


def newton(rows: Numbers, true: Mask, weights: Numbers, steps: int = 30) -> Numbers:
    """The weights of a logistic regression with a penalty on all but the last."""
    penalty = np.append(np.full(rows.shape[1] - 1, PENALTY), 1e-6)
    found = np.zeros(rows.shape[1])
    for _ in range(steps):
        said = calibration.sigmoid(rows @ found)
        slope = rows.T @ (weights * (true - said)) - penalty * found
        curve = (rows * (weights * said * (1 - said))[:, None]).T @ rows + np.diag(penalty)
        found += np.linalg.solve(curve, slope)
    return found


# ------------------------------------------------------------------ thresholds


def f_score(relevant: Mask, true: Mask, beta: float) -> float:
    """F of what was found."""
    square = beta * beta
    hits = int((relevant & true).sum())
    return (1 + square) * hits / max(1e-9, square * int(true.sum()) + int(relevant.sum()))


def best_fixed(given: Sequence[List], logits: Sequence[Numbers]) -> float:
    """The threshold that is best for all lists together."""

    def score(threshold: float) -> float:
        return sum(
            each.weight * f_score(said >= threshold, each.true, each.beta)
            for each, said in zip(given, logits, strict=True)
        )

    return float(max(GRID, key=score))


def spread_weights(given: Sequence[List], logits: Sequence[Numbers], built_in: float) -> Numbers:
    """The weights of `spread_of` that give the highest soft F."""
    rows = np.array([calibration.spread_of(each) for each in logits])
    mean, spread = rows.mean(axis=0), rows.std(axis=0) + 1e-9
    mean[0], spread[0] = 0.0, 1.0  # the constant
    found = highest(torch.tensor((rows - mean) / spread), _soft_f(given, logits), built_in)
    weights: Numbers = found / spread
    weights[0] -= weights[1:] @ mean[1:]
    return weights


def _soft_f(
    given: Sequence[List], logits: Sequence[Numbers]
) -> Callable[[torch.Tensor], torch.Tensor]:
    """The weighed sum of soft F, by the threshold of each list."""
    said = torch.full((len(given), KEPT), -1e3, dtype=torch.float64)
    true = torch.zeros((len(given), KEPT), dtype=torch.float64)
    for row, (each, own) in enumerate(zip(given, logits, strict=True)):
        best = np.argsort(-own, kind="stable")[:KEPT]
        said[row, : len(best)] = torch.tensor(own[best])
        true[row, : len(best)] = torch.tensor(each.true[best].astype(float))
    weights = torch.tensor([each.weight for each in given], dtype=torch.float64)
    square = torch.tensor([each.beta**2 for each in given], dtype=torch.float64)
    wanted = square * torch.tensor([float(each.true.sum()) for each in given])

    def score(thresholds: torch.Tensor) -> torch.Tensor:
        relevant = torch.sigmoid((said - thresholds[:, None]) / SOFT)
        found = (1 + square) * (relevant * true).sum(1) / (wanted + relevant.sum(1))
        return (weights * found).sum()

    return score


def highest(
    rows: torch.Tensor, score: Callable[[torch.Tensor], torch.Tensor], built_in: float
) -> Numbers:
    """Weights with the highest score of their thresholds, held near the built-in one."""
    start = torch.zeros(rows.shape[1], dtype=torch.float64)
    start[0] = built_in
    weights = start.clone().requires_grad_()
    search = torch.optim.LBFGS([weights], max_iter=60, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        search.zero_grad()
        value = HELD * ((weights - start) ** 2).sum() - score(rows @ weights)
        value.backward()  # type: ignore[no-untyped-call]
        return value

    search.step(loss)  # type: ignore[no-untyped-call]
    found: Numbers = weights.detach().numpy().copy()
    return found


# --------------------------------------------------------------------- reports


def judged(given: List, model: TopicModel) -> dict[str, float]:
    """How well a list is judged by a model that is fitted to it."""
    judge = calibration.TopicCalibration(given.task.rarity, model=model)
    judge.fit(given.task.measures[given.rows])
    score, relevant = judge.decide(given.task.measures[given.rows])
    true, hits = given.true, int((relevant & given.true).sum())
    ranked = true[np.argsort(-score, kind="stable")]
    best = 2 * np.cumsum(ranked) / (np.arange(1, len(true) + 1) + true.sum())
    return {
        "precision": hits / max(1, int(relevant.sum())),
        "recall": hits / int(true.sum()),
        "f1": f_score(relevant, true, 1.0),
        "best f1": float(best.max()),
    }


def report(given: Sequence[List], part_of: Callable[[Task], str], seed: int) -> None:
    """Print means over topics, each judged by a model that was trained on the other parts."""
    rows: dict[tuple[str, str], list[dict[str, float]]] = {}
    for part in sorted({part_of(each.task) for each in given}):
        model = trained([each for each in given if part_of(each.task) != part], seed)
        for each in given:
            if part_of(each.task) == part:
                found = judged(each, model)
                rows.setdefault((each.kind, each.task.web), []).append(found)
    for (kind, web), rows_of in sorted(rows.items()):
        means = {
            name: round(float(np.mean([row[name] for row in rows_of])), 3) for name in rows_of[0]
        }
        sys.stdout.write(f"{kind}, {web}, {len(rows_of)} topics: {means}\n")


def _folds(tasks: Sequence[Task], seed: int) -> dict[str, str]:
    order = np.random.default_rng(seed).permutation(len(tasks))
    return {
        task.topic: str(place % FOLDS) for task, place in zip(tasks, order.tolist(), strict=True)
    }


def source(model: TopicModel) -> str:
    """The model as it is written in Python."""
    lines = [f"    {name}={_written(value)},\n" for name, value in model._asdict().items()]
    return f"FITTED = TopicModel(\n{''.join(lines)})"


def _written(value: Numbers | float) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    if value.ndim == 1:
        return f"np.array([{', '.join(f'{each:.4g}' for each in value)}])"
    rows = (f"[{', '.join(f'{each:.4g}' for each in row)}]" for row in value)
    return f"np.array([{', '.join(rows)}])"


def main() -> None:
    """Measure, train, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--left-out", choices=("topics", "webs"))
    parser.add_argument("--seed", type=int, default=0)
    settings = parser.parse_args()
    webs = import_module("judged_topics").WEBS
    tasks = [task for web in webs for task in measured(settings.data, web)]
    rng = np.random.default_rng(settings.seed)
    given = [each for task in tasks for each in lists(task, rng)]
    folds = _folds(tasks, settings.seed)
    if settings.left_out == "topics":
        report(given, lambda task: folds[task.topic], settings.seed)
    elif settings.left_out == "webs":
        report(given, lambda task: task.web, settings.seed)
    else:
        sys.stdout.write(source(trained(given, settings.seed)) + "\n")


if __name__ == "__main__":
    main()
