"""Relevance by similarity to example pages."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from selectolax.lexbor import LexborHTMLParser

from honeyguide.contracts import Encoder, Page, Vector, Verdict
from honeyguide.errors import HoneyguideError
from honeyguide.judges.closeness import HEAD, head, scale_of
from honeyguide.registry import part

PAGES_APART = 0.2  # cosine by which two pages on a subject are closer than a page and its name


@part("judge", "like", argument="files", files="files")
class Like:
    """About as similar to the mean of example pages as these are to one another."""

    def __init__(
        self,
        encoder: Encoder,
        examples: Sequence[str] = (),
        files: str = "",
        threshold: float | None = None,
    ) -> None:
        texts = [*examples, *read_examples(files.split(",") if files else ())]
        vectors = encoder([text[:HEAD] for text in texts])
        vectors = vectors[vectors.any(axis=1)]
        if not len(vectors):
            raise HoneyguideError("there is no example page with a word that the encoder knows")
        self._encoder = encoder
        self._centre = _mean(vectors)
        usual = min(0.9, scale_of(encoder).boundary + PAGES_APART)
        self.threshold = _threshold(vectors, usual) if threshold is None else threshold

    def __call__(self, page: Page) -> Verdict:
        """Relevance is the cosine to the mean of the examples, 0 for a negative one."""
        cosine = float(self._encoder([head(page)])[0] @ self._centre)
        relevance = min(1.0, max(0.0, cosine))
        if cosine < self.threshold:
            return Verdict(relevance, False)
        return Verdict(relevance, True, (f"is like the example pages ({cosine:.2f})",))


def read_examples(paths: Sequence[str | Path]) -> list[str]:
    """The texts of text or HTML files."""
    return [_read(Path(path)) for path in paths]


def _read(path: Path) -> str:
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise HoneyguideError(f"cannot read the example page {path}: {error.strerror}") from None
    if text.lstrip()[:1] == "<":
        tree = LexborHTMLParser(text)
        tree.strip_tags(["script", "style"])
        text = tree.root.text(separator=" ") if tree.root else ""
    if not text.strip():
        raise HoneyguideError(f"the example page {path} has no text")
    return text


def _mean(vectors: Sequence[Vector] | Vector) -> Vector:
    mean = np.mean(vectors, axis=0)
    return np.asarray(mean / max(float(np.linalg.norm(mean)), 1e-9), np.float32)


def _threshold(vectors: Vector, usual: float) -> float:
    """The mean of `usual` and the mean cosine of each example to the mean of the others."""
    if len(vectors) < 2:
        return usual
    without = [_mean(np.delete(vectors, i, axis=0)) for i in range(len(vectors))]
    mutual = float(np.mean([v @ others for v, others in zip(vectors, without, strict=True)]))
    return (usual + mutual) / 2
