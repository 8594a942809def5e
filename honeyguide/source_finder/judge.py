"""The page scorer as a judge."""

from honeyguide.contracts import Page, Verdict
from honeyguide.errors import HoneyguideError
from honeyguide.registry import part
from honeyguide.source_finder.model import SourceModel, is_shipped, model_of, shared_encoder


@part("judge", "event_source", argument="model", files="model", is_name=is_shipped)
class EventSource:
    """Judge whether a page lists events, or whatever else its model was trained on."""

    reads_html = True  # not only the text of pages

    def __init__(self, model: str | SourceModel = "events", threshold: float = 0.5) -> None:
        found = model_of(model)
        self._model, self._threshold = found, threshold
        self._encode = shared_encoder(found.encoder)
        if self._encode.width != found.scorer.width:
            raise HoneyguideError(f"{model} was trained with another encoder than {found.encoder}")

    def __call__(self, page: Page) -> Verdict:
        """Return the probability that a page is a source page as its relevance."""
        score = self._model.score(page, self._encode)
        relevant = score >= self._threshold
        reasons = (f"looks like a list of {self._model.kind} ({score:.2f})",) if relevant else ()
        return Verdict(score, relevant, reasons)
