"""Training the source finder: algorithms 1 to 3 of Liao and Chang (2022)."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from honeyguide import urls
from honeyguide.contracts import Encoder, Link, Page, Visit, World
from honeyguide.errors import HoneyguideError
from honeyguide.source_finder.inputs import Choice, Episode, PageInputs, anchors_only
from honeyguide.source_finder.learning import PolicyGradient
from honeyguide.source_finder.training.options import Options, Weigh

Boxes = Callable[[Page], Awaitable[Page]]  # the same page with its links' places in a browser
Report = Callable[[int, int, str], None]  # done, of how many, news
Look = Callable[[int, float], Awaitable[None]]  # epochs or sites done, and the threshold so far


@dataclass(frozen=True, slots=True)
class Seen:
    """A page as an episode meets it."""

    inputs: PageInputs
    targets: tuple[str, ...]  # of its links; "" for those that leave the site
    relevance: float
    relevant: bool


@dataclass
class Sites:
    """Sites of a world, each page looked at once."""

    world: World
    homes: Sequence[str]
    encoder: Encoder
    boxes: Boxes | None = None
    within: Callable[[str, str], bool] | None = (
        None  # a URL and a home page: one site; else by host
    )
    inputs: Callable[[Page, Encoder], PageInputs] = anchors_only
    _seen: dict[str, Seen | None] = field(default_factory=dict)

    async def look(self, url: str, home: str) -> Seen | None:
        """The page at an address; None when there is none."""
        if url not in self._seen:
            visit = await self.world.visit(Link(url))
            self._seen[url] = await self._see(visit, home)
        return self._seen[url]

    async def _see(self, visit: Visit, home: str) -> Seen | None:
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
        return Seen(inputs, targets, visit.verdict.relevance, visit.verdict.relevant)


def same_site(url: str, home: str) -> bool:
    """Whether two addresses are of one site; www makes no difference."""
    return urls.host(url).removeprefix("www.") == urls.host(home).removeprefix("www.")


@dataclass(frozen=True, slots=True)
class Manner:
    """How an episode is walked."""

    steps: int = 3
    threshold: float = 0.0  # eta: no click on what seems less likely
    epsilon: float = 0.0
    least: int = 0  # clicks that are made however unlikely
    reward: Callable[[Seen | None], float] = lambda seen: float(seen is not None and seen.relevant)
    feedback: bool = False  # whether a page's relevance speaks for links like the one to it


@dataclass(frozen=True, slots=True)
class Walk:
    """One episode, and what an evaluation wants to know of it."""

    episode: Episode
    worths: tuple[float, ...]  # pi of each click
    found: tuple[bool, ...]  # whether each click led to a source page
    scores: tuple[float, ...]  # relevance of each page


async def collect(
    sites: Sites, home: str, policy: Weigh, manner: Manner, rng: np.random.Generator
) -> Walk:
    """Algorithm 3: click what seems best, or anything now and then, until nothing seems good."""
    options = Options(policy, manner.feedback)
    options.click(home)
    choices: list[Choice] = []
    worths: list[float] = []
    scores: list[float] = []
    found: list[bool] = []
    clicked, seen = home, await sites.look(home, home)
    for step in range(manner.steps):
        if seen is not None:
            options.show(clicked, seen.inputs, seen.targets)
        if step:
            options.tell(clicked, worths[-1], scores[-1])
        names, seem = list(options.places), options.worths()
        least = manner.threshold if step >= manner.least else -np.inf
        if not names or seem.max() <= least:
            break
        taken = int(seem.argmax())
        if manner.epsilon and rng.random() < manner.epsilon:
            taken = int(rng.integers(len(names)))
        places = tuple(options.places.values())
        clicked = names[taken]
        options.click(clicked)
        seen = await sites.look(clicked, home)
        opened = len(options.pages) if seen else -1
        choices.append(Choice(places, taken, manner.reward(seen), opened))
        worths.append(float(seem[taken]))
        found.append(seen is not None and seen.relevant)
        scores.append(seen.relevance if seen else 0.0)
    episode = Episode(tuple(options.pages), tuple(choices))
    return Walk(episode, tuple(worths), tuple(found), tuple(scores))


def threshold(walks: Sequence[Walk], weigh: Callable[[float], float] = lambda score: 1.0) -> float:
    """Equation 5: the mean over sites of the clicks' mean probability, each weighed."""
    means = []
    for walk in walks:
        weights = [weigh(score) for score in walk.scores]
        if sum(weights) > 0:
            means.append(float(np.average(walk.worths, weights=weights)))
    if not means:
        raise HoneyguideError("no site had anything to click: there is nothing to learn from")
    return float(np.mean(means))


@dataclass(frozen=True, slots=True, kw_only=True)
class PreTraining:
    """Algorithm 1 and the left column of table I."""

    epochs: int = 50  # 0: nothing is learnt, for a policy that was shown links
    steps: int = 3
    batch: int = 3
    lowest_reward: float = -0.5  # where the penalty of equation 3 stops growing; printed as -0.1

    def epsilon(self, epoch: int) -> float:
        """From 0.9 to 0.1, 0.1 less every two epochs."""
        return max(0.1, 0.9 - 0.1 * (epoch // 2))

    def reward(self, epoch: int) -> Callable[[Seen | None], float]:
        """Equation 3."""
        penalty = max(self.lowest_reward, -0.1 - (epoch // 2) * 0.1)
        return lambda seen: 1.0 if seen is not None and seen.relevant else penalty

    async def run(
        self,
        sites: Sites,
        learner: PolicyGradient,
        rng: np.random.Generator,
        report: Report,
        look: Look | None = None,
    ) -> float:
        """Train on labelled sites; the threshold of the last epoch, or of the policy as it is."""
        walks: list[Walk] = []
        if not self.epochs:
            policy, manner = learner.policy(), Manner(self.steps, -1.0)
            walks = [await collect(sites, home, policy, manner, rng) for home in sites.homes]
        for epoch in range(self.epochs):
            manner = Manner(self.steps, -1.0, self.epsilon(epoch), reward=self.reward(epoch))
            policy = learner.policy()
            homes = [sites.homes[place] for place in rng.permutation(len(sites.homes))]
            walks = [await collect(sites, home, policy, manner, rng) for home in homes]
            loss = sum([_learn(learner, some) for some in _batches(walks, self.batch)])
            if look:
                await look(epoch + 1, threshold(walks))
            found = float(np.mean([any(walk.found) for walk in walks]))
            mean = loss * self.batch / len(walks)
            report(epoch + 1, self.epochs, f"loss {mean:.3f}, sites found {found:.2f}")
        return threshold(walks)


@dataclass(frozen=True, slots=True, kw_only=True)
class FineTuning:
    """Algorithm 2 and the right column of table I: the page scorer is the reward (equation 4)."""

    steps: int = 3
    batch: int = 10
    epsilon: float = 0.1
    baseline: float = 0.3  # taken off the scorer's probability; 0 as printed
    step_size: float = 0.002
    least: int = 2  # clicks on any site: it also learns where it expects nothing; 0 as printed
    caution: float = 0.5  # share of the way from equation 5 to certainty; 0 as printed

    def reward(self, seen: Seen | None) -> float:
        """Equation 4, less the baseline."""
        return (seen.relevance if seen else 0.0) - self.baseline

    async def run(
        self,
        sites: Sites,
        learner: PolicyGradient,
        eta: float,
        rng: np.random.Generator,
        report: Report,
        look: Look | None = None,
    ) -> float:
        """One pass over unlabelled sites; the new threshold, its clicks weighed by the scorer."""
        manner = Manner(self.steps, eta, self.epsilon, self.least, self.reward)
        policy = learner.policy()
        walks = []
        for number, home in enumerate(sites.homes):
            walks.append(await collect(sites, home, policy, manner, rng))
            report(number + 1, len(sites.homes), "")
        mean = threshold(walks, lambda score: score)
        new = mean + self.caution * (1 - mean)  # sure clicks on unlikely links have lowered it
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
    """Equations 11 to 13, and the same for the first click alone."""

    precision: float  # source pages a click
    recall: float  # share of sites with at least one
    unit_cost: float  # clicks a source page
    first: float  # share of sites whose first click led to one
    clicks: int
    sources: int
    recall_by_step: tuple[float, ...]  # after one, two and three clicks


async def evaluate(
    sites: Sites, policy: Weigh, eta: float, steps: int = 10
) -> tuple[Measured, list[Walk]]:
    """Find with the last rows of table I: at most ten clicks, none at random."""
    rng = np.random.default_rng(0)  # nothing is left to chance
    manner = Manner(steps, eta)
    walks = [await collect(sites, home, policy, manner, rng) for home in sites.homes]
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
