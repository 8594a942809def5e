"""A judge that answers have corrected, from its file."""

from dataclasses import replace

import numpy as np
import pytest

from honeyguide.contracts import Page, Verdict
from honeyguide.errors import HoneyguideError
from honeyguide.judges.taught import lean
from honeyguide.judges.taught_model import TaughtModel
from honeyguide.registry import make
from tests.contracts import samples

ROCK = Page("http://new.example/", "Basalt", "On lava, basalt and geology.")


@pytest.fixture
def model(encoder, tmp_path):
    """A copy of a taught judge's file that a test may change."""
    path = tmp_path / "model"
    found = TaughtModel.read(samples.taught_judge(encoder))
    found.save(path)
    return path


def test_what_a_person_said_of_a_page_holds_whatever_its_words(model, encoder):
    known = TaughtModel.read(model)
    replace(known, answers={"http://new.example/": False, "http://other.example/": True}).save(
        model
    )
    judge = make("judge", f"taught:{model}", encoder=encoder)
    assert judge(ROCK) == Verdict(0.0, False, ("a person called it not relevant",))
    assert judge(Page("http://other.example/")).relevant
    assert judge(replace(ROCK, url="http://else.example/")).relevant


def test_its_reasons_name_words_that_speak_for_and_against(model, encoder):
    judge = make("judge", f"taught:{model}", encoder=encoder)
    assert any("for it" in reason for reason in judge(ROCK).reasons)


def test_another_encoder_is_refused_with_the_one_to_use(model):
    with pytest.raises(HoneyguideError, match="taught with another encoder: say --encoder"):
        make("judge", f"taught:{model}", encoder=make("encoder", "ngrams"))


@pytest.mark.parametrize(
    "change",
    [
        {"bias": float("nan")},
        {"answers": {"http://a.example/": 1}},
        {"answers": None},
        {"words": np.zeros(3, np.float32)},
        {"meaning": np.zeros(64)},
        {"told": []},
    ],
)
def test_a_file_that_does_not_fit_is_refused(model, change, encoder):
    replace(TaughtModel.read(model), **change).save(model)
    with pytest.raises(HoneyguideError, match="another version"):
        make("judge", f"taught:{model}", encoder=encoder)


def test_a_damaged_file_is_refused(model, encoder):
    data = bytearray(model.read_bytes())
    data[len(data) // 2] ^= 1
    model.write_bytes(data)
    with pytest.raises(HoneyguideError, match="damaged or no trained judge"):
        make("judge", f"taught:{model}", encoder=encoder)


@pytest.mark.parametrize("relevant", [True, False])
@pytest.mark.parametrize("relevance", [0.0, 0.2, 0.5, 0.9, 1.0])
def test_a_leaning_has_the_sign_of_the_verdict(relevance, relevant):
    found = lean(relevance, relevant)
    assert -0.5 <= found <= 0.5
    assert (found >= 0) == relevant or found == 0
