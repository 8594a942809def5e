import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from honeyguide import assemble
from honeyguide.contracts import Page
from honeyguide.encoders.wordllama import WordLlamaEncoder
from honeyguide.engine.decisions import calibrated
from honeyguide.errors import HoneyguideError
from honeyguide.judges.closeness import scale_of
from honeyguide.judges.topic import Topic, check_topic
from honeyguide.plan import Plan
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
        assert "has no word in it" in str(error) or "say what it is about" in str(error)
        return
    verdict = judge(Page("http://x.example/", topic, text))
    assert 0 <= verdict.relevance <= 1


VOLCANOES = {
    "Vulkane": (
        "Vulkane sind Berge, aus denen Lava austritt. Beim Ausbruch schleudern Vulkane Asche.",
        "Der Zug hielt am Bahnhof, und die Fahrgäste stiegen aus.",
    ),
    "volcans": (
        "Les volcans sont des montagnes d'où sort la lave. Les volcans font des cendres.",
        "Le train s'arrêta à la gare et les voyageurs descendirent.",
    ),
    "volcanes": (
        "Los volcanes son montañas de las que sale lava. Los volcanes lanzan ceniza.",
        "El tren paró en la estación y los viajeros bajaron.",
    ),
    "火山": ("火山是岩浆喷出地表形成的山。火山喷发时会喷出火山灰。", "火车停在车站，乘客下车。"),
    "噴火": ("火山の噴火は火山灰を出す。噴火は突然である。", "列車は駅に止まった。"),
    "براكين": ("براكين العالم جبال تخرج منها الحمم. ثوران براكين.", "توقف القطار في المحطة."),
}


@pytest.mark.parametrize("topic", VOLCANOES)
def test_topics_in_other_languages_are_judged(topic):
    about, other = VOLCANOES[topic]
    assert judged(topic, about).relevant
    assert not judged(topic, other).relevant


@pytest.mark.parametrize("title", ["Birds", "Bird, birds and more birds"])
@pytest.mark.parametrize("text", ["", " \n", "Page not found", "Click here to continue"])
def test_a_title_alone_makes_no_page_relevant(title, text):
    assert not judged("birds", text, title).relevant
    assert not judged("birds", text, title, encoder=Nothing()).relevant


def test_words_in_one_passage_are_named_together():
    near = judged("naval battle", "The naval battle was lost. " + TRAINS * 20)
    apart = judged("naval battle", "The naval yard. " + TRAINS * 20 + " The battle was lost.")
    assert near.reasons[0] == "contains 'naval' once and 'battle' once, together in one passage"
    assert apart.reasons[0] == "contains 'naval' once and 'battle' once"
    assert near.relevance > apart.relevance


def test_a_page_on_the_broader_topic_is_less_relevant_than_one_on_the_narrower():
    disco = "Disco music is dance music of the seventies; the band and its singer play music. "
    verdi = "Verdi was a composer of classical music who composed operas for the orchestra. "
    judge = Topic("classical music composers", ENCODER)
    broad, narrow = (judge(Page("http://x.example/", "", text * 8)) for text in (disco, verdi))
    assert narrow.relevant
    assert narrow.relevance > broad.relevance + 0.2


@pytest.mark.parametrize("topic", ["the of and", "and", "of the"])
def test_a_topic_of_stop_words_is_refused_in_one_sentence(topic):
    with pytest.raises(HoneyguideError, match="has only words that every page has"):
        Topic(topic, ENCODER)


def test_a_topic_that_is_judged_by_words_alone_says_so():
    assert "only words are compared" in Topic("火山", Nothing()).notice
    assert Topic("birds", ENCODER).notice == ""


def some_pages(on, off, seed=0):
    """Pages on birds and on trains, each with its own words."""
    rng = np.random.default_rng(seed)
    names = [f"{word}{n}" for word in ("alpha", "beta", "gamma") for n in range(40)]
    texts = [f"Birds. {BIRDS * 2}"] * on + [TRAINS * 3] * off
    return [
        Page(f"http://x.example/{n}", "", f"{' '.join(rng.choice(names, 5))}. {text}")
        for n, text in enumerate(texts)
    ]


def decided(pages, topic="birds"):
    judge = Topic(topic, ENCODER)
    return calibrated(judge.calibration(), [judge(page) for page in pages])


@pytest.mark.parametrize(("on", "off"), [(2, 98), (20, 80), (50, 50), (80, 20), (98, 2)])
def test_the_same_pages_are_relevant_whatever_their_share(on, off):
    verdicts = decided(some_pages(on, off))
    assert [verdict.relevant for verdict in verdicts] == [True] * on + [False] * off


@pytest.mark.parametrize(("on", "off"), [(100, 0), (0, 100), (320, 0), (0, 320)])
def test_nothing_drifts_when_all_pages_are_relevant_or_none(on, off):
    assert all(verdict.relevant == bool(on) for verdict in decided(some_pages(on, off)))


def test_the_order_of_pages_does_not_matter():
    pages = some_pages(30, 60)
    there, back = decided(pages), decided(pages[::-1])[::-1]
    for one, other in zip(there, back, strict=True):
        assert one.relevance == pytest.approx(other.relevance, abs=1e-4)


def test_words_of_sure_pages_speak_for_others():
    sure = "Birds: the kestrel, a raptor, hunts voles. Birds of prey such as a kestrel nest here. "
    pages = [
        *(Page(f"http://x.example/{n}", "Birds", f"{sure} {n} {BIRDS}") for n in range(20)),
        *some_pages(0, 60),
    ]
    judge = Topic("birds", ENCODER)
    measured = np.array([judge(page).measures for page in pages], np.float32)
    calibration = judge.calibration()
    calibration.fit(measured)
    like = judge(Page("http://x.example/a", "", "The kestrel is a raptor that hunts voles."))
    unlike = judge(Page("http://x.example/b", "", "The engine is a machine that pulls cars."))
    fitted, _ = calibration.decide(np.array([like.measures, unlike.measures], np.float32))
    assert fitted[0] - fitted[1] > like.relevance - unlike.relevance


@pytest.mark.parametrize("judge", ["topic"])
def test_measures_are_small_enough_to_be_kept_with_each_visit(judge):
    verdict = make("judge", judge, topic="birds of prey", encoder=ENCODER)(
        Page("http://x/", "", BIRDS)
    )
    assert 9 * len(verdict.measures) < 1000  # bytes: nine for each number


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


def test_a_topic_that_only_words_can_find_is_told_once(caplog):
    assemble._tell_once.cache_clear()
    plan = Plan(topic="パン", seeds=("http://localhost/",))
    for _ in range(2):
        assemble.judge_of(plan)
    told = [record.getMessage() for record in caplog.records]
    assert told == ["the encoder knows no word of the topic 'パン': only words are compared"]
