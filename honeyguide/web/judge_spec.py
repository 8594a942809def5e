"""A judge described by its name and settings, so that another process can make it."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from honeyguide.contracts import Encoder, Judge, Page, Verdict
from honeyguide.errors import HoneyguideError
from honeyguide.features.link_words import LinkWordsSpec, WordsReader
from honeyguide.registry import Outside, accepts, make, only_outside, place_of


class CheckedJudge:
    """A judge from outside whose verdicts are checked: its errors name the page."""

    def __init__(self, judge: Judge, name: str) -> None:
        self._judge = judge
        self._name = name

    def __call__(self, page: Page) -> Verdict:
        """The verdict, if it is one."""
        verdict = self._judge(page)
        if not isinstance(verdict, Verdict) or not 0.0 <= verdict.relevance <= 1.0:
            raise HoneyguideError(
                f"the judge {self._name} gave {verdict!r} for {page.url}: return a Verdict with a"
                " relevance from 0 to 1"
            )
        return verdict

    def __getattr__(self, name: str) -> Any:
        return getattr(self._judge, name)


@dataclass(frozen=True, slots=True)
class JudgeSpec:
    """The names of a judge and its encoder, and the judge's arguments."""

    judge: str
    encoder: str = "wordllama"
    told: dict[str, Any] = field(default_factory=dict)  # topic, examples: texts and lists of them
    outside: Sequence[Sequence[str]] = ()  # places and folders of the parts from outside
    # what the crawl's agent asks about the words of links: added when the agent is made
    links: list[LinkWordsSpec] = field(default_factory=list)

    @property
    def uses_encoder(self) -> bool:
        """Whether the judge takes an encoder."""
        return accepts("judge", self.judge, "encoder")

    def make(self, encoder: Encoder | None = None) -> Judge:
        """Make the judge, with the given encoder or a new one."""
        if self.uses_encoder and encoder is None:
            encoder = self.make_encoder()
        with self._outside():
            judge: Judge = make("judge", self.judge, encoder=encoder, **self.told)
        return CheckedJudge(judge, self.judge) if place_of("judge", self.judge) else judge

    def make_encoder(self) -> Encoder:
        """Make the encoder."""
        with self._outside():
            encoder: Encoder = make("encoder", self.encoder)
        return encoder

    def make_all(self) -> tuple[Judge, WordsReader | None]:
        """Make the judge, and what reads the words of links if an agent asks for it."""
        encoder = self.make_encoder() if self.uses_encoder or self.links else None
        words = WordsReader(self.links[0], encoder) if self.links and encoder is not None else None
        return self.make(encoder), words

    def _outside(self) -> AbstractContextManager[object]:
        return only_outside(Outside(*map(tuple, self.outside))) if self.outside else nullcontext()
