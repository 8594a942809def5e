"""Fit the policy to what clicks lead to: the discounted return of the best way to a source page.

The return of Liao and Chang (2022, equation 1) counts all later rewards of an episode. On sites
whose pages are labelled, the best episode is known: a click is worth `discount` ** n if n further
clicks on links that only it shows lead to a source page.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from honeyguide.contracts import Encoder, Link, Page, Vector, World
from honeyguide.source_finder.inputs import PageInputs, with_signs
from honeyguide.source_finder.learning import PolicyGradient
from honeyguide.source_finder.policy import Policy, side_by_side
from honeyguide.source_finder.training.sources import Report, same_site

UNKNOWN = float("nan")
Example = tuple[PageInputs, Vector]  # a page and the target values of its links, NaN if unknown
Worth = Callable[[Page], float]  # 1 for a source page, 0 for others, NaN if it counts neither way


@dataclass(slots=True)
class SiteGraph:
    """Pages of a site by URL, their worths, and clicks from the home page along shortest ways."""

    home: str
    pages: dict[str, Page] = field(default_factory=dict)
    depths: dict[str, int] = field(default_factory=dict)
    worths: dict[str, float] = field(default_factory=dict)

    def returns(self, discount: float) -> dict[str, float]:
        """Return the value of a click to each page."""
        values = dict(self.worths)
        for url in sorted(self.pages, key=lambda url: -self.depths[url]):
            later = [values.get(to, 0.0) for to in self._further(url)]
            ahead = discount * max((v for v in later if not np.isnan(v)), default=0.0)
            if not np.isnan(values[url]):
                values[url] = max(values[url], ahead)
        return values

    def known(self, url: str) -> set[str]:
        """Return the links of a page that are no farther from the home page than it is."""
        depth = self.depths[url]
        return {
            link.url for link in self.pages[url].links if self.depths.get(link.url, 99) <= depth
        }

    def _further(self, url: str) -> list[str]:
        """Return the pages that are one click farther from the home page than this one."""
        depth = self.depths[url] + 1
        return [link.url for link in self.pages[url].links if self.depths.get(link.url) == depth]


async def read_site(
    world: World, home: str, worth: Worth, most: int = 60, deepest: int = 4
) -> SiteGraph:
    """Visit the pages of a site, breadth-first, each once."""
    site = SiteGraph(home)
    site.depths[home] = 0
    waiting = [home]
    for url in waiting:
        if len(site.pages) >= most:
            break
        visit = await world.visit(Link(url))
        if visit.page is None:
            continue
        body = visit.page.html or (visit.response.body if visit.response else b"")
        page = replace(visit.page, html=body)
        site.pages[url], site.worths[url] = page, worth(page)
        for link in page.links if site.depths[url] < deepest else ():
            if link.url not in site.depths and same_site(link.url, home):
                site.depths[link.url] = site.depths[url] + 1
                waiting.append(link.url)
    return site


@dataclass(frozen=True, slots=True, kw_only=True)
class ValueTraining:
    """Fits several policies to the values of clicks and merges them."""

    nets: int = 5
    epochs: int = 6
    least_steps: int = 300  # gradient steps of a net; with few sites there are more epochs
    batch: int = 20  # pages
    step_size: float = 0.001
    dropout: float = 0.3  # share of a link's inputs set to zero in each step
    discount: float = 0.7
    most_pages: int = 5  # of a site that are learnt from: home page, hubs, some others
    random_seed: int = 0

    def examples(
        self, site: SiteGraph, encoder: Encoder, rng: np.random.Generator
    ) -> list[Example]:
        """Return the pages of a site to learn from, with the values of their links."""
        values = site.returns(self.discount)
        others = [url for url in site.pages if url != site.home]
        hubs = [url for url in others if 0 < values[url] < 1]
        rest = [others[at] for at in rng.permutation(len(others)).tolist()]
        chosen = list(dict.fromkeys([site.home, *hubs, *rest]))[: self.most_pages]
        seen = [url for url in chosen if url in site.pages and site.pages[url].links]
        return [
            (with_signs(site.pages[url], encoder, site.known(url)), _targets(site, url, values))
            for url in seen
        ]

    def run(self, examples: Sequence[Example], width: int, report: Report) -> Policy:
        """Return the merged policy of all nets."""
        return side_by_side(
            [self._net(examples, width, number, report) for number in range(self.nets)]
        )

    def _net(self, examples: Sequence[Example], width: int, number: int, report: Report) -> Policy:
        rng = np.random.default_rng([self.random_seed, number])
        learner = PolicyGradient(width, 1000 * self.random_seed + number, step_size=self.step_size)
        steps = max(1, len(examples) // self.batch)
        epochs = max(self.epochs, -(-self.least_steps // steps))
        for epoch in range(epochs):
            parts = np.array_split(rng.permutation(len(examples)), steps)
            losses = [self._step([examples[at] for at in part], learner, rng) for part in parts]
            done = number * epochs + epoch + 1
            report(done, self.nets * epochs, f"loss {np.mean(losses):.4f}")
        return learner.policy()

    def _step(
        self, examples: Sequence[Example], learner: PolicyGradient, rng: np.random.Generator
    ) -> float:
        pages = [self._dropped_out(page, rng) for page, _ in examples]
        return learner.fit(pages, [targets for _, targets in examples])

    def _dropped_out(self, page: PageInputs, rng: np.random.Generator) -> PageInputs:
        kept = rng.random(page.anchors.shape, np.float32) >= self.dropout
        return replace(page, anchors=page.anchors * kept / np.float32(1 - self.dropout))


def _targets(site: SiteGraph, url: str, values: Mapping[str, float]) -> Vector:
    """Return the value of each link of a page; NaN for links that leave the site."""
    links = site.pages[url].links[:1000]
    return np.array(
        [
            values.get(link.url, 0.0) if same_site(link.url, site.home) else UNKNOWN
            for link in links
        ],
        np.float32,
    )
