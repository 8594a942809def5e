"""The structure of pages as numbers."""

import numpy as np
import pytest

from honeyguide.contracts import Page
from honeyguide.source_finder.structure import STRUCTURE, structure

RECORDS = "".join(
    f"<li><h3><a href='/e/{day}'>Talk {day}</a></h3><time datetime='2026-05-{day:02}'>{day} May "
    f"2026, 19:00</time><p>Town Hall</p></li>"
    for day in range(1, 9)
)
LIST = f"<title>Events - Museum</title><h1>Events</h1><ul>{RECORDS}</ul>"
MONTH = "".join(f"<td>{day}</td>" for day in range(1, 32))


def signs(html, url="http://a.example/events/"):
    row = structure(Page(url, "", html=html.encode()))
    assert row.shape == (len(STRUCTURE),)
    assert np.isfinite(row).all()
    return dict(zip(STRUCTURE, row.tolist(), strict=True))


def test_dated_records_with_times_and_places_are_seen():
    found = signs(LIST)
    assert found["heading events"] == found["address events"] == 1
    assert found["share of dated records"] == 1
    assert found["different days"] == found["records with a time"] == 1
    assert found["records with a place"] == found["records with links"] == 1
    assert found["time tags"] > 2


@pytest.mark.parametrize(
    ("html", "sign"),
    [
        ('<script type="application/ld+json">{"@type": "MusicEvent"}</script>', "json events"),
        ("<div itemscope itemtype='https://schema.org/Event'>x</div>", "event items"),
        ("<a href='/calendar.ics'>Subscribe</a>", "calendar links"),
        ("<iframe src='https://calendar.google.com/calendar/embed'></iframe>", "calendar frames"),
        (f"<table><tr>{MONTH}</tr></table>", "calendar table"),
        ("<link rel='alternate' type='application/rss+xml' href='/feed'>", "feeds"),
        ("<p>Aucun événement à venir.</p>", "nothing planned"),
        ("<h2>May 2026</h2><p>x</p>", "months as headings"),
    ],
)
def test_what_marks_a_calendar_is_seen(html, sign):
    assert signs(html)[sign] > 0
    assert signs("<p>Nothing of the kind</p>")[sign] == 0


def test_a_page_below_a_list_is_told_from_the_list():
    assert signs(LIST, "http://a.example/events/spring-fair")["below a list"] == 1
    assert signs(LIST)["below a list"] == 0


@pytest.mark.parametrize("html", ["", "<<<>>>", "<p>", "\x00", "<table><tr><td>1"])
def test_broken_pages_have_a_structure_too(html):
    signs(html)


def test_a_page_without_html_is_read_by_its_text():
    row = structure(Page("http://a.example/", "Events", "4 May 2026 talk\n5 May 2026 walk"))
    assert dict(zip(STRUCTURE, row.tolist(), strict=True))["dates"] > 1
