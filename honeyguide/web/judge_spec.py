"""A judge by its name and settings, so that another process can make the same one."""

from dataclasses import dataclass, field
from typing import Any

from honeyguide.contracts import Encoder, Judge
from honeyguide.registry import accepts, make


@dataclass(frozen=True, slots=True)
class JudgeSpec:
    """A judge's name, its encoder's, and the texts that it is told."""

    judge: str
    encoder: str = "wordllama"
    told: dict[str, Any] = field(default_factory=dict)  # topic, examples: texts and lists of them

    @property
    def uses_encoder(self) -> bool:
        """Whether such a judge compares meanings."""
        return accepts("judge", self.judge, "encoder")

    def make(self, encoder: Encoder | None = None) -> Judge:
        """The judge, with an encoder that is at hand or one of its own."""
        if self.uses_encoder and encoder is None:
            encoder = make("encoder", self.encoder)
        judge: Judge = make("judge", self.judge, encoder=encoder, **self.told)
        return judge
