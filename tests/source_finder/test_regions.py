"""Lists of similar records on a page."""

import random
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from honeyguide.source_finder.regions import read_regions, within
from honeyguide.source_finder.tag_tree import read_tags

MENU = (
    "<nav><ul>"
    + "".join(f"<li><a href='/{n}'>{n}</a></li>" for n in ("a", "b", "c"))
    + "</ul></nav>"
)


def card(number, more=""):
    return (
        f"<article><h3><a href='/events/{number}'>Event {number}</a></h3>"
        f"<p><time>May {number}</time> <span>Town hall</span></p>{more}</article>"
    )


def page(body):
    return f"<html><head><title>What is on</title></head><body>{MENU}{body}</body></html>".encode()


def test_records_are_found_with_their_texts_and_links_the_largest_list_first():
    found = read_regions(
        page("<main>" + "".join(map(card, range(1, 7))) + "</main>"), "http://x.example/"
    )
    events, menu = found
    assert events.path == "html/body/main"
    assert [record.text for record in events.records][:2] == [
        "Event 1 May 1 Town hall",
        "Event 2 May 2 Town hall",
    ]
    assert events.records[0].links[0].url == "http://x.example/events/1"
    assert events.records[0].links[0].text == "Event 1"
    assert [record.text for record in menu.records] == ["a", "b", "c"]


def test_records_may_differ_a_little_but_not_much():
    few = [
        card(1),
        card(2, "<b>new</b>"),
        card(3),
        "<div><form><input><input></form></div>",
        card(4),
    ]
    events = read_regions(page("<main>" + "".join(few) + "</main>"))[0]
    assert len(events.records) == 3


def test_two_tags_in_turn_form_one_record():
    pairs = "".join(
        f"<dt><a href='/{n}'>Talk {n}</a></dt><dd><p>On <i>day {n}</i></p></dd>" for n in range(5)
    )
    events = read_regions(page(f"<dl>{pairs}</dl>"))[0]
    assert [record.text for record in events.records] == [f"Talk {n} On day {n}" for n in range(5)]


def test_cells_in_rows_are_records_but_a_table_row_is_one():
    cell = "<div><h3><a href='/{0}'>Card {0}</a></h3><p>text</p></div>"
    rows = "".join(f"<section>{cell.format(n)}{cell.format(n + 1)}</section>" for n in (1, 3, 5))
    assert len(read_regions(page(f"<main>{rows}</main>"))[0].records) == 6
    rows = "".join(f"<tr><td><b>{n}</b></td><td><b>name {n}</b></td></tr>" for n in range(4))
    table = read_regions(page(f"<table>{rows}</table>"))[0]
    assert table.records[0].text == "0 name 0"


def test_parts_of_a_page_that_look_alike_are_no_list_when_lists_are_in_them():
    column = (
        "<div><ul>"
        + "".join(f"<li><a href='/{n}'>Item {n}</a></li>" for n in range(6))
        + "</ul></div>"
    )
    found = read_regions(f"<body>{column}{column}</body>".encode())
    assert [len(region.records) for region in found] == [6, 6]


def test_the_middle_half_of_a_page_leaves_menu_and_footer_out():
    text = "".join(f"<p>middle {n}</p>" for n in range(20))
    tags = read_tags(page(f"{text}<footer><a href='/imprint'>Imprint</a></footer>"))
    assert tags.title == "What is on"
    assert "middle 10" in tags.middle()
    assert "Imprint" not in tags.middle()


@pytest.mark.parametrize("name", ["nested", "flat", "alike", "random"])
def test_hostile_pages_take_bounded_time(name):
    rng = random.Random(1)
    tags = "a b p div span i li td h1 em".split()
    inside = lambda: "".join(f"<{t}>x</{t}>" for t in rng.choices("pib", k=rng.randint(20, 30)))  # noqa: E731
    body = {
        "nested": "<div>" * 8_000,
        "flat": "<li><a>x</a></li>" * 6_000,
        "alike": "".join(f"<div>{inside()}</div>" for _ in range(400)),
        "random": "".join(f"<{rng.choice(('', '/'))}{rng.choice(tags)}>x" for _ in range(20_000)),
    }[name]
    begin = time.process_time()
    read_regions(body.encode())
    assert time.process_time() - begin < 5


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="<>/ab pdivulli=x\"'\n", max_size=400))
def test_any_page_gives_records_that_say_something(html):
    for region in read_regions(html.encode()):
        assert len(region.records) > 1
        assert all(record.text for record in region.records)


def distance(a, b):
    """Return the edit distance of two texts, computed without a band."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        above, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            above, row[j] = row[j], min(above + (x != y), row[j] + 1, row[j - 1] + 1)
    return row[len(b)]


@settings(max_examples=200, deadline=None)
@given(st.text("abc", max_size=12), st.text("abc", max_size=12), st.integers(0, 8))
def test_the_banded_distance_agrees_with_the_whole_one(a, b, allowed):
    if abs(len(a) - len(b)) <= allowed:
        assert within(a, b, allowed) == (distance(a, b) <= allowed)
