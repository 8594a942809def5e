"""What a judge has learnt from a person's answers, as a file has it."""

import math
from dataclasses import asdict, dataclass
from pathlib import Path

from honeyguide.contracts import Page, State, Vector
from honeyguide.judges.hashed_words import Bag
from honeyguide.judges.trained_file import is_array, read_trained, write_trained

KIND = "honeyguide taught judge"
LEAD = 500  # characters at the top of a page whose words count once more

VECTORS = ("probe", "centre", "meaning")  # as wide as the encoder
TABLES = ("words", "lead", "idf")  # a number for each bucket


@dataclass(frozen=True, slots=True)
class TaughtModel:
    """A judge that answers have corrected: its logit is linear in what is known of a page."""

    base: str  # the judge that was taught, such as "topic"
    told: State  # its topic and its other arguments
    calibration: State | None  # of the base on the pages of the crawl; None if it has none
    encoder: str
    probe: Vector  # that encoder's vector of PROBE
    centre: Vector  # the mean vector of the crawl's pages
    meaning: Vector  # weights of a page's vector, centred and of length 1
    words: Vector  # weights by bucket
    lead: Vector  # the same for the words of title and lead
    idf: Vector
    slope: float  # of the base's leaning
    bias: float
    answers: dict[str, bool]  # by URL: what a person said of a page holds, whatever its words

    def save(self, path: Path) -> None:
        """Write the model to a file, atomically."""
        write_trained(path, KIND, asdict(self))

    @classmethod
    def read(cls, path: Path) -> "TaughtModel":
        """Read a model from a file; raise HoneyguideError if it is damaged or no model."""
        return read_trained(path, KIND, cls, _fits)

    def shares(self, bag: Bag, lead: Bag) -> dict[str, float]:
        """What each word of a page adds to its logit."""
        found = dict(zip(bag.words, bag.shares(self.idf, self.words).tolist(), strict=True))
        for word, share in zip(lead.words, lead.shares(self.idf, self.lead).tolist(), strict=True):
            found[word] = found.get(word, 0.0) + share
        return found

    def of_base(self, leaning: float) -> float:
        """What the base judge's leaning adds to the logit."""
        return self.slope * leaning

    def of_meaning(self, vector: Vector) -> float:
        """What the meaning of a page adds to its logit."""
        apart = vector - self.centre
        return float(apart @ self.meaning) / max(float((apart @ apart) ** 0.5), 1e-9)


def lead_of(page: Page) -> Page:
    """A page's title and the first characters of its text."""
    return Page(page.url, page.title, page.text[:LEAD])


def _fits(state: State) -> bool:
    """Whether a state has all fields, with the right types and shapes."""
    if not all(is_array(state.get(name)) for name in (*VECTORS, *TABLES)):
        return False
    widths = {len(state[name]) for name in VECTORS}, {len(state[name]) for name in TABLES}
    return all(len(width) == 1 and 0 not in width for width in widths) and _is_plain(state)


def _is_plain(state: State) -> bool:
    numbers = [state.get(name) for name in ("slope", "bias")]
    answers = state.get("answers")
    return (
        all(isinstance(number, float) and math.isfinite(number) for number in numbers)
        and isinstance(answers, dict)
        and all(isinstance(said, bool) for said in answers.values())
        and all(isinstance(state.get(name), str) for name in ("base", "encoder"))
        and isinstance(state.get("told"), dict)
        and isinstance(state.get("calibration", ""), dict | None)
    )
