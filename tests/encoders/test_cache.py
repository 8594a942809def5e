import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from honeyguide.encoders.cache import ENTRY, LONGEST, Cached

WIDTH = 3


class Lengths:
    """Encodes a text as its length, and remembers what it was asked."""

    def __init__(self):
        self.asked = []

    def __call__(self, texts):
        self.asked.extend(texts)
        return np.array([[len(text), 0, 1] for text in texts], np.float32).reshape(-1, WIDTH)


def cache_of(entries):
    lengths = Lengths()
    return lengths, Cached(lengths, WIDTH, entries * (4 * WIDTH + ENTRY) / 2**20)


def test_a_text_is_encoded_once():
    lengths, cached = cache_of(10)
    cached(["a", "bb", "a"])
    assert cached(["bb", "a"])[:, 0].tolist() == [2, 1]
    assert lengths.asked == ["a", "bb"]


@given(st.lists(st.lists(st.text("ab", max_size=4), max_size=12)), st.integers(0, 6))
def test_answers_do_not_depend_on_what_is_kept(batches, entries):
    _, cached = cache_of(entries)
    for batch in batches:
        assert np.array_equal(cached(batch), Lengths()(batch))
        assert len(cached) <= entries


def test_the_oldest_texts_make_room():
    lengths, cached = cache_of(2)
    cached(["a", "bb", "ccc"])
    lengths.asked.clear()
    cached(["bb", "ccc"])
    assert lengths.asked == []
    cached(["a"])
    assert lengths.asked == ["a"]


def test_long_texts_are_not_kept():
    _, cached = cache_of(2)
    cached(["x" * LONGEST])
    assert len(cached) == 0


def test_a_caller_may_change_what_it_was_given():
    _, cached = cache_of(2)
    for _ in range(2):
        cached(["a"])[:] = 7
    assert cached(["a"]).tolist() == [[1, 0, 1]]


def test_nothing_is_left_after_clearing():
    lengths, cached = cache_of(2)
    cached(["a"])
    cached.clear()
    cached(["a"])
    assert lengths.asked == ["a", "a"]
