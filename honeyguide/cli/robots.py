"""honeyguide robots: say whether robots.txt allows a URL."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from honeyguide.cli import flags
from honeyguide.errors import HoneyguideError

if TYPE_CHECKING:
    from honeyguide.web.robots_txt import Decision

FORBIDDEN = 3  # the exit code


def robots(
    url: Annotated[str, typer.Argument(help="A web address.", show_default=False)],
    file: Annotated[
        Path | None, typer.Option("--file", help="A robots.txt to use instead of the site's.")
    ] = None,
    user_agent: Annotated[
        str, typer.Option("--user-agent", help="The crawler to decide for.")
    ] = "honeyguide",
    allow_private: flags.AllowPrivate = False,
    resolve: flags.Resolve = "",
) -> None:
    """Say whether a URL may be fetched, and which line of robots.txt decides."""
    import asyncio

    from honeyguide.cli.sites import address
    from honeyguide.web.robots_txt import RobotsTxt

    canonical = address(url)
    if file:
        decision = RobotsTxt(_read(file), user_agent).decide(canonical)
    else:
        decision = asyncio.run(_ask_site(canonical, user_agent, allow_private, resolve))
    _print(user_agent, canonical, decision)
    raise typer.Exit(0 if decision.allowed else FORBIDDEN)


async def _ask_site(url: str, user_agent: str, allow_private: bool, resolve: str) -> "Decision":
    """Fetch the site's robots.txt as honeyguide, whichever crawler the decision is for."""
    from honeyguide.web import http
    from honeyguide.web.connections import FixedAddresses
    from honeyguide.web.robots import Robots

    hosts = FixedAddresses(resolve) if resolve else None
    fetcher = http.HttpFetcher(http.user_agent(), allow_private=allow_private, hosts=hosts)
    asker = Robots(fetcher, user_agent)
    try:
        return await asker.decide(url)
    finally:
        await asker.close()


def _print(user_agent: str, url: str, decision: "Decision") -> None:
    verb = "may" if decision.allowed else "may not"
    where = f" (line {decision.line})" if decision.line else ""
    typer.echo(f"{user_agent} {verb} fetch {url}: {decision.rule or 'no rule forbids it'}{where}")
    if decision.crawl_delay:
        typer.echo(f"crawl-delay: {decision.crawl_delay:g} s")
    for sitemap in decision.sitemaps:
        typer.echo(f"sitemap: {sitemap}")


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise HoneyguideError(f"cannot read {file}: {error.strerror}") from None
