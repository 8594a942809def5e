import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from honeyguide.guards.copies import FEW_WORDS, LANES, LONGEST, Fingerprints, fingerprint

WORDS = [f"{a}{b}{c}" for a in "bdfgklmn" for b in ("a", "ei", "o") for c in "rstvwxz"]


def text(words, seed):
    return " ".join(random.Random(seed).choices(WORDS, k=words))


def edited(original, changes, seed=0):
    words, dice = original.split(), random.Random(seed)
    for place in dice.sample(range(len(words)), changes):
        words[place] = "changed"
    return " ".join(words)


def seen(*texts, **settings):
    known = Fingerprints(**settings)
    for page, each in enumerate(texts):
        known.add(fingerprint(each), page, page)
    return known


@given(st.text(st.characters(exclude_categories=())))
def test_every_text_has_one_fingerprint(any_text):
    mark = fingerprint(any_text)
    assert mark == fingerprint(any_text)
    assert len(mark) in (0, LANES)


@pytest.mark.parametrize("nothing", ["", "  \n", "!?...", "-- | --"])
def test_a_text_without_words_has_no_fingerprint(nothing):
    assert fingerprint(nothing) == b""


@pytest.mark.parametrize("length", [5, 50, 500])
def test_case_spaces_and_signs_make_no_difference(length):
    plain = text(length, 1)
    assert fingerprint(plain.upper().replace(" ", " \n-- ")) == fingerprint(plain)


def test_a_page_with_a_few_words_changed_is_found_again():
    originals = [text(400, seed) for seed in range(200)]
    known = seen(*originals)
    near = [known.find(fingerprint(edited(each, 5, seed=1))) for each in originals]
    assert sum(found is not None and found.page == page for page, found in enumerate(near)) >= 198


def test_a_page_of_which_a_third_changed_is_another():
    originals = [text(400, seed) for seed in range(200)]
    known = seen(*originals)
    near = [known.find(fingerprint(edited(each, 50, seed=1))) for each in originals]
    assert sum(found is not None for found in near) <= 2


def test_pages_of_the_same_words_in_another_order_are_others():
    known = seen(*(text(300, seed) for seed in range(1000)))
    assert all(known.find(fingerprint(text(300, 1000 + seed))) is None for seed in range(1000))


def test_a_short_text_is_only_a_duplicate_of_itself():
    short = text(FEW_WORDS - 1, 1)
    known = seen(short)
    assert known.find(fingerprint(short.title())).page == 0
    assert known.find(fingerprint(edited(short, 1))) is None


def test_a_chinese_page_with_a_few_signs_changed_is_found_again():
    dice = random.Random(3)
    signs = [chr(dice.randrange(0x4E00, 0x9FFF)) for _ in range(600)]
    known = seen("".join(signs))
    for place in (10, 200, 400):
        signs[place] = "蜂"
    assert known.find(fingerprint("".join(signs))).page == 0
    assert known.find(fingerprint("".join(reversed(signs)))) is None


def test_an_endless_text_costs_no_more_than_a_long_one():
    endless = text(100_000, 1)
    assert fingerprint(endless) == fingerprint(endless[:LONGEST])


def test_the_oldest_pages_are_forgotten_when_there_is_no_room():
    texts = [text(200, seed) for seed in range(25)]
    known = seen(*texts, capacity=10)
    assert len(known) == 10
    found = [known.find(fingerprint(each)) for each in texts]
    assert found[:15] == [None] * 15
    assert [near.page for near in found[15:]] == list(range(15, 25))


@pytest.mark.parametrize("before", [4, 10, 17])
def test_a_saved_memory_goes_on_as_the_other_does(before):
    texts = [text(200, seed) for seed in range(25)]
    whole = seen(*texts[:before], capacity=10)
    whole.repeat(whole.find(fingerprint(texts[before - 1])))
    loaded = Fingerprints(capacity=10)
    loaded.load(whole.state())
    for known in (whole, loaded):
        for page in range(before, 25):
            known.add(fingerprint(texts[page]), page, page)
            known.repeat(known.find(fingerprint(texts[page])))
    for each in texts:
        ours, theirs = whole.find(fingerprint(each)), loaded.find(fingerprint(each))
        assert (ours and ours[1:]) == (theirs and theirs[1:])
    ours, theirs = whole.state(), loaded.state()
    assert all(np.array_equal(ours[name], theirs[name]) for name in ours)


def test_a_site_that_repeats_part_of_its_text_cannot_make_the_search_long():
    template = text(150, 1)
    known = seen(*(f"{template} {text(150, seed)}" for seed in range(2, 1500)))
    assert len(known._candidates(fingerprint(f"{template} {text(150, 1)}"))) <= 600
