import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from honeyguide.contracts import Page
from honeyguide.errors import HoneyguideError
from honeyguide.registry import make
from honeyguide.text.words import Term, fold, forms, words


def judged(spec, text, title="", **offers):
    return make("judge", spec, **offers)(Page("http://x.example/", title, text))


def test_whole_words_are_found_case_aside_in_title_and_text():
    verdict = judged("keywords", "GEOLOGY and geology.", "Geology", topic="geology")
    assert verdict.relevant
    assert verdict.reasons == ("contains 'geology' 3 times",)


def test_parts_of_words_count_only_as_substrings():
    assert not judged("keywords:art", "the start of a party").relevant
    assert judged("keywords:words=art,substring=yes", "the start of a party").relevant


@pytest.mark.parametrize("text", ["éart", "artя", "x_1art2", "部art1"])
def test_letters_of_any_script_belong_to_a_word(text):
    assert not judged("keywords:art", text).relevant


@pytest.mark.parametrize("text", ["“art”", "art—", "l'art", "art_deco", "\ud800art\udfff", "«art»"])
def test_signs_of_any_script_end_a_word(text):
    assert judged("keywords:art", text).relevant


def test_all_words_of_a_topic_must_be_there():
    assert judged("keywords", "weather and its change: climate", topic="climate change").relevant
    assert not judged("keywords", "the climate here", topic="climate change").relevant
    assert judged("keywords:any_word=yes", "the climate here", topic="climate change").relevant


def test_commas_set_alternatives_apart():
    judge = make("judge", "keywords:rock music,opera")
    assert judge(Page("http://x.example/", text="an opera")).relevant
    assert judge(Page("http://x.example/", text="music of rock bands")).relevant
    assert not judge(Page("http://x.example/", text="a rock")).relevant


def test_words_override_the_topic():
    assert judged("keywords:opera", "opera", topic="geology").relevant


def test_more_mentions_are_more_relevant():
    one, many = judged("keywords:rock", "rock"), judged("keywords:rock", "rock " * 50)
    assert 0.5 <= one.relevance < many.relevance < 1


@pytest.mark.parametrize("topic", ["ГЕОЛОГИЯ", "地質学", "지질학", "Geología", "γεωλογία"])
def test_topics_of_any_script_are_found(topic):
    assert judged("keywords", f"a {topic.lower()} b", topic=topic).relevant
    assert not judged("keywords", "nothing of the kind", topic=topic).relevant


def test_scripts_without_spaces_are_searched_inside():
    assert judged("keywords:地質学", "これは地質学の本です").relevant
    assert judged("keywords:지질", "지질학의 역사").relevant


@pytest.mark.parametrize("topic", ["", " ,", "?!"])
def test_a_topic_without_words_is_refused(topic):
    with pytest.raises(HoneyguideError, match="no words to look for"):
        make("judge", "keywords", topic=topic)


@given(st.text(alphabet=" aAbé_-“\ud800", max_size=60), st.sampled_from(["a", "ab", "é", "aé"]))
@example("A\ud800A", "a")
def test_counts_are_those_of_splitting_into_words(text, word):
    assert Term(word).count(fold(text, word)) == words(text).count(word)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("birds", {"birds", "bird"}),
        ("country", {"country", "countries"}),
        ("boxes", {"boxes", "box"}),
        ("glass", {"glass", "glasses"}),
        ("day", {"day", "days"}),
    ],
)
def test_forms_are_singular_and_plural(word, expected):
    assert set(forms(word)) == expected


def test_news_is_not_new():
    assert "new" not in forms("news") and "physic" not in forms("physics")
