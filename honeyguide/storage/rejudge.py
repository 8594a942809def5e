"""Give a crawl another judge: its pages are judged again, and its agent learns anew."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from honeyguide.assemble import Assembled, with_examples
from honeyguide.contracts import UNWANTED, Verdict
from honeyguide.plan import Plan
from honeyguide.registry import (
    explaining_outside,
    find,
    folder_of,
    noting_outside,
    only_outside,
    split,
)
from honeyguide.storage.store import Store
from honeyguide.storage.stored_plan import (
    Warn,
    announced_outside,
    ignore_warning,
    is_of_folder,
    stored_plan,
    with_absolute_paths,
    with_own_files,
)
from honeyguide.storage.verdicts import JudgeChange
from honeyguide.text.words import counted

Progress = Callable[[int], None]  # called with the number of pages that were judged


CHANGED = ("judge", "like", "outside_parts", "part_folders")  # settings


class Rejudged(NamedTuple):
    """What another judge changed."""

    pages: int  # that were judged again
    before: int  # visits that counted as relevant
    now: int

    def __str__(self) -> str:
        return (
            f"{counted(self.pages, 'page')} judged again:"
            f" {self.now:,} relevant, {self.before:,} before"
        )


def change_judge(
    folder: Path,
    judge: str,
    answers: Mapping[str, bool] | None = None,
    warn: Warn = ignore_warning,
    progress: Progress = lambda done: None,
) -> Rejudged:
    """Give a stopped crawl another judge.

    The whole crawl is replayed with the new verdicts: what it has learnt is what it would have
    learnt if it had had this judge and had taken the same links. Either all of that is stored, or,
    if it is interrupted, nothing. `answers` are those that the judge learnt from.
    """
    plan = _with_judge(stored_plan(folder), folder, judge)
    outside = announced_outside(plan, warn)
    with only_outside(outside):
        opened = with_own_files(folder, with_examples(plan)).open()
    store = Store(folder)
    try:
        with explaining_outside(outside.places):
            return _judge_again(store, opened, plan, answers or {}, progress)
    finally:
        store.close()


def _with_judge(plan: Plan, folder: Path, judge: str) -> Plan:
    """The plan with another judge, which may be a part from outside that the caller names."""
    with noting_outside() as used:
        find("judge", split("judge", judge).name)
    folders = [str(Path.cwd()), *filter(None, map(folder_of, used))] if used else []
    return replace(
        plan,
        judge=judge if is_of_folder(folder, judge) else with_absolute_paths("judge", judge),
        outside_parts=tuple(dict.fromkeys([*plan.outside_parts, *used])),
        part_folders=tuple(dict.fromkeys([*plan.part_folders, *folders])),
        like=(),  # it chooses a judge; the texts of the examples stay
    )


def _judge_again(
    store: Store,
    opened: Assembled,
    plan: Plan,
    answers: Mapping[str, bool],
    progress: Progress,
) -> Rejudged:
    verdicts = {}
    for n, verdict in _verdicts(store, opened):
        verdicts[n] = verdict
        progress(len(verdicts))
    navigator = opened.navigator()
    counted = store.replay_with(navigator, verdicts)
    changed = {name: getattr(plan, name) for name in CHANGED}
    before = store.relevant_visits()
    store.record_judge(changed, JudgeChange(verdicts, answers), counted)
    store.snapshot(navigator.state())
    store.flush()
    return Rejudged(len(verdicts), before, store.relevant_visits())


def _verdicts(store: Store, opened: Assembled) -> Iterator[tuple[int, Verdict]]:
    """What the new judge says of each page, in the order in which they were visited."""
    vocabulary = opened.vocabulary()
    reads_html = getattr(opened.judge, "reads_html", False)
    for n, visit in store.visits():
        if visit.page is None or visit.verdict == UNWANTED:
            continue
        page = replace(visit.page, html=store.body(n)) if reads_html else visit.page
        yield n, opened.judge(page)
        if vocabulary is not None:
            vocabulary.observe(visit.page.text)
