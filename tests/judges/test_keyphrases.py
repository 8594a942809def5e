"""Relevance by key phrases: Lim (2016, §5.2.2), and what it left open."""

import numpy as np
import pytest

from honeyguide.contracts import Page
from honeyguide.errors import HoneyguideError
from honeyguide.registry import make
from honeyguide.text.similarity import Above, Between, Match, Searches
from honeyguide.web.html import parse


class Table:
    """An encoder with cosines given by hand, between single words."""

    width = 3

    def __init__(self, **vectors):
        self.vectors = {word: np.array(v, np.float32) for word, v in vectors.items()}

    def __call__(self, texts):
        rows = np.zeros((len(texts), 3), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in text.split():
                row[:] += self.vectors.get(word, 0)
        return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-9)

    def knows(self, text):
        return any(word in self.vectors for word in text.split())


# cosines with "music": song 0.8, noise 0.6, tax 0
WORDS = Table(music=[1, 0, 0], song=[0.8, 0.6, 0], noise=[0.6, 0.8, 0], tax=[0, 0, 1])


def judge(search=("music",), encoder=WORDS, **settings):
    from honeyguide.judges.keyphrases import Keyphrases

    return Keyphrases(encoder, search=search, **settings)


def page(text):
    return Page("http://x.example/", "Title", text)


def test_relevance_is_the_mean_over_phrases_with_less_than_two_thirds_as_nothing():
    verdict = judge()(page("The song and the noise and the tax and the music."))
    assert verdict.relevance == pytest.approx((0.8 + 0 + 0 + 1.0) / 4)
    assert verdict.relevant
    assert verdict.reasons == ("'music' matches 'music' (1.00)", "'song' matches 'music' (0.80)")


def test_of_several_searches_the_closest_counts():
    verdict = judge(("music", "tax"))(page("The song and the tax."))
    assert verdict.relevance == pytest.approx((0.8 + 1.0) / 2)
    assert verdict.reasons[0] == "'tax' matches 'tax' (1.00)"


def test_with_the_documents_correction_exact_words_do_not_dominate():
    text = page("The song and the noise and the music.")
    assert judge(low=0.55, high=0.85)(text).relevance == pytest.approx((0.8 + 0.6 + 0) / 3)
    capped = judge(low=0.55, high=0.85, capped=True)(text)
    assert capped.relevance == pytest.approx((0.8 + 0.6 + 0.85) / 3)


def test_a_phrase_must_be_as_specific_as_what_is_looked_for():
    encoder = Table(classical=[0, 1, 0], music=[1, 0, 0], old=[0.1, 0.99, 0], loud=[0, 0, 1])
    searches = Searches(["classical music"], encoder)
    phrases = ["music", "classical music", "old music"]
    general, same, other = searches.similarities(phrases)[1][:, 0]
    assert general == 0, "a page on music is not about classical music"
    assert same == 1
    assert other > 0.9
    careless = Searches(["classical music"], encoder, specific=False)
    assert careless.similarities(["music"])[1][0, 0] == pytest.approx(np.sqrt(0.5))


def test_the_examples_of_the_document(encoder):
    """Section 7.3.3: music for classical music, car for car crash, travel for a guide."""
    for phrase, search in (
        ("music", "classical music"),
        ("car", "car crash"),
        ("travel", "free travel guide"),
    ):
        half = Between(0.5)
        assert Searches([search], encoder, half).relevance([phrase]) == (0.0, [])
        [match] = Searches([search], encoder, half, specific=False).relevance([phrase])[1]
        assert match.similarity > 0.6
        assert Searches([phrase], encoder, half).relevance([search])[1], "the other way round"


@pytest.fixture(scope="module")
def glove():
    return make("encoder", "glove")


def test_banana_matches_yellow_fruit_with_glove(glove):
    """Section 1: content is relevant if it has keywords associated with the search in meaning."""
    fruity = make("judge", "keyphrases:yellow fruit", topic="", encoder=glove)
    verdict = fruity(page("The banana is in the bowl of the house."))
    assert verdict.reasons[0].startswith("'banana' matches 'yellow fruit'")
    assert verdict.relevant
    assert not fruity(page("On the tax of the house, and on time.")).reasons


def test_general_phrases_do_not_match_with_glove_either(glove):
    both = make("judge", "keyphrases:classical music|car crash", topic="", encoder=glove)
    assert both(page("The music, and the car, or the fruit.")).reasons == ()
    said = both(page("The opera was about a highway accident."))
    assert len(said.reasons) == 2, said.reasons


def test_what_counts_as_similar_fits_the_encoder(encoder, glove):
    """Cosines of unrelated words are near 0 with one, and often above 0.5 with the other."""
    for each in (encoder, glove):
        musical = make("judge", "keyphrases:music", topic="", encoder=each)
        [reason] = musical(page("The guitar is here for the time of the government.")).reasons
        assert reason.startswith("'guitar' matches 'music'")


def test_an_encoder_that_knows_no_english_is_taken_as_in_the_document():
    assert judge()(page("The song and the noise.")).reasons == ("'song' matches 'music' (0.80)",)


@pytest.mark.parametrize(
    ("search", "text"),
    [
        ("volcano", "The volcanoes of the island."),
        ("classical concerts", "The classical concert."),
        ("berry", "On berries and on the tax."),
    ],
)
def test_forms_of_a_word_match_whatever_the_encoder(search, text):
    unknowing = Table(nothing=[1, 0, 0])
    verdict = judge((search,), unknowing)(page(text))
    assert verdict.reasons[0].endswith(f"matches '{search}' (1.00)")


def test_stems_are_those_of_the_language_of_the_page():
    german = "Die Häuser und die Autos in der Stadt sind nicht von der Firma, aber das ist es."
    verdict = judge(("Haus",), Table(nothing=[1, 0, 0]))(page(german))
    assert verdict.reasons == ("'häuser' matches 'Haus' (1.00)",)


def test_a_phrase_with_all_words_of_a_search_matches():
    searches = Searches(["music"], WORDS, Above(0.9))
    relevance, [match] = searches.relevance(["tax music tax", "tax"])
    assert (relevance, match.phrase) == (0.25, "tax music tax")


def test_all_matches_are_named_with_every_search_they_match():
    """Section 7.3.3 lists each keyword with each search that it is similar to."""
    verdict = judge(("music", "song"), low=0.55)(page("The song, the noise and the music."))
    pairs = [reason.rpartition(" (")[0] for reason in verdict.reasons]
    assert sorted(pairs) == [
        "'music' matches 'music'",
        "'music' matches 'song'",
        "'noise' matches 'music'",
        "'noise' matches 'song'",
        "'song' matches 'music'",
        "'song' matches 'song'",
    ]
    many = judge(low=0.55)(page(". ".join(f"music {chr(97 + n)}zz" for n in range(20))))
    assert len(many.reasons) == 20


def test_a_match_reads_like_a_sentence():
    assert str(Match("rock", "geology", 0.714)) == "'rock' matches 'geology' (0.71)"


def test_the_topic_alone_is_searched_for_when_nothing_else_is(encoder):
    alone = make("judge", "keyphrases", topic="geology", encoder=encoder)
    verdict = alone(page("On geology and ships."))
    assert verdict.reasons == ("'geology' matches 'geology' (1.00)",)


def test_searches_can_be_named_in_the_spec(encoder):
    both = make("judge", "keyphrases:classical music|opera", topic="x", encoder=encoder)
    reasons = both(page("The opera and the classical music.")).reasons
    assert {reason for reason in reasons if "(1.00)" in reason} == {
        "'classical music' matches 'classical music' (1.00)",
        "'opera' matches 'opera' (1.00)",
    }


def test_impossible_bounds_and_empty_searches_are_refused():
    with pytest.raises(HoneyguideError, match="below high"):
        judge(low=0.8, high=0.6)
    with pytest.raises(HoneyguideError, match="no word to look for"):
        judge(search=("", " ... "))


HTML = b"""<title>Music shop</title><nav><a href=/1>music</a> <a href=/2>music news</a></nav>
<p>The tax.</p><footer>music since 1990</footer>"""


def test_title_navigation_and_footer_do_not_count():
    found = parse(HTML, "http://x.example/").page
    assert found.text.strip() == "The tax."
    assert len(found.links) == 2, "links of the navigation are links"
    assert judge()(found).relevance == 0
