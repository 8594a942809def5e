import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from honeyguide.encoders import wordllama as module
from honeyguide.errors import HoneyguideError
from honeyguide.registry import make

ENCODER = make("encoder", "wordllama")

PLAIN = [
    "the river carried sand and mud down to the sea where it became rock",
    "a good teacher listens to children before giving them answers",
    "interest rates rose again last year and many people could not pay for their homes",
    "sharks have lived in the oceans for longer than trees have grown on land",
]
WRITTEN = [
    "The river Thames carried sand and mud down to the sea, where it slowly became rock.",
    "Isaac Newton was born in England; he studied light, motion and gravity in Cambridge.",
    "Interest rates rose again in March, and many people in Spain could not pay for homes.",
]


@pytest.fixture(scope="module")
def original():
    wordllama = pytest.importorskip("wordllama")
    folder = Path(wordllama.__file__).parent
    return wordllama.WordLlama.load(cache_dir=folder, disable_download=True)


def test_vectors_of_plain_text_are_those_of_wordllama(original):
    # pieces never cross the space between two words, so that sums of words are sums of pieces
    cosines = (ENCODER(PLAIN) * original.embed(PLAIN, norm=True)).sum(axis=1)
    assert cosines.min() > 0.98


def test_capitals_and_punctuation_change_little(original):
    # to WordLlama signs are pieces of their own; here they go, and so do numbers, and a rare word
    # is taken in the spelling of fewest pieces
    cosines = (ENCODER(WRITTEN) * original.embed(WRITTEN, norm=True)).sum(axis=1)
    assert cosines.min() > 0.93


def test_a_text_without_known_words_is_a_zero_row():
    for text in ("", "   ", "?!", "xqzt", "1984", "\ud800", "地質学"):
        assert not ENCODER.knows(text)
        assert not ENCODER([text]).any()


def test_names_are_known_without_their_capitals():
    assert all(map(ENCODER.knows, ["iraq", "tokyo", "dna", "zebra", "geology", "webrtc"]))
    assert np.array_equal(ENCODER(["tokyo"]), ENCODER(["TOKYO"]))
    tokyo, japan, saxophone = ENCODER(["tokyo", "a city in Japan", "saxophone"])
    assert tokyo @ japan > 0.4 > tokyo @ saxophone


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(alphabet=st.characters(codec=None)), max_size=5))
def test_rows_are_unit_exactly_where_a_word_is_known(texts):
    rows = ENCODER(texts)
    assert rows.shape == (len(texts), 256) and rows.dtype == np.float32
    known = [float(ENCODER.knows(text)) for text in texts]
    assert np.allclose(np.linalg.norm(rows, axis=1), known, atol=1e-5)


def test_a_vector_does_not_depend_on_the_batch_or_on_earlier_texts():
    texts = [*PLAIN, *WRITTEN, ""]
    together = make("encoder", "wordllama")(texts)
    alone = make("encoder", "wordllama:width=256,cache_megabytes=0")
    assert np.array_equal(together, np.concatenate([alone([text]) for text in texts]))


def test_forgetting_words_changes_nothing(monkeypatch):
    monkeypatch.setattr(module, "MOST_WORDS", 3)
    forgetful = make("encoder", "wordllama")
    assert np.array_equal(forgetful(PLAIN), ENCODER(PLAIN))
    assert len(forgetful._pieces) <= 3


def test_fewer_columns_are_the_first_ones():
    narrow = make("encoder", "wordllama:64")
    rows = ENCODER(PLAIN)[:, :64]
    assert narrow.width == 64
    assert np.allclose(narrow(PLAIN), rows / np.linalg.norm(rows, axis=1)[:, None], atol=1e-6)


def test_an_odd_width_is_refused_in_a_sentence():
    with pytest.raises(HoneyguideError, match="64, 128 or 256, not 100"):
        make("encoder", "wordllama:100")


def test_loading_leaves_logging_alone():
    code = (
        "import logging; from honeyguide.registry import make; make('encoder', 'wordllama');"
        "root = logging.getLogger(); assert not root.handlers and root.level == logging.WARNING"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_related_words_are_closer_than_unrelated_ones():
    volcano, lava, music = ENCODER(["volcano", "hot lava and ash", "music"])
    assert volcano @ lava > 0.2 > volcano @ music


@settings(max_examples=200, deadline=None)
@given(first=st.text(max_size=60), second=st.text(max_size=60))
def test_the_sum_of_two_texts_together_is_the_sum_of_both(first, second):
    one, other, both = ENCODER.sums([first, second, f"{first} {second}"])
    assert np.allclose(one + other, both, atol=1e-4)


def test_a_vector_is_the_unit_vector_of_the_sum():
    sums = ENCODER.sums(WRITTEN)
    lengths = np.sqrt(np.square(sums).sum(axis=1, keepdims=True))
    assert np.array_equal(ENCODER(WRITTEN), sums / lengths)
