"""honeyguide dashboard: a web page that shows crawls, says why, and gives orders."""

import os
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from honeyguide.dashboard.server import Dashboard

LOOPBACK = "127.0.0.1"
_WITH_PARENT = "HONEYGUIDE_DASHBOARD_PARENT"  # the process with which this one ends
_PAUSE = 0.5  # seconds between two looks at whether it still runs


def dashboard(
    folders: Annotated[
        list[Path], typer.Argument(metavar="DIR...", help="Folders of crawls, running or not.")
    ],
    port: Annotated[
        int, typer.Option("--port", min=0, max=65_535, help="The port; 0 takes a free one.")
    ] = 0,
    opens: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
    host: Annotated[
        str, typer.Option("--host", help="The address to serve on; others need the token.")
    ] = LOOPBACK,
) -> None:
    """Show crawls on a web page: harvest, hosts, best links, why; and steer them."""
    import asyncio

    from honeyguide.dashboard.server import Dashboard
    from honeyguide.training.crawl_teaching import Teaching

    board = Dashboard(list(dict.fromkeys(folders)), Teaching, host, port)
    try:
        asyncio.run(_serve(board, opens))
    except KeyboardInterrupt:
        typer.echo("")


async def _serve(board: "Dashboard", opens: bool) -> None:
    import asyncio
    import signal
    import webbrowser

    await board.start()
    ended = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, ended.set)
    typer.echo(f"dashboard: {board.url}")
    sys.stdout.flush()
    if opens:
        webbrowser.open(board.url)
    parent = os.environ.get(_WITH_PARENT)
    try:
        while not ended.is_set() and (not parent or os.getppid() == int(parent)):
            try:
                await asyncio.wait_for(ended.wait(), _PAUSE if parent else None)
            except TimeoutError:
                continue
    finally:
        await board.close()


@contextmanager
def beside(folder: Path, wanted: bool) -> "Iterator[None]":
    """Show a crawl in a process beside this one, as long as this lasts."""
    import subprocess

    if not wanted:
        yield
        return
    code = "from honeyguide.cli import main; main()"
    command = [sys.executable, "-c", code, "dashboard", str(folder)]
    environment = os.environ | {_WITH_PARENT: str(os.getpid())}
    process = subprocess.Popen(  # noqa: S603 this program
        command, stdout=subprocess.PIPE, text=True, env=environment, start_new_session=True
    )
    try:
        typer.echo(process.stdout.readline().rstrip() if process.stdout else "", err=True)
        yield
    finally:
        process.terminate()
        process.communicate()
