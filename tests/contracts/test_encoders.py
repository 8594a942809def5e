"""What every registered encoder promises."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from honeyguide.registry import make

from . import samples


@pytest.fixture(scope="module", params=samples.names("encoder"))
def each(request):
    return make("encoder", request.param)


def test_texts_become_unit_rows_and_nothing_becomes_zero(each):
    rows = each(["rocks and minerals", "", "the sailing ship"])
    assert rows.shape == (3, each.width)
    assert rows.dtype == np.float32
    assert np.linalg.norm(rows, axis=1).tolist() == pytest.approx([1, 0, 1], abs=1e-4)
    assert each([]).shape == (0, each.width)


def test_texts_of_similar_meaning_have_similar_vectors(each, request):
    if request.node.callspec.params["each"] in samples.SPELLING:
        rock, stone, guitar = each(["volcanic rock", "a rock of a volcano", "electric guitar"])
        assert rock @ stone > rock @ guitar
        return
    rock, stone, guitar = each(["volcanic rock", "stone and lava", "electric guitar music"])
    assert rock @ stone > rock @ guitar


def test_a_text_has_the_same_vector_in_any_batch(each):
    texts = ["rocks", "sailing ships on the sea", "", "rocks"]
    together = each(texts)
    for text, row in zip(texts, together, strict=True):
        assert np.allclose(each([text])[0], row, atol=1e-5)


def test_it_says_which_words_it_knows(each):
    assert each.knows("geology")
    assert not each.knows("")


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.lists(st.text(max_size=60), max_size=5))
def test_any_text_is_finite(each, texts):
    rows = each(texts)
    assert np.all(np.isfinite(rows))
    norms = np.linalg.norm(rows, axis=1)
    assert np.all((norms < 1e-6) | (np.abs(norms - 1) < 1e-3))
