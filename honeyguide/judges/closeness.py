"""What a cosine means with a given encoder: some find everything alike, others nothing."""

from dataclasses import dataclass

import numpy as np

from honeyguide.contracts import Encoder, Page
from honeyguide.errors import HoneyguideError
from honeyguide.text.words import terms

HEAD = 2000  # characters of a page that are encoded; more made the verdicts worse

# topics and a text on each: those on the same line are related, all others are not
YARDSTICK = (
    ("music", "The orchestra played a symphony while the singer and the pianist waited."),
    ("cooking", "Fry the onions in butter, add flour and stock, and let the soup simmer."),
    ("football", "The striker scored twice in the second half and the club won the match."),
    ("medicine", "The doctor treated the patient for an infection with antibiotics."),
    ("banking", "Interest on the loan is charged monthly and savings earn less than bonds."),
    ("weather", "Heavy rain and strong wind are forecast, with snow on higher ground."),
    ("astronomy", "The telescope shows a galaxy of stars far beyond the orbit of the planets."),
    ("law", "The court heard the appeal and the judge ruled that the contract was void."),
    ("gardening", "Sow the seeds in spring, water the soil and prune the roses in autumn."),
    ("programming", "The function returns a list of strings and the compiler reports an error."),
    ("religion", "The priest led the prayer in the temple and pilgrims came to worship."),
    ("painting", "The artist mixed oil colours on canvas; the portrait hangs in a gallery."),
    ("aviation", "The pilot landed the aircraft on the runway after an engine failed."),
    ("chemistry", "The acid reacts with the metal and hydrogen atoms form molecules."),
    ("education", "Pupils sit an exam at school and teachers mark lessons and homework."),
    ("politics", "The party won the election and its leader formed a government."),
    ("fashion", "The designer showed dresses, shoes and jewellery in silk and leather."),
    ("fishing", "Anglers cast a line from the boat and caught trout and salmon."),
    ("mathematics", "The theorem is proved by induction; the equation has two real solutions."),
    ("tourism", "Travellers book a hotel near the beach and visit the old town."),
    ("war", "The army attacked at dawn and soldiers defended the city."),
    ("insects", "The beetle and the ant feed on leaves, and bees carry pollen."),
    ("cars", "The engine drives the front wheels and the new model has better brakes."),
    ("literature", "The novel tells the story of a poet and its author won a prize."),
)


@dataclass(frozen=True, slots=True)
class Scale:
    """What an encoder's cosines are worth: from unrelated, over the boundary, to the same."""

    unrelated: float
    boundary: float  # halfway to related texts and 1.5 times the spread of unrelated ones

    def __call__(self, cosine: float) -> float:
        """0 at unrelated, 0.5 at the boundary."""
        share = 0.5 * (cosine - self.unrelated) / (self.boundary - self.unrelated)
        return min(1.0, max(0.0, share))


def scale_of(encoder: Encoder) -> Scale:
    """Measure an encoder by texts whose relation is known."""
    known = [pair for pair in YARDSTICK if encoder.knows(pair[0]) and encoder.knows(pair[1])]
    if len(known) < 8:  # not English: what wordllama's scale is, for want of a better one
        return Scale(0.0, 0.32)
    cosines = encoder([topic for topic, _ in known]) @ encoder([text for _, text in known]).T
    related = float(np.mean(np.diagonal(cosines)))
    others = cosines[~np.eye(len(known), dtype=bool)]
    unrelated, spread = float(others.mean()), float(others.std())
    reach = max(0.05, (related - unrelated) / 2 + 1.5 * spread)
    return Scale(unrelated, unrelated + reach)


def head(page: Page, length: int = HEAD) -> str:
    """The part of a page that says what it is about."""
    return f"{page.title}. {page.text[:length]}"


def check_topic(topic: str, encoder: Encoder) -> None:
    """Complain about a topic that means nothing to an encoder."""
    if not terms(topic):
        raise HoneyguideError(f"the topic {topic!r} has no word in it")
    if not encoder.knows(topic):
        raise HoneyguideError(
            f"the topic {topic!r} has no word that the encoder knows; "
            "use other words, or --judge keywords to look for these as they stand"
        )
