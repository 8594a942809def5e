"""A source finder from example pages alone: its networks are written down, not trained.

A link is good if its text is like the examples' titles, in meaning, in spelling or by the lexicon;
a page is good if its structure, title and headings are like theirs.
"""

from collections.abc import Sequence

import numpy as np

from honeyguide.contracts import Encoder, Matrix, Page, Vector
from honeyguide.errors import HoneyguideError
from honeyguide.source_finder.inputs import input_width
from honeyguide.source_finder.lexicon import CONCEPTS, KINDS, shares
from honeyguide.source_finder.link_signs import SIGNS
from honeyguide.source_finder.model import SourceModel, shared_encoder
from honeyguide.source_finder.page_model import HIDDEN, WIDTH, PageModel
from honeyguide.source_finder.policy import ANCHOR, JOINT, Policy, shapes
from honeyguide.source_finder.scorer import FEATURES, Scorer
from honeyguide.source_finder.scorer import HIDDEN as OF_SCORER
from honeyguide.source_finder.stopping import Calibrated, Reporting
from honeyguide.source_finder.structure import STRUCTURE, own_titles, structure

MOST_EXAMPLES = 10
ALIKE = 0.35  # cosine of an anchor and a title that begins to count
STEEP = 9.0  # logits for one unit of similarity
BASE = -4.0  # logit of a link that is like nothing
HUB = 1.8  # logits of a way that may lead on
PAGE_STEEP, PAGE_BASE = 7.0, -3.0  # of pages
OF_WORDS = 2.0  # weight of titles and headings beside the other structure
RULES = Calibrated(first=0.08, growth=0.02, after=0.6), Reporting(1.0, 0.5, 0.0)


def like_pages(pages: Sequence[Page], base: SourceModel) -> SourceModel:
    """Return a finder of pages like these, which have their HTML."""
    if not pages:
        raise HoneyguideError("there is no example page to be like")
    encoder = shared_encoder(base.encoder)
    some = pages[:MOST_EXAMPLES]
    titles = [title for page in some for title in own_titles(page)[:3] if title]
    policy = _policy(titles, encoder)
    page = _page_model(some, base, encoder)
    rules, reporting = RULES
    return SourceModel(
        "pages like yours", base.encoder, policy, 0.5, page.document, page, rules, reporting
    )


def _policy(titles: Sequence[str], encoder: Encoder) -> Policy:
    """Return a policy with one hidden unit for each title and one for each kind of page."""
    width = input_width(encoder)
    weights = {name: np.zeros(shape, np.float32) for name, shape in shapes(width).items()}
    units = _anchor_units(titles, encoder, width)[: JOINT - 1]
    for number, (row, bias, _) in enumerate(units):
        weights["anchor.0.weight"][number] = row
        weights["anchor.0.bias"][number] = bias
        weights["anchor.2.weight"][number, number] = 1.0
        weights["joint.0.weight"][number, number] = 1.0
    weights["joint.2.weight"][0, : len(units)] = [gain for *_, gain in units]
    weights["joint.2.bias"][0] = BASE
    return Policy(weights)


def _anchor_units(
    titles: Sequence[str], encoder: Encoder, width: int
) -> list[tuple[Vector, float, float]]:
    """Return weights, bias and gain of units over a link's text and signs."""
    units: list[tuple[Vector, float, float]] = []
    kinds = _kinds(titles)
    for place, share in kinds.items():
        for source, gain in (("anchor", STEEP), ("address", STEEP / 3)):
            row = np.zeros(width, np.float32)
            row[encoder.width + SIGNS.index(f"{source} {CONCEPTS[place]}")] = share
            units.append((row, 0.0, gain))
    for against in ("decoy", "past"):
        row = np.zeros(width, np.float32)
        row[encoder.width + SIGNS.index(f"anchor {against}")] = 1.0
        units.append((row, 0.0, -STEEP / 2))
    hub = np.zeros(width, np.float32)
    hub[encoder.width + SIGNS.index("anchor hub")] = 1.0
    units.append((hub, 0.0, HUB))
    wanted = list(dict.fromkeys(titles))[: ANCHOR // 4]
    for vector in encoder(wanted):
        row = np.zeros(width, np.float32)
        row[: encoder.width] = vector / max(float(vector @ vector), 1e-6)
        units.append((row, -ALIKE, STEEP / max(1.0, len(wanted) / 2)))
    return units


def _kinds(titles: Sequence[str]) -> dict[int, float]:
    """Return the kinds of list that the titles name, with their share."""
    means = np.mean([shares(title) for title in titles] or [shares("")], axis=0)
    return {
        CONCEPTS.index(kind): min(1.0, 2 * float(means[CONCEPTS.index(kind)]))
        for kind in KINDS
        if means[CONCEPTS.index(kind)] > 0.1
    }


def _page_model(pages: Sequence[Page], base: SourceModel, encoder: Encoder) -> PageModel:
    """Return a page model with one hidden unit for each example."""
    known = base.page.weights if base.page else {"mean": np.zeros(WIDTH), "scale": np.ones(WIDTH)}
    mean, scale = (np.asarray(known[name], np.float32) for name in ("mean", "scale"))
    first, bias = np.zeros((HIDDEN, WIDTH), np.float32), np.zeros(HIDDEN, np.float32)
    for number, page in enumerate(pages[:HIDDEN]):
        row = np.append(structure(page), 0.0).astype(np.float32)
        first[number] = _direction(np.clip((row - mean) / scale, -5, 5))
    second = np.zeros(HIDDEN, np.float32)
    second[: len(pages)] = PAGE_STEEP / len(pages[:HIDDEN])
    weights = {
        "mean": mean, "scale": scale, "0.weight": first, "0.bias": bias, "2.weight": second,
        "2.bias": np.array([PAGE_BASE], np.float32),
    }  # fmt: skip
    return PageModel(_no_document(encoder), weights)


def _direction(row: Vector) -> Vector:
    """Return the weights whose product with the example itself is 1; words count more."""
    gains = np.array([OF_WORDS if _is_word(name) else 1.0 for name in (*STRUCTURE, "document")])
    gains[-1] = 0.0
    weighed = gains * row
    direction: Vector = (weighed / max(float(weighed @ row), 1e-6)).astype(np.float32)
    return direction


def _is_word(name: str) -> bool:
    return name.startswith(("title ", "heading ", "address "))


def _no_document(encoder: Encoder) -> Scorer:
    """Return a document's network that knows nothing: it says one half."""
    width = FEATURES * encoder.width
    zeros: dict[str, Matrix] = {
        "0.weight": np.zeros((OF_SCORER, width), np.float32),
        "0.bias": np.zeros(OF_SCORER, np.float32),
        "2.weight": np.zeros((1, OF_SCORER), np.float32),
        "2.bias": np.zeros(1, np.float32),
    }
    return Scorer(zeros)
