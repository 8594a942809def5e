import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from honeyguide.contracts import Page
from honeyguide.encoders.wordllama import WordLlamaEncoder
from honeyguide.errors import HoneyguideError
from honeyguide.judges.closeness import scale_of
from honeyguide.judges.topic import Topic, check_topic
from honeyguide.registry import make

ENCODER = WordLlamaEncoder()
BIRDS = (
    "The kestrel is a small falcon with pointed wings. It nests on cliffs, hovers over fields and "
    "feeds on mice; its feathers are brown and the female lays four eggs. "
)
TRAINS = (
    "The locomotive pulled twelve carriages from the station. The line was built by a company "
    "that later went bankrupt, and the rails were sold. "
)


def judged(topic, text, title="", encoder=ENCODER):
    return Topic(topic, encoder)(Page("http://x.example/", title, text))


class Nothing:
    """An encoder that knows no word."""

    width = 4

    def __call__(self, texts):
        return ENCODER(texts)[:, :4] * 0

    def knows(self, text):
        return False


def test_meaning_is_enough_without_the_word():
    verdict = judged("birds", BIRDS * 5)
    assert verdict.relevant
    assert verdict.reasons[0].startswith("means something close to 'birds' (0.")
    assert not judged("birds", TRAINS * 5).relevant


def test_a_passing_mention_is_not_enough():
    verdict = judged("birds", TRAINS * 20 + "Two birds sat on the roof.")
    assert not verdict.relevant
    assert verdict.reasons == ("contains 'birds' once",)


def test_words_and_meaning_add_up():
    without, with_words = judged("birds", BIRDS), judged("birds", "Birds: " + BIRDS, "A bird")
    assert without.relevance < with_words.relevance
    assert len(with_words.reasons) == 2


def test_a_topic_that_the_encoder_does_not_know_is_judged_by_its_words():
    assert judged("xqzt", "The xqzt and its use. " * 5).relevant
    assert not judged("xqzt", TRAINS * 40 + "xqzt").relevant
    assert judged("birds", "All about birds. " * 5, encoder=Nothing()).relevant
    assert not judged("birds", TRAINS, encoder=Nothing()).relevant


@pytest.mark.parametrize(
    ("topic", "page", "other"),
    [
        (
            "地質学",
            "地質学は地球を研究する学問である。地質学の歴史は長い。",
            "鉄道は駅から出発した。",
        ),
        ("جيولوجيا", "جيولوجيا الأرض علم جيولوجيا الصخور", "القطار في المحطة"),
        ("геология", "Геология изучает камни. Геология и горы.", "Поезд стоит на станции."),
    ],
)
def test_topics_in_other_scripts_are_judged(topic, page, other):
    assert judged(topic, page).relevant
    assert not judged(topic, other).relevant


def test_rare_words_of_a_topic_matter_as_much_as_frequent_ones():
    text = "The event handler handles the event of events. " * 20
    both = judged("pointer events", text.replace("handler", "pointer"))
    assert both.relevance > judged("pointer events", text).relevance + 0.1


@settings(max_examples=40, deadline=None)
@given(st.text(alphabet=st.characters(codec=None)), st.text(alphabet=st.characters(codec=None)))
def test_any_page_and_topic_can_be_judged(topic, text):
    try:
        judge = Topic(topic, ENCODER)
    except HoneyguideError as error:
        assert "has no word in it" in str(error)
        return
    verdict = judge(Page("http://x.example/", topic, text))
    assert 0 <= verdict.relevance <= 1


@pytest.mark.parametrize("topic", ["", "  ", "?!"])
def test_an_empty_topic_is_refused(topic):
    with pytest.raises(HoneyguideError, match="has no word in it"):
        Topic(topic, ENCODER)
    with pytest.raises(HoneyguideError, match="has no word in it"):
        check_topic(topic, ENCODER)


def test_a_topic_that_means_nothing_is_refused_where_meaning_is_needed():
    for needs_meaning in (check_topic, lambda t, e: make("judge", "embedding", topic=t, encoder=e)):
        with pytest.raises(HoneyguideError, match="'xqzt' has no word that the encoder knows"):
            needs_meaning("xqzt", ENCODER)
    check_topic("geology", ENCODER)


def test_closeness_is_measured_against_what_the_encoder_finds_unrelated():
    for encoder in (ENCODER, WordLlamaEncoder(64)):
        scale = scale_of(encoder)
        assert scale(scale.unrelated) == 0 and scale(scale.boundary) == pytest.approx(0.5)
        assert scale(-1) == 0 and scale(2) == 1
    assert scale_of(Nothing()).boundary > 0
