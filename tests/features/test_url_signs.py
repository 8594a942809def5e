"""What a URL shows before it is fetched: Lim (2016, §5.2.4)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from honeyguide.features.url_signs import is_gibberish, likelihood, url_signs


def test_length_depth_file_type_and_query_are_read():
    signs = url_signs("http://www.shop.example/a/b/photo.JPG?size=2&page=3")
    assert (signs.length, signs.depth, signs.file_type, signs.parameters) == (51, 3, "jpg", 2)
    home = url_signs("http://www.shop.example/")
    assert (home.depth, home.file_type, home.parameters) == (0, "", 0)


@pytest.mark.parametrize(
    "word",
    "washington students encyclopedia photography kubernetes wissenschaft bibliotheque"
    " gardening universidad newsletter 20260115 index".split(),
)
def test_words_of_several_languages_and_numbers_are_no_gibberish(word):
    assert not is_gibberish(word)


@pytest.mark.parametrize("word", "xkqzvjwt 9f8a7d6e5c4b qwrtzpsdf dQw4w9WgXcQ zxcvbnmlk".split())
def test_what_no_language_writes_is_gibberish(word):
    assert is_gibberish(word)


def test_host_and_path_are_judged_apart():
    assert url_signs("http://xkqzvjwt.example/students").gibberish_host
    assert not url_signs("http://xkqzvjwt.example/students").gibberish_path
    assert url_signs("http://www.library.example/zxcvbnmlk").gibberish_path
    assert not url_signs("http://www.library.example/zxcvbnmlk").gibberish_host


def test_a_short_word_says_nothing():
    assert not is_gibberish("xqz")


@given(st.text(max_size=60))
def test_any_text_has_a_likelihood(text):
    assert -12 < likelihood(text) <= 0
    assert is_gibberish(text) in (True, False)


@given(st.text(alphabet="abc/.?&=%-_~:0", max_size=60))
def test_any_url_can_be_looked_at(rest):
    signs = url_signs(f"http://a.example/{rest}")
    assert signs.length == 17 + len(rest)
