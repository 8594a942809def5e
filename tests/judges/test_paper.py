import pytest

from honeyguide.contracts import Page
from honeyguide.errors import HoneyguideError
from honeyguide.registry import make

ROCKS = "Granite and basalt are rocks that form when magma cools; erosion turns them to sand."
SONGS = "The band recorded an album of songs with guitar, drums and a famous singer."


def judged(encoder, text, spec="word_and_cosine", topic="rocks"):
    return make("judge", spec, topic=topic, encoder=encoder)(Page("http://x.example/", "", text))


def test_one_word_of_the_topic_makes_a_page_relevant_however_far_its_meaning(encoder):
    verdict = judged(encoder, SONGS + " It rocks.")
    assert verdict.relevant and verdict.reasons == ("contains 'rocks' once",)
    assert judged(encoder, SONGS, topic="geology singer").relevant


def test_meaning_alone_makes_relevance_but_no_relevant_page(encoder):
    close, far = judged(encoder, ROCKS, topic="stone"), judged(encoder, SONGS, topic="stone")
    assert not close.relevant and close.relevance > far.relevance
    assert judged(encoder, "").relevance == 0


def test_words_inside_words_count_only_when_asked_for(encoder):
    assert not judged(encoder, "bedrocks").relevant
    assert judged(encoder, "bedrocks", "word_and_cosine:substring=yes").relevant


def test_a_topic_without_words_is_refused(encoder):
    with pytest.raises(HoneyguideError, match="has no word in it"):
        judged(encoder, ROCKS, topic="!")
