import pytest
from hypothesis import given
from hypothesis import strategies as st

from honeyguide.text.words import is_glued, terms, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Isaac_Newton's Laws, 1687!", ["isaac", "newton", "s", "laws", "1687"]),
        ("“Élan” – Ärger\u00a0über", ["élan", "ärger", "über"]),
        ("地質学 rocks", ["地", "質", "学", "rocks"]),
        ("Привет, мир", ["привет", "мир"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("مرحبا بالعالم", ["مرحبا", "بالعالم"]),
        ("한국어 위키", ["한국어", "위키"]),
        ("", []),
        ("?!… \ud800", []),
    ],
)
def test_words_are_found_in_any_script(text, expected):
    assert words(text) == expected


@given(st.text(alphabet=st.characters(codec=None)))
def test_any_text_has_words_in_small_letters_that_are_found_again(text):
    found = words(text)
    assert words(" ".join(found)) == found
    assert all(word and not word.isspace() for word in found)


@given(st.lists(st.text(alphabet=st.characters(max_codepoint=127), max_size=8)))
def test_ascii_words_do_not_depend_on_foreign_ones_beside_them(texts):
    text = " ".join(texts)
    assert words(f"{text} ñu") == [*words(text), "ñu"]


def test_terms_leave_out_stop_words_unless_there_is_nothing_else():
    assert terms("The history of the Rocks, rocks") == ["history", "rocks"]
    assert terms("The Who") == ["the", "who"]


def test_terms_keep_signs_together_that_are_written_together():
    assert terms("地質学, 岩石") == ["地質学", "岩石"]


def test_scripts_without_spaces_are_told_from_those_with():
    assert is_glued("地質学") and is_glued("ธรณีวิทยา") and is_glued("지질학")
    assert not is_glued("geology") and not is_glued("геология") and not is_glued("جيولوجيا")
