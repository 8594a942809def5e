"""Run the crawl of a folder, and print what came of it."""

import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from honeyguide.cli.first_answers import SeedFailures, Silence
from honeyguide.cli.progress import progress_bar
from honeyguide.cli.watching import Followed, followed
from honeyguide.errors import nothing_fetched
from honeyguide.text.words import counted

if TYPE_CHECKING:
    from honeyguide.contracts import Visit
    from honeyguide.engine.loop import Crawl, Outcome
    from honeyguide.plan import Plan
    from honeyguide.storage.crawl_folder import Ended
    from honeyguide.storage.figures import Tally
    from honeyguide.storage.store import RecordingNavigator

# why a crawl stopped -> the flag that sets another limit
LIMITS = {
    "budget spent": "--budget",
    "time spent": "--max-seconds",
    "bytes spent": "--max-bytes",
    "enough relevant pages": "--max-relevant",
    "nothing relevant any more": "--max-barren",
    "memory spent": "--max-memory",
}
NOTHING_FETCHED = 4  # the exit code of a crawl that could fetch nothing
BEST_PAGES = 3  # shown at the end, with the reasons for their relevance
SHOWN_REASONS = 5  # of a page


def run_folder(folder: Path, how: Followed, **changes: Any) -> None:
    """Crawl until a limit is reached or Ctrl-C is pressed; `changes` are new limits."""
    from honeyguide.storage.crawl_folder import run_crawl
    from honeyguide.storage.exports import status
    from honeyguide.storage.figures import Figures, Tally, failed_sentence

    before = status(folder)
    tally = Tally(Figures(failures=before["failures"], bytes=before["bytes"]))
    how = replace(how, title=_title(folder, before["settings"]))
    with closing(Silence(_print_error)) as silence, followed(folder, tally, how):

        def begin(crawl: "Crawl") -> None:
            tally.begin(crawl)
            silence.begin(crawl)

        ended = run_crawl(folder, _follow(tally, silence), _print_error, begin, **changes)
    outcome, after = ended.outcome, status(folder)
    run = Run.between(before, after)
    failed = failed_sentence(run.failures)
    typer.echo(
        f"{counted(outcome.relevant, 'relevant page')} among {_visited(outcome.pages, after)}"
        f" ({outcome.reason}){f'; {failed}' if failed else ''}; results: {folder}"
    )
    for complaint in _complaints(folder, outcome, run, changes):
        _print_error(complaint)
    for line in _results(folder, ended):
        typer.echo(line)
    if run.is_in_vain(outcome.reason):
        raise typer.Exit(NOTHING_FETCHED)


def _title(folder: Path, settings: Mapping[str, Any]) -> str:
    said = ", ".join(filter(None, [settings.get("topic"), settings.get("agent")]))
    return f"{folder}: {said}"


def judge_again(folder: Path, judge: str) -> None:
    """Give a crawl another judge, and print what that changed."""
    from honeyguide.storage.exports import status
    from honeyguide.storage.rejudge import change_judge

    with progress_bar() as bar:
        task = bar.add_task("pages judged", total=status(folder)["visits"], news="")
        changed = change_judge(
            folder, judge, None, _print_error, lambda done: bar.update(task, completed=done)
        )
    typer.echo(str(changed))


def _visited(visits: int, after: Mapping[str, Any]) -> str:
    """How many pages were fetched; where a walk has returned to pages, also how many requests."""
    if not after["requests"] or not after["returns"]:
        return f"{visits:,} fetched"
    return f"{visits:,} visited with {counted(after['requests'], 'request')}"


class Run(NamedTuple):
    """What one run of a crawl added to its folder."""

    visits: int
    failures: dict[str, int]  # by kind
    pages_before: int  # visits of earlier runs

    @staticmethod
    def between(before: Mapping[str, Any], after: Mapping[str, Any]) -> "Run":
        """The difference of the folder's status before and after."""
        known = before["failures"]
        failures = {what: n - known.get(what, 0) for what, n in after["failures"].items()}
        failures = {what: n for what, n in failures.items() if n}
        return Run(after["visits"] - before["visits"], failures, before["visits"])

    @property
    def failed(self) -> bool:
        """Whether pages were asked for and not one came."""
        return 0 < self.visits == sum(self.failures.values())

    def is_in_vain(self, reason: str) -> bool:
        """Whether nothing was fetched, and not because someone stopped it or had enough."""
        from honeyguide.storage.crawl_folder import INTERRUPTED
        from honeyguide.storage.order_desk import STOPPED

        was_ended = reason in (INTERRUPTED, STOPPED)
        is_empty = not self.visits and not self.pages_before and not was_ended
        return self.failed or is_empty


def _print_error(sentence: str) -> None:
    typer.echo(f"honeyguide: {sentence}", err=True)


def _follow(
    tally: "Tally", silence: Silence
) -> "Callable[[Plan, RecordingNavigator, Visit], None]":
    """Return what counts each visit, and says which seeds fail and memory costs."""
    printed: set[str] = set()
    seed_failures = SeedFailures(_print_error)

    def after_visit(plan: "Plan", recorded: "RecordingNavigator", visit: "Visit") -> None:
        silence.close()
        seed_failures.note(recorded, visit)
        tally.note(visit)
        for sentence in _memory_costs(plan, recorded):
            if sentence not in printed:
                printed.add(sentence)
                _print_error(sentence)

    return after_visit


def _memory_costs(plan: "Plan", recorded: "RecordingNavigator") -> Iterator[str]:
    from honeyguide.engine.machine import format_size

    shed = recorded.navigator.shed_links
    costs = {
        "links with the lowest scores are dropped": shed.for_memory,
        "links never seen before are ignored": shed.unnoted,
    }
    for what, count in costs.items():
        if count:
            yield f"to keep to {format_size(plan.memory_limit or 0)} of memory, {what}"


def _complaints(
    folder: Path, outcome: "Outcome", run: Run, changes: Mapping[str, Any]
) -> Iterator[str]:
    """Say why nothing was fetched, or which limit to raise."""
    from honeyguide.engine.machine import format_size
    from honeyguide.plan import Plan
    from honeyguide.storage.crawl_folder import MEMORY_SPENT
    from honeyguide.storage.database import settings

    if run.failed:
        yield nothing_fetched(run.failures)
    elif not run.visits and outcome.reason in LIMITS:
        advice = _advice(LIMITS[outcome.reason], outcome.pages, changes)
        yield f"nothing{' more' if run.pages_before else ''} was fetched: {advice}"
    elif run.is_in_vain(outcome.reason):
        yield f"nothing was fetched: {outcome.reason}"
    if outcome.reason == MEMORY_SPENT:
        limit = format_size(Plan(**settings(folder)).memory_limit or 0)
        yield (
            f"the memory limit of {limit} is reached: go on with a larger --max-memory,"
            f" honeyguide resume {shlex.quote(str(folder))} --max-memory ..."
        )


def _advice(flag: str, pages: int, changes: Mapping[str, Any]) -> str:
    """Say which flag lets a crawl go on that was at its limit before its first page."""
    given = changes.get(flag.removeprefix("--").replace("-", "_"))
    if given is None:
        return f"set a higher {flag} to fetch more"
    if flag == "--budget":
        fetched = f"{counted(pages, 'page')} {'was' if pages == 1 else 'were'} fetched already"
        return f"{fetched}, and --budget counts them: set more than {pages} to fetch more"
    return f"{flag} {given} was reached before: set a higher one to fetch more"


def _results(folder: Path, ended: "Ended") -> Iterator[str]:
    """The best pages, what was dropped or refused, and how to go on."""
    from honeyguide.storage.crawl_folder import INTERRUPTED
    from honeyguide.storage.exports import best_pages
    from honeyguide.storage.order_desk import STOPPED

    for page in best_pages(folder, BEST_PAGES):
        yield f"{page['url']} ({page['relevance']:.2f}): {_shortened(page['reasons'])}"
    if ended.differing:
        yield (
            f"{counted(ended.differing, 'choice')} of earlier runs would be different now, because"
            " honeyguide or its settings changed: the choices made then were kept"
        )
    if ended.shed_links:
        yield f"dropped {ended.shed_links}"
    for cut in ended.cuts:
        yield f"left out {cut.count} x {cut.reason}, such as {cut.example}"
    if ended.outcome.reason in (INTERRUPTED, STOPPED):
        yield f"go on with: honeyguide resume {shlex.quote(str(folder))}"


def _shortened(reasons: Sequence[str]) -> str:
    """The first reasons, and how many more there are: the export has all of them."""
    more = len(reasons) - SHOWN_REASONS
    return "; ".join(reasons[:SHOWN_REASONS]) + (f" and {more:,} more" if more > 0 else "")
