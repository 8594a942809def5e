"""RAKE against examples worked by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from honeyguide.text.languages import language_of, stem
from honeyguide.text.rake import MOST_WORDS, candidates, rake
from honeyguide.text.words import words

# the candidates of the example that the method was published with; scores as printed there
PUBLISHED = """
    compatibility, systems, linear constraints, set, natural numbers, criteria, compatibility,
    system, linear diophantine equations, strict inequations, nonstrict inequations, upper bounds,
    components, minimal set, solutions, algorithms, minimal generating sets, solutions, systems,
    criteria, corresponding algorithms, constructing, minimal supporting set, solving, systems,
    systems
"""


def scores(text, **settings):
    return {phrase.text: phrase.score for phrase in rake(text, **settings)}


def test_the_published_example_comes_out_as_published():
    found = scores(PUBLISHED, language="en", stemming=False)
    expected = {
        "minimal generating sets": 8.7,
        "linear diophantine equations": 8.5,
        "minimal supporting set": 7.7,
        "minimal set": 4.7,
        "linear constraints": 4.5,
        "natural numbers": 4.0,
        "strict inequations": 4.0,
        "nonstrict inequations": 4.0,
        "upper bounds": 4.0,
        "corresponding algorithms": 3.5,
        "set": 2.0,
        "algorithms": 1.5,
        "compatibility": 1.0,
        "systems": 1.0,
        "criteria": 1.0,
    }
    assert {text: round(found[text], 1) for text in expected} == expected
    assert list(found)[:3] == list(expected)[:3], "best first"


def test_scores_are_those_computed_by_hand():
    # phrases: old red car | red car | car crash | crash
    # degree: old 3, red 3+2, car 3+2+2, crash 2+1; frequency: old 1, red 2, car 3, crash 2
    found = scores("An old red car. The red car in a car crash, and a crash.")
    assert found == pytest.approx(
        {
            "old red car": 3 / 1 + 5 / 2 + 7 / 3,
            "red car": 5 / 2 + 7 / 3,
            "car crash": 7 / 3 + 3 / 2,
            "crash": 3 / 2,
        }
    )


def test_forms_of_a_word_count_as_one_when_stemmed():
    found = rake("The red car. The red cars. A car.", language="en")
    assert [(phrase.text, phrase.times) for phrase in found] == [("red car", 2), ("car", 1)]
    apart = rake("The red car. The red cars. A car.", language="en", stemming=False)
    assert {phrase.text for phrase in apart} == {"red car", "red cars", "car"}


def test_phrases_end_at_stop_words_numbers_punctuation_and_ends_of_elements():
    text = "deep sea fishing of tuna; a 20 metre boat\nharbour (old) well-known bird's nest"
    assert list(candidates(text, "en")) == [
        ("deep", "sea", "fishing"),
        ("tuna",),
        ("metre", "boat"),
        ("harbour",),
        ("old",),
        ("well", "known", "bird"),
        ("nest",),
    ]


def test_items_of_a_list_and_cells_of_a_table_are_no_phrase_together():
    found = rake("red car\nold boat\n\nfast plane\tslow train", "en")
    assert {phrase.text for phrase in found} == {
        "red car",
        "old boat",
        "fast plane",
        "slow train",
    }


def test_a_text_that_was_broken_to_fit_a_width_keeps_its_phrases():
    text = (
        "   The absolute zero is the temperature of a system that is at its thermal\n"
        "   minimum. While it is possible to cool any substance to near absolute\n"
        "   zero, it can never be achieved, and so it is of the theory.\n\n"
        "   Kelvin scale"
    )
    found = {phrase.text for phrase in rake(text, "en")}
    assert {"thermal minimum", "absolute zero", "kelvin scale"} <= found


def test_runs_of_too_many_words_are_no_phrases():
    menu = " ".join(f"word{'x' * n}" for n in range(MOST_WORDS + 1))
    assert rake(f"{menu}. Red car.", language="en")[0].text == "red car"
    assert len(rake(f"{menu}. Red car.", language="en")) == 1


TEXTS = {
    "de": "Der rote Wagen und die alten Wagen der Stadt sind nicht in einem Museum.",
    "en": "The red car and the old cars of the town are not in a museum.",
    "es": "El coche rojo y los coches viejos de la ciudad no están en un museo.",
    "fr": "La voiture rouge et les vieilles voitures de la ville ne sont pas dans un musée.",
    "it": "La macchina rossa e le vecchie macchine della città non sono in un museo.",
    "nl": "De rode auto en de oude auto's van de stad zijn niet in een museum.",
    "pt": "O carro vermelho e os carros velhos da cidade não estão em um museu.",
    "ru": "Красная машина и все старые машины в этом городе не были в музее.",
    "sv": "Den röda bilen och de gamla bilarna i staden är inte på ett museum.",
    "zh": "红色的汽车和旧的汽车都不在城市的博物馆。",
    "ja": "赤い車と古い車は町の博物館にありません。",
}


@pytest.mark.parametrize("language", TEXTS)
def test_the_language_of_a_text_is_seen_by_its_stop_words(language):
    assert language_of(words(TEXTS[language])) == language


@pytest.mark.parametrize(
    ("language", "phrase"),
    [
        ("de", "alten wagen"),
        ("fr", "voiture rouge"),
        ("es", "coche rojo"),
        ("ru", "красная машина"),
    ],
)
def test_phrases_are_found_in_several_languages(language, phrase):
    assert phrase in {found.text for found in rake(TEXTS[language])}


def test_signs_without_spaces_form_phrases_too():
    assert "汽车" in {found.text for found in rake(TEXTS["zh"])}


def test_a_text_in_no_known_language_is_split_at_punctuation_only():
    assert [found.text for found in rake("blorf zwik, gnar")] == ["blorf zwik", "gnar"]
    assert stem("blorfs", "") == "blorfs"


def test_nothing_has_no_phrases():
    assert rake("") == []
    assert rake("the of and 12 34 ...") == []


@given(st.text(max_size=300))
def test_any_text_has_phrases_of_its_own_words_with_scores_of_at_least_their_length(text):
    own = set(words(text.lower()))
    for phrase in rake(text):
        assert phrase.times >= 1
        assert set(words(phrase.text)) <= own
        assert phrase.score >= 1.0


@given(st.text(max_size=300))
def test_best_comes_first_and_each_phrase_once(text):
    found = rake(text)
    assert [p.score for p in found] == sorted((p.score for p in found), reverse=True)
    assert len({p.text for p in found}) == len(found)
