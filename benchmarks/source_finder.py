"""Document 003, section V: its tables and figures 5 to 10 on generated sites.

python benchmarks/source_finder.py --out FOLDER [--quick] [--only VARIANT ...] [--browser]
"""

import argparse
import asyncio
import json
import time
from dataclasses import asdict
from pathlib import Path

import numpy as np

from honeyguide.fetchers.layout import open_layout
from honeyguide.registry import make
from honeyguide.sources.learning import PolicyGradient
from honeyguide.sources.model import shared_encoder
from honeyguide.sources.scorer import page_texts, whole_text
from honeyguide.training.finder import linked_pages, scoring
from honeyguide.training.page_scorer import ScorerTraining
from honeyguide.training.sources import FineTuning, PreTraining, Sites, evaluate

ENCODER = "joined:wordllama+ngrams:1024"
SIZES = {"train": 40, "unlabelled": 300, "tesw": 100, "mixed": 504}
QUICK = {"train": 12, "unlabelled": 20, "tesw": 20, "mixed": 60}
WAYS = ((10, "adaptive"), (1, "1 step"), (2, "2 steps"), (3, "3 steps"))
# variant -> how its training differs from the first
VARIANTS = {
    "finder": {},
    "penalty as printed": {"pre": {"lowest_reward": -0.1}},
    "rewards shared, as printed": {"learning": {"credit": 1.0}},
    "fine-tuning as printed": {"fine": {"baseline": 0.0}},
    "scorer as reward": {"scorer_rewards": True},
    "without Tag-Net": {"learning": {"nets": ("anchor",)}},
    "without Anchor-Net": {"learning": {"nets": ("tags",)}},
    "with layout": {"layout": True},  # needs --browser; the first has no auxiliary task
}
PUBLISHED = """
| document 003 | value |
|---|---|
| recall at the first click, TESW (figure 5) | 0.75 |
| fixed steps 1 and 3, Mixed: precision (figure 6) | 0.415, 0.317 |
| adaptive steps, Mixed: precision, unit cost (figure 6) | 0.662, 1.51 |
| after fine-tuning, Mixed: precision, unit cost (figure 10) | 0.743, 1.346 |
| first click, labels / scorer as reward (figure 7) | 0.797 / 0.5 |
| precision that the auxiliary task adds (figure 8) | 11 % |
| page scorer, accuracy / precision / recall; whole text | 83 / 76 / 73 %; 76 / 64 / 62 % |
"""


class Experiment:
    """One training and all that is measured of it."""

    def __init__(self, quick, settings, boxes=None, random_seed=0):
        self.sizes, self.epochs = (QUICK, 16) if quick else (SIZES, 50)
        self.settings, self.boxes, self.random_seed = settings, boxes, random_seed
        self.encoder = shared_encoder(ENCODER)
        self.truth = make("judge", "label:source:events")

    def sites(self, name, judge=None, boxes=None):
        spec = f"organisations:set={name},sites={self.sizes[name]}"
        world = make("world", spec, judge=judge or self.truth)
        return Sites(world, world.homes, self.encoder, boxes)

    async def run(self):
        rng = np.random.default_rng(self.random_seed)
        train = self.sites("train", boxes=self.boxes)
        pages, truth, _ = await linked_pages(train.world, train.homes, lambda *news: None)
        judge = scoring(ScorerTraining().run(pages, truth, self.encoder), self.encoder)
        if self.settings.get("scorer_rewards"):
            train = self.sites("train", judge, self.boxes)
        learner = PolicyGradient(
            self.encoder.width, self.random_seed, **self.settings.get("learning", {})
        )
        begin = time.perf_counter()
        pre = PreTraining(epochs=self.epochs, **self.settings.get("pre", {}))
        eta = await pre.run(train, learner, rng, lambda *news: None)
        seconds = time.perf_counter() - begin
        before = await self.measure(learner.policy(), eta)
        fine = FineTuning(**self.settings.get("fine", {}))
        eta = await fine.run(self.sites("unlabelled", judge), learner, eta, rng, lambda *news: None)
        after = await self.measure(learner.policy(), eta)
        return {"before": before, "after": after, "pre_training_seconds": round(seconds, 1)}

    async def measure(self, policy, eta):
        found = {"threshold": eta}
        for name in ("tesw", "mixed"):
            sites = self.sites(name)
            for steps, way in WAYS:
                measured, _ = await evaluate(sites, policy, eta if steps == 10 else -1.0, steps)
                found[f"{name} {way}"] = asdict(measured)
        return found

    async def scorer(self, texts):
        """How well the page scorer does on pages one click from test sites' home pages."""
        training = ScorerTraining(texts=texts)
        train, test = self.sites("train"), self.sites("tesw")
        pages, truth, _ = await linked_pages(train.world, train.homes, lambda *news: None)
        others, known, _ = await linked_pages(test.world, test.homes, lambda *news: None)
        scorer = training.run(pages, truth, self.encoder)
        return asdict(training.measure(scorer, others, known, self.encoder))


async def run(quick, names, browser):
    """Every variant that was asked for, one after the other."""
    results = {}
    for name in names:
        settings = VARIANTS[name]
        if not settings.get("layout"):
            results[name] = await Experiment(quick, settings).run()
        elif browser:
            async with open_layout() as layout:
                results[name] = await Experiment(quick, settings, layout).run()
        print(name, "done", flush=True)
    scorers = {
        "four texts": await Experiment(quick, {}).scorer(page_texts),
        "whole text": await Experiment(quick, {}).scorer(whole_text),
    }
    return {"quick": quick, "variants": results, "scorers": scorers}


def report(found):
    """The tables as Markdown."""
    lines = ["# The source finder on generated sites", PUBLISHED]
    lines += ["| finder | TESW first click | TESW recall | Mixed precision | Mixed unit cost |"]
    lines += ["|---|---:|---:|---:|---:|"]
    for name, run_ in found["variants"].items():
        for when in ("before", "after"):
            tesw, mixed = run_[when]["tesw adaptive"], run_[when]["mixed adaptive"]
            row = tesw["first"], tesw["recall"], mixed["precision"], mixed["unit_cost"]
            lines += [
                f"| {name}, {when} fine-tuning | " + " | ".join(f"{x:.3f}" for x in row) + " |"
            ]
    lines += ["", "| steps, Mixed | precision before | after |", "|---|---:|---:|"]
    first = next(iter(found["variants"].values()), None)
    for _, way in WAYS if first else ():
        both = [first[when][f"mixed {way}"]["precision"] for when in ("before", "after")]
        lines += [f"| {way} | {both[0]:.3f} | {both[1]:.3f} |"]
    lines += ["", "| page scorer | accuracy | precision | recall |", "|---|---:|---:|---:|"]
    for name, said in found["scorers"].items():
        lines += [f"| {name} | " + " | ".join(f"{x:.3f}" for x in said.values()) + " |"]
    return "\n".join(lines) + "\n"


def main():
    """Run what was asked for and write it down."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--browser", action="store_true")
    parser.add_argument("--only", nargs="*", default=list(VARIANTS), choices=list(VARIANTS))
    said = parser.parse_args()
    said.out.mkdir(parents=True, exist_ok=True)
    found = asyncio.run(run(said.quick, said.only, said.browser))
    (said.out / "results.json").write_text(json.dumps(found, indent=1) + "\n")
    (said.out / "report.md").write_text(report(found))


if __name__ == "__main__":
    main()
