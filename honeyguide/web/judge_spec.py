"""A judge described by its name and settings, so that another process can make it."""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

from honeyguide.contracts import Encoder, Judge, Page, Verdict
from honeyguide.errors import HoneyguideError
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

    @property
    def uses_encoder(self) -> bool:
        """Whether the judge takes an encoder."""
        return accepts("judge", self.judge, "encoder")

    def make(self, encoder: Encoder | None = None) -> Judge:
        """Make the judge, with the given encoder or a new one."""
        with only_outside(Outside(*map(tuple, self.outside))) if self.outside else nullcontext():
            if self.uses_encoder and encoder is None:
                encoder = make("encoder", self.encoder)
            judge: Judge = make("judge", self.judge, encoder=encoder, **self.told)
        return CheckedJudge(judge, self.judge) if place_of("judge", self.judge) else judge
