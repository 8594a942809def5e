"""A judge described by its name and settings, so that another process can make it."""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

from honeyguide.contracts import Encoder, Judge
from honeyguide.registry import Outside, accepts, make, only_outside


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
        return judge
