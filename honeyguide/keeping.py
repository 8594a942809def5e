"""A crawl in a folder: begun, interrupted, gone on with."""

import asyncio
import json
import os
import signal
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import uvloop

from honeyguide.contracts import Visit
from honeyguide.crawl import Crawl, Outcome, run_jumping
from honeyguide.errors import HoneyguideError
from honeyguide.fetchers.http import asked_with
from honeyguide.guards import Cut
from honeyguide.plan import OpenPlan, Plan
from honeyguide.policies import save_policy
from honeyguide.store.database import create, holds_crawl, settings
from honeyguide.store.recorded import Recorded
from honeyguide.store.store import Store

Watcher = Callable[[Plan, Recorded, Visit], None]  # told of each absorbed visit
INTERRUPTED = "interrupted"
START = "start.policy"  # what the agent of a crawl started from
LEARNT = "learnt.policy"  # what it has learnt


def begin(folder: Path, plan: Plan) -> None:
    """Make a folder the place of a crawl, once all that its plan names has been found."""
    plan = replace(plan.with_examples(), year=time.gmtime().tm_year)
    plan.open().navigator()
    if plan.policy and not holds_crawl(folder):
        plan = _with_copied_policy(plan, folder)
    create(folder, asdict(plan))


def _with_copied_policy(plan: Plan, folder: Path) -> Plan:
    """The same with its policy in the folder, so that resuming does not depend on another."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / START).write_bytes(Path(plan.policy).read_bytes())
    except OSError as error:
        raise HoneyguideError(f"cannot write to {folder}: {error.strerror}") from None
    return replace(plan, policy=START)


@dataclass(frozen=True, slots=True)
class Ended:
    """How a crawl in a folder ended, and what was left out on the way."""

    outcome: Outcome
    cuts: list[Cut]
    let_go: str = ""  # links forgotten for want of room; empty when none were


def go_on(folder: Path, watcher: Watcher, **changes: Any) -> Ended:
    """Crawl in a folder from where it was, until a limit (which may change) or an interruption."""
    plan = replace(Plan(**settings(folder)), **changes)
    if plan.policy:
        plan = replace(plan, policy=str(folder / plan.policy))
    opened = plan.open()
    store = Store(folder, asked_with(opened.plan.contact) if opened.world.live else None)
    try:
        recorded = Recorded(opened.navigator(), store)
        plan = opened.plan
        crawl = opened.crawl(recorded, lambda visit, step, now: watcher(plan, recorded, visit))
        crawl.begin = recorded.started_at
        outcome = (
            _run_live(crawl, opened) if opened.takes_time else run_jumping(crawl.run(opened.seeds))
        )
        store.snapshot(recorded.navigator.state())
        save_policy(folder / LEARNT, plan.agent, recorded.navigator.agent)
        cuts = recorded.navigator.guard.report()
        let_go = str(recorded.navigator.let_go)
        store.note(
            stopped=outcome.reason,
            cuts=json.dumps([asdict(cut) for cut in cuts]),
            let_go=let_go,
            gate=json.dumps(recorded.navigator.gate.policy()),
        )
        return Ended(outcome, cuts, let_go)
    finally:
        store.close()


def _run_live(crawl: Crawl, opened: OpenPlan) -> Outcome:
    """Run in real time; the first Ctrl-C ends cleanly, the second at once."""
    crawl.begin = max(crawl.begin, time.time())

    async def run() -> Outcome:
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGTERM, crawl.stop, INTERRUPTED)
        loop.add_signal_handler(signal.SIGINT, _interrupt, crawl)
        try:
            return await crawl.run(opened.seeds)
        finally:
            await opened.world.close()

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(run())


def _interrupt(crawl: Crawl) -> None:
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, os._exit, 130)  # as safe as a kill
    crawl.stop(INTERRUPTED)
