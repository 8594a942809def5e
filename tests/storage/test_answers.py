"""Answers of people are kept in the crawl folder, and read from files that people write."""

from hypothesis import given
from hypothesis import strategies as st

from honeyguide.storage.answers import FILE, answers_in, read_answers, read_lines, write_answers


def test_later_answers_replace_earlier_ones(tmp_path):
    write_answers(tmp_path, {"http://a.example/": True, "http://b.example/": False})
    write_answers(tmp_path, {"http://a.example/": False, "http://c.example/é": True})
    expected = {"http://a.example/": False, "http://b.example/": False, "http://c.example/é": True}
    assert read_answers(tmp_path) == expected


def test_an_answer_that_was_withdrawn_is_gone(tmp_path):
    write_answers(tmp_path, {"http://a.example/": True})
    write_answers(tmp_path, {"http://a.example/": None})
    assert read_answers(tmp_path) == {}


def test_a_crawl_without_answers_has_none(tmp_path):
    assert read_answers(tmp_path) == {}


def test_damaged_lines_are_named_by_their_number_and_the_others_are_used(tmp_path):
    (tmp_path / FILE).write_text(
        '{"url": "http://a.example/", "relevant": true}\n'
        "\n"
        '{"url": "http://b.exam\n'
        '{"url": "http://c.example/", "relevant": "yes"}\n'
        '["http://d.example/", true]\n'
        '{"url": "http://e.example/", "relevant": false}\n'
    )
    lines = list(read_lines(tmp_path / FILE))
    assert [line.number for line in lines if line.wrong] == [3, 4, 5]
    assert read_answers(tmp_path) == {"http://a.example/": True, "http://e.example/": False}


@given(st.binary(max_size=200))
def test_no_file_of_answers_can_raise(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("answers") / FILE
    path.write_bytes(data)
    assert isinstance(answers_in(line for line in read_lines(path) if not line.wrong), dict)


def test_a_line_that_a_kill_cut_off_does_not_spoil_the_next(tmp_path):
    (tmp_path / FILE).write_bytes(b'{"url": "http://a.example/", "relevant": true}\n{"url": "htt')
    write_answers(tmp_path, {"http://b.example/": True})
    assert read_answers(tmp_path) == {"http://a.example/": True, "http://b.example/": True}
