"""The words of URLs and their numbers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from honeyguide.features.segmenting import known_names, segment, url_words
from honeyguide.features.url_words import COVERED, UrlWords, common_words


@pytest.mark.parametrize(
    ("run", "words"),
    [
        ("taxadvice", "tax advice"),
        ("accountantslondon", "accountants london"),
        ("smithandjones", "smith and jones"),
        ("governmentservices", "government services"),
        ("parliament", "parliament"),
        ("bafemi", "bafemi"),  # nobody knows it: left whole
    ],
)
def test_words_written_together_are_taken_apart(run, words):
    assert " ".join(segment(run)) == words


@given(st.text("abcdefghijklmnopqrstuvwxyz", max_size=60))
def test_no_letter_is_lost_or_added(run):
    assert "".join(segment(run)) == run


def test_a_url_shows_its_ending_and_its_path_but_no_numbers():
    url = "http://www.taxadvice.co.uk/2014/11/contact-us.html?id=7"
    assert url_words(url) == ("tax", "advice", "co", "uk", "contact", "us", "html", "id")


@pytest.mark.parametrize("names", [True, False])
def test_what_no_dictionary_has_gets_no_number_where_names_do_not_count(names):
    words = UrlWords(sightings=1, names=names)
    words.rows(["http://bafemi-rock.example/"])
    assert words.words == ["", *["bafemi"] * names, "rock", "example"]


def test_a_word_gets_a_number_once_it_was_seen_often_enough():
    words = UrlWords(width=5, sightings=2)
    first = words.rows(["http://rock.example/", "http://ship.example/"])
    assert first.tolist() == [[0] * 5, [1, 0, 0, 0, 0]]  # "example" was seen twice
    assert words.rows(["http://rock.example/rock"]).tolist() == [[2, 1, 2, 0, 0]]
    assert words.words == ["", "example", "rock"]


def test_a_full_vocabulary_takes_no_more_words():
    words = UrlWords(width=4, vocabulary=2, sightings=1)
    words.rows(["http://rock.example/ship/harbour"])
    assert words.words == ["", "rock", "example"]


def test_words_of_anchors_are_words_of_their_own():
    words = UrlWords(width=4, sightings=1)
    assert words.rows(["http://rock.example/"], ["rock"]).tolist() == [[1, 2, 3, 0]]
    assert words.words[1:] == ["rock", "example", "~rock"]


def test_a_saved_vocabulary_goes_on():
    one, other = UrlWords(sightings=2), UrlWords(sightings=2)
    one.rows(["http://rock.example/ship", "http://sea.example/"])
    other.load(one.state())
    urls = ["http://ship.example/sea", "http://rock.example/"]
    assert other.rows(urls).tolist() == one.rows(urls).tolist()


@given(st.lists(st.sampled_from("rock ship sea law tax news blog".split()), min_size=1))
def test_common_words_are_the_fewest_that_make_up_most_of_what_urls_say(said):
    common = common_words(f"http://{word}.example/" for word in said)
    words = [*said, *["example"] * len(said)]
    counts = [words.count(word) for word in common]
    assert sum(counts) >= COVERED * len(words)
    assert counts == sorted(counts, reverse=True)
    rarest = counts.count(counts[-1])
    assert sum(counts[:-rarest]) < COVERED * len(words)  # without those that are as rare


def test_rarer_words_count_too_where_that_is_said():
    urls = (
        ["http://rock.example/"] * 10 + ["http://ship.example/"] * 4 + ["http://sea.example/"] * 3
    )
    assert common_words(urls) == ["example", "rock", "ship"]
    assert common_words(urls, rarest=0.75) == ["example", "rock", "ship", "sea"]


def test_after_a_survey_no_other_words_get_numbers():
    surveyed = ["http://bafemi-rock.example/"] * 8 + ["http://ship.example/"]
    with_names, without = (UrlWords(width=4, surveyed=surveyed, names=n) for n in (True, False))
    assert sorted(with_names.words[1:]) == ["bafemi", "example", "rock"]
    assert sorted(without.words[1:]) == ["example", "rock"]
    for _ in range(5):
        rows = without.rows(["http://ship.example/harbour"])
    assert [without.words[int(n)] for n in rows[0] if n] == ["example"]
    for _ in range(5):
        rows = with_names.rows(["http://ship.example/"], ["granite"])
    assert [with_names.words[int(n)] for n in rows[0] if n] == ["example", "~granite"]


def test_names_that_are_known_are_not_cut():
    names = known_names(["Leonberger & Farthing Ltd", "Taxes"])
    assert names == {"leonberger", "farthing"}  # the list has the others
    assert segment("leonberger") == ("leon", "berger")
    assert segment("leonberger", names) == ("leonberger",)
    assert segment("leonbergertaxadvice", names) == ("leonberger", "tax", "advice")
    assert url_words("http://farthinglaw.co.uk/", names) == ("farthing", "law", "co", "uk")


def test_a_domain_tells_names_only_where_it_has_hyphens():
    assert known_names(["www.leonberger-law.co.uk"]) == {"leonberger"}
    assert known_names(["farthinglaw.co.uk"]) == frozenset()


def test_known_names_are_words_of_a_row():
    known = known_names(["Leonberger"])
    words = UrlWords(sightings=1, known=known)
    words.rows(["http://leonberger.test/"])
    assert words.words[1:] == ["leonberger", "test"]
    assert common_words(["http://leonberger.test/"] * 3, known=known)[0] == "leonberger"
