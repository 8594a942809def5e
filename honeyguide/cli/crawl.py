"""honeyguide crawl and honeyguide resume: find relevant pages, and go on after any end."""

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from honeyguide.cli import flags
from honeyguide.cli.progress import progress_bar
from honeyguide.errors import HoneyguideError, nothing_fetched
from honeyguide.text.words import counted

if TYPE_CHECKING:
    from honeyguide.contracts import Visit
    from honeyguide.plan import Plan
    from honeyguide.storage.recorded import Recorded

# which flag sets another limit, by why a crawl stopped
LIMITS = {
    "budget spent": "--budget",
    "time spent": "--max-seconds",
    "bytes spent": "--max-bytes",
    "enough relevant pages": "--max-relevant",
    "nothing relevant any more": "--max-barren",
    "memory spent": "--max-memory",
}
SHOWN = 3  # of the most relevant pages, with the reasons why


def folder_of_results(said: str | Path) -> Path:
    """The folder that --out names; no name at all would be the folder one is in."""
    if not str(said).strip():
        raise HoneyguideError("--out names no folder")
    return Path(said)


Out = Annotated[
    Path,
    typer.Option(
        "--out",
        help="Where results go.",
        parser=folder_of_results,
        metavar="<path>",
        show_default=False,
    ),
]
MaxRelevant = Annotated[
    int | None, typer.Option("--max-relevant", min=1, help="Stop after so many relevant pages.")
]
MaxSeconds = Annotated[
    float | None, typer.Option("--max-seconds", min=0, help="Stop after so many seconds.")
]
MaxBytes = Annotated[
    int | None, typer.Option("--max-bytes", min=1, help="Stop after reading so many bytes.")
]
MaxBarren = Annotated[
    int | None,
    typer.Option("--max-barren", min=1, help="Stop after so many pages with nothing new relevant."),
]


def crawl(
    out: Out,
    seeds: flags.Seeds = [],  # noqa: B006 - a crawl without seeds is told so in one sentence
    topic: flags.Topic = "",
    search: flags.Search = [],  # noqa: B006 - never changed
    like: flags.Like = [],  # noqa: B006 - never changed
    world: flags.World = "web",
    record: Annotated[
        str,
        typer.Option("--record", help="A recorded web: its pages are taken from there."),
    ] = "",
    price: Annotated[
        float | None,
        typer.Option(
            "--price", min=0, help="With --record: rewards that a second is worth; 0.1 if not said."
        ),
    ] = None,
    judge: flags.Judge = "topic",
    encoder: flags.Encoder = "wordllama",
    agent: Annotated[
        str, typer.Option("--agent", help="What chooses links; `honeyguide list agents`.")
    ] = "guide",
    survey: flags.Survey = 0,
    policy: Annotated[
        str, typer.Option("--policy", help="Start from what an earlier crawl left: learnt.policy.")
    ] = "",
    guard: Annotated[
        str, typer.Option("--guard", help="Against traps and copies: watch (live web) or none.")
    ] = "",
    gate: flags.Gate = "none",
    allow: Annotated[
        list[str],
        typer.Option(
            "--allow",
            help="Fetch only this host, URL prefix or * pattern, or those in a file; repeat.",
            show_default=False,
        ),
    ] = [],  # noqa: B006 - never changed
    deny: Annotated[
        list[str],
        typer.Option(
            "--deny", help="Never fetch these; as with --allow; repeat.", show_default=False
        ),
    ] = [],  # noqa: B006 - never changed
    max_waiting: flags.MaxWaiting = None,
    max_memory: flags.MaxMemory = flags.NO_SIZE,
    budget: flags.Budget = 1000,
    max_relevant: MaxRelevant = None,
    max_seconds: MaxSeconds = None,
    max_bytes: MaxBytes = None,
    max_barren: MaxBarren = None,
    in_flight: flags.InFlight = None,
    delay: flags.Delay = None,
    patience: flags.Patience = None,
    contact: flags.Contact = "",
    allow_private: flags.AllowPrivate = False,
    resolve: flags.Resolve = "",
    sitemaps: Annotated[
        bool, typer.Option("--sitemaps", help="Take links from sites' sitemaps too.")
    ] = False,
    parsers: Annotated[
        int, typer.Option("--parsers", min=0, help="Processes that only read and judge pages.")
    ] = 0,
    random_seed: flags.RandomSeed = 0,
    config: flags.Config = None,
) -> None:
    """Crawl from the seeds and bring back the pages that are relevant to the topic."""
    from honeyguide.assemble import WEB_SETTINGS
    from honeyguide.guards.lists import read_list
    from honeyguide.plan import Plan
    from honeyguide.storage.crawl_folder import begin

    said = {name: value for name, value in locals().items() if name in Plan.__slots__}
    plan = Plan(**said | {"allow": read_list(allow), "deny": read_list(deny)})
    flags.check_heard(world, **{name: said[name] for name in WEB_SETTINGS})
    begin(out, plan)
    _go_on(out)


def resume(
    folder: Annotated[Path, typer.Argument(help="Where a crawl was begun.", show_default=False)],
    budget: Annotated[
        int | None, typer.Option("--budget", min=1, help="Another number of pages in all.")
    ] = None,
    max_relevant: MaxRelevant = None,
    max_seconds: MaxSeconds = None,
    max_bytes: MaxBytes = None,
    max_barren: MaxBarren = None,
    max_memory: flags.OtherMaxMemory = flags.NO_SIZE,
) -> None:
    """Go on with a crawl that was killed, interrupted, or stopped at a limit."""
    changes = {
        name: value
        for name, value in locals().items()
        if value is not None and value != "" and name != "folder"
    }
    _go_on(folder, **changes)


def _go_on(folder: Path, **changes: Any) -> None:
    from honeyguide.engine.machine import shown_size
    from honeyguide.plan import Plan
    from honeyguide.storage.crawl_folder import INTERRUPTED, MEMORY_SPENT, go_on
    from honeyguide.storage.database import settings
    from honeyguide.storage.exports import best_pages, status

    before = status(folder)["visits"]
    with progress_bar() as bar:
        task = bar.add_task("pages", total=None, news="")
        told: set[str] = set()

        def watch(plan: "Plan", recorded: "Recorded", visit: "Visit") -> None:
            memory = recorded.memory
            news = f"{memory.relevant_found} relevant"
            bar.update(task, completed=memory.visits, total=plan.budget, news=news)
            _tell_once(told, plan, recorded)

        def warn(sentence: str) -> None:
            typer.echo(f"honeyguide: {sentence}", err=True)

        ended = go_on(folder, watch, warn, **changes)
    outcome = ended.outcome
    typer.echo(
        f"{counted(outcome.relevant, 'relevant page')} among {outcome.pages:,} fetched"
        f" ({outcome.reason}); results: {folder}"
    )
    failures = {} if outcome.relevant else status(folder)["failures"]
    if 0 < outcome.pages == sum(failures.values()):
        typer.echo(f"honeyguide: {nothing_fetched(failures)}", err=True)
    elif outcome.pages == before and outcome.reason in LIMITS:
        advice = _how_to_go_further(LIMITS[outcome.reason], outcome.pages, changes)
        typer.echo(f"honeyguide: nothing more was fetched: {advice}", err=True)
    if outcome.reason == MEMORY_SPENT:
        limit = shown_size(Plan(**settings(folder)).memory_limit or 0)
        typer.echo(
            f"honeyguide: the memory limit of {limit} is reached: go on with a larger --max-memory,"
            f" honeyguide resume {shlex.quote(str(folder))} --max-memory ...",
            err=True,
        )
    for page in best_pages(folder, SHOWN):
        typer.echo(f"{page['url']} ({page['relevance']:.2f}): {'; '.join(page['reasons'])}")
    if ended.differing:
        typer.echo(
            f"{counted(ended.differing, 'choice')} of earlier runs would be others now, because"
            " honeyguide or its settings changed: they were kept as they were made"
        )
    if ended.let_go:
        typer.echo(f"let go of {ended.let_go}")
    for cut in ended.cuts:
        typer.echo(f"left out {cut.count} x {cut.reason}, such as {cut.example}")
    if outcome.reason == INTERRUPTED:
        typer.echo(f"go on with: honeyguide resume {shlex.quote(str(folder))}")


def _how_to_go_further(flag: str, pages: int, changes: Mapping[str, Any]) -> str:
    """What to say another time, given the limit that stopped a crawl before its first page."""
    said = changes.get(flag.removeprefix("--").replace("-", "_"))
    if said is None:
        return f"say {flag} to go further"
    if flag == "--budget":
        fetched = f"{counted(pages, 'page')} {'was' if pages == 1 else 'were'} fetched already"
        return f"{fetched}, which --budget counts, too: say more than {pages} to go further"
    return f"{flag} {said} was reached before: say more to go further"


def _tell_once(told: set[str], plan: "Plan", recorded: "Recorded") -> None:
    """Say it when the limit of memory begins to cost links."""
    from honeyguide.engine.machine import shown_size

    let_go = recorded.navigator.let_go
    costs = {
        "the least promising links are let go of": let_go.for_memory,
        "links never seen before are no longer noted": let_go.unnoted,
    }
    for what, count in costs.items():
        if count and what not in told:
            told.add(what)
            limit = shown_size(plan.memory_limit or 0)
            typer.echo(f"honeyguide: to keep to {limit} of memory, {what}", err=True)
