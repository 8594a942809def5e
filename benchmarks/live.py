"""Pages a second on a served site, all stages on, side by side with Scrapy's link-following.

    python benchmarks/live.py --data DIR [--json]

DIR holds schools-wiki/html.tar.zst; without it the pages are generated ones, which are smaller.
All crawl the same pages from the same server, each run in a process of its own, in turn:
honeyguide as `honeyguide crawl` does by default (the agent guide, as many processes as the cores
allow), the same in one process, the same with the agent best_first, and Scrapy. Fails when any
stage of honeyguide was off.
"""

import argparse
import json
import pickle
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import live_checks
import live_profile
import served_site
from served_site import Site

HERE = Path(__file__).parent
GUIDE, ALONE = "honeyguide, guide", "honeyguide, guide, one process"
BEST_FIRST, SCRAPY = "honeyguide, best_first", "scrapy"
STARTS = 3  # of the command, to see when it fetches its first page


class Run(NamedTuple):
    """What one crawl took."""

    pages: int
    seconds: float  # from the first request to the last byte that is safe
    whole_seconds: float  # with the start of the interpreter and all imports
    processor_seconds: float  # of the program and its workers, start included
    peak_megabytes: float


class Bench:
    """Runs programs one after another against one server."""

    def __init__(self, site: Site, port: int, folder: Path, parsers: int | None) -> None:
        self.site = site
        self.port = port
        self.folder = folder
        self.parsers = parsers
        self._count = 0

    def run(self, program: str, profile: Path | None = None) -> tuple[Run, Path, dict[str, float]]:
        """One crawl of all pages."""
        self._count += 1
        out = self.folder / f"crawl-{self._count}"
        command = [sys.executable, str(HERE / "live_runs.py"), program.partition(",")[0]]
        command += ["--port", str(self.port), "--seed", self.site.seed, "--out", str(out)]
        command += ["--pages", str(len(self.site.pages))]
        command += ["--agent", "best_first" if program == BEST_FIRST else "guide"]
        parsers = 0 if program == ALONE else self.parsers
        command += ["--parsers", str(parsers)] if parsers is not None else []
        command += ["--profile", str(profile)] if profile else []
        begin = time.time()
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout
            said = process.stdout.read()
        whole = time.time() - begin
        if process.returncode:
            sys.exit(f"{program} ended with status {process.returncode}")
        asked = served_site.counts(self.port)
        told = json.loads(said.splitlines()[-1])
        taken = Run(
            int(asked["pages"]),
            told["ended"] - asked["first"],
            whole,
            told["processor_seconds"],
            told["peak_megabytes"],
        )
        return taken, out, asked

    def first_page(self) -> float:
        """Seconds from the command to the request for its first page."""
        self._count += 1
        command = [str(Path(sys.executable).with_name("honeyguide")), "crawl", "--budget", "1"]
        command += ["--topic", "geology", "--seed", self.site.seed, "--allow-private"]
        command += ["--contact", "benchmark@example.org", "--delay", "0"]
        command += ["--resolve", f"*={served_site.ADDRESS}:{self.port}"]
        begin = time.time()
        out = self.folder / f"crawl-{self._count}"
        subprocess.run([*command, "--out", str(out)], check=True, stdout=subprocess.DEVNULL)
        return served_site.counts(self.port)["first_page"] - begin


def main() -> None:
    """Crawl in turn, check, compare."""
    given = _arguments()
    site = (
        served_site.real_site(given.data, given.pages)
        if given.data
        else served_site.generated_site(given.pages)
    )
    _describe(site)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "site.pickle"
        file.write_bytes(pickle.dumps(site))
        with served_site.served(str(file)) as port:
            report = _compare(Bench(site, port, Path(folder), given.parsers), given.repeat)
    report["site"] = {"source": site.source, "pages": len(site.pages)}
    if given.json:
        print(json.dumps(report))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="folder with schools-wiki/html.tar.zst")
    parser.add_argument("--pages", type=int, default=2000, help="of the site, at most")
    parser.add_argument("--repeat", type=int, default=3, help="crawls of each program")
    parser.add_argument("--parsers", type=int, help="processes that only parse; else the default")
    parser.add_argument("--json", action="store_true", help="end with a line of JSON")
    return parser.parse_args()


def _compare(bench: Bench, repeat: int) -> dict[str, Any]:
    runs: dict[str, list[Run]] = {GUIDE: [], ALONE: [], BEST_FIRST: [], SCRAPY: []}
    found: dict[str, Any] = {}
    for turn in range(repeat):
        for program, results in runs.items():
            taken, out, asked = bench.run(program)
            results.append(taken)
            _say(f"{turn + 1}/{repeat} {program}: {taken.pages / taken.seconds:.1f} pages/s")
            if program == SCRAPY:
                live_checks.check_served(bench.site, asked)
            else:
                found = live_checks.check(out, bench.site, asked)
    starts = [bench.first_page() for _ in range(STARTS)]
    profile = bench.folder / "profile"
    bench.run(ALONE, profile)
    stages = live_profile.stages(profile, len(bench.site.pages))
    summary = {program: _summary(results) for program, results in runs.items()}
    _print_table(summary)
    _print_stages(stages)
    for name, value in found.items():
        print(f"{name:32} {value:,}")
    ratios = _ratios(summary)
    for name, value in ratios.items():
        print(f"{name:32} {value}")
    return {
        **ratios,
        "seconds_to_first_page": [round(seconds, 2) for seconds in sorted(starts)],
        "programs": summary,
        "stages_milliseconds_per_page": stages,
        "checked": found,
    }


def _ratios(summary: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    rate, whole = "pages_per_second", "pages_per_second_with_start_up"
    return {
        "ratio_to_scrapy": _ratio(summary, GUIDE, SCRAPY, rate),
        "ratio_to_best_first": _ratio(summary, GUIDE, BEST_FIRST, rate),
        "ratio_one_process": _ratio(summary, ALONE, SCRAPY, rate),
        "ratio_with_start_up": _ratio(summary, GUIDE, SCRAPY, whole),
        "ratio_of_best_first_to_scrapy": _ratio(summary, BEST_FIRST, SCRAPY, rate),
        "ratio_by_processor_time": _ratio(summary, GUIDE, SCRAPY, "pages_per_processor_second"),
        "ratio_one_process_by_processor_time": _ratio(
            summary, ALONE, SCRAPY, "pages_per_processor_second"
        ),
    }


def _summary(runs: Sequence[Run]) -> dict[str, float]:
    rates = [run.pages / run.seconds for run in runs]
    return {
        "pages_per_second": round(statistics.mean(rates), 1),
        "spread": round(max(rates) - min(rates), 1),
        "pages_per_second_with_start_up": round(
            statistics.mean(run.pages / run.whole_seconds for run in runs), 1
        ),
        "pages_per_processor_second": round(
            statistics.mean(run.pages / run.processor_seconds for run in runs), 1
        ),
        "peak_megabytes": max(run.peak_megabytes for run in runs),
    }


def _ratio(
    summary: Mapping[str, Mapping[str, float]], program: str, other: str, name: str
) -> float:
    return round(summary[program][name] / summary[other][name], 2)


# --------------------------------------------------------------------------- showing


def _describe(site: Site) -> None:
    print(f"{len(site.pages):,} pages on {served_site.HOSTS} hosts; {site.source}")
    degrees = [len(set(served_site.links_of(html))) for html in site.pages.values()]
    for name, values in (
        ("bytes a page", [len(html) for html in site.pages.values()]),
        ("links a page", [len(served_site.links_of(html)) for html in site.pages.values()]),
        ("distinct links a page", degrees),
    ):
        ordered = sorted(values)
        shown = [
            ordered[int(share * (len(ordered) - 1))] for share in (0, 0.1, 0.25, 0.5, 0.75, 0.9, 1)
        ]
        print(
            f"{name:24}"
            + "".join(f"{value:>9,}" for value in shown)
            + "   (0 10 25 50 75 90 100 %)"
        )


def _print_table(summary: Mapping[str, Mapping[str, float]]) -> None:
    names = list(next(iter(summary.values())))
    print(
        f"\n{'':32}"
        + "".join(f"{name.replace('_', ' ').replace('pages per', '/'):>24}" for name in names)
    )
    for program, values in summary.items():
        print(f"{program:32}" + "".join(f"{values[name]:>24,}" for name in names))


def _print_stages(stages: Mapping[str, float]) -> None:
    total = sum(stages.values())
    print(f"\nwhere the time goes: one process, profiled, so slower: {total:.2f} ms a page")
    for name, milliseconds in sorted(stages.items(), key=lambda item: -item[1]):
        print(f"{name:32} {milliseconds:8.3f} {100 * milliseconds / total:6.1f} %")
    print()


def _say(news: str) -> None:
    print(news, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
