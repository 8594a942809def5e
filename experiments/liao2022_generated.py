"""Train source finders and page scorers on generated sites and measure them."""

import asyncio
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from experiments.harness.experiment import Trial
from honeyguide.registry import make
from honeyguide.web.layout import open_layout

ENCODER = "joined:wordllama+ngrams:1024"
SIZES = {"train": 40, "validation": 20, "unlabelled": 300, "tesw": 100, "mixed": 504}
QUICK = {"train": 12, "validation": 12, "unlabelled": 20, "tesw": 20, "mixed": 60}
SITES_SEED = 4051  # of the test sites: no setting was chosen on them
# entry -> how its training differs from that of "one net"
VARIANTS: dict[str, dict[str, Any]] = {
    "five nets": {"nets": 5},
    "one net": {},
    "scorer as reward": {"scorer_rewards": True},
    "fine-tuning as printed": {"fine": {"baseline": 0.0, "least": 0, "caution": 0.0}},
    "fine-tuning without a sure click": {"fine": {"least": 0, "caution": 0.0}},
    "threshold as printed": {"fine": {"caution": 0.0}},
    "rewards shared, as printed": {"learning": {"credit": 1.0}},
    "penalty as printed": {"pre": {"lowest_reward": -0.1}},
    "without Tag-Net": {"learning": {"nets": ("anchor",)}},
    "without Anchor-Net": {"learning": {"nets": ("tags",)}},
}
LAYOUT = {"one net with layout": {"layout": True}}
ENCODERS = {"one net with MiniLM": "joined:minilm+ngrams:1024"}  # BERT instead of wordllama
WAYS = {"adaptive": 10, "1 step": 1, "2 steps": 2, "3 steps": 3}


def run_finder(trial: Trial, world: str, random_seed: int) -> dict[str, Any]:
    """Train one variant and measure it before and after fine-tuning."""
    return asyncio.run(_finder(trial, random_seed))


def run_scorer(trial: Trial, world: str, random_seed: int) -> dict[str, Any]:
    """Train the page scorer on some texts of a page and measure it on test sites' pages."""
    return asyncio.run(_scorer(trial, random_seed))


async def _finder(trial: Trial, random_seed: int) -> dict[str, Any]:
    settings = (VARIANTS | LAYOUT).get(trial.entry.name, {})
    training = _Training(_is_quick(trial), random_seed, settings, trial.entry.encoder)
    if not settings.get("layout"):
        return await training.run()
    async with open_layout() as layout:
        training.boxes = layout
        return await training.run()


class _Training:
    """Train one variant on generated sites and measure it."""

    def __init__(
        self, quick: bool, random_seed: int, settings: dict[str, Any], encoder: str = ENCODER
    ) -> None:
        from honeyguide.source_finder.model import shared_encoder  # noqa: PLC0415 needs an extra
        from honeyguide.source_finder.training.ensemble import Ensemble  # noqa: PLC0415
        from honeyguide.source_finder.training.sources import FineTuning, PreTraining  # noqa: PLC0415

        self.sizes = QUICK if quick else SIZES
        self.settings, self.random_seed = settings, random_seed
        self.encoder = shared_encoder(encoder)
        self.boxes: Any = None
        self._tests: dict[str, Any] = {}
        self.ensemble = Ensemble(
            nets=settings.get("nets", 1),
            pre=PreTraining(epochs=16 if quick else 50, **settings.get("pre", {})),
            fine=FineTuning(**settings.get("fine", {})),
            learning=settings.get("learning", {}),
            random_seed=random_seed,
        )

    def sites(self, name: str, judge: Any = None, seed: int = 1) -> Any:
        """Return the sites of a set with their judge, which is the truth unless given."""
        from honeyguide.source_finder.training.sources import Sites  # noqa: PLC0415

        spec = f"organisations:set={name},sites={self.sizes[name]},seed={seed}"
        world = make("world", spec, judge=judge or make("judge", "label:source:events"))
        return Sites(world, world.homes, self.encoder, self.boxes)

    async def judge(self, name: str) -> Any:
        """Train a page scorer on the labels of a set and return it as a judge."""
        from honeyguide.source_finder.training.finder import linked_pages, scoring  # noqa: PLC0415
        from honeyguide.source_finder.training.page_scorer import ScorerTraining  # noqa: PLC0415

        sites = self.sites(name)
        pages, truth, _ = await linked_pages(sites.world, sites.homes, lambda *news: None)
        scorer = ScorerTraining().run(pages, truth, self.encoder, self.random_seed)
        return scoring(scorer, self.encoder)

    async def run(self) -> dict[str, Any]:
        """Pre-train and fine-tune; return the measures before and after, and curves on TESW."""
        from honeyguide.source_finder.training.ensemble import joined  # noqa: PLC0415

        # the scorer that gives rewards has not seen the labels of these sites
        rewards = await self.judge("validation") if self.settings.get("scorer_rewards") else None
        curves: dict[str, Any] = {"epochs": [], "sites": []}
        train = self.sites("train", rewards)
        nets = await self.ensemble.pre_train(
            train, self.encoder.width, _silence, self._look(curves["epochs"], 5)
        )
        before = await self._measure(joined(nets))
        others = self.sites("unlabelled", await self.judge("train"))
        nets = await self.ensemble.fine_tune(
            others, nets, _silence, self._look(curves["sites"], 60)
        )
        after = await self._measure(joined(nets))
        adaptive = after["mixed adaptive"]
        found = {"relevant": adaptive["sources"], "pages": adaptive["clicks"]}
        return {"before": before, "after": after, "curves": curves, **found}

    def _look(self, curve: list[Any], every: int) -> Any:
        """Return a callback that appends the recall on TESW every so many epochs or sites."""
        from honeyguide.source_finder.training.sources import evaluate  # noqa: PLC0415

        async def look(done: int, net: Any) -> None:
            if done % every == 0:
                measured, _ = await evaluate(self._test("tesw"), net.policy, net.eta)
                curve.append([done, *measured.recall_by_step])

        return look

    def _test(self, name: str) -> Any:
        """Return a test set, which is read once."""
        if name not in self._tests:
            boxes, self.boxes = self.boxes, None  # test sites need no layout
            self._tests[name] = self.sites(name, seed=SITES_SEED)
            self.boxes = boxes
        return self._tests[name]

    async def _measure(self, net: Any) -> dict[str, Any]:
        from honeyguide.source_finder.training.sources import evaluate  # noqa: PLC0415

        found: dict[str, Any] = {"threshold": net.eta}
        policy = _remembering(net.policy)
        for name in ("tesw", "mixed"):
            for way, steps in WAYS.items():
                eta = net.eta if way == "adaptive" else -1.0
                measured, walks = await evaluate(self._test(name), policy, eta, steps)
                found[f"{name} {way}"] = asdict(measured)
                if way == "adaptive":
                    found[f"{name} by menu"] = _by_menu(self._test(name), walks)
        return found


def _remembering(policy: Any) -> Any:
    """Cache a policy's weights by page."""
    known: dict[int, Any] = {}  # ids stay unique: sites keep their pages alive

    def weigh(page: Any) -> Any:
        if id(page) not in known:
            known[id(page)] = policy(page)
        return known[id(page)]

    return weigh


def _by_menu(sites: Any, walks: Sequence[Any]) -> dict[str, dict[str, float]]:
    """Return precision and first-click accuracy of sites with and without a mega-menu."""
    found: dict[str, list[tuple[bool, ...]]] = {"mega": [], "flat": []}
    for host, walk in zip(sites.world.hosts, walks, strict=True):
        found["mega" if sites.world.site(host).mega else "flat"].append(walk.found)
    return {
        menu: {
            "precision": float(np.mean([right for walk in some for right in walk] or [False])),
            "first": float(np.mean([any(walk[:1]) for walk in some] or [False])),
        }
        for menu, some in found.items()
    }


async def _scorer(trial: Trial, random_seed: int) -> dict[str, Any]:
    from honeyguide.source_finder.scorer import page_texts, whole_text  # noqa: PLC0415
    from honeyguide.source_finder.training.finder import linked_pages  # noqa: PLC0415
    from honeyguide.source_finder.training.page_scorer import ScorerTraining  # noqa: PLC0415

    sets = _Training(_is_quick(trial), random_seed, {})
    texts = whole_text if trial.entry.name == "whole text" else page_texts
    training = ScorerTraining(texts=texts)
    train, test = sets.sites("train"), sets.sites("tesw", seed=SITES_SEED)
    pages, truth, _ = await linked_pages(train.world, train.homes, lambda *news: None)
    scorer = training.run(pages, truth, sets.encoder, random_seed)
    others, known, _ = await linked_pages(test.world, test.homes, lambda *news: None)
    quality = asdict(training.measure(scorer, others, known, sets.encoder))
    return {"quality": quality, "pages": len(others), "relevant": int(known.sum())}


def _silence(what: str) -> Any:
    return lambda *news: None


def _is_quick(trial: Trial) -> bool:
    return trial.task.name.endswith("quick")
