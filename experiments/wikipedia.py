"""The experiment of Pertejo (2021, chapter 4) on a dump, such as that of Simple English Wikipedia.

    python -m experiments.wikipedia simplewiki-20201001-pages-articles.xml.bz2 --out OUT

Imports the dump, draws a tenth of it, weighs words by that tenth, runs all crawlers and writes
tables 4.1 to 4.3 and figures 4.1 to 4.6. The same command continues after an interruption.
"""

import argparse
import gc
import shlex
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from experiments.harness.experiment import Entry, Experiment, Part, Task, Trial, runs_of
from experiments.harness.plots import curves
from experiments.harness.report_page import Page, percent
from experiments.harness.results import Results
from experiments.harness.run import RunOptions, run_experiment
from experiments.pertejo2021 import GAMMAS, TABLE_4_2, TABLE_4_3
from experiments.pertejo2021_pairs import ON_PAIRS, REHEARSED_ON_PAIRS
from experiments.similarities import report_similarities
from experiments.topics import PAIRS, Topic, pertejo_entry
from experiments.trained_networks import REHEARSED, opened_task
from experiments.wikipedia_export import SITE
from experiments.wikipedia_webs import FULL, REDUCED, TOP, Dump, Prepared, peak_megabytes, prepare
from honeyguide.bench.plots import draw_link_curves
from honeyguide.cli.progress import progress_bar
from honeyguide.disk.output_paths import check_folder
from honeyguide.errors import HoneyguideError
from honeyguide.text.words import counted, printable, times

INTERRUPTED = 130  # the exit code after Ctrl-C
# §4.3: topics with their categories; the seed is the article of the same name (§4.2)
TOPICS = {
    "fiction": Topic("fiction", "Fiction", "literature+arts"),
    "cancer": Topic("cancer", "Cancer", "disease+medicine+oncology+health"),
    "olympics": Topic("olympics", "Olympics", "sports"),
    "cameras": Topic("cameras", "Cameras", "photography+movies+arts"),
    "geology": Topic("geology", "Geology", "earth+science"),
    "poetry": Topic("poetry", "Poetry", "literature+arts"),
}
OTHER_TITLES = {"cameras": ("Camera",), "olympics": ("Olympic Games",)}
ON_FULL = ("cameras", "cancer", "fiction", "geology", "poetry")  # table 4.3
ON_REDUCED = ("cancer", "fiction", "geology", "poetry")  # figure 4.6
PUBLISHED = TABLE_4_3 | {"cameras": TABLE_4_3["camera"]}
CACHE = 64  # megabytes of vectors of texts, and as many of their words
# table 4.1: pages, links as they stand on pages, links between different pages per page with links
TABLE_4_1 = {
    "seng-dump": ("323,198", "more than 10 million", "31.12"),
    "norm-seng-dump": ("323,198", "more than 5 million", "21.41"),
    "norm-seng-dump(0.1)": ("32,325", "about 63,000", "4"),
}


@dataclass(frozen=True, slots=True)
class Settings:
    """How much to run; the defaults are Pertejo's (2021)."""

    steps: int = 10_000  # pages of a crawl
    network_steps: int = 5_000  # pages of training, and of test
    runs: int = 1  # of crawlers that draw at random
    workers: int = 1  # processes that crawl
    gammas: tuple[float, ...] = tuple(GAMMAS)
    full_topics: tuple[str, ...] = ON_FULL
    reduced_topics: tuple[str, ...] = ON_REDUCED


QUICK = Settings(
    steps=40,
    network_steps=40,
    gammas=(0.1, 0.3, 0.9),
    full_topics=("geology",),
    reduced_topics=("geology",),
)


class Crawls:
    """The trials on the webs of a dump."""

    def __init__(self, webs: Prepared, settings: Settings) -> None:
        self._webs, self._settings = webs, settings
        sample = webs.folder / REDUCED
        if "," in str(sample):
            raise HoneyguideError(f"{sample} has a comma: choose another folder with --out")
        self._encoder = f"glove:cache_megabytes={CACHE},idf_sample={sample}"
        self._basic = Entry(name="basic", agent="best_first", encoder=self._encoder, cosine=True)

    def parts(self) -> tuple[Part, ...]:
        """The parts of chapter 4 whose topics the dump has."""
        made = {
            "gamma": self._gamma(),
            "network": self._network(),
            "exhausted": self._exhausted(),
            "topics": self._topics(),
        }
        return tuple(
            Part(name=name, trials=lambda quick, trials=trials: trials)  # type: ignore[misc]
            for name, trials in made.items()
            if trials
        )

    def _gamma(self) -> list[Trial]:
        if "fiction" not in self._webs.seeds:
            return []
        task = self._task("fiction", REDUCED, self._settings.steps)
        entries = [
            self._linear("linear_async", "fiction", f",gamma={gamma}{PAIRS}", f"gamma {gamma}")
            for gamma in self._settings.gammas
        ]
        return runs_of("gamma", [task], entries, self._settings.runs)

    def _network(self) -> list[Trial]:
        if "geology" not in self._webs.seeds:
            return []
        task = self._task("geology", REDUCED, self._settings.network_steps)
        categories, pages = TOPICS["geology"].categories, self._webs.pages(REDUCED)
        agent = f"dqn_outputs:pages={pages},categories={categories}"
        entry = Entry(name="dqn_outputs", agent=agent, encoder=self._encoder, cosine=True)
        at_random = replace(self._basic, name="random", agent="random")
        trials = runs_of("network", [task], [self._basic, at_random], self._settings.runs)
        ways = {REHEARSED: entry, REHEARSED_ON_PAIRS: replace(entry, name=ON_PAIRS)}
        return trials + [
            Trial(part="network", task=task, entry=network, number=number, function=way)
            for way, network in ways.items()
            for number in range(self._settings.runs)
        ]

    def _topics(self) -> list[Trial]:
        return self._compared("topics", FULL, self._settings.full_topics, ["linear_async"])

    def _exhausted(self) -> list[Trial]:
        agents = ["linear_async", "linear_sync"]
        return self._compared("exhausted", REDUCED, self._settings.reduced_topics, agents)

    def _compared(
        self, part: str, web: str, words: Sequence[str], agents: Sequence[str]
    ) -> list[Trial]:
        trials: list[Trial] = []
        for word in words:
            if word in self._webs.seeds:
                linear = [self._linear(agent, word) for agent in agents]
                task = self._task(word, web, self._settings.steps)
                trials += runs_of(part, [task], [self._basic, *linear], self._settings.runs)
        return trials

    def _linear(self, agent: str, word: str, more: str = PAIRS, name: str = "") -> Entry:
        return replace(pertejo_entry(agent, TOPICS[word], more, name), encoder=self._encoder)

    def _task(self, word: str, web: str, steps: int) -> Task:
        budget = min(steps, self._webs.pages(web))
        return Task(name=word, web=web, topic=word, seeds=(self._webs.seeds[word],), budget=budget)


# --------------------------------------------------------------------------- report

PAPER_FOUND = (
    "On Simple English Wikipedia the linear crawler finds 20 to 87 % more relevant pages than a "
    "crawler that does not learn, gamma above 0.6 finds less, and a network with an output for "
    "each page finds about a quarter."
)


class Report:
    """Writes the tables and figures of chapter 4 with the paper's beside them."""

    def __init__(self, webs: Prepared, settings: Settings) -> None:
        self._webs, self._settings = webs, settings

    def __call__(self, results: Results, page: Page) -> dict[str, Any]:
        """Write the page and return the main figures."""
        headline = _headline(results)
        if self.is_generated:
            page.text(
                "**The pages of this dump are generated (`experiments/wikipedia_export.py`): the "
                "figures show that the command does the whole experiment, and in which time and "
                "memory; they say nothing about Wikipedia.**"
            )
        self._links(page)
        writers = {
            "gamma": self._gamma,
            "network": self._network,
            "topics": self._topics,
            "exhausted": self._exhausted,
        }
        for part, write in writers.items():
            if results.tasks(part):
                write(results, page)
        if results.tasks("topics"):
            headline["mean cosine of finds"] = report_similarities(
                results, page, "topics", ("basic", "linear_async")
            )
        self._steps(results, page)
        return headline

    @property
    def is_generated(self) -> bool:
        """Whether the dump was written by `experiments/wikipedia_export.py`."""
        return next(iter(self._webs.seeds.values())).startswith(SITE)

    def why(self) -> str:
        """Why the figures differ from the paper's."""
        if self.is_generated:
            return "The pages of this dump are generated: nothing can be compared."
        return "The dump is not that of October 2020, and the crawlers are written anew."

    def _links(self, page: Page) -> None:
        page.heading("Pages and links: table 4.1, figures 4.1 and 4.2")
        full, reduced = (self._webs.facts[web] for web in (FULL, REDUCED))
        raw = full["recorded"] + full["outside"]
        ours = {
            "seng-dump": (full["pages"], raw, raw / full["pages"]),
            "norm-seng-dump": _between(full),
            "norm-seng-dump(0.1)": _between(reduced),
        }
        page.table(
            ["dump", "paper: pages", "links", "links per page", "here: pages", "links",
             "links per page"],
            [[name, *TABLE_4_1[name], *numbers] for name, numbers in ours.items()],
        )  # fmt: skip
        share = 100 * self._webs.steps.source["share"]
        page.text(
            "Links per page are, as in the paper's code (A.1), those of pages that have any; in "
            f"the first row, of all. {full['redirects']:,} redirects lead to pages. Pages of the "
            f"reduced dump ({share:g} %) are drawn at random; the articles of the topics are "
            "always among them."
        )
        for number, web, facts in ((1, FULL, full), (2, REDUCED, reduced)):
            name = f"links-{web}.png"
            draw_link_curves(
                np.array(facts["outlinks"]), np.array(facts["inlinks"]), page.folder / name
            )
            page.text(f"![figure 4.{number}: links of the {TOP:,} pages with the most]({name})")

    def _gamma(self, results: Results, page: Page) -> None:
        page.heading("Gamma: table 4.2 and figure 4.3")
        task = results.tasks("gamma")[0]
        there = [g for g in GAMMAS if results.runs("gamma", task, f"gamma {g}")]
        means = {g: results.mean("gamma", task, f"gamma {g}") for g in there}
        best = max(means.values())
        rows = [
            [str(g), TABLE_4_2[g], TABLE_4_2[g] / max(TABLE_4_2.values()), means[g],
             means[g] / best if best else float("nan")]
            for g in there
        ]  # fmt: skip
        page.text(self._where(task, REDUCED, results.runs("gamma", task, f"gamma {there[0]}")))
        page.table(["gamma", "paper", "of its best", "here", "of our best"], rows)
        names = [f"gamma {g}" for g in there]
        page.figure("gamma.png", "figure 4.3", curves(results, "gamma", names))

    def _network(self, results: Results, page: Page) -> None:
        page.heading("A network with an output for each page: figure 4.4")
        task = results.tasks("network")[0]
        basic = results.mean("network", task, "basic")
        rows: list[list[object]] = []
        for name in results.entries("network", task):
            found = results.mean("network", task, name)
            has_training = name not in ("basic", "random")
            training = results.mean("network", task, name, "training") if has_training else None
            ratio = basic / found if found else float("nan")
            rows.append([name, training, found, ratio])
        page.text(self._where(task, REDUCED, results.runs("network", task, "basic")))
        page.table(["crawler", "training", "test", "basic / test (paper: almost 4)"], rows)
        names = results.entries("network", task)
        page.figure("network.png", "figure 4.4", curves(results, "network", names))

    def _topics(self, results: Results, page: Page) -> None:
        page.heading("Topics: table 4.3 and figure 4.5")
        rows = []
        for task in results.tasks("topics"):
            basic, linear = (results.mean("topics", task, n) for n in ("basic", "linear_async"))
            total = self._webs.facts[FULL]["relevant"][task] or float("nan")
            theirs = PUBLISHED[task]
            rows.append([
                task, *theirs, theirs[1] / theirs[0], basic, linear,
                linear / basic if basic else float("nan"), total,
                percent(basic / total), percent(linear / total),
            ])  # fmt: skip
        first = results.tasks("topics")[0]
        page.text(self._where("", FULL, results.runs("topics", first, "basic")))
        page.table(
            ["topic", "paper: basic", "linear", "ratio", "here: basic", "linear", "ratio",
             "relevant in all", "recall, basic", "recall, linear"],
            rows,
        )  # fmt: skip
        page.figure(
            "topics.png", "figure 4.5", curves(results, "topics", ("basic", "linear_async"))
        )

    def _exhausted(self, results: Results, page: Page) -> None:
        page.heading("Synchronous or not: figure 4.6")
        names = ("basic", "linear_async", "linear_sync")
        tasks = results.tasks("exhausted")
        rows = [
            [task, *(results.mean("exhausted", task, name, "area") for name in names),
             *(results.mean("exhausted", task, name) for name in names),
             results.mean("exhausted", task, "basic", "pages")]
            for task in tasks
        ]  # fmt: skip
        page.text(
            self._where("", REDUCED, results.runs("exhausted", tasks[0], "basic"))
            + " The area is the mean number of relevant pages found over the whole crawl. The "
            "paper sees the synchronous method first for fiction and poetry."
        )
        page.table(
            ["topic", "area: basic", "async", "sync", "at the end: basic", "async", "sync",
             "pages fetched by basic"],
            rows,
        )  # fmt: skip
        page.figure("exhausted.png", "figure 4.6", curves(results, "exhausted", names))

    def _where(self, task: str, web: str, runs: Sequence[dict[str, Any]]) -> str:
        topic = f"Topic {task}, " if task else ""
        budget = runs[0]["budget"] if runs else 0
        said = f"{topic}{web} dump ({self._webs.pages(web):,} pages), {budget:,} pages a crawl"
        runs_said = counted(self._settings.runs, "run")
        return f"{said[0].upper()}{said[1:]}; {runs_said} of each crawler that draws at random."

    def _steps(self, results: Results, page: Page) -> None:
        page.heading("Steps, processor time and memory")
        rows: list[list[object]] = [
            [name, step["seconds"], step["processor_seconds"], step["megabytes"]]
            for name, step in self._webs.steps.done.items()
        ]
        rows += [[f"crawls, {part}", *_taken(results, part), None] for part in _parts(results)]
        page.table(["step", "seconds", "processor seconds", "peak memory until then, MB"], rows)
        workers = self._settings.workers
        peak = self._webs.steps.peak_megabytes(workers)
        page.text(
            f"Peak memory of the whole command: at most {peak:,} MB, the largest child process "
            f"counted {times(workers)}. Texts are read page by page; what grows with the dump are "
            "its titles while it is imported, and with a crawl the links that wait. Most of it is "
            "GloVe, which is loaded anew for each topic and part, and the library of the network."
        )


def _parts(results: Results) -> list[str]:
    return list(dict.fromkeys(trial.part for trial in results.trials))


def _taken(results: Results, part: str) -> tuple[float, float]:
    """Seconds and processor seconds of all runs of a part."""
    runs = [
        run
        for task in results.tasks(part)
        for entry in results.entries(part, task)
        for run in results.runs(part, task, entry)
    ]
    return sum(run["seconds"] for run in runs), sum(run["processor_seconds"] for run in runs)


def _between(facts: dict[str, Any]) -> tuple[int, int, float]:
    """Pages, links between different pages, and links per page that has any."""
    return facts["pages"], facts["links"], facts["links"] / max(1, facts["pages_with_links"])


def _headline(results: Results) -> dict[str, Any]:
    """The three main figures, as far as their parts have run."""
    found: dict[str, Any] = {}
    if results.tasks("topics"):
        found["linear/basic"] = results.interval("topics", "linear_async", "basic")
    for task in results.tasks("gamma"):
        means = {g: results.mean("gamma", task, f"gamma {g}") for g in GAMMAS}
        low = np.nanmean([mean for g, mean in means.items() if g <= 0.6])
        high = np.nanmean([mean for g, mean in means.items() if g >= 0.7])
        found["gamma above 0.6 / others"] = float(high / low) if low else float("nan")
    for task in results.tasks("network"):
        basic, network = (results.mean("network", task, n) for n in ("basic", ON_PAIRS))
        found["basic/network"] = basic / network if network else float("nan")
    return found


def _we_found(results: Results) -> str:
    headline, said = _headline(results), []
    if (interval := headline.get("linear/basic")) is not None:
        said.append(f"the linear crawler finds {interval.ratio:.2f} times as many")
    if "gamma above 0.6 / others" in headline:
        share = percent(headline["gamma above 0.6 / others"])
        said.append(f"gamma above 0.6 finds {share} of what lower ones find (paper: 87%)")
    if "basic/network" in headline:
        ratio = headline["basic/network"]
        said.append(
            f"the crawler that does not learn finds {ratio:.1f} times what the network does"
        )
    sentence = ", ".join(said)
    return f"{sentence[:1].upper()}{sentence[1:]}." if sentence else ""


# --------------------------------------------------------------------------- command


def main(arguments: Sequence[str]) -> int:
    """Run the command line and return its exit code."""
    given = _parser().parse_args(arguments)
    command = printable(shlex.join(["python", "-m", "experiments.wikipedia", *arguments]))
    try:
        dump = Dump(given.dump, _share(given.share), given.pagelinks)
        settings = _settings(given)
        report = run(dump, given.out, settings, given.quick, command)
    except HoneyguideError as error:
        sys.stderr.write(f"experiments: {' '.join(str(error).split())}\n")
        return 1
    except KeyboardInterrupt:
        sys.stderr.write("experiments: stopped: the same command continues\n")
        return INTERRUPTED
    sys.stdout.write(f"results: {report}\n")
    sys.stdout.write(f"peak memory: at most {peak_megabytes(settings.workers):,} MB\n")
    return 0


def _parser() -> argparse.ArgumentParser:
    usual = Settings()
    parser = argparse.ArgumentParser(
        prog="python -m experiments.wikipedia", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("dump", type=Path, help="pages-articles.xml.bz2, .xml, .xml.gz or .xml.zst")
    parser.add_argument(
        "--out", type=Path, required=True, help="where results go; an earlier run is continued"
    )
    parser.add_argument("--quick", action="store_true", help="few and short crawls")
    parser.add_argument("--steps", type=int, help=f"pages of a crawl; {usual.steps:,}")
    parser.add_argument(
        "--network-steps", type=int, help=f"pages of a network's crawl; {usual.network_steps:,}"
    )
    parser.add_argument("--runs", type=int, help=f"of crawlers that draw; {usual.runs}")
    parser.add_argument("--workers", type=int, help=f"processes that crawl; {usual.workers}")
    parser.add_argument(
        "--share", type=float, default=0.1, help="of the pages in the reduced dump; 0.1"
    )
    parser.add_argument("--pagelinks", type=Path, help="the wiki's own links, pagelinks.sql.gz")
    return parser


def _settings(given: argparse.Namespace) -> Settings:
    settings = QUICK if given.quick else Settings()
    names = ("steps", "network_steps", "runs", "workers")
    said = {name: getattr(given, name) for name in names if getattr(given, name) is not None}
    for name, number in said.items():
        if number < 1:
            raise HoneyguideError(f"--{name.replace('_', '-')} cannot be {number}")
    return replace(settings, **said)


def _share(share: float) -> float:
    if not 0 < share <= 1:
        raise HoneyguideError(f"--share is above 0 and at most 1, not {share:g}")
    return share


def run(dump: Dump, out: Path, settings: Settings, quick: bool, command: str) -> Path:
    """Do the steps and trials that have no stored result; return the path of the report."""
    check_folder(out)
    titles = {word: (topic.seed, *OTHER_TITLES.get(word, ())) for word, topic in TOPICS.items()}
    webs = prepare(dump, out, titles, _say)
    report = Report(webs, settings)
    experiment = Experiment(
        name="pertejo2021-dump",
        title="The experiment of Pertejo on a dump",
        source="Pertejo (2021), master's thesis, chapter 4.",
        paper_found=PAPER_FOUND,
        we_found=_we_found,
        why=report.why(),
        parts=Crawls(webs, settings).parts(),
        report=report,
    )
    options = RunOptions(
        experiment=experiment,
        data=webs.folder,
        out=out,
        quick=quick,
        workers=settings.workers,
        command=command,
    )
    with progress_bar() as bar:
        task = bar.add_task("trials", total=None, news="")

        def advance(trial: Trial, of: int) -> None:
            news = f"{trial.part}: {trial.entry.name}, {trial.task.name}"
            bar.update(task, advance=1, total=of, news=news)
            if trial.part != "network":
                opened_task.cache_clear()
            gc.collect()  # encoders of earlier tasks, 240 MB each, are parts of cycles

        return run_experiment(options, advance, _say)


def _say(sentence: str) -> None:
    sys.stderr.write(f"{sentence}\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
