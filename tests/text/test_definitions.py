"""A text says of its title's subject what it is."""

import pytest

from honeyguide.text.definitions import definition, heads

VERDI = """
   Giuseppe Verdi
   Enlarge
   Giuseppe Verdi, 1886. This is a picture.

   Giuseppe Fortunino Francesco Verdi ( October 9, 1813 - January 27, 1901) was an
   Italian Romantic composer, mainly of opera. He was a patriot.
"""


def test_the_kind_stands_after_the_verb_that_follows_the_name():
    found = definition("Giuseppe Verdi", VERDI)
    assert found.kind == "Italian Romantic composer, mainly of opera"
    assert found.sentence.endswith("mainly of opera")


@pytest.mark.parametrize(
    ("title", "text", "kind"),
    [
        ("Biodiesel", "Biodiesel is a fuel made from plants.", "fuel made"),
        ("Lerche", "Die Lerche ist ein Singvogel aus Europa.", "Singvogel"),
        ("Lyon", "Lyon est une ville dans le Rhône.", "ville"),
        ("Ebro", "El Ebro es un río en España.", "río"),
        ("Home page", "Here you find what I do.", ""),
        ("Rome", "There is a street in Rome. It is a long one.", ""),
        ("Rome", "A car is a vehicle. Rome has many.", ""),
        ("", "This is a page without a title.", ""),
        ("Empty", "", ""),
    ],
)
def test_a_definition_needs_the_name_and_an_article(title, text, kind):
    assert definition(title, text).kind == kind


def test_without_a_definition_the_beginning_speaks():
    text = "word " * 1000
    found = definition("Nothing", text)
    assert text.startswith(found.sentence)
    assert 200 < len(found.sentence) <= 300


@pytest.mark.parametrize(
    ("topic", "sought"),
    [
        ("volcano", ["volcano"]),
        ("classical music composers", ["composers"]),
        ("kings and queens of England", ["kings", "queens"]),
        ("composers, singers and bands", ["composers", "singers", "bands"]),
        ("World War II naval battles", ["battles"]),
        ("countries of the Middle East", ["countries"]),
        ("and", ["and"]),
    ],
)
def test_a_topic_looks_for_the_last_word_before_a_preposition(topic, sought):
    assert heads(topic) == sought
