"""honeyguide serve: serve a generated web over HTTP, to try a crawler on."""

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

import typer

from honeyguide.errors import HoneyguideError

if TYPE_CHECKING:
    from honeyguide.worlds.synthetic.world import SyntheticWorld

TOPIC = "geology"  # the topic of the examples in the documentation
Port = Annotated[
    int,
    typer.Option(
        "--port", min=0, max=65_535, help="A port of this machine (127.0.0.1); 0 takes a free one."
    ),
]


def serve(
    pages: Annotated[int, typer.Option("--pages", min=100, help="The number of pages.")] = 20_000,
    seed: Annotated[int, typer.Option("--seed", help="Another number makes another web.")] = 1,
    port: Port = 8765,
    sites: Annotated[
        str,
        typer.Option(
            "--sites", help="Serve the sites of this set of organisations instead, such as tesw."
        ),
    ] = "",
) -> None:
    """Serve a generated web with all of its host names on one port of this machine."""
    import asyncio

    from honeyguide.contracts import Page, Verdict
    from honeyguide.source_finder.organisations.serve import Server as SitesServer
    from honeyguide.source_finder.organisations.world import OrganisationsWorld
    from honeyguide.worlds.synthetic.serve import Server
    from honeyguide.worlds.synthetic.world import SyntheticWorld

    def judge(page: Page) -> Verdict:
        return Verdict(0.0, False)

    async def run() -> None:
        served: SitesServer | Server
        if sites:
            organisations = OrganisationsWorld(judge, sites, seed=seed)
            homes, served = organisations.homes, SitesServer(organisations, port)
            begin = f"{len(homes)} home pages: {homes[0]} to {homes[-1]}"
        else:
            web = SyntheticWorld(judge, pages, seed)
            served = Server(web, port)
            begin = _how_to_start(web)
        async with served as server:
            typer.echo(begin)
            typer.echo(f'crawl it with: --resolve "*=127.0.0.1:{server.port}" --allow-private')
            await asyncio.Event().wait()

    try:
        asyncio.run(run())
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else error
        raise HoneyguideError(f"cannot serve on port {port}: {reason}") from None


def _how_to_start(web: "SyntheticWorld") -> str:
    """Name a topic and a page to start from; in a small web not every topic has one."""
    for topic in (TOPIC, *web.topics()):
        with suppress(HoneyguideError):
            return f"for {topic} begin with: --topic {topic} --seed {web.find(topic).url}"
    return f"begin with: --seed http://{web.names.host_name(0)}/"
