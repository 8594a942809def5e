"""How often names of companies in domains are cut into wrong words, and what known names mend."""

import io
import re
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

import zstandard

from experiments.friar2017_companies import BESIDE, FOLDER
from experiments.harness.experiment import Entry, Task, Trial
from experiments.harness.report_page import Page
from experiments.harness.results import Results
from honeyguide.errors import HoneyguideError
from honeyguide.features.segmenting import NONE, Names, is_word, known_names, segment

PART, FUNCTION = "names", "experiments.friar2017_names:cut_names"
DOMAINS = "domains_list.csv.zst"
NOT_TOLD, OTHERS, ALL = "no names", "names of other companies", "names of these companies too"
_hyphened = re.compile(r"[a-z]{2,}(-[a-z]{2,})+").fullmatch


def names_trials(quick: bool) -> list[Trial]:
    """List the trials: without names, with those of other companies, and with all."""
    task = Task(name="UK companies", web=BESIDE, topic=FOLDER, seeds=(DOMAINS,), budget=1)
    entries = [Entry(name=name, agent="url_linear_q") for name in (NOT_TOLD, OTHERS, ALL)]
    return [Trial(part=PART, task=task, entry=entry, function=FUNCTION) for entry in entries]


def cut_names(trial: Trial, world: str, random_seed: int) -> dict[str, Any]:
    """Write hyphenated domains together, cut them again and compare with their hyphens."""
    labels = read_labels(Path(world).parents[1] / FOLDER / DOMAINS)
    learnt = [label for label in labels if _is_learnt(label)]
    tested = [label for label in labels if not _is_learnt(label)]
    given = {NOT_TOLD: [], OTHERS: learnt, ALL: labels}[trial.entry.name]
    return {"relevant": 0} | measured(tested, known_names(f"{label}.uk" for label in given))


def read_labels(path: Path) -> list[str]:
    """The hyphenated names of the domains of a list, each once, without their endings."""
    if not path.exists():
        raise HoneyguideError(f"there is no {path}: the list of company domains")
    with path.open("rb") as file:
        text = io.TextIOWrapper(zstandard.ZstdDecompressor().stream_reader(file), "utf-8")
        hosts = [line.strip().strip('"').lower().removeprefix("www.") for line in text]
    return [n for n in dict.fromkeys(host.partition(".")[0] for host in hosts) if _hyphened(n)]


def _is_learnt(label: str) -> bool:
    return blake2b(label.encode(), digest_size=1).digest()[0] < 128


def measured(labels: Sequence[str], names: Names = NONE) -> dict[str, Any]:
    """Shares of names cut as their hyphens say, and of unlisted words that are cut."""
    right = [segment(label.replace("-", ""), names) == tuple(label.split("-")) for label in labels]
    words = {word for label in labels for word in label.split("-")}
    unlisted = sorted(word for word in words if len(word) > 2 and not is_word(word))
    cut = [word for word in unlisted if len(segment(word, names)) > 1]
    return {
        "names": len(labels),
        "right": sum(right) / max(1, len(labels)),
        "unlisted": len(unlisted),
        "cut": len(cut) / max(1, len(unlisted)),
        "known": len(names),
    }


def names_table(results: Results, page: Page) -> dict[str, Any]:
    """Write how often names are cut, without and with known names."""
    headline: dict[str, Any] = {}
    for task in results.tasks(PART):
        entries = results.entries(PART, task)
        runs = {name: results.runs(PART, task, name)[0] for name in entries}
        first = runs[entries[0]]
        page.heading("Names of companies that the segmenter cuts")
        page.text(
            f"{first['names']:,} company domains with hyphens, half of all by a hash of their "
            "name, are written together and cut again: their hyphens say what is right. Of the "
            f"{first['unlisted']:,} different words between hyphens that the list of 50,000 words "
            f"lacks, {first['cut']:.0%} are cut. Of 60 such words "
            "of all domains, drawn at random and read, 34 were cut rightly (onlinemarketing, "
            "mitchells) and 26 wrongly (farthing). The setting `known_names` of the "
            "URL agents takes a file of names or domains, whose words are then not cut."
        )
        page.table(
            [
                "the segmenter knows",
                "names",
                "cut as the hyphens say",
                "unlisted words that are cut",
            ],
            [
                [name, run["known"], f"{run['right']:.1%}", f"{run['cut']:.1%}"]
                for name, run in runs.items()
            ],
        )
        headline |= {f"names cut right, {name}": run["right"] for name, run in runs.items()}
    return headline
