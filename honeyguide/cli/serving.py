"""honeyguide serve: the generated web over real HTTP, to try a crawler on."""

import asyncio
from typing import Annotated

import typer


def serve(
    pages: Annotated[int, typer.Option("--pages", min=100, help="Pages of the web.")] = 20_000,
    seed: Annotated[int, typer.Option("--seed", help="Which web.")] = 1,
    port: Annotated[int, typer.Option("--port", min=0, help="On loopback; 0: a free one.")] = 8765,
) -> None:
    """Serve a generated web under all of its host names on one port of this machine."""
    from honeyguide.contracts import Verdict
    from honeyguide.worlds.synthetic.serve import Server
    from honeyguide.worlds.synthetic.world import SyntheticWorld

    async def run() -> None:
        world = SyntheticWorld(lambda page: Verdict(0.0, False), pages, seed)
        async with Server(world, port) as server:
            typer.echo(f'crawl it with: --resolve "*=127.0.0.1:{server.port}" --allow-private')
            await asyncio.Event().wait()

    asyncio.run(run())
