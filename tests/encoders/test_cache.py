import random
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from honeyguide.encoders.vectors import ENTRY, LONGEST, Cached
from honeyguide.errors import HoneyguideError
from honeyguide.registry import make

WIDTH = 3


class Lengths:
    """Encodes a text as its length, and remembers what it was asked."""

    def __init__(self):
        self.asked = []

    def __call__(self, texts):
        self.asked.extend(texts)
        return np.array([[len(text), 0, 1] for text in texts], np.float32).reshape(-1, WIDTH)


def cache_of(entries, lengths=None):
    lengths = lengths or Lengths()
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


class Interrupted(Lengths):
    """Lets another thread go on for a while when it is asked for a text."""

    def __init__(self, text, meanwhile):
        super().__init__()
        self.text, self.meanwhile = text, meanwhile

    def __call__(self, texts):
        if self.text in texts:
            with ThreadPoolExecutor(1) as other:
                other.submit(self.meanwhile).result(timeout=60)
        return super().__call__(texts)


def test_what_was_found_is_not_lost_to_another_thread_that_needs_the_room():
    interrupted = Interrupted("new", lambda: cached(["a", "bb"]))
    _, cached = cache_of(2, interrupted)
    cached(["old"])
    assert cached(["old", "new", "old"])[:, 0].tolist() == [3, 3, 3]


def test_a_text_that_two_threads_encode_at_once_is_kept_once():
    inner = Lengths()
    interrupted = Interrupted("new", lambda: cached._keep(["new"], inner(["new"])))
    _, cached = cache_of(2, interrupted)
    cached(["new"])
    for texts in (["a"], ["bb"], ["ccc"], ["dddd"]):
        assert np.array_equal(cached(texts), inner(texts))


def test_what_is_being_encoded_when_all_is_forgotten_is_not_kept():
    interrupted = Interrupted("new", lambda: cached.clear())  # noqa: PLW0108 it is made below
    _, cached = cache_of(2, interrupted)
    cached(["new"])
    assert len(cached) == 0


@pytest.fixture
def hasty():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_two_threads_get_the_right_vectors_from_a_tiny_cache(hasty):
    _, cached = cache_of(5)

    def ask(seed):
        dice = random.Random(seed)
        for _ in range(3000):
            texts = ["x" * dice.randrange(12) for _ in range(dice.randrange(1, 8))]
            assert np.array_equal(cached(texts), Lengths()(texts))

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(ask, range(2)))
    assert len(cached) == len(cached._texts) == 5


@pytest.mark.parametrize("size", ["1" * 50, "nan", "inf", "-1"])
def test_a_cache_of_an_absurd_size_gets_one_sentence(size):
    with pytest.raises(HoneyguideError, match="cache_megabytes must be 0 to 16,384"):
        make("encoder", f"ngrams:cache_megabytes={size}")
