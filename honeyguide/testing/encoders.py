"""What an encoder promises."""

from typing import Any

import numpy as np

from honeyguide.contracts import Vocabulary
from honeyguide.testing.contract import (
    TOPIC,
    PartLike,
    check_rows,
    check_written,
    make_part,
    promised,
    require,
)
from honeyguide.testing.resume import through_a_file
from honeyguide.testing.texts import ODD_TEXTS, any_texts

TEXTS = ("rocks and minerals", "", "the sailing ship", "rocks", "geology", "qzxjkvwpf")
PAGES = ("On rocks and minerals.", "The ship sails.", "Rocks, and again rocks.")
CLOSE = 1e-5  # between rows of a text in other company
UNIT = 1e-3  # by which the length of a row may differ from 1


def check_encoder(
    encoder: PartLike, *, near: tuple[str, str, str] | None = None, known: str = TOPIC
) -> None:
    """Raise a ContractError unless an encoder keeps its promises.

    - `width` says how many numbers a row has; rows are float32 and finite, one a text, also for
      no text and for text that is broken or in any language.
    - A row has length 1, or is zero where no word is known.
    - `knows` says so: no word of an empty text, but `known`.
    - A text gets the same row again and in any company, and from an encoder made anew.
    - One that weighs words by pages (`observe`) is as new after `forget`, and gives the same
      rows after `state` and `load`.
    - Of `near`, if given, the second text lies nearer to the first than the third does.
    """
    made = make_part("encoder", encoder, ("width", "knows", "__call__"))
    require(
        isinstance(made.width, int) and made.width > 0,
        f"width is {made.width!r}: say how many numbers a row has",
    )
    _check_texts(made, known)
    _check_company(made)
    again = make_part("encoder", encoder, ("width",))
    require(
        np.array_equal(again(list(TEXTS)), made(list(TEXTS))),
        "an encoder made anew gave other rows: use neither chance nor what is kept elsewhere",
    )
    if isinstance(made, Vocabulary):
        _check_vocabulary(made, again)
    if near is not None:
        _check_near(made, near)


def _check_texts(encoder: Any, known: str) -> None:
    texts = [*TEXTS, *ODD_TEXTS, *any_texts(60, 100)]
    with promised("any text gets a row, but the encoder raised an error"):
        rows, none = encoder(texts), encoder([])
        knows = [encoder.knows(text) for text in texts]
    check_rows(none, 0, encoder.width, "the encoder")
    check_rows(rows, len(texts), encoder.width, "the encoder")
    for text, row, is_known in zip(texts, rows, knows, strict=True):
        _check_row(text, float(np.linalg.norm(row)), is_known)
    require(encoder.knows(known), f"knows({known!r}) says no: an encoder must know common words")


def _check_row(text: str, length: float, is_known: bool) -> None:
    said = repr(text[:30])
    require(
        length < 1e-6 or abs(length - 1) < UNIT,
        f"the row of {said} has length {length:.4g}: divide rows by their length, so that it is 1",
    )
    require(
        is_known or length < 1e-6,
        f"knows({said}) says no, but its row is not zero: a text without known words has a zero"
        " row",
    )


def _check_company(encoder: Any) -> None:
    texts = [*TEXTS, TEXTS[0]]
    for text, row in zip(texts, encoder(texts), strict=True):
        require(
            np.allclose(encoder([text])[0], row, atol=CLOSE),
            f"the row of {text!r} changes with the texts beside it: encode each text by itself",
        )


def _check_vocabulary(encoder: Any, other: Any) -> None:
    encoder.forget()
    texts = list(TEXTS)
    new = encoder(texts)
    for page in PAGES:
        encoder.observe(page)
    rows = encoder(texts)
    check_written(encoder.state())
    with promised("load() could not read what state() gave, as it comes back from a file"):
        other.load(through_a_file(encoder.state()))
    require(
        np.array_equal(other(texts), rows),
        "after a save and a load, rows differ: state() must hold all that observe() counted",
    )
    encoder.forget()
    require(
        np.array_equal(encoder(texts), new),
        "after forget(), rows are not as before any page: forget all that observe() counted",
    )


def _check_near(encoder: Any, near: tuple[str, str, str]) -> None:
    one, like, unlike = encoder(list(near))
    require(
        one @ like > one @ unlike,
        f"{near[1]!r} should lie nearer to {near[0]!r} than {near[2]!r} does, but their cosines"
        f" are {one @ like:.3f} and {one @ unlike:.3f}",
    )
