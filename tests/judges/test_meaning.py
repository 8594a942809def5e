import pytest

from honeyguide.contracts import Page
from honeyguide.encoders.wordllama import WordLlamaEncoder
from honeyguide.errors import HoneyguideError
from honeyguide.judges.embedding import Embedding
from honeyguide.judges.like import Like, read_examples
from honeyguide.judges.tfidf import Tfidf
from honeyguide.registry import make

ENCODER = WordLlamaEncoder()
ROCKS = "Granite and basalt are rocks that form when magma cools; erosion turns them to sand."
STONES = "Limestone is a sedimentary rock of shells, and marble forms from it under pressure."
LAVA = "The volcano threw out lava and ash, which harden into rock and mineral layers."
SONGS = "The band recorded an album of songs with guitar, drums and a famous singer."


def page(text, title=""):
    return Page("http://x.example/", title, text)


def test_embedding_tells_what_means_the_same():
    judge = make("judge", "embedding", topic="rocks", encoder=ENCODER)
    assert judge(page(ROCKS)).relevant
    assert "means something close to 'rocks'" in judge(page(ROCKS)).reasons[0]
    assert not judge(page(SONGS)).relevant
    assert judge(page("")).relevance == 0


def test_embedding_takes_a_threshold():
    assert not make("judge", "embedding:0.9", topic="rocks", encoder=ENCODER)(page(ROCKS)).relevant


def test_embedding_reads_only_the_beginning():
    judge = Embedding("geology", ENCODER, length=len(SONGS))
    assert judge(page(SONGS + ROCKS * 10)) == judge(page(SONGS + STONES))


def test_like_finds_pages_like_the_examples():
    judge = Like(ENCODER, [ROCKS, STONES])
    assert judge(page(LAVA)).relevance > judge(page(SONGS)).relevance
    assert judge(page(ROCKS)).relevant and not judge(page(SONGS)).relevant
    assert judge(page(ROCKS)).reasons[0].startswith("is like the example pages")


def test_a_topic_and_examples_judge_together():
    texts = [SONGS]
    both = make("judge", "topic_and_like", topic="geology", examples=texts, encoder=ENCODER)
    alone = make("judge", "topic", topic="geology", encoder=ENCODER)
    assert both(page(SONGS)).relevance > alone(page(SONGS)).relevance
    assert any("is like the example pages" in reason for reason in both(page(SONGS)).reasons)
    assert both(page(ROCKS)).relevance > both(page("The cat sat on the mat.")).relevance


def test_like_is_stricter_when_the_examples_are_more_alike():
    alike, apart = Like(ENCODER, [ROCKS, ROCKS]), Like(ENCODER, [ROCKS, SONGS])
    assert alike.threshold > apart.threshold


def test_examples_are_read_from_text_and_html_files(tmp_path):
    text, html = tmp_path / "a.txt", tmp_path / "b.html"
    text.write_text(ROCKS, encoding="utf-8")
    html.write_text(f"<html><script>let song</script><p>{STONES}</p></html>", encoding="utf-8")
    texts = read_examples([text, html])
    assert texts[0] == ROCKS
    assert STONES in texts[1] and "song" not in texts[1] and "<" not in texts[1]
    assert make("judge", f"like:{text},{html}", encoder=ENCODER)(page(ROCKS)).relevant


def test_examples_that_cannot_be_used_are_named(tmp_path):
    empty = tmp_path / "empty.txt"
    empty.write_text(" ")
    with pytest.raises(HoneyguideError, match=r"empty\.txt has no text"):
        read_examples([empty])
    with pytest.raises(HoneyguideError, match=r"cannot read the example page .*nowhere"):
        read_examples([tmp_path / "nowhere"])
    with pytest.raises(HoneyguideError, match="no example page"):
        Like(ENCODER, ["地質学"])


def test_tfidf_is_the_cosine_of_weighted_words():
    # topic (1, 0), page (1 + log2 2, 1) without idf
    verdict = Tfidf("rock")(page("rock and rock on sand"))
    assert verdict.relevance == pytest.approx(2 / 5**0.5)
    assert verdict.relevant
    assert verdict.reasons == ("contains 'rock' twice",)


def test_tfidf_is_irrelevant_at_zero():
    assert not Tfidf("rock")(page("sand")).relevant
    assert Tfidf("rock")(page("rock " + SONGS)).relevant


def test_a_sample_makes_frequent_words_count_less():
    sample = ["rock band", "rock star", "rock opera"]
    plain, fitted = Tfidf("rock opera"), Tfidf("rock opera", sample=sample)
    both = page("rock"), page("opera")
    assert plain(both[0]).relevance == pytest.approx(plain(both[1]).relevance)
    assert fitted(both[0]).relevance < fitted(both[1]).relevance


def test_a_topic_of_nothing_but_stop_words_is_refused():
    with pytest.raises(HoneyguideError, match="has no word to look for"):
        Tfidf("the of")
