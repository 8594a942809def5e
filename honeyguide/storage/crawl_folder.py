"""Create, interrupt and resume a crawl in a folder."""

import asyncio
import json
import math
import os
import signal
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

from honeyguide.assemble import Assembled, table_bytes, with_examples
from honeyguide.contracts import Cut, Observable, Recalling, Step, Visit
from honeyguide.disk.files import UNFINISHED, inside, make_folder, replacing
from honeyguide.disk.output_paths import check_empty, check_folder
from honeyguide.engine.loop import Crawl, Observer, Outcome, run_jumping
from honeyguide.engine.machine import resident_size
from honeyguide.errors import HoneyguideError
from honeyguide.learning.policies import save_policy
from honeyguide.plan import Plan
from honeyguide.registry import Part, find
from honeyguide.storage.database import FILE, WARCS, create, holds_crawl, settings
from honeyguide.storage.store import Recorded, Store
from honeyguide.web.http import asked_with

Watcher = Callable[[Plan, Recorded, Visit], None]  # told of each absorbed visit
Warn = Callable[[str], None]  # told what is lost without which a crawl goes on
Start = Callable[[Recorded, bool], None]  # told of the crawl, and whether it is a live one
INTERRUPTED = "interrupted"
MEMORY_SPENT = "memory spent"
MEASURED_EVERY = 16  # visits between two looks at the memory that the process holds
START = "start.policy"  # what the agent of a crawl started from
LEARNT = "learnt.policy"  # what it has learnt
# what may be there before the database: a crawl was killed while it was created
BEFORE = ("lock", START, f"{START}{UNFINISHED}", WARCS)
PARTS = ("agent", "encoder", "judge", "world")  # that may read files
LISTS_OF_NAMES = ("domains",)  # settings that are one file, or names with commas between


def begin(folder: Path, plan: Plan) -> None:
    """Make a folder the place of a crawl, once all that its plan names has been found."""
    check_folder(folder)
    if not (folder / FILE).exists():  # else it is said below that a crawl is there
        check_empty(folder, "a crawl", BEFORE)
    plan = replace(with_examples(plan), year=time.gmtime().tm_year)
    plan.open().navigator()
    if plan.policy and not holds_crawl(folder):
        plan = _with_copied_policy(plan, folder)
    whole = {kind: from_root(kind, getattr(plan, kind)) for kind in PARTS}
    record = str(Path(plan.record).absolute()) if plan.record else ""
    create(folder, asdict(plan) | whole | {"record": record})


def from_root(kind: str, spec: str) -> str:
    """The same part with its files' whole paths, so that it can be made again from anywhere."""
    name, _, rest = spec.partition(":")
    found = find(kind, name)
    if not found.files or not rest:
        return spec
    is_one = found.files in LISTS_OF_NAMES or _names_file(rest)
    pieces = [rest] if is_one else rest.split(",")
    return f"{name}:{','.join(_piece_from_root(found, piece, rest) for piece in pieces)}"


def _piece_from_root(found: Part, piece: str, rest: str) -> str:
    key = f"{found.files}=" if piece.startswith(f"{found.files}=") else ""
    path = piece.removeprefix(key)
    whole = str(Path(path).absolute())
    is_safe = "," not in whole or (piece == rest and not key)  # commas also part settings
    is_file = not found.is_name(path) and _names_file(path)
    return key + whole if is_file and is_safe else piece


def _names_file(path: str) -> bool:
    """Whether a path, or a pattern of a path's last part, leads to something."""
    try:
        return bool(path) and (Path(path).exists() or any(Path().glob(path)))
    except (OSError, ValueError, NotImplementedError):  # too long, or no relative pattern
        return False


def _with_copied_policy(plan: Plan, folder: Path) -> Plan:
    """The same with its policy in the folder, so that resuming does not depend on another."""
    try:
        make_folder(folder)
        with replacing(folder / START) as file:
            file.write(Path(plan.policy).read_bytes())
    except OSError as error:
        raise HoneyguideError(f"cannot write to {folder}: {error.strerror}") from None
    return replace(plan, policy=START)


def _ignore(sentence: str) -> None:
    """Warn nobody."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a crawl in a folder ended, and what was left out on the way."""

    outcome: Outcome
    cuts: list[Cut]
    let_go: str = ""  # links forgotten for want of room; empty when none were
    differing: int = 0  # choices of earlier runs that this version would not make


def _ignore_start(recorded: Recorded, live: bool) -> None:
    """Tell nobody."""


def go_on(
    folder: Path,
    watcher: Watcher,
    warn: Warn = _ignore,
    start: Start = _ignore_start,
    **changes: Any,
) -> Ended:
    """Crawl in a folder from where it was, until a limit (which may change) or an interruption.

    What is lost without which the crawl goes on is told in sentences before the first page; then
    `start` is called.
    """
    plan = replace(_plan(folder), **changes)
    if plan.policy:
        plan = replace(plan, policy=str(inside(folder, plan.policy)))
    opened = plan.open()
    headers = asked_with(opened.plan.contact) if opened.world.live else None
    store = Store(folder, headers, visits_at_once=opened.in_flight)
    try:
        for sentence in store.warnings:
            warn(sentence)
        if changes:  # hold for the next time too
            store.note(settings=json.dumps(settings(folder) | changes))
        limit = opened.plan.memory_limit
        recorded = Recorded(opened.navigator(), store, limit and table_bytes(limit))
        if isinstance(opened.world, Recalling):
            opened.world.recall(store.learnt())
        if isinstance(opened.world, Observable):
            opened.world.observe(store.asked)
        plan = opened.plan
        crawl = opened.crawl(recorded, lambda visit, step, now: watcher(plan, recorded, visit))
        crawl.observer = _within_memory(crawl, limit or math.inf)
        crawl.begin = recorded.started_at
        run = _run_live if opened.takes_time else _run_simulated
        start(recorded, opened.world.live)
        outcome = run(crawl, opened)
        store.snapshot(recorded.navigator.state())
        cuts = recorded.navigator.guard.report()
        let_go = str(recorded.navigator.let_go)
        store.note(
            stopped=outcome.reason,
            cuts=json.dumps([asdict(cut) for cut in cuts]),
            let_go=let_go,
            gate=json.dumps(recorded.navigator.gate.policy()),
        )
        store.flush()  # what was found comes first, should the disk be full
        save_policy(folder / LEARNT, plan.agent, recorded.navigator.agent)
        return Ended(outcome, cuts, let_go, store.differing)
    finally:
        store.close()


def _plan(folder: Path) -> Plan:
    try:
        # a crawl that an earlier version began goes on by the rules of that version
        return Plan(**{"bounded": False, "host_globs": False} | settings(folder))
    except TypeError as error:
        raise HoneyguideError(
            f"{folder} cannot be resumed: this version of honeyguide does not know all of its"
            f" settings ({error})"
        ) from None


def _within_memory(crawl: Crawl, limit: float) -> Observer:
    """Tell the crawl's observer of each visit, and end the crawl before memory does."""
    tell, visits = crawl.observer, count(1)

    def watch(visit: Visit, step: Step, now: float) -> None:
        if tell is not None:
            tell(visit, step, now)
        if next(visits) % MEASURED_EVERY == 0 and (resident_size() or 0) > limit:
            crawl.stop(MEMORY_SPENT)

    return watch


def _run_simulated(crawl: Crawl, opened: Assembled) -> Outcome:
    """Run on a clock that jumps."""

    async def run() -> Outcome:
        _heed_signals(crawl)
        return await crawl.run(opened.seeds)

    return run_jumping(run())


def _run_live(crawl: Crawl, opened: Assembled) -> Outcome:
    """Run in real time."""
    crawl.begin = max(crawl.begin, time.time())

    async def run() -> Outcome:
        _heed_signals(crawl)
        try:
            return await crawl.run(opened.seeds)
        finally:
            await opened.world.close()

    with asyncio.Runner(loop_factory=_new_loop) as runner:
        return runner.run(run())


def _new_loop() -> asyncio.AbstractEventLoop:
    """A fast loop, where there is one for the system."""
    try:
        import uvloop  # noqa: PLC0415
    except ModuleNotFoundError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


def _heed_signals(crawl: Crawl) -> None:
    """Let the first Ctrl-C or SIGTERM end the crawl cleanly, the second at once."""
    if threading.current_thread() is not threading.main_thread():
        return  # only there can signals be heard
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, _interrupt, crawl)


def _interrupt(crawl: Crawl) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):  # as safe as a kill
        asyncio.get_running_loop().add_signal_handler(number, os._exit, 128 + number)
    crawl.stop(INTERRUPTED)
