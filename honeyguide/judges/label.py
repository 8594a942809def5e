"""The ground truth of a recorded or generated web."""

import re

from honeyguide.contracts import Page, Verdict
from honeyguide.registry import part


@part("judge", "label", argument="name")
class Label:
    """Has this label: the whole of it, or its last part after a dot or colon; case aside."""

    def __init__(self, name: str) -> None:
        self._name = name.casefold()

    def __call__(self, page: Page) -> Verdict:
        """Relevance 1 or 0."""
        for label in page.labels:
            if self.fits(label):
                return Verdict(1.0, True, (f"is labelled '{label}'",))
        return Verdict(0.0, False)

    def fits(self, label: str) -> bool:
        """Whether a label is the one looked for."""
        folded = label.casefold()
        return folded == self._name or re.split("[.:]", folded)[-1] == self._name
