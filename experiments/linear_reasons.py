"""Why linear SARSA finds no more than no learning: one thing changed at a time, and measured.

The crawlers between `best_first` and `linear_sync`, least squares on the rows that `linear_sync`
learns from, and weights fitted in hindsight. Each crawl also measures how well scores and features
rank the waiting links.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.harness.experiment import Entry, Trial
from experiments.harness.trials import points
from experiments.topics import GLOVE, PAIRS, Topic
from experiments.trained_networks import opened_task
from honeyguide.agents.best_first import BestFirst
from honeyguide.agents.linear import Linear, LinearSync
from honeyguide.agents.rewards import tiered
from honeyguide.assemble import Assembled
from honeyguide.contracts import Agent, Candidates, Goal, Matrix, Step, Truth, Vector, Visit
from honeyguide.engine.loop import run_simulated
from honeyguide.engine.navigator import Navigator
from honeyguide.features.discrete import HAN, Discrete, category_words
from honeyguide.learning.ranking import roc_auc

HERE = "experiments.linear_reasons"
MEASURED, HINDSIGHT = f"{HERE}:measured", f"{HERE}:in_hindsight"
TIMES = 10  # that the ranking is measured in a crawl
RIDGE = 1.0  # of least squares
FULL = 5.0  # cosines that are not bucketed are multiplied by it, so that rows keep their size
PAID, UNPAID = 30.0, -1.0
# entries: name -> agent; {} stands for the topic's categories and step size, on pairs
CRAWLERS = {
    "best_first": "best_first",
    "best_first, one choice in ten random": f"{HERE}:Cosine:epsilon=0.1",
    "best_first, bucketed": f"{HERE}:Cosine:bucketed=yes",
    "linear_sync": f"{HERE}:Changed:{{}}",
    "linear_sync, never random": f"{HERE}:Changed:{{}},epsilon=0",
    "linear_sync, only relevant pages paid": f"{HERE}:Changed:{{}},only_relevant=yes",
    "linear_sync, nothing expected beyond (gamma 0)": f"{HERE}:Changed:{{}},gamma=0",
    "linear_sync, a tenth of the step": f"{HERE}:Changed:{{}},share=0.1",
    "linear_sync, cosines not bucketed": f"{HERE}:Changed:{{}},bucketed=no",
    "linear_sync, the link's cosine alone": f"{HERE}:Changed:{{}},only_cosine=yes",
    "least squares, same rows and rewards": f"{HERE}:LeastSquares:{{}}",
    "least squares, only relevant pages paid": f"{HERE}:LeastSquares:{{}},only_relevant=yes",
    "least squares, without a constant": f"{HERE}:LeastSquares:{{}},constant=no",
    "weights fitted in hindsight": f"{HERE}:Fixed:{{}},epsilon=0",
}


def changed_crawlers(topic: Topic) -> list[Entry]:
    """List the crawlers with their settings for a topic."""
    settings = f"categories={topic.categories},step_size={topic.step_size}{PAIRS}"
    return [
        Entry(name=name, agent=agent.format(settings), encoder=GLOVE, cosine=True)
        for name, agent in CRAWLERS.items()
    ]


def function_of(entry: Entry) -> str:
    """Return the function that crawls with an entry."""
    return HINDSIGHT if entry.agent.startswith(f"{HERE}:Fixed") else MEASURED


class Cosine(BestFirst):
    """best_first with random choices, or by the buckets of Han et al. (2018)."""

    def __init__(
        self, goal: Goal, rng: np.random.Generator, epsilon: float = 0.0, bucketed: bool = False
    ) -> None:
        super().__init__(goal)
        self._rng, self._epsilon, self._bucketed = rng, epsilon, bucketed

    def explores(self) -> bool:
        """Take a random link with probability epsilon."""
        return bool(self._rng.random() < self._epsilon)

    def score(self, links: Candidates) -> Vector:
        """The cosine, or the sum of its two bucket indexes."""
        cosines = super().score(links)
        if not self._bucketed:
            return cosines
        indexes = [np.searchsorted(edges, cosines, side="right") for edges in HAN.relevance]
        summed: Vector = np.sum(indexes, axis=0).astype(np.float32)
        return summed


def paid_for_word(visit: Visit) -> float:
    """30 for a relevant page, else -1: closeness is not paid."""
    return PAID if visit.verdict.relevant else UNPAID


class NotBucketed(Discrete):
    """Rows with the cosines themselves in place of their buckets."""

    def _bucketed(self, values: Matrix) -> Matrix:
        whole = FULL * np.clip(values.astype(np.float32), 0.0, None)
        return np.concatenate([whole for _ in self._edges], axis=1)


class Changed(LinearSync):
    """linear_sync with one thing changed."""

    def __init__(  # noqa: PLR0913, PLR0917 each is a change
        self,
        goal: Goal,
        rng: np.random.Generator,
        categories: str = "",
        step_size: float = 0.001,
        frontier: str = "fresh_pairs",
        epsilon: float = 0.1,
        gamma: float = 0.9,
        share: float = 1.0,  # of the step size
        only_relevant: bool = False,  # whether closeness is not paid
        bucketed: bool = True,
        only_cosine: bool = False,  # whether all other features count as 0
    ) -> None:
        super().__init__(
            goal, rng, categories, gamma=gamma, step_size=share * step_size, epsilon=epsilon,
            frontier=frontier,
        )  # fmt: skip
        if not bucketed:
            self.features = NotBucketed(goal.topic, goal.encoder, category_words(categories))
        self._only_relevant = only_relevant
        self._used = np.ones(self.features.width, np.float32)
        if only_cosine:
            self._used[:] = 0
            self._used[columns(self.features.width)["the link's cosine"]] = 1
        self.moved: list[float] = []  # by page: share of the error that its value moves by
        self.shown: list[Candidates] = []  # by page: its links

    def reward(self, visit: Visit) -> float:
        """As the paper's, or only for relevant pages."""
        return paid_for_word(visit) if self._only_relevant else super().reward(visit)

    def score(self, links: Candidates) -> Vector:
        """The value by the features that count."""
        return super().score(Candidates(links.ids, links.x * self._used))

    def learn(self, steps: Sequence[Step]) -> None:
        """Learn from the features that count."""
        for step in steps:
            x = step.x * self._used
            self.moved.append(self.variant.step_size * float(x @ x))
            options = Candidates(step.options.ids, step.options.x * self._used)
            self.shown.append(options)
            super().learn([replace(step, x=x, options=options)])


class LeastSquares(LinearSync):
    """The rows and rewards of linear_sync; weights by ridge regression on all pages so far."""

    def __init__(
        self,
        goal: Goal,
        rng: np.random.Generator,
        categories: str = "",
        step_size: float = 0.001,
        frontier: str = "fresh_pairs",
        constant: bool = True,  # whether a row has a constant beside its features
        only_relevant: bool = False,  # whether closeness is not paid
    ) -> None:
        super().__init__(goal, rng, categories, step_size=step_size, frontier=frontier)
        self._fit, self._constant = Fit(self.features.width), constant
        self._only_relevant = only_relevant

    def reward(self, visit: Visit) -> float:
        """As the paper's, or only for relevant pages."""
        return paid_for_word(visit) if self._only_relevant else super().reward(visit)

    def learn(self, steps: Sequence[Step]) -> None:
        """Fit rewards to rows; nothing is expected beyond a page."""
        for step in steps:
            self._fit.add(step.x[None], np.array([step.reward]), self._constant)
        self._w = self._fit.weights()


class Fixed(LinearSync):
    """Weights that are given and stay."""

    def learn(self, steps: Sequence[Step]) -> None:
        """Do nothing."""


class Fit:
    """Ridge regression with a constant, from rows in any order."""

    def __init__(self, width: int) -> None:
        self._squares: NDArray[np.float64] = RIDGE * np.eye(width + 1)
        self._products: NDArray[np.float64] = np.zeros(width + 1)

    def add(self, rows: Matrix, values: NDArray[np.float64], constant: bool = True) -> None:
        """Add rows with what they brought."""
        x = np.column_stack([rows, np.full(len(rows), float(constant))]).astype(np.float64)
        self._squares += np.asarray(x.T @ x, np.float64)
        self._products += np.asarray(x.T @ values, np.float64)

    def weights(self) -> NDArray[np.float64]:
        """Return the weights, without the constant, which ranks nothing."""
        return np.asarray(np.linalg.solve(self._squares, self._products)[:-1], np.float64)


def columns(width: int) -> dict[str, list[int]]:
    """Return where rows of Han et al. (2018) have what: each value has two bucket indexes."""
    values = (width - 2) // 4  # of a page, or of a link: topic, categories, two of parents
    link = 2 * values + 2
    return {
        "the link's cosine": [link, link + values],
        "its page's relevance": [0, values],
        "its parents' relevance": [link + values - 2, link + 2 * values - 2],
        "its page's distance": [link - 1],
    }


def measured(trial: Trial, world: str, random_seed: int) -> dict[str, Any]:
    """Crawl once, and measure rewards and ranking on the way."""
    opened = _opened(trial, world)
    return Measured(opened, _navigator(opened, trial.entry.agent, random_seed)).run()


def in_hindsight(trial: Trial, world: str, random_seed: int) -> dict[str, Any]:
    """Crawl with weights fitted to whether the links that linear_sync has seen were relevant."""
    opened = _opened(trial, world)
    learning = trial.entry.agent.replace("Fixed", "Changed").replace(",epsilon=0", "")
    first = _navigator(opened, learning, random_seed)
    Measured(opened, first).run()
    second = _navigator(opened, trial.entry.agent, random_seed)
    learnt, fixed = first.agent, second.agent
    assert isinstance(learnt, Changed)  # noqa: S101 for the type checker
    assert isinstance(fixed, Fixed)  # noqa: S101 for the type checker
    relevant = relevant_ids(opened.world.truth(), first)
    fixed.load_policy({"weights": fitted(learnt.shown, relevant)})
    return Measured(opened, second).run()


def fitted(shown: Sequence[Candidates], relevant: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return weights fitted to whether these links lead to relevant pages, by page number."""
    fit = Fit(shown[0].x.shape[1])
    for links in shown:
        fit.add(links.x, relevant[links.ids].astype(np.float64))
    return fit.weights()


def relevant_ids(truth: Truth, navigator: Navigator) -> NDArray[np.bool_]:
    """Return which of the pages that a crawl knows are relevant, by their number in its memory."""
    urls = navigator.memory.urls
    places = [truth.index(urls.url(id)) for id in range(len(urls))]
    return np.array([place >= 0 and bool(truth.relevant[place]) for place in places])


def _opened(trial: Trial, world: str) -> Assembled:
    return opened_task(trial.task, world, trial.entry.encoder, trial.entry.judge(trial.task))


def _navigator(opened: Assembled, agent: str, random_seed: int) -> Navigator:
    return opened.navigator(replace(opened.plan, agent=agent, random_seed=random_seed))


class Measured:
    """A crawl that measures how well waiting links are ranked, and which pages are paid."""

    def __init__(self, opened: Assembled, navigator: Navigator) -> None:
        self._opened, self._navigator = opened, navigator
        self._truth = opened.world.truth()
        self._curve: list[int] = []
        self._irrelevant: list[bool] = []  # pages without the word: whether they are paid
        self._ranked: list[dict[str, float]] = []  # AUC by feature, at each measurement

    def run(self) -> dict[str, Any]:
        """Crawl and return the figures of a record."""
        crawl = self._opened.crawl(self._navigator, self._note)
        run_simulated(crawl.run(self._opened.seeds))
        budget = self._opened.plan.budget
        curve = np.array(self._curve + self._curve[-1:] * (budget - len(self._curve)))
        hits = np.searchsorted(curve, np.arange(1, curve[-1] + 1)) + 1
        return {
            "relevant": int(curve[-1]),
            "area": round(float(curve.mean()), 3),
            "pages": len(self._curve),
            "curve": curve[np.array(points(budget)) - 1].tolist(),
            "hits": hits.tolist(),
            "paid_share": round(float(np.mean(self._irrelevant)), 4),
            "moved": round(float(np.mean(getattr(self._navigator.agent, "moved", None) or [0])), 4),
            **self._mean_ranks(),
            **_weight_shares(self._navigator.agent),
        }

    def _note(self, visit: Visit, step: Step, now: float) -> None:
        memory = self._navigator.memory
        self._curve.append(memory.relevant_found)
        if not visit.verdict.relevant:
            self._irrelevant.append(tiered(visit.verdict, 0.5, 0.4) > 0)
        if len(self._curve) % max(1, self._opened.plan.budget // TIMES) == 0:
            self._ranked.append(self._ranks())

    def _ranks(self) -> dict[str, float]:
        """Return the AUC of scores and features of waiting links; a link's best pair counts."""
        ids, x, scores = _waiting(self._navigator)
        relevant = relevant_ids(self._truth, self._navigator)
        named = {"score": scores}
        if x.shape[1] > 1:
            named |= {name: x[:, at].sum(axis=1) for name, at in columns(x.shape[1]).items()}
        return {name: _auc(ids, values, relevant) for name, values in named.items()}

    def _mean_ranks(self) -> dict[str, float]:
        names = self._ranked[0] if self._ranked else {}
        return {
            f"AUC of {name}": round(float(np.nanmean([each[name] for each in self._ranked])), 4)
            for name in names
        }


def _weight_shares(agent: Agent) -> dict[str, float]:
    """Return the weights of some features, as shares of the sum of all weights' sizes."""
    if not isinstance(agent, Linear):
        return {}
    weights = agent.policy()["weights"]
    whole = float(np.abs(weights).sum()) or 1.0
    return {
        f"weight of {name}": round(float(weights[at].sum()) / whole, 4)
        for name, at in columns(len(weights)).items()
    }


def _waiting(navigator: Navigator) -> tuple[NDArray[np.int32], Matrix, Vector]:
    """Return the page, row and score of what waits; scores are as the agent gives them now."""
    seen: list[tuple[Candidates, Vector]] = []

    def note(links: Candidates) -> Vector:
        scores = navigator.agent.score(links)
        seen.append((Candidates(links.ids.copy(), links.x.copy()), scores.copy()))
        return scores

    navigator.frontier.rescore(note)
    ids = np.concatenate([links.ids for links, _ in seen])
    waits = ~navigator.memory.visited(ids)  # rows of visited pages are free
    x = np.concatenate([links.x for links, _ in seen])[waits]
    return ids[waits], x, np.concatenate([scores for _, scores in seen])[waits]


def _auc(ids: NDArray[np.int32], values: Vector, relevant: NDArray[np.bool_]) -> float:
    links, places = np.unique(ids, return_inverse=True)
    best = np.full(len(links), -np.inf)
    np.maximum.at(best, places, values)
    return float(roc_auc(best, relevant[links]))
