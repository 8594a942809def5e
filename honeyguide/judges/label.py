"""Relevance by the labels of a recorded or generated web."""

from collections.abc import Iterable

from honeyguide.contracts import Page, Verdict
from honeyguide.recorded.graph import label_matches
from honeyguide.registry import part


@part("judge", "label", argument="name")
class Label:
    """Has this label: all of it, or its last part after a dot or colon, in any case."""

    reads_only_labels = True  # the truth of a generated web is known without its texts

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, page: Page) -> Verdict:
        """Relevance 1 or 0."""
        for label in page.labels:
            if label_matches(label, self.name):
                return Verdict(1.0, True, (f"is labelled '{label}'",))
        return Verdict(0.0, False)

    def fits_any(self, labels: Iterable[str]) -> bool:
        """Whether any of these labels matches."""
        return any(label_matches(label, self.name) for label in labels)
