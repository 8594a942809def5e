"""A judge learns from few answers, exactly and whatever their order."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from honeyguide.contracts import Page
from honeyguide.errors import HoneyguideError
from honeyguide.registry import make
from honeyguide.text.telling_passage import passages_of, telling_passage
from honeyguide.training.teaching import (
    Lessons,
    ReadPages,
    next_question,
    probabilities,
    remarks,
    sureness,
    teach,
)
from honeyguide.web.judge_spec import JudgeSpec

BOATS = "harbour sail anchor mast crew voyage deck keel tide captain".split()
ROCKS = "granite quartz lava strata fossil basalt mineral crystal magma slate".split()
BREAD = "flour yeast oven dough crust butter knead loaf bakery recipe".split()


def pages_about(words, name, count=20):
    rng = np.random.default_rng(len(name))
    return [
        Page(
            f"http://{name}.example/{n}", f"{name} {n}", f"The {' '.join(rng.permutation(words))}."
        )
        for n in range(count)
    ]


PAGES = [*pages_about(BOATS, "boats"), *pages_about(ROCKS, "rocks"), *pages_about(BREAD, "bread")]
TRUTH = [page.url.startswith("http://rocks") for page in PAGES]
BASE = JudgeSpec("topic", "wordllama", {"topic": "museum"})  # a topic that says nothing of them


@pytest.fixture(scope="module")
def lessons(encoder):
    return Lessons(ReadPages(PAGES, encoder), BASE)


def asked(lessons, count):
    answers = {}
    for _ in range(count):
        number = next_question(lessons, answers)
        answers[number] = TRUTH[number]
    return answers


def test_a_few_answers_teach_what_the_topic_does_not_say(lessons):
    before = probabilities(lessons, {}) >= 0.5
    after = probabilities(lessons, asked(lessons, 12)) >= 0.5
    assert (before == TRUTH).mean() < 0.8
    assert (after == TRUTH).mean() > 0.95


def test_the_judge_of_the_file_decides_as_the_lessons_do(lessons, encoder, tmp_path):
    answers = asked(lessons, 10)
    teach(lessons, answers).save(tmp_path / "model")
    judge = make("judge", f"taught:{tmp_path / 'model'}", encoder=encoder)
    found = [judge(page).relevance for page in PAGES]
    np.testing.assert_allclose(found, probabilities(lessons, answers), atol=1e-4)


def test_without_answers_it_decides_as_the_base_does(lessons, encoder, tmp_path):
    teach(lessons, {}).save(tmp_path / "model")
    judge, base = (
        make("judge", f"taught:{tmp_path / 'model'}", encoder=encoder),
        BASE.make(encoder),
    )
    assert [judge(page).relevant for page in PAGES] == [base(page).relevant for page in PAGES]


@given(st.permutations(range(12)))
@settings(max_examples=10)
def test_the_order_of_answers_does_not_matter(lessons, order):
    answers = asked(lessons, 12)
    other = {list(answers)[n]: answers[list(answers)[n]] for n in order}
    np.testing.assert_array_equal(lessons.logits(answers), lessons.logits(other))
    one, two = teach(lessons, answers), teach(lessons, other)
    np.testing.assert_array_equal(one.words, two.words)
    assert (one.bias, one.slope, one.answers) == (two.bias, two.slope, two.answers)


def test_no_page_is_asked_about_twice_and_skipped_ones_never(lessons):
    answers = asked(lessons, len(PAGES) - 1)
    assert len(answers) == len(PAGES) - 1
    [last] = set(range(len(PAGES))) - set(answers)
    assert next_question(lessons, answers) == last
    assert next_question(lessons, answers, skipped=[last]) is None


def test_after_many_answers_of_no_the_likeliest_page_is_asked_about(lessons):
    answers = {}
    for _ in range(8):
        answers[next_question(lessons, answers)] = False
    likely = probabilities(lessons, answers)
    assert likely[next_question(lessons, answers)] == likely[[*set(range(60)) - set(answers)]].max()


def test_a_page_without_a_word_is_neither_asked_about_nor_relevant(encoder):
    pages = [*PAGES[:5], Page("http://empty.example/")]
    lessons = Lessons(ReadPages(pages, encoder), BASE)
    answers = {}
    while (number := next_question(lessons, answers)) is not None:
        answers[number] = True
    assert 5 not in answers
    assert probabilities(lessons, answers)[5] == 0.0


def test_it_says_when_more_answers_change_little(lessons):
    assert not sureness(lessons, asked(lessons, 3)).is_enough
    enough = sureness(lessons, asked(lessons, 40))
    assert enough.is_enough
    assert "More answers will change little" in str(enough)
    assert enough.relevant == 20


def test_answers_that_are_all_the_same_are_remarked_on(lessons):
    assert list(remarks(lessons, dict.fromkeys(range(12), True))) == [
        "all answers are yes: the judge learns little before the first no"
    ]
    assert not list(remarks(lessons, asked(lessons, 12)))


def test_answers_that_contradict_one_another_are_named_and_kept(encoder):
    pages = [*PAGES, Page("http://copy.example/", "a copy", PAGES[0].text)]
    lessons = Lessons(ReadPages(pages, encoder), BASE)
    answers = {0: True, len(pages) - 1: False}
    [sentence] = remarks(lessons, answers)
    assert "http://boats.example/0 and http://copy.example/ have the same text" in sentence
    assert teach(lessons, answers).answers == {
        "http://boats.example/0": True,
        "http://copy.example/": False,
    }


@pytest.mark.parametrize("judge", ["label:geology", "label_and_cosine:x", "classifier:x"])
def test_a_judge_that_cannot_be_taught_is_refused(judge, lessons):
    with pytest.raises(HoneyguideError, match=r"cannot be taught: .* --judge topic"):
        Lessons(lessons.read, JudgeSpec(judge))


@pytest.mark.parametrize("judge", ["keywords", "embedding", "tfidf", "word_and_cosine"])
def test_other_judges_of_a_topic_can_be_taught(judge, lessons):
    taught = Lessons(lessons.read, JudgeSpec(judge, told={"topic": "harbour"}))
    assert (probabilities(taught, asked(lessons, 15)) >= 0.5)[20:40].mean() > 0.9


def test_the_telling_passage_is_the_one_on_the_topic(encoder):
    text = "We sell tickets. " * 30 + "Granite and basalt are rocks of geology. " + "Buy now! " * 30
    page = Page("http://a.example/", "Shop", text)
    assert "Granite and basalt" in telling_passage(page, "geology", encoder)
    assert telling_passage(Page("http://b.example/"), "geology", encoder) == ""


@given(st.text(max_size=2000))
def test_passages_have_all_words_of_a_short_text(text):
    assert "".join("".join(passages_of(text)).split()) == "".join(text.split())
