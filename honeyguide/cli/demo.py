"""honeyguide demo: compare three agents on a generated web, over HTTP."""

import asyncio
import multiprocessing
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.progress import Progress

from honeyguide.cli.bench import print_comparison, print_results
from honeyguide.cli.progress import progress_bar
from honeyguide.errors import HoneyguideError

if TYPE_CHECKING:
    from honeyguide.bench.compare import Runs
    from honeyguide.contracts import Visit
    from honeyguide.plan import Plan
    from honeyguide.storage.store import RecordingNavigator

AGENTS = ("guide", "best_first", "breadth_first")
TOPIC = "geology"
PAGES = 20_000
BUDGET = 600
MARKER = "honeyguide-demo"  # a file in every demo folder: no other folder is deleted


def demo(
    out: Annotated[Path, typer.Option("--out", help="The folder for the results.")] = Path(
        "demo-results"
    ),
    replace: Annotated[bool, typer.Option("--replace", help="Replace an earlier demo.")] = False,
    budget: Annotated[
        int, typer.Option("--budget", min=1, help="Pages to fetch with each agent.")
    ] = BUDGET,
) -> None:
    """Crawl a generated web for geology with three agents, and compare what they find."""
    from honeyguide.bench.compare import Comparison
    from honeyguide.bench.report import write_report
    from honeyguide.plan import Plan

    _make_folder(out, replace)
    typer.echo(f"A focused crawl for {TOPIC!r} on a generated web of {PAGES:,} pages, over HTTP.")
    with served() as (port, seed), progress_bar() as bar:
        plan = Plan(
            topic=TOPIC,
            seeds=(seed,),
            world="web",
            resolve=f"*=127.0.0.1:{port}",
            allow_private=True,
            delay=0.0,
            patience=1.0,
            budget=budget,
        )
        runs = tuple(_run(plan, agent, out, bar) for agent in AGENTS)
    comparison = Comparison(plan, runs, oracle=None)
    written = write_report(comparison, out, "honeyguide demo")
    print_comparison(comparison)
    print_results(written)
    typer.echo(f"the pages: honeyguide export {out / AGENTS[0]} --relevant --out pages.jsonl")


def _make_folder(out: Path, replace: bool) -> None:
    """Make an empty folder for the demo; delete an earlier demo only with --replace."""
    from honeyguide.disk.output_paths import check_folder

    check_folder(out)
    is_demo = (out / MARKER).is_file()
    if out.exists() and not is_demo:
        raise HoneyguideError(f"{out} exists and is no demo; name another folder with --out")
    if is_demo and not replace:
        raise HoneyguideError(f"{out} exists; name another folder with --out, or --replace it")
    try:
        if is_demo:
            shutil.rmtree(out)
        out.mkdir(parents=True)
        (out / MARKER).touch()
    except OSError as error:
        raise HoneyguideError(f"cannot write to {out}: {error.strerror or error}") from None


def _run(plan: "Plan", agent: str, out: Path, bar: Progress) -> "Runs":
    from dataclasses import replace

    import numpy as np

    from honeyguide.bench.compare import Runs
    from honeyguide.storage.crawl_folder import INTERRUPTED, create_crawl, run_crawl

    task = bar.add_task(agent, total=plan.budget, news="")
    curve = np.zeros(plan.budget, np.int32)

    def watch(plan: "Plan", recorded: "RecordingNavigator", visit: "Visit") -> None:
        memory = recorded.memory
        curve[memory.visits - 1 :] = memory.relevant_found
        bar.update(task, completed=memory.visits, news=f"{memory.relevant_found} relevant")

    start = time.perf_counter()
    create_crawl(out / agent, replace(plan, agent=agent))
    outcome = run_crawl(out / agent, watch).outcome
    if outcome.reason == INTERRUPTED:
        raise KeyboardInterrupt  # a demo of some of its agents compares nothing
    return Runs(agent, curve[None], (outcome.pages,), (time.perf_counter() - start,))


@contextmanager
def served() -> Iterator[tuple[int, str]]:
    """Serve a generated web in another process; yield its port and a page to start from."""
    ours, theirs = multiprocessing.Pipe()
    context = multiprocessing.get_context("spawn")
    server = context.Process(target=_serve, args=(theirs,), daemon=True)
    server.start()
    try:
        yield ours.recv()
    finally:
        server.terminate()
        server.join()


def _serve(pipe: Connection) -> None:
    from honeyguide.contracts import Verdict
    from honeyguide.worlds.synthetic.serve import Server
    from honeyguide.worlds.synthetic.world import SyntheticWorld

    async def run() -> None:
        world = SyntheticWorld(lambda page: Verdict(0.0, False), PAGES)
        async with Server(world, slowest=0.05) as server:
            pipe.send((server.port, world.find(TOPIC).url))
            await asyncio.Event().wait()

    asyncio.run(run())
