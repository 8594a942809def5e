"""Dates and times inside texts of many languages."""

import pytest

from honeyguide.text.dates_in_text import dates_in, times_in, weekdays_in


def parts(text):
    return [(date.year, date.month, date.day) for date in dates_in(text)]


@pytest.mark.parametrize(
    ("text", "date"),
    [
        ("12 June 2024, 19:00", (2024, 6, 12)),
        ("Sat 3rd May", (0, 5, 3)),
        ("May 3, 2025", (2025, 5, 3)),
        ("am 3. März 2024 um 19 Uhr", (2024, 3, 3)),
        ("le 14 juillet 2023 à 20h30", (2023, 7, 14)),
        ("15 de agosto de 2022", (2022, 8, 15)),
        ("2024年5月3日（土）", (2024, 5, 3)),
        ("5월 3일", (0, 5, 3)),
        ("3.5.2024", (2024, 5, 3)),
        ("23 sierpnia 2021", (2021, 8, 23)),
        ("lørdag 8. juni", (0, 6, 8)),
        ("7 de março", (0, 3, 7)),
        ("2021-05-04", (2021, 5, 4)),
        ("12-14 September 2023", (2023, 9, 12)),
        ("January 2024", (2024, 1, 0)),
    ],
)
def test_a_date_is_read_as_people_write_it(text, date):
    assert parts(text) == [date]


@pytest.mark.parametrize("text", ["", "3 Marinas", "call 555 0199", "costs 12.50", "no date here"])
def test_what_is_no_date_is_not_taken_for_one(text):
    assert parts(text) == []


def test_several_dates_come_in_order_and_none_twice():
    assert parts("4 May 2020: talk; 2020-06-05: walk; 7 July") == [
        (2020, 5, 4),
        (2020, 6, 5),
        (0, 7, 7),
    ]


def test_times_and_weekdays_are_counted():
    assert times_in("19:00, 20h30, 7 pm, 18 Uhr, 下午") == 5
    assert weekdays_in("Monday, Samstag, jeudi, 土曜, 星期三") == 5
    assert times_in("nothing") == weekdays_in("nothing") == 0
