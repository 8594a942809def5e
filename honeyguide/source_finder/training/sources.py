"""Train the policy on sites: algorithms 1 to 3 of Liao and Chang (2022)."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from honeyguide import urls
from honeyguide.contracts import Encoder, Link, Page, Visit, World
from honeyguide.errors import HoneyguideError
from honeyguide.source_finder.inputs import Choice, Episode, PageInputs, anchors_only
from honeyguide.source_finder.learning import PolicyGradient
from honeyguide.source_finder.training.options import LinkPolicy, Options

Boxes = Callable[[Page], Awaitable[Page]]  # adds the boxes of its links in a browser to a page
Report = Callable[[int, int, str], None]  # done, total, message
Observer = Callable[[int, float], Awaitable[None]]  # epochs or sites done, and the threshold so far


@dataclass(frozen=True, slots=True)
class SeenPage:
    """A visited page as input of an episode."""

    inputs: PageInputs
    targets: tuple[str, ...]  # URLs of its links; "" for links that leave the site
    relevance: float
    relevant: bool


@dataclass
class Sites:
    """Sites of a world; each page is visited once and cached."""

    world: World
    homes: Sequence[str]
    encoder: Encoder
    boxes: Boxes | None = None
    within: Callable[[str, str], bool] | None = (
        None  # whether a URL belongs to the site of a home page; None: same host
    )
    inputs: Callable[[Page, Encoder], PageInputs] = anchors_only
    _seen: dict[str, SeenPage | None] = field(default_factory=dict)

    async def look(self, url: str, home: str) -> SeenPage | None:
        """Return the page at a URL; None if there is none."""
        if url not in self._seen:
            visit = await self.world.visit(Link(url))
            self._seen[url] = await self._see(visit, home)
        return self._seen[url]

    async def _see(self, visit: Visit, home: str) -> SeenPage | None:
        page = visit.page
        if page is None:
            return None
        if self.boxes:
            body = page.html or (visit.response.body if visit.response else b"")
            page = await self.boxes(replace(page, html=body))
        inputs = self.inputs(page, self.encoder)
        within = self.within or same_site
        links = page.links[: len(inputs)]
        targets = tuple(link.url if within(link.url, home) else "" for link in links)
        return SeenPage(inputs, targets, visit.verdict.relevance, visit.verdict.relevant)


def same_site(url: str, home: str) -> bool:
    """Return whether two URLs have the same host; a leading www. is ignored."""
    return urls.host(url).removeprefix("www.") == urls.host(home).removeprefix("www.")


@dataclass(frozen=True, slots=True)
class EpisodeSettings:
    """How links are chosen in an episode, and what reward they get."""

    steps: int = 3  # most clicks
    threshold: float = 0.0  # eta, least score of a click
    epsilon: float = 0.0  # share of clicks at random
    least: int = 0  # first clicks that ignore the threshold
    reward: Callable[[SeenPage | None], float] = lambda seen: float(
        seen is not None and seen.relevant
    )
    feedback: bool = False  # whether results of clicks change the scores of similar links


@dataclass(frozen=True, slots=True)
class Walk:
    """One episode, with figures for evaluation."""

    episode: Episode
    worths: tuple[float, ...]  # score of each click
    found: tuple[bool, ...]  # whether each click led to a source page
    scores: tuple[float, ...]  # relevance of each opened page


async def collect(
    sites: Sites, home: str, policy: LinkPolicy, settings: EpisodeSettings, rng: np.random.Generator
) -> Walk:
    """Walk one episode (algorithm 3): click the best link, or a random one, above the threshold."""
    options = Options(policy, settings.feedback)
    options.click(home)
    choices: list[Choice] = []
    worths: list[float] = []
    scores: list[float] = []
    found: list[bool] = []
    clicked, seen = home, await sites.look(home, home)
    for step in range(settings.steps):
        if seen is not None:
            options.add_page(clicked, seen.inputs, seen.targets)
        if step:
            options.observe_click(clicked, worths[-1], scores[-1])
        names, seem = list(options.places), options.worths()
        least = settings.threshold if step >= settings.least else -np.inf
        if not names or seem.max() <= least:
            break
        taken = int(seem.argmax())
        if settings.epsilon and rng.random() < settings.epsilon:
            taken = int(rng.integers(len(names)))
        places = tuple(options.places.values())
        clicked = names[taken]
        options.click(clicked)
        seen = await sites.look(clicked, home)
        opened = len(options.pages) if seen else -1
        choices.append(Choice(places, taken, settings.reward(seen), opened))
        worths.append(float(seem[taken]))
        found.append(seen is not None and seen.relevant)
        scores.append(seen.relevance if seen else 0.0)
    episode = Episode(tuple(options.pages), tuple(choices))
    return Walk(episode, tuple(worths), tuple(found), tuple(scores))


def threshold(walks: Sequence[Walk], weigh: Callable[[float], float] = lambda score: 1.0) -> float:
    """Return eta (equation 5): the mean over sites of their clicks' weighted mean probability."""
    means = []
    for walk in walks:
        weights = [weigh(score) for score in walk.scores]
        if sum(weights) > 0:
            means.append(float(np.average(walk.worths, weights=weights)))
    if not means:
        raise HoneyguideError("no site has a link to click: there is nothing to learn from")
    return float(np.mean(means))


@dataclass(frozen=True, slots=True, kw_only=True)
class PreTraining:
    """Pre-training on labelled sites: algorithm 1, defaults from table I, left column."""

    epochs: int = 50  # 0: only the threshold is set, after supervised training
    steps: int = 3
    batch: int = 3
    lowest_reward: float = -0.5  # limit of the penalty of equation 3; -0.1 in the paper

    def epsilon(self, epoch: int) -> float:
        """Return the exploration rate: from 0.9 to 0.1, 0.1 less every two epochs."""
        return max(0.1, 0.9 - 0.1 * (epoch // 2))

    def reward(self, epoch: int) -> Callable[[SeenPage | None], float]:
        """Return the reward function of an epoch (equation 3)."""
        penalty = max(self.lowest_reward, -0.1 - (epoch // 2) * 0.1)
        return lambda seen: 1.0 if seen is not None and seen.relevant else penalty

    async def run(
        self,
        sites: Sites,
        learner: PolicyGradient,
        rng: np.random.Generator,
        report: Report,
        look: Observer | None = None,
    ) -> float:
        """Train on labelled sites and return the threshold of the last epoch."""
        walks: list[Walk] = []
        if not self.epochs:
            policy, settings = learner.policy(), EpisodeSettings(self.steps, -1.0)
            walks = [await collect(sites, home, policy, settings, rng) for home in sites.homes]
        for epoch in range(self.epochs):
            settings = EpisodeSettings(
                self.steps, -1.0, self.epsilon(epoch), reward=self.reward(epoch)
            )
            policy = learner.policy()
            homes = [sites.homes[place] for place in rng.permutation(len(sites.homes))]
            walks = [await collect(sites, home, policy, settings, rng) for home in homes]
            loss = sum([_learn(learner, some) for some in _batches(walks, self.batch)])
            if look:
                await look(epoch + 1, threshold(walks))
            found = float(np.mean([any(walk.found) for walk in walks]))
            mean = loss * self.batch / len(walks)
            report(epoch + 1, self.epochs, f"loss {mean:.3f}, sites found {found:.2f}")
        return threshold(walks)


@dataclass(frozen=True, slots=True, kw_only=True)
class FineTuning:
    """Fine-tuning on unlabelled sites: algorithm 2, defaults from table I, right column."""

    steps: int = 3
    batch: int = 10
    epsilon: float = 0.1
    baseline: float = 0.3  # subtracted from the page score; 0 in the paper
    step_size: float = 0.002
    least: int = 2  # first clicks on a site that ignore the threshold; 0 in the paper
    caution: float = 0.5  # moves the threshold this share of the way to 1; 0 in the paper

    def reward(self, seen: SeenPage | None) -> float:
        """Return the page score (equation 4) minus the baseline."""
        return (seen.relevance if seen else 0.0) - self.baseline

    async def run(
        self,
        sites: Sites,
        learner: PolicyGradient,
        eta: float,
        rng: np.random.Generator,
        report: Report,
        look: Observer | None = None,
    ) -> float:
        """Train in one pass over unlabelled sites and return the new threshold."""
        settings = EpisodeSettings(self.steps, eta, self.epsilon, self.least, self.reward)
        policy = learner.policy()
        walks = []
        for number, home in enumerate(sites.homes):
            walks.append(await collect(sites, home, policy, settings, rng))
            report(number + 1, len(sites.homes), "")
        mean = threshold(walks, lambda score: score)
        new = mean + self.caution * (1 - mean)  # clicks below the threshold have lowered the mean
        for number, some in enumerate(_batches(walks, self.batch)):
            _learn(learner, some)
            if look:
                await look(number * self.batch + len(some), new)
        return new


def _batches(walks: Sequence[Walk], batch: int) -> Iterator[Sequence[Walk]]:
    return (walks[start : start + batch] for start in range(0, len(walks), batch))


def _learn(learner: PolicyGradient, walks: Sequence[Walk]) -> float:
    return learner.update([walk.episode for walk in walks])


@dataclass(frozen=True, slots=True)
class Measured:
    """The measures of equations 11 to 13, and of the first clicks alone."""

    precision: float  # source pages per click
    recall: float  # share of sites where a source page was found
    unit_cost: float  # clicks per source page
    first: float  # share of sites whose first click opened a source page
    clicks: int
    sources: int
    recall_by_step: tuple[float, ...]  # recall after one, two and three clicks


async def evaluate(
    sites: Sites, policy: LinkPolicy, eta: float, steps: int = 10
) -> tuple[Measured, list[Walk]]:
    """Measure a policy with at most ten clicks per site, none at random (table I, last rows)."""
    rng = np.random.default_rng(0)  # never drawn from: epsilon is 0
    settings = EpisodeSettings(steps, eta)
    walks = [await collect(sites, home, policy, settings, rng) for home in sites.homes]
    clicks = sum(len(walk.found) for walk in walks)
    sources = sum(sum(walk.found) for walk in walks)
    by_step = tuple(float(np.mean([any(w.found[:k]) for w in walks])) for k in (1, 2, 3))
    return (
        Measured(
            sources / clicks if clicks else 0.0,
            float(np.mean([any(walk.found) for walk in walks])),
            clicks / sources if sources else float("inf"),
            by_step[0],
            clicks,
            sources,
            by_step,
        ),
        walks,
    )
