"""Create, interrupt and resume a crawl in a folder."""

import asyncio
import json
import logging
import math
import os
import shlex
import signal
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import asdict, astuple, dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

from honeyguide.assemble import Assembled, access_of, judge_of, table_bytes, with_examples
from honeyguide.contracts import Cut, Observable, Recalling, Step, Visit, World
from honeyguide.disk.files import UNFINISHED, make_folder, replacing
from honeyguide.disk.output_paths import check_empty, check_folder
from honeyguide.engine.loop import Crawl, Observer, Outcome, run_simulated
from honeyguide.engine.machine import resident_size
from honeyguide.errors import HoneyguideError
from honeyguide.learning.policies import save_policy
from honeyguide.plan import PARTS, Plan
from honeyguide.registry import (
    explaining_outside,
    folder_of,
    noting_outside,
    only_outside,
    refuse_crawls_at_import,
)
from honeyguide.storage.crawl_log import tell
from honeyguide.storage.database import FILE, WARCS, create, holds_crawl
from honeyguide.storage.lock import InUseError
from honeyguide.storage.order_desk import TAUGHT, OrderDesk
from honeyguide.storage.orders import Order, OrderWatch, remove_order, waiting_orders
from honeyguide.storage.rejudge import Rejudged, change_judge
from honeyguide.storage.secrets import (
    SECRETS,
    check_values,
    with_secrets,
    without_secrets,
)
from honeyguide.storage.store import RecordingNavigator, Store
from honeyguide.storage.stored_plan import (
    Warn,
    announced_outside,
    ignore_warning,
    is_of_folder,
    stored_plan,
    with_absolute_paths,
    with_own_files,
)
from honeyguide.storage.visit_log import VisitLog
from honeyguide.text.words import counted
from honeyguide.version import VERSION
from honeyguide.web.archive import ArchiveFetcher
from honeyguide.web.http import Redirects, asked_with
from honeyguide.web.pipeline import Pipeline
from honeyguide.worlds.known_pages import KnownPages
from honeyguide.worlds.web import WebWorld

Watcher = Callable[[Plan, RecordingNavigator, Visit], None]  # called after each absorbed visit
INTERRUPTED = "interrupted"
MEMORY_SPENT = "memory spent"
MEASURE_EVERY = 16  # visits between two measurements of the process's memory
START = "start.policy"  # the policy that the agent started from
LEARNT = "learnt.policy"  # the policy that it had when the crawl stopped
# what may be there before the database: a crawl was killed while it was created
BEFORE = ("lock", START, f"{START}{UNFINISHED}", WARCS)


def create_crawl(folder: Path, plan: Plan) -> None:
    """Create the folder of a new crawl, after checking that every part of its plan can be made."""
    refuse_crawls_at_import()
    check_folder(folder)
    if not (folder / FILE).exists():  # else it is said below that a crawl is there
        check_empty(folder, "a crawl", BEFORE)
    plan = replace(with_examples(plan), year=time.gmtime().tm_year)
    with noting_outside() as used:
        plan.open().navigator()
    folders = [str(Path.cwd()), *filter(None, map(folder_of, used))] if used else []
    plan = replace(plan, outside_parts=tuple(used), part_folders=tuple(dict.fromkeys(folders)))
    if plan.policy and not holds_crawl(folder):
        plan = _with_copied_policy(plan, folder)
    specs = {kind: spec for kind in PARTS if (spec := getattr(plan, kind))}
    absolute = {kind: with_absolute_paths(kind, spec) for kind, spec in specs.items()}
    record = str(Path(plan.record).absolute()) if plan.record else ""
    check_values(plan)
    access_of(plan).check()
    create(folder, without_secrets(asdict(plan) | absolute | {"record": record}))


def _with_copied_policy(plan: Plan, folder: Path) -> Plan:
    """Copy the plan's policy into the folder, so that resuming needs no file outside it."""
    try:
        make_folder(folder)
        with replacing(folder / START) as file:
            file.write(Path(plan.policy).read_bytes())
    except OSError as error:
        raise HoneyguideError(f"cannot write to {folder}: {error.strerror}") from None
    return replace(plan, policy=START)


@dataclass(frozen=True, slots=True)
class Ended:
    """How a crawl in a folder ended, and what was left out."""

    outcome: Outcome
    cuts: list[Cut]
    shed_links: str = ""  # how many links were dropped for lack of room; empty if none were
    differing: int = 0  # choices in the journal that this version would not make


def run_crawl(
    folder: Path,
    watcher: Watcher,
    warn: Warn = ignore_warning,
    on_start: Callable[[Crawl], None] | None = None,
    **changes: Any,
) -> Ended:
    """Run or resume the crawl in a folder until a limit is reached or it is interrupted.

    `changes` replace settings of the plan, for later runs too, except for secrets, which are not
    stored. `warn` is called before the first page, with a sentence for each loss (such as missing
    bodies) that the crawl can do without.
    `on_start` gets the crawl before it runs: to stop or pause it from another thread.
    """
    obey_waiting(folder, warn)
    secrets = {name: changes.pop(name) for name in SECRETS if name in changes}
    while True:
        ended = _run(folder, watcher, warn, on_start, secrets, **changes)
        if ended.outcome.reason != TAUGHT:
            return ended
        obey_waiting(folder, warn)
        changes = {}


def obey_waiting(folder: Path, warn: Warn = ignore_warning) -> Rejudged | None:
    """Carry out the orders that need a crawl that stands still; return what a judge changed.

    Of several judges the last one counts. An order is removed once it is carried out, or refused.
    """
    orders = [order for order in waiting_orders(folder) if _is_judge(order)]
    rejudged = _change_judge(folder, orders[-1].what, warn) if orders else None
    for order in orders:
        remove_order(folder, order)
    return rejudged


def _change_judge(folder: Path, order: Mapping[str, Any], warn: Warn) -> Rejudged | None:
    judge, answers = order.get("judge"), order.get("answers")
    try:
        if not isinstance(judge, str) or not is_of_folder(folder, judge):
            raise HoneyguideError(f"there is no taught judge {judge!r}")
        if stored_plan(folder).judge == judge:  # a kill came before the order was removed
            return None
        return change_judge(folder, judge, answers if isinstance(answers, dict) else {}, warn)
    except InUseError:
        raise
    except HoneyguideError as error:
        warn(f"the crawl goes on with the judge that it had: {error}")
        return None


def _is_judge(order: Order) -> bool:
    return bool(order.what["order"] == "judge")


def _run(
    folder: Path,
    watcher: Watcher,
    warn: Warn,
    on_start: Callable[[Crawl], None] | None,
    secrets: Mapping[str, Any],
    **changes: Any,
) -> Ended:
    """Run or resume a crawl until a limit is reached, it is interrupted, or taught."""
    stored = stored_plan(folder)
    plan = replace(stored, **changes, **with_secrets(stored, secrets))
    plan = with_own_files(folder, plan)
    outside = announced_outside(plan, warn)
    with only_outside(outside):
        opened = plan.open()
        navigator = opened.navigator()
    told = opened.plan.contact, opened.plan.user_agent
    headers = asked_with(*told) if opened.world.live else None
    store = Store(folder, headers, visits_at_once=opened.in_flight)
    try:
        for sentence in store.warnings:
            warn(sentence)
        if changes:  # store them for later runs
            store.settings |= without_secrets(changes)
            store.note(settings=json.dumps(store.settings))
        limit = opened.plan.memory_limit
        recorded = RecordingNavigator(navigator, store, limit and table_bytes(limit))
        if isinstance(opened.world, Recalling):
            opened.world.recall(store.learnt())
        if isinstance(opened.world, Observable):
            opened.world.observe(store.record_request)
        plan = opened.plan

        def watch(visit: Visit, step: Step, now: float) -> None:
            counted_visit = replace(visit, verdict=step.verdict)
            visits.note(counted_visit, recorded.navigator.guard)
            watcher(desk.plan, recorded, counted_visit)

        visits = VisitLog()
        crawl = opened.crawl(recorded, watch)
        if isinstance(crawl.world, KnownPages):
            with only_outside(outside):
                crawl.world.earlier = _earlier_pages(folder, plan, warn)
        crawl.observer = _within_memory(crawl, limit or math.inf)
        crawl.begin = recorded.started_at
        desk = _opened_desk(crawl, recorded, plan, warn)
        if on_start is not None:
            on_start(crawl)
        run = _run_live if opened.takes_time else _run_simulated
        orders = OrderWatch(folder, desk.take)
        with explaining_outside(outside.places), closing(orders):
            _tell_start(folder, plan, recorded)
            outcome = run(crawl, opened)
            _tell_end(outcome)
            state = recorded.navigator.state()
        store.snapshot(state)
        return _stored_end(recorded, plan, outcome)
    finally:
        store.close()


def _stored_end(recorded: RecordingNavigator, plan: Plan, outcome: Outcome) -> Ended:
    """Store how a crawl ended, and what its agent has learnt."""
    navigator, store = recorded.navigator, recorded.store
    cuts, shed_links = navigator.guard.report(), str(navigator.shed_links)
    store.note(
        stopped=outcome.reason,
        cuts=json.dumps([asdict(cut) for cut in cuts]),
        let_go=shed_links,
        gate=json.dumps(navigator.gate.policy()),
    )
    store.flush()  # pages first: the disk may be too full for the policy
    save_policy(store.folder / LEARNT, plan.agent, navigator.agent, plan.encoder)
    return Ended(outcome, cuts, shed_links, store.differing)


def _tell_start(folder: Path, plan: Plan, recorded: RecordingNavigator) -> None:
    pages = recorded.memory.visits
    message = f"the crawl goes on after {counted(pages, 'page')}" if pages else "the crawl begins"
    names = ("topic", "agent", "judge", "budget")
    about: dict[str, Any] = {name: getattr(plan, name) for name in names}
    tell("start", message, folder=str(folder), version=VERSION, pages=pages, **about)


def _tell_end(outcome: Outcome) -> None:
    pages, relevant, seconds, reason = astuple(outcome)
    figures = {"pages": pages, "relevant": relevant, "seconds": round(seconds, 3)}
    tell("end", f"the crawl ends: {reason}", logging.INFO, reason=reason, **figures)


def _opened_desk(crawl: Crawl, recorded: RecordingNavigator, plan: Plan, warn: Warn) -> OrderDesk:
    """What carries out orders to a crawl, after those that are in force or wait."""
    desk = OrderDesk(crawl, recorded, plan)
    desk.open()
    if desk.is_paused:
        folder = shlex.quote(str(recorded.store.folder))
        warn(f"the crawl is paused: go on with honeyguide control {folder} unpause")
    return desk


def _within_memory(crawl: Crawl, limit: float) -> Observer:
    """Wrap the crawl's observer: stop the crawl when the process takes more than `limit` bytes."""
    observer, visits = crawl.observer, count(1)

    def watch(visit: Visit, step: Step, now: float) -> None:
        if observer is not None:
            observer(visit, step, now)
        if next(visits) % MEASURE_EVERY == 0 and (resident_size() or 0) > limit:
            crawl.stop(MEMORY_SPENT)

    return watch


def _run_simulated(crawl: Crawl, opened: Assembled) -> Outcome:
    """Run on a simulated clock."""

    async def run() -> Outcome:
        _stop_on_signals(crawl)
        return await crawl.run(opened.seeds)

    return run_simulated(run())


def _earlier_pages(folder: Path, plan: Plan, warn: Warn) -> World | None:
    """The pages that earlier runs of a crawl have stored; None if there are none."""
    files = sorted((folder / WARCS).glob("*.warc.gz"))
    archives = [path for path in files if path.is_file() and not path.is_symlink()]
    if not archives:
        return None
    try:
        pages = Pipeline([Redirects(ArchiveFetcher(archives))])
    except HoneyguideError as error:
        warn(f"pages that were fetched before will be fetched again: {error}")
        return None
    return WebWorld(judge_of(plan)[1], pages)


def _run_live(crawl: Crawl, opened: Assembled) -> Outcome:
    """Run in real time."""
    crawl.begin = max(crawl.begin, time.time())

    async def run() -> Outcome:
        _stop_on_signals(crawl)
        try:
            return await crawl.run(opened.seeds)
        finally:
            await crawl.world.close()

    with asyncio.Runner(loop_factory=_new_loop) as runner:
        return runner.run(run())


def _new_loop() -> asyncio.AbstractEventLoop:
    """An event loop of uvloop if it is installed, else of asyncio."""
    try:
        import uvloop  # noqa: PLC0415
    except ModuleNotFoundError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()


def _stop_on_signals(crawl: Crawl) -> None:
    """Stop the crawl cleanly on the first Ctrl-C or SIGTERM, and at once on the second."""
    if threading.current_thread() is not threading.main_thread():
        return  # Python delivers signals to the main thread only
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, _interrupt, crawl)


def _interrupt(crawl: Crawl) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):  # like a kill, this loses no event
        asyncio.get_running_loop().add_signal_handler(number, os._exit, 128 + number)
    crawl.stop(INTERRUPTED)
