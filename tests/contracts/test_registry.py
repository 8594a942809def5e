"""What every registered part promises, and the registry itself."""

import pytest

from honeyguide.contracts import Page
from honeyguide.errors import HoneyguideError
from honeyguide.registry import FAMILIES, make, part, parts

ALL = [(kind, name) for kind in FAMILIES for name in parts(kind)]


@pytest.mark.parametrize(("kind", "name"), ALL)
def test_every_part_says_in_one_sentence_what_it_does(kind, name):
    summary = parts(kind)[name].summary
    assert summary.endswith(".")
    assert len(summary) < 110


def test_a_wrong_name_gets_the_nearest_one():
    with pytest.raises(HoneyguideError, match="did you mean 'best_first'"):
        make("agent", "bestfirst")


def test_a_wrong_setting_gets_the_nearest_one():
    with pytest.raises(HoneyguideError, match="did you mean 'delay'"):
        make("frontier", "best_first:delai=2", width=1, rng=None)


def test_a_setting_of_the_wrong_type_is_said():
    with pytest.raises(HoneyguideError, match="delay must be a number, not 'soon'"):
        make("frontier", "best_first:delay=soon", width=1, rng=None)
    with pytest.raises(HoneyguideError, match="pages must be a whole number, not 'many'"):
        make("world", "synthetic:many", judge=None)


def test_a_setting_that_may_be_none_is_converted_or_refused_like_any_other():
    with pytest.raises(HoneyguideError, match="threshold must be a number, not 'abc'"):
        make("judge", "embedding:abc", topic="birds", encoder=None)


@pytest.mark.parametrize("spec", ["synthetic:foo=1", "synthetic:pages=200,foo=1"])
def test_an_unknown_setting_is_not_taken_for_a_bare_number(spec):
    with pytest.raises(HoneyguideError, match="no setting of world 'synthetic' named 'foo'"):
        make("world", spec, judge=None)


def test_a_bare_text_may_have_an_equals_sign():
    judge = make("judge", "label:a=b")
    assert judge(Page("http://x.example/", labels=("a=b",))).relevant


def test_settings_are_converted_and_bare_values_go_where_the_part_wants_them():
    assert make("frontier", "best_first:patience=2.5", width=1, rng=None).patience == 2.5
    judge = make("judge", "label:geology")
    assert judge(Page("http://x.example/", labels=("topic:geology",))).relevant


def test_a_part_that_lacks_something_says_what():
    with pytest.raises(HoneyguideError, match="'best_first' needs goal"):
        make("agent", "best_first")


def test_a_part_of_an_unknown_kind_is_refused_where_it_is_registered():
    with pytest.raises(HoneyguideError, match=r"no kind of part named 'agnet'.*'agent'"):
        part("agnet", "mine")
