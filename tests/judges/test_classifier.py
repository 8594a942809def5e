"""The trained page classifier."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from honeyguide.contracts import Page
from honeyguide.disk.serialise import write_state
from honeyguide.errors import HoneyguideError
from honeyguide.judges.hashed_words import LONGEST, HashedWords
from honeyguide.judges.linear_model import LinearModel
from honeyguide.registry import make
from honeyguide.training.judge import train_judge
from honeyguide.training.quality import quality

from ..examples_of_pages import ROCKS, SHIPS, two_kinds, write


@pytest.fixture(scope="module")
def trained(encoder):
    return train_judge(*two_kinds(seed=0), encoder)


@pytest.fixture(scope="module")
def file(trained, tmp_path_factory):
    path = tmp_path_factory.mktemp("judges") / "rocks.judge"
    trained.model.save(path)
    return path


@pytest.fixture(scope="module")
def judge(file, encoder):
    return make("judge", f"classifier:{file}", encoder=encoder)


def page(text, title=""):
    return Page("http://any.example/", title, text)


def refusal(path, encoder):
    with pytest.raises(HoneyguideError) as caught:
        make("judge", f"classifier:{path}", encoder=encoder)
    return str(caught.value)


def test_pages_never_seen_are_told_apart(judge):
    positive, negative = two_kinds(seed=1)
    assert all(judge(page).relevant for page in positive)
    assert not any(judge(page).relevant for page in negative)


def test_the_words_that_decided_are_named(judge):
    verdict = judge(page("lava and basalt, by the old volcano"))
    assert verdict.relevant
    [reason] = verdict.reasons
    assert reason.endswith("speak for it")
    assert set(reason.replace("'", " ").replace(",", " ").split()) & set(ROCKS)
    assert judge(page("the ship in the harbour")).reasons == ()


def test_relevance_is_the_chance_of_being_relevant(encoder, tmp_path):
    hard = train_judge(*two_kinds(seed=2, positives=150, negatives=250, clear=0.03), encoder)
    hard.model.save(tmp_path / "hard")
    judge = make("judge", f"classifier:{tmp_path / 'hard'}", encoder=encoder)
    positive, negative = two_kinds(seed=3, positives=300, negatives=500, clear=0.03)
    relevance = np.array([judge(page).relevance for page in [*positive, *negative]])
    found = quality(relevance, np.arange(800) < 300)
    assert 0.75 < found.accuracy < 0.99  # hard enough for probabilities to matter
    assert found.calibration_error < 0.08
    assert abs(found.accuracy - hard.quality.accuracy) < 0.05


def test_a_threshold_can_ask_for_more_certainty(file, encoder, judge):
    strict = make("judge", f"classifier:file={file},threshold=0.9999", encoder=encoder)
    doubtful = page("lava ship basalt harbour rock sail volcano")
    assert strict(doubtful).relevance == judge(doubtful).relevance
    assert not strict(doubtful).relevant


def test_a_page_without_a_word_is_not_relevant_however_many_were(encoder, tmp_path):
    many, few = two_kinds(seed=4, positives=80, negatives=20)
    train_judge(many, few, encoder).model.save(tmp_path / "rocks")
    judge = make("judge", f"classifier:{tmp_path / 'rocks'}", encoder=encoder)
    assert judge(page("", "")).relevance == 0.0
    assert judge(page("zzzzqqq")).relevance > 0.5  # nothing known: as likely as any


@pytest.mark.parametrize(
    ("rocks", "ships"),
    [
        ("火山 岩石 矿物 地质 熔岩 化石", "船舶 港口 航行 水手 货物 船长"),
        ("вулкан порода минерал лава кварц гранит", "корабль гавань парус матрос груз порт"),
        ("ภูเขาไฟ หินปูน แร่ธาตุ ธรณีวิทยา ลาวา ฟอสซิล", "เรือใบ ท่าเรือ กะลาสี สินค้า กัปตัน สมอเรือ"),
        ("بركان صخور معادن حمم كوارتز جرانيت", "سفينة ميناء شراع بحار شحنة قبطان"),
        ("화산 암석 광물 지질학 용암 화석", "선박 항구 항해 선원 화물 선장"),
    ],
)
def test_it_learns_in_any_language(rocks, ships, encoder, tmp_path):
    rng = np.random.default_rng(0)
    glue = "" if rocks[0] in "火ภ" else " "

    def pages(words, count):
        return [page(glue.join(rng.choice(words.split(), 20))) for _ in range(count)]

    train_judge(pages(rocks, 30), pages(ships, 30), encoder).model.save(tmp_path / "judge")
    judge = make("judge", f"classifier:{tmp_path / 'judge'}", encoder=encoder)
    assert all(judge(page).relevant for page in pages(rocks, 10))
    assert not any(judge(page).relevant for page in pages(ships, 10))


def test_a_word_has_the_same_bucket_on_every_machine():
    bag = HashedWords(1 << 16)(page("Rock rock 岩石 lava"))
    buckets = dict(zip(bag.words, bag.buckets.tolist(), strict=True))
    assert buckets == {"rock": 48034, "岩": 7215, "石": 27604, "岩石": 38063, "lava": 47374}
    weights = dict(zip(bag.words, bag.weights.tolist(), strict=True))
    assert weights["rock"] == pytest.approx(1 + np.log(2))
    assert weights["lava"] == 1


def test_what_stands_far_down_a_page_costs_no_time():
    assert HashedWords(64)(page("rock " * LONGEST + "lava")).words == ["rock"]


def test_training_twice_makes_the_same_file(encoder, file, tmp_path):
    train_judge(*two_kinds(seed=0), encoder).model.save(tmp_path / "again")
    assert (tmp_path / "again").read_bytes() == file.read_bytes()


def test_a_file_that_is_something_else_gets_one_sentence(tmp_path, encoder):
    assert refusal(tmp_path / "none", encoder).startswith("cannot read the judge ")
    assert refusal(tmp_path, encoder).startswith("cannot read the judge ")
    other = tmp_path / "other"
    for data in (b"", b"hello\n", b"honeyguide state 1\n", np.arange(9).tobytes()):
        other.write_bytes(data)
        assert "no trained judge: make one with 'honeyguide train judge'" in refusal(other, encoder)
    with other.open("wb") as out:
        write_state(out, {"agent": {}, "frontier": {}})
    assert "no trained judge" in refusal(other, encoder)


def test_a_file_of_another_version_or_shape_is_not_used(trained, tmp_path, encoder):
    whole = {name: getattr(trained.model, name) for name in LinearModel.__slots__}
    whole |= {"kind": "honeyguide judge", "version": 1}
    wrong = (
        {"version": 2},
        {"idf": whole["idf"][:-1]},
        {"words": whole["words"].reshape(2, -1)},
        {"meaning": whole["meaning"][:-1]},
        {"bias": "low"},
        {"probe": None},
    )
    for change in wrong:
        with (tmp_path / "changed").open("wb") as out:
            write_state(out, whole | change)
        assert refusal(tmp_path / "changed", encoder).endswith("another version: train it again")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(place=st.floats(0, 1, exclude_max=True), cut=st.booleans())
def test_a_damaged_file_gets_one_sentence_wherever_the_damage_is(
    place, cut, file, encoder, tmp_path
):
    data = bytearray(file.read_bytes())
    at = int(place * len(data))
    if cut:
        del data[at:]
    else:
        data[at] ^= 0x55
    (tmp_path / "damaged").write_bytes(data)
    assert "is damaged or no trained judge" in refusal(tmp_path / "damaged", encoder)


def test_another_encoder_than_the_one_it_was_trained_with_is_refused(file):
    narrow = make("encoder", "wordllama:64")
    assert refusal(file, narrow).endswith("trained with another encoder: say --encoder wordllama")

    class Turned:
        width = 256

        def __call__(self, texts):
            return np.full((len(texts), 256), 1 / 16, np.float32)

    assert "another encoder" in refusal(file, Turned())


def test_one_strong_word_among_many_is_enough_to_be_named(judge):
    rng = np.random.default_rng(9)
    long = write(ROCKS, rng, clear=0.5, length=400)
    assert "'" in judge(long).reasons[0]
    assert not judge(write(SHIPS, rng, clear=0.5, length=400)).reasons
