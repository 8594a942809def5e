"""Teach the judge of a crawl, running or not, by a person's answers about its pages.

    teaching = Teaching("crawl")
    while (question := teaching.question()) is not None and not teaching.sureness().is_enough:
        teaching.answer(question.url, relevant=ask(question))
    print(teaching.apply())  # 312 pages judged again: 84 relevant, 131 before

`honeyguide teach` and dashboards use the same. Answers are kept in the crawl folder.
"""

import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from honeyguide import urls
from honeyguide.assemble import judge_spec, with_examples
from honeyguide.contracts import Encoder, Verdict
from honeyguide.engine.orders import Judge
from honeyguide.errors import HoneyguideError
from honeyguide.judges.taught import teachable
from honeyguide.judges.taught_model import TaughtModel
from honeyguide.plan import Plan
from honeyguide.registry import make, split
from honeyguide.storage.answers import Line, read_answers, read_lines, write_answers
from honeyguide.storage.crawl_folder import obey_waiting
from honeyguide.storage.kept_pages import KeptPage, first_event, kept_pages, relevant_visits
from honeyguide.storage.lock import InUseError, holder
from honeyguide.storage.orders import send_order, waiting_orders
from honeyguide.storage.rejudge import Rejudged
from honeyguide.storage.stored_plan import Warn, ignore_warning, stored_plan, with_own_files
from honeyguide.text.telling_passage import telling_passage
from honeyguide.text.words import counted
from honeyguide.training import teaching
from honeyguide.web.judge_spec import JudgeSpec

MOST_PAGES = 20_000  # of a larger crawl, so many are learnt from; all are judged again
PAUSE = 0.1  # seconds between two looks at whether a running crawl has taken the judge
SHOWN = 5  # lines of a file of answers that are named, at most

Progress = Callable[[int, int], None]  # pages that were read, of how many


class Question(NamedTuple):
    """A page that a person is asked about."""

    url: str
    title: str
    passage: str  # the part of its text that says most about the topic
    relevant: bool  # what the judge thinks after the answers so far
    probability: float  # that it is relevant


class Teaching:
    """Asks about pages of a crawl, and teaches its judge by the answers.

    `warn` gets a sentence for each loss that a crawl can do without; `progress` is called while
    the pages are read.
    """

    def __init__(
        self,
        folder: str | Path,
        warn: Warn = ignore_warning,
        progress: Progress = lambda done, total: None,
    ) -> None:
        self.folder = Path(folder)
        self._warn, self._progress = warn, progress
        plan = stored_plan(self.folder)
        self._base = _base_of(plan, self.folder)
        self._encoder: Encoder = make("encoder", self._base.encoder)
        if first_event(self.folder) > 1:
            raise HoneyguideError(
                f"the pages of {self.folder} cannot be judged again: the first events of its"
                " journal are gone (honeyguide 0.2 dropped them, and so does a repair)"
            )
        self._topic = plan.topic
        self._skipped: set[str] = set()
        self._given: list[tuple[str, bool | None]] = []  # answers in order; None: skipped
        self._is_applied = True  # whether the judge knows all answers
        self.refresh()

    def refresh(self) -> None:
        """Read the pages of the crawl, which may have more than before."""
        kept = list(kept_pages(self.folder))
        if not kept:
            raise HoneyguideError(f"{self.folder} has no page to ask about yet")
        self._known = {each.page.url for each in kept}
        answers = read_answers(self.folder)
        kept = _thinned(kept, answers)
        self._number = {each.page.url: number for number, each in enumerate(kept)}
        read = teaching.ReadPages([each.page for each in kept], self._encoder)
        self._lessons = teaching.Lessons(read, self._base, self._verdicts(kept))
        self._answers = {self._number[url]: said for url, said in answers.items() if self._has(url)}

    @property
    def answers(self) -> dict[str, bool]:
        """All answers so far, earlier ones included, by URL."""
        pages = self._lessons.read.pages
        return {pages[number].url: said for number, said in self._answers.items()}

    def question(self) -> Question | None:
        """The page whose answer teaches most; None if there is none left to ask about."""
        skipped = [self._number[url] for url in self._skipped if url in self._number]
        number = teaching.next_question(self._lessons, self._answers, skipped)
        if number is None:
            return None
        page = self._lessons.read.pages[number]
        likely = float(teaching.probabilities(self._lessons, self._answers)[number])
        passage = telling_passage(page, self._topic, self._encoder)
        return Question(page.url, page.title, passage, likely >= 0.5, likely)

    def answer(self, url: str, relevant: bool) -> None:
        """Say whether a page is relevant; the answer is on disk when this returns."""
        known = self._url(url)
        self._add({known: relevant})
        self._given.append((known, relevant))

    def withdraw(self, url: str) -> None:
        """Take the answer about a page back."""
        self._add({self._url(url): None})

    def knows(self, url: str) -> bool:
        """Whether a page was among those read; `refresh` reads those that came since."""
        return bool(self._known_url(url))

    def skip(self, url: str) -> None:
        """Ask no more about a page, in this session."""
        self._skipped.add(url)
        self._given.append((url, None))

    def undo(self) -> str | None:
        """Withdraw the last answer of this session; return its page, or None if there is none."""
        if not self._given:
            return None
        url, said = self._given.pop()
        if said is None:
            self._skipped.discard(url)
        else:
            self._add({url: None})
        return url

    def answer_from(self, path: str | Path) -> int:
        """Give the answers in a file, {"url": ..., "relevant": true} a line; return how many.

        `warn` names the lines that cannot be used.
        """
        file = Path(path)
        if not file.exists():
            raise HoneyguideError(f"there is no file {file}")
        found: dict[str, bool | None] = {}
        wrong = []
        for line in read_lines(file):
            url = self._known_url(line.url)
            if why := line.wrong or _contradiction(found, url, line) or self._unknown(line, url):
                wrong.append(f"line {line.number} of {file}: {why}")
            if not line.wrong and url:
                found[url] = line.relevant
        for sentence in _first(wrong):
            self._warn(sentence)
        if not found:
            raise HoneyguideError(f"{file} has no answer about a page of {self.folder}")
        self._add(found)
        return len(found)

    def sureness(self) -> teaching.Sureness:
        """How sure the judge is after the answers so far."""
        return teaching.sureness(self._lessons, self._answers)

    def remarks(self) -> list[str]:
        """What is odd about the answers so far: a sentence each."""
        return list(teaching.remarks(self._lessons, self._answers))

    @property
    def is_running(self) -> bool:
        """Whether a process runs the crawl."""
        return bool(holder(self.folder))

    @property
    def is_applied(self) -> bool:
        """Whether the crawl's judge knows all answers of this session."""
        return self._is_applied

    def apply(self, wait: bool = True) -> Rejudged | None:
        """Teach the crawl's judge by all answers, and let it judge all pages again.

        A running crawl does that itself, within seconds; without `wait`, None is returned before.
        A crawl that is killed meanwhile does it when it is resumed.
        """
        if not self._answers:
            raise HoneyguideError("there is no answer to learn from")
        before = relevant_visits(self.folder)
        judge = self._write()
        send_order(self.folder, Judge(judge, self.answers))
        self._is_applied = True
        if self.is_running and not wait:
            return None
        rejudged = self._obeyed()
        if stored_plan(self.folder).judge != judge:
            raise HoneyguideError(
                f"{self.folder} did not take the taught judge; the answers are kept"
            )
        pages = rejudged.pages if rejudged else len(self._known)
        return Rejudged(pages, before, relevant_visits(self.folder))

    def _obeyed(self) -> Rejudged | None:
        """Wait until a running crawl has carried out its orders, or do that here."""
        while any(order.what["order"] == "judge" for order in waiting_orders(self.folder)):
            try:
                if not self.is_running:
                    return obey_waiting(self.folder, self._warn)
            except InUseError:  # it was resumed a moment ago
                pass
            time.sleep(PAUSE)
        return None

    def _write(self) -> str:
        """Write the taught judge into the crawl folder; return its spec."""
        numbers = [
            int(found[1])
            for path in self.folder.iterdir()
            if (found := re.fullmatch(r"taught-(\d+)\.model", path.name))
        ]
        name = f"taught-{max(numbers, default=0) + 1}.model"
        teaching.teach(self._lessons, self._answers).save(self.folder / name)
        return f"taught:{name}"

    def _add(self, answers: Mapping[str, bool | None]) -> None:
        write_answers(self.folder, answers)
        self._is_applied = False
        for url, said in answers.items():
            if url not in self._number:
                continue
            self._answers.pop(self._number[url], None)
            if said is not None:
                self._answers[self._number[url]] = said

    def _has(self, url: str) -> bool:
        return url in self._number

    def _url(self, url: str) -> str:
        known = self._known_url(url)
        if not known:
            raise HoneyguideError(f"{url} is no page of {self.folder}")
        return known

    def _known_url(self, url: str) -> str:
        """The URL as the crawl has it; empty if it has no such page."""
        other = urls.typed(url) or ""
        return next((each for each in (url, other) if each in self._known), "")

    def _unknown(self, line: Line, url: str) -> str:
        return "" if url else f"{line.url} is no page of {self.folder}"

    def _verdicts(self, kept: Sequence[KeptPage]) -> list[Verdict]:
        judge = self._base.make(self._encoder)
        verdicts = []
        for each in kept:
            verdicts.append(judge(each.page))
            self._progress(len(verdicts), len(kept))
        return verdicts


def teach(folder: str | Path, answers: Mapping[str, bool]) -> Rejudged:
    """Teach the judge of a crawl by answers, by URL, and judge its pages again."""
    session = Teaching(folder)
    for url, relevant in answers.items():
        session.answer(url, relevant)
    change = session.apply()
    assert change is not None  # noqa: S101 it has waited
    return change


def _base_of(plan: Plan, folder: Path) -> JudgeSpec:
    """The judge of a plan without what answers have taught it."""
    spec = judge_spec(with_examples(with_own_files(folder, plan)))
    if split("judge", plan.judge).name == "taught":
        known = TaughtModel.read(Path(split("judge", spec.judge).settings))
        return JudgeSpec(known.base, known.encoder, _arguments(known.told))
    teachable(plan.judge)
    return spec


def _arguments(told: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in told.items()}


def _thinned(kept: list[KeptPage], answers: Mapping[str, bool]) -> list[KeptPage]:
    """Pages spread evenly over a large crawl, and all that were asked about."""
    step = -(-len(kept) // MOST_PAGES)
    chosen = enumerate(kept)
    return [each for n, each in chosen if n % step == 0 or each.page.url in answers]


def _contradiction(found: Mapping[str, bool | None], url: str, line: Line) -> str:
    before = found.get(url)
    if not url or before is None or line.relevant is None or before == line.relevant:
        return ""
    return f"contradicts an earlier line about {line.url}; the later one counts"


def _first(sentences: Sequence[str]) -> Iterator[str]:
    yield from sentences[:SHOWN]
    if len(sentences) > SHOWN:
        yield f"{counted(len(sentences) - SHOWN, 'more line')} cannot be used"
