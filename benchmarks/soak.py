"""A thousand kills: live crawls of a served web that are killed at any moment and gone on with.

    python benchmarks/soak.py --kills 1000

prints JSON: every count, by kind of kill, and the failures, whose folders are kept in --out. The
exit code is 1 when a promise was broken. Two processes work at a time: one crawls with one visit
in flight, so that every decision can be compared with an uninterrupted crawl's, the other mostly
with sixteen, so that the pages can.
"""

import argparse
import json
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import soak_checks as checks
import soak_process as process
import soak_web

PROGRAM = Path(sys.executable).parent / "honeyguide"
ALL = 1_000_000  # pages: more than there are
MOST_KILLS = 16  # of one crawl
COMMIT = 1.1  # seconds until what happened is committed, by the store's own account
DAYS = 86_400.0
BARS = (
    "cannot be resumed",
    "traceback",
    "kept visits lost",
    "links lost",
    "kept pages asked again",
    "budget not exact",
    "decisions differ",
    "choices forced",
    "repeated more than in flight",
    "robots.txt asked again",
    "WARC or CDXJ damaged",
    "status or export wrong",
    "check finds damage",
)

# what the server's log alone shows: the folder has nothing to look at
OF_REQUESTS = {"repeated more than in flight", "robots.txt asked again"}


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of crawl."""

    name: str
    web: str
    in_flight: int
    delay: float = 0.0
    parsers: int = 0
    full_disk: bool = False
    clock_jumps: bool = False

    @property
    def is_decided(self) -> bool:
        """Whether its decisions do not depend on time."""
        return self.in_flight == 1 and not self.delay


KINDS = (
    Kind("one", soak_web.TRAPPED, 1),
    Kind("one, full disk", soak_web.TRAPPED, 1, full_disk=True),
    Kind("one, clock jumps", soak_web.TRAPPED, 1, clock_jumps=True),
    Kind("one, parser", soak_web.TRAPPED, 1, parsers=1),
    Kind("sixteen", soak_web.CALM, 16),
    Kind("sixteen, delays", soak_web.CALM, 16, delay=0.1),
    Kind("sixteen, full disk", soak_web.CALM, 16, full_disk=True),
    Kind("sixteen, clock jumps", soak_web.CALM, 16, delay=0.05, clock_jumps=True),
    Kind("sixteen, parser", soak_web.CALM, 16, parsers=1),
    Kind("one, delays", soak_web.CALM, 1, delay=0.02),
)
CHECKED = 0.15  # of killed crawls, by `honeyguide check`
# where a kill hits: a phase or nothing in particular, and how often of a hundred
AIMS = {
    "any moment": 18,
    "first second": 12,
    "open": 8,
    "replay": 14,
    "snapshot": 12,
    "adopt": 8,
    "commit": 8,
    "closing": 8,
    "policy": 4,
    "close": 4,
    "command line": 4,
}
AT_THE_END = ("closing", "policy", "close")  # a small budget brings the end near


@dataclass(slots=True)
class Told:
    """What a part of the soak has to report."""

    kills: Counter[str] = field(default_factory=Counter)  # by what they hit
    crawls: Counter[str] = field(default_factory=Counter)  # ended, by kind
    counts: Counter[str] = field(default_factory=Counter)
    repeated: list[tuple[int, int]] = field(default_factory=list)  # a restart's, and in flight
    failures: list[dict[str, Any]] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)  # phases that could not be aimed at


class BrokenError(Exception):
    """A crawl broke a promise, so that there is no going on with it."""


class Lane:
    """Crawls one web again and again, killed on the way."""

    def __init__(self, web: str, seed: int, folder: Path, server: soak_web.Served) -> None:
        self.name = web
        self.web = soak_web.build(web)
        self.server = server
        self.folder = folder
        self.chance = random.Random(f"{web} {seed}")
        self.told = Told()
        self.lengths: dict[str, float] = {}  # seconds of each phase, when it was last seen
        self.expected: list[checks.Row] = []
        self.left_out: set[str] = set()

    def run(self, kills: int, until: float) -> Told:
        """Kill so many times, or until it is time."""
        self.told.missing = process.prepare()
        self._crawl_whole()
        kinds = [kind for kind in KINDS if kind.web == self.name]
        while self.told.kills.total() < kills and time.monotonic() < until:
            kind = kinds[self.told.crawls.total() % len(kinds)]
            left = min(MOST_KILLS, kills - self.told.kills.total())
            Crawl(self, kind, self.told.crawls.total()).run(left)
            self.told.crawls[kind.name] += 1
            news = f"{self.told.kills.total()} kills, {len(self.told.failures)} failures"
            print(f"{self.name}: {kind.name}: {news}", file=sys.stderr, flush=True)
        return self.told

    def new_file(self, kind: str) -> Path:
        """A name for a file of which only the newest is needed."""
        file = self.folder / f"{self.name}.{kind}"
        file.unlink(missing_ok=True)  # a process that lives on goes on with the old one
        return file

    def _crawl_whole(self) -> None:
        """Crawl without any interruption, to compare with."""
        kind = Kind("whole", self.name, 1)
        crawl = Crawl(self, kind, -1)
        code, said = crawl.start(ALL).wait()
        if code:
            sys.exit(f"not even an uninterrupted crawl ends well: {said}")
        self.expected = crawl.kept() or []
        self.server.requests()
        self.left_out = set(checks.links_lost(self.expected, self.web, set()))
        shutil.rmtree(crawl.folder)


class Crawl:
    """One crawl in a folder, from its first process to its last."""

    def __init__(self, lane: Lane, kind: Kind, number: int) -> None:
        self.lane = lane
        self.kind = kind
        self.chance = lane.chance
        self.folder = lane.folder / f"{lane.name}-{number}"
        self.rows: list[checks.Row] = []  # that were kept when last looked at
        self.asked: set[str] = set()  # pages
        self.requests = 0  # for pages
        self.kills = 0
        self.last_aim = ""
        self.begun = False
        self.budget = ALL
        self.is_over = False  # nothing is left to fetch

    def run(self, kills: int) -> None:
        """Kill it so many times, let it end, and look at what is there."""
        if self.folder.exists():
            shutil.rmtree(self.folder)
        broken = len(self.lane.told.failures)
        try:
            while self.kills < kills and not self.is_over:
                self._hunt()
            self._end(len(self.rows) + self.chance.randrange(20, 120))
            self._end(ALL)
            self._look_at_all()
        except BrokenError:
            pass
        found = {failure["promise"] for failure in self.lane.told.failures[broken:]}
        if not found - OF_REQUESTS and self.folder.exists():
            shutil.rmtree(self.folder)

    # ------------------------------------------------------------------ processes

    def start(self, budget: int, **settings: Any) -> process.Running:
        """Begin or go on in a new process."""
        return process.start(self._command(budget), self.lane.new_file("said"), **settings)

    def _command(self, budget: int) -> list[str]:
        self.budget = budget
        if self.begun:
            return ["resume", str(self.folder), "--budget", str(budget)]
        kind, port = self.kind, self.lane.server.port
        where = ["--resolve", f"*={soak_web.ADDRESS}:{port}", "--allow-private"]
        task = ["--topic", "geology", "--seed", self.lane.web.seed, "--budget", str(budget)]
        how = ["--in-flight", str(kind.in_flight), "--delay", str(kind.delay)]
        rest = ["--parsers", str(kind.parsers), "--contact", "soak@example.org"]
        return ["crawl", "--out", str(self.folder), *where, *task, *how, *rest]

    def _circumstances(self) -> dict[str, Any]:
        """How the machine treats the next process."""
        found: dict[str, Any] = {}
        if self.kind.full_disk and self.chance.random() < 0.4:
            sizes = sorted(path.stat().st_size for path in self.folder.rglob("*") if path.is_file())
            found["max_file_size"] = self.chance.choice(sizes or [0]) + self.chance.randrange(
                100_000
            )
        if self.kind.clock_jumps:
            found["offset"] = self.chance.uniform(-3, 3) * DAYS
            found["jump"] = (self.chance.uniform(0.01, 1.5), self.chance.uniform(-3, 3) * DAYS)
        return found

    def _aim(self) -> str:
        if not self.begun:
            return "begin" if self.kills < 2 else "first second" if self.kills < 4 else "any moment"
        reachable = {aim: w for aim, w in AIMS.items() if aim not in self.lane.told.missing}
        return self.chance.choices(list(reachable), list(reachable.values()))[0]

    def _hunt(self) -> None:
        """Start a process and kill it where it was aimed at, unless it ends before."""
        self.last_aim = aim = self._aim()
        code, said = self._run_plainly() if aim == "command line" else self._run_aimed(aim)
        if code == -signal.SIGKILL:
            self.kills += 1
            self.lane.told.kills[aim] += 1
        self.is_over = code == 0 and self.budget == ALL
        self._look(code, said)
        if self.begun and self.chance.random() < CHECKED:
            self._check()

    def _run_aimed(self, aim: str) -> tuple[int, str]:
        near = aim in AT_THE_END
        budget = len(self.rows) + self.chance.randrange(20, 60) if near else ALL
        running = self.start(budget, **self._circumstances())
        if self._comes(running, aim):
            running.kill()
        ended = running.wait()
        self.lane.lengths |= running.lengths
        self._count("choices forced", running.forced, "replay had to force choices")
        return ended

    def _comes(self, running: process.Running, aim: str) -> bool:
        """Whether the process gets to what is aimed at, and somewhat further."""
        if aim in ("first second", "any moment"):
            return running.lasts(self.chance.uniform(0, 1.0 if aim == "first second" else 3.5))
        phase = "snapshot" if aim == "closing" else aim
        occurrence = self.chance.randrange(1, 4) if aim in ("snapshot", "adopt", "commit") else 1
        if not running.reaches(phase, occurrence):
            return False
        length = self.lane.lengths.get(phase, 0.05)
        longer = COMMIT if aim in ("snapshot", "closing") and self.chance.random() < 0.5 else 0.0
        return running.lasts(self.chance.uniform(0, 1.2 * length + longer))

    def _run_plainly(self) -> tuple[int, str]:
        """Kill the installed program, in a new interpreter."""
        said = self.lane.new_file("said")
        with said.open("w") as file:
            command = [PROGRAM, *self._command(ALL)]
            running = subprocess.Popen(command, stdout=file, stderr=subprocess.STDOUT)
            try:
                running.wait(self.chance.uniform(0.3, 4.0))
            except subprocess.TimeoutExpired:
                running.kill()
            code = running.wait()
        return code, said.read_text(errors="replace")

    def _end(self, budget: int) -> None:
        code, said = self.start(budget).wait()
        self._look(code, said)
        if code:
            self._fail("cannot be resumed", f"exit code {code}: {said[-500:]}")
        if "budget spent" in said and len(self.rows) != budget:
            self._fail("budget not exact", f"{len(self.rows)} pages kept, {budget} allowed")

    # ------------------------------------------------------------------ looking

    def kept(self) -> list[checks.Row] | None:
        """The visits that outlive a kill."""
        return checks.kept(self.folder, self.lane.folder / f"{self.lane.name}.copy")

    def _look(self, code: int, said: str) -> None:
        """Compare what is there with what was, and with what the server was asked for."""
        asked = self.lane.server.requests()
        before, rows = self.rows, self.kept()
        self.begun = rows is not None
        self.rows = rows or []
        self._look_at_end(code, said)
        if [row.decided for row in self.rows[: len(before)]] != [row.decided for row in before]:
            self._fail("kept visits lost", f"{len(before)} before, {len(self.rows)} now")
        if again := checks.asked_again(before, self.lane.web, asked):
            self._fail("kept pages asked again", f"{len(again)}: {again[:3]}")
        if len(self.rows) > self.budget:
            self._fail("budget not exact", f"{len(self.rows)} kept, {self.budget} allowed")
        difference = checks.first_difference(self.rows, self.lane.expected)
        if code == 0 and len(self.rows) == len(self.lane.expected):
            difference = difference or checks.first_other_verdict(self.rows, self.lane.expected)
        if self.kind.is_decided and difference:
            self._fail("decisions differ", difference)
        self._count_requests(before, asked)

    def _look_at_end(self, code: int, said: str) -> None:
        if "Traceback" in said:
            self._fail("traceback", said[-1500:])
        lines = said.strip().splitlines()
        is_full = code == 1 and self.kind.full_disk and len(lines) == 1
        if is_full and ("disk is full" in said or "cannot write" in said):
            self.lane.told.counts["stopped by a full disk"] += 1
        elif code > 0:
            self._fail("cannot be resumed", f"exit code {code}: {said[-800:]}")
            raise BrokenError

    def _count_requests(
        self, before: Sequence[checks.Row], asked: Sequence[soak_web.Request]
    ) -> None:
        counts = self.lane.told.counts
        pages = [request.url for request in asked if request.path != "/robots.txt"]
        led_to = set(self.lane.web.moved.values())  # a visit that is led on sends two requests
        repeated = sum(url in self.asked for url in pages if url not in led_to)
        self.asked.update(pages)
        self.requests += len(pages)
        counts["requests for pages"] += len(pages)
        counts["requests for robots.txt"] += len(asked) - len(pages)
        counts["processes"] += 1
        counts["requests repeated"] += repeated
        if self.kills:
            self.lane.told.repeated.append((repeated, self.kind.in_flight))
        if repeated > self.kind.in_flight:
            what = f"{repeated} requests repeated, {self.kind.in_flight} in flight"
            self._fail("repeated more than in flight", what)
        if not self.kind.clock_jumps:  # after a day it has to be asked for again
            times = checks.robots_asked_again(before, asked)
            self._count("robots.txt asked again", times, "of hosts that were asked before")

    def _look_at_all(self) -> None:
        """Whether the crawl has ended as an uninterrupted one does."""
        expected = {row.url for row in self.lane.expected}
        visited = {row.url for row in self.rows}
        lost = checks.links_lost(self.rows, self.lane.web, self.lane.left_out)
        if lost or expected != visited:
            what = f"{len(expected - visited)} not visited, {len(visited - expected)} visited more"
            self._fail("links lost", f"{what}; lost: {lost[:3]}")
        for what in checks.damage(self.folder, self.rows, self.lane.web)[:3]:
            self._fail("WARC or CDXJ damaged", what)
        needed = checks.requests_needed(self.rows, self.lane.web)
        self.lane.told.counts["requests more than needed"] += self.requests - needed
        self.lane.told.counts["visits kept"] += len(self.rows)
        self._ask_about_it()
        self._check()

    def _ask_about_it(self) -> None:
        """Whether `status` and `export` know it all."""
        said = self.lane.new_file("said")
        status = process.start(["status", str(self.folder), "--json"], said).wait()
        known = json.loads(status[1]) if not status[0] else {}
        file = self.lane.new_file("jsonl")
        said = self.lane.new_file("said")
        export = process.start(["export", str(self.folder), "--out", str(file)], said).wait()
        lines = len(file.read_text().splitlines()) if not export[0] else -1
        pages = len({row.page_url for row in self.rows if not row.failure})
        if known.get("visits") != len(self.rows) or lines != pages:
            what = f"{known.get('visits')} visits of {len(self.rows)}, {lines} pages of {pages}"
            self._fail("status or export wrong", f"{what}; {status[1][-300:]}; {export[1][-300:]}")

    def _check(self) -> None:
        """Whether `check` finds everything well."""
        said = self.lane.new_file("said")
        code, found = process.start(["check", str(self.folder)], said).wait()
        self.lane.told.counts["folders checked"] += 1
        if code:
            self._fail("check finds damage", found[-300:])

    def _count(self, bar: str, times: int, what: str) -> None:
        self.lane.told.counts[bar] += times
        if times:
            self._fail(bar, f"{times} {what}")

    def _fail(self, bar: str, what: str) -> None:
        failure = {
            "promise": bar,
            "crawl": self.kind.name,
            "kill": self.kills,
            "aim": self.last_aim,
            "what": what,
            "folder": str(self.folder),
        }
        self.lane.told.failures.append(failure)
        if bar not in OF_REQUESTS:
            print(json.dumps(failure), file=sys.stderr, flush=True)


# --------------------------------------------------------------------------- the whole


def main() -> None:
    """Soak with two processes, and report."""
    given = _arguments()
    folder = given.out or Path(tempfile.mkdtemp(prefix="soak-"))
    folder.mkdir(parents=True, exist_ok=True)
    if given.lane:
        _soak(given, folder)
        return
    began = time.monotonic()
    lanes = {web: _begin_lane(given, folder, web) for web in (soak_web.CALM, soak_web.TRAPPED)}
    codes = {web: lane.wait() for web, lane in lanes.items()}
    if any(codes.values()):
        sys.exit(f"a part of the soak did not end well: {codes}")
    told = [json.loads((folder / f"{web}.json").read_text()) for web in lanes]
    report = _report(told) | {"seconds": round(time.monotonic() - began), "seed": given.seed}
    print(json.dumps(report, indent=1))
    if not given.out and not report["failures"]:
        shutil.rmtree(folder)
    sys.exit(1 if report["failures"] else 0)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1, help="another number, other kills")
    parser.add_argument("--out", type=Path, help="where folders of failures are kept")
    parser.add_argument("--minutes", type=float, default=120.0, help="begin no crawl after that")
    parser.add_argument("--lane", default="", help=argparse.SUPPRESS)
    return parser.parse_args()


def _begin_lane(given: argparse.Namespace, folder: Path, web: str) -> subprocess.Popen[bytes]:
    kills = given.kills // 2 + (given.kills % 2 if web == soak_web.CALM else 0)
    numbers = ["--kills", kills, "--seed", given.seed, "--minutes", given.minutes]
    command = [sys.executable, __file__, "--lane", web, "--out", folder, *numbers]
    return subprocess.Popen([str(word) for word in command], stdout=sys.stderr)


def _soak(given: argparse.Namespace, folder: Path) -> None:
    until = time.monotonic() + 60 * given.minutes
    with soak_web.served(given.lane, folder / f"{given.lane}.log") as server:
        told = Lane(given.lane, given.seed, folder, server).run(given.kills, until)
    (folder / f"{given.lane}.json").write_text(
        json.dumps({name: getattr(told, name) for name in Told.__slots__})
    )


def _report(told: Sequence[dict[str, Any]]) -> dict[str, Any]:
    totals = {
        name: sum((Counter(each[name]) for each in told), Counter())
        for name in ("kills", "crawls", "counts")
    }
    failures = [failure for each in told for failure in each["failures"]]
    broken = Counter(failure["promise"] for failure in failures)
    restarts = [pair for each in told for pair in each["repeated"]]
    return {
        "kills": totals["kills"].total(),
        "kills_by_aim": totals["kills"],
        "crawls": totals["crawls"],
        "counts": totals["counts"],
        "repeated_per_restart": {str(n): _spread(restarts, n) for n in (1, 16)},
        "phases_missing": sorted({phase for each in told for phase in each["missing"]}),
        "broken": {bar: broken[bar] for bar in BARS},
        "failures": failures,
    }


def _spread(restarts: Sequence[tuple[int, int]], in_flight: int) -> dict[str, float]:
    repeated = [times for times, most in restarts if most == in_flight]
    mean = sum(repeated) / max(1, len(repeated))
    return {"restarts": len(repeated), "mean": round(mean, 1), "most": max(repeated, default=0)}


if __name__ == "__main__":
    main()
