"""Relevant pages, seconds and both together, on served webs of many hosts, beside Scrapy's.

    python benchmarks/field.py --data DIR --json      # webkb's own pages and hosts
    python benchmarks/field.py --web readable --json  # the generated web in plain English

A web is served on loopback; each page has a label and a lognormal latency of its own. Programs
crawl it in turn, for the same number of pages, from the same start pages, with the same delay and
the same number of requests to a host. Perturbation n starts at the nth page, with the prior
variances of `guide` changed by up to 2 %.

`held` compares many visits in flight with one, in relevant pages: a geometric mean, by pairs.
The baseline `scrapy_addon` is Scrapy's spider with honeyguide's add-on.

`curve` shows what `--patience` moves: pages a second against relevant pages.
"""

import argparse
import json
import math
import os
import pickle
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command `honeyguide` does
# parser processes import the judge from here
os.environ["PYTHONPATH"] = os.pathsep.join([sys.path[0], os.environ.get("PYTHONPATH", "")])

import field_web
from field_web import FieldWeb
from served_site import ADDRESS, served_by

from honeyguide.plan import Plan
from honeyguide.storage.crawl_folder import create_crawl, run_crawl

HERE = Path(__file__).parent
SCRAPY = "scrapy"
ADDON = "scrapy_addon"  # the same spider, with honeyguide's add-on


class Setting(NamedTuple):
    """How a program crawls."""

    program: str  # an agent, SCRAPY or ADDON
    in_flight: int
    delay: float
    per_host: int = 1
    patience: float | None = None


class Run(NamedTuple):
    """What a crawl brought."""

    pages: int
    relevant: int
    seconds: float  # from the first page served to the last

    @property
    def rate(self) -> float:
        """Relevant pages a second; half a page where there is none, so that it can be divided."""
        return max(self.relevant, 0.5) / self.seconds


class Field:
    """Crawls one served web again and again."""

    def __init__(self, web: FieldWeb, port: int, folder: Path, budget: int, count: int) -> None:
        self.web = web
        self._port = port
        self._folder = folder
        self._budget = budget
        self._starts = web.starts(count)
        self._runs: dict[tuple[Setting, int], Run] = {}

    def run(self, setting: Setting, turn: int) -> Run:
        """One crawl; the same one is not repeated."""
        if (setting, turn) not in self._runs:
            crawl = self._scrapy if setting.program in (SCRAPY, ADDON) else self._honeyguide
            crawl(setting, turn)
            self._runs[setting, turn] = run = self._counted()
            _say(f"{self.web.source} {turn} {setting} {run}")
        return self._runs[setting, turn]

    def runs(self, setting: Setting) -> list[Run]:
        """One crawl from each start page."""
        return [self.run(setting, turn) for turn in range(len(self._starts))]

    def _counted(self) -> Run:
        asked = field_web.asked_for(self._port)[: self._budget]
        pages = {url: self.web.pages.get(url, b"") for _, url in asked}
        relevant = sum(html.endswith(field_web.MARK) for html in pages.values())
        return Run(len(asked), relevant, asked[-1][0] - asked[0][0])

    def _honeyguide(self, setting: Setting, turn: int) -> None:
        agent = setting.program
        if agent == "guide":
            agent = f"guide:ridge={1 + 0.02 * (turn % 3 - 1):g}"
        out = self._folder / f"crawl-{len(self._runs)}"
        plan = Plan(
            topic=self.web.topic,
            agent=agent,
            judge=field_web.Marked,  # type: ignore[arg-type]
            seeds=(self._starts[turn],),
            world="web",
            budget=self._budget,
            in_flight=setting.in_flight,
            delay=setting.delay,
            per_host=setting.per_host,
            patience=setting.patience,
            contact="benchmark@example.org",
            allow_private=True,
            resolve=f"*={ADDRESS}:{self._port}",
        )
        create_crawl(out, plan)
        run_crawl(out, lambda *_: None)

    def _scrapy(self, setting: Setting, turn: int) -> None:
        named = {
            "port": self._port,
            "seed": self._starts[turn],
            "pages": self._budget,
            "in-flight": setting.in_flight,
            "per-host": setting.per_host,
            "delay": setting.delay,
        }
        if setting.program == ADDON:
            named["topic"] = self.web.topic
        words = [word for name, value in named.items() for word in (f"--{name}", str(value))]
        subprocess.run([sys.executable, str(HERE / "field_scrapy.py"), *words], check=True)


def main() -> None:
    """Serve each web, crawl it with each setting, print one JSON object."""
    given = _arguments()
    report: dict[str, Any] = {}
    for hosts in given.hosts:
        web = _web(given, hosts)
        _say(f"{web.source}: {len(web.pages):,} pages, {web.relevant:,} relevant")
        with tempfile.TemporaryDirectory() as name:
            file = Path(name) / "web.pickle"
            file.write_bytes(pickle.dumps(web))
            with served_by(str(HERE / "field_web.py"), str(file)) as port:
                field = Field(web, port, Path(name), given.budget, given.perturbations)
                report[web.source] = _measured(field, given)
    print(json.dumps(report, indent=None if given.json else 1))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--web", choices=("webkb", "readable"), default="webkb")
    parser.add_argument("--data", type=Path, help="folder with webkb/html.tar.zst")
    parser.add_argument("--label", default="student", help="class of webkb")
    parser.add_argument("--topic", default="graduate student home page")
    parser.add_argument("--hosts", type=_numbers(int), default=[4, 64])
    parser.add_argument("--delays", type=_numbers(float), default=[0.0, 0.2])
    parser.add_argument("--agents", default="guide,best_first,linear_sync")
    parser.add_argument("--baselines", default="breadth_first,scrapy")
    parser.add_argument("--patience", type=_numbers(float), default=[0.0], help="for the curve")
    parser.add_argument("--in-flight", type=int, default=32)
    parser.add_argument("--per-host", type=int, default=1)
    parser.add_argument("--budget", type=int, default=500)
    parser.add_argument("--perturbations", type=int, default=8)
    parser.add_argument("--median", type=float, default=0.15, help="seconds until an answer")
    parser.add_argument("--spread", type=float, default=0.5, help="of its logarithm")
    parser.add_argument("--json", action="store_true", help="in one line")
    given = parser.parse_args()
    if given.web == "webkb" and given.data is None:
        parser.error("webkb needs --data; --web readable needs nothing")
    return given


def _numbers(kind: type) -> Any:
    return lambda text: [kind(word) for word in text.split(",") if word]


def _web(given: argparse.Namespace, hosts: int) -> FieldWeb:
    if given.web == "readable":
        return field_web.readable(hosts, given.topic, given.median, given.spread)
    return field_web.webkb(given.data, hosts, given.label, given.topic, given.median, given.spread)


def _measured(field: Field, given: argparse.Namespace) -> dict[str, Any]:
    many, per_host = given.in_flight, given.per_host
    agents = [name for name in given.agents.split(",") if name]
    measured: dict[str, Any] = {"relevant_in_all": field.web.relevant}
    for delay in given.delays:
        programs = [*agents, *filter(None, given.baselines.split(","))]
        settings = {name: Setting(name, many, delay, per_host) for name in programs}
        ones = {name: Setting(name, 1, delay) for name in agents}
        found = {
            "programs": {name: _summary(field.runs(each)) for name, each in settings.items()},
            "one_in_flight": {name: _summary(field.runs(each)) for name, each in ones.items()},
            "held": {
                name: _held(field.runs(settings[name]), field.runs(ones[name])) for name in agents
            },
            "curve": {
                name: [
                    {"patience": seconds}
                    | _summary(field.runs(settings[name]._replace(patience=seconds)))
                    for seconds in given.patience
                ]
                for name in agents
            },
        }
        if SCRAPY in programs:
            scrapy = field.runs(settings[SCRAPY])
            found["relevant_to_scrapy"] = {
                name: _ratio(
                    (max(run.relevant, 0.5) for run in field.runs(settings[name])),
                    (max(run.relevant, 0.5) for run in scrapy),
                )
                for name in programs
            }
            found["pages_a_second_to_scrapy"] = {
                name: _ratio(
                    (run.pages / run.seconds for run in field.runs(settings[name])),
                    (run.pages / run.seconds for run in scrapy),
                )
                for name in programs
            }
            found["relevant_a_second_to_scrapy"] = {
                name: _ratio(
                    (run.rate for run in field.runs(settings[name])), (run.rate for run in scrapy)
                )
                for name in programs
            }
        measured[f"delay {delay:g}"] = found
    return measured


def _summary(runs: Sequence[Run]) -> dict[str, float]:
    relevant, seconds = [run.relevant for run in runs], [run.seconds for run in runs]
    return {
        "pages": round(statistics.mean(run.pages for run in runs)),
        "relevant": round(statistics.mean(relevant), 1),
        "spread": round(statistics.pstdev(relevant), 1),
        "seconds": round(statistics.mean(seconds), 1),
        "pages_a_second": round(statistics.mean(run.pages / run.seconds for run in runs), 2),
        "relevant_a_second": round(statistics.mean(run.rate for run in runs), 2),
    }


def _held(many: Sequence[Run], one: Sequence[Run]) -> dict[str, float]:
    return {
        "relevant": _ratio(
            (max(r.relevant, 0.5) for r in many), (max(r.relevant, 0.5) for r in one)
        ),
        "seconds": _ratio((run.seconds for run in many), (run.seconds for run in one)),
    }


def _ratio(some: Iterable[float], others: Iterable[float]) -> float:
    """The geometric mean of ratios."""
    logarithms = [math.log(a / b) for a, b in zip(some, others, strict=True)]
    return round(math.exp(statistics.mean(logarithms)), 3)


def _say(news: str) -> None:
    print(news, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
