"""Dates as pages write them, in ISO 8601."""

import re
from datetime import date, datetime
from email.utils import parsedate_to_datetime

LONGEST = 64  # characters of a date
FIRST_YEAR, LAST_YEAR = 1500, 2999  # other years are defaults of programs, or damage

_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_MONTH = rf"({'|'.join(_MONTHS)})[a-z]*\.?"
_space_before_zone = re.compile(r"(?<=\d)\s+(?=[+-]\d\d:?\d\d$)").sub
_partial = re.compile(r"(\d{4})(?:-(0[1-9]|1[0-2]))?").fullmatch
_starts_with_iso_date = re.compile(r"\d{4}-\d\d-\d\d").match
# year, month and day are named so that one function reads all of these
_SPELLED = (
    re.compile(r"(?P<year>\d{4})[/.](?P<month>\d{1,2})[/.](?P<day>\d{1,2})\b").match,
    re.compile(r"(?P<day>\d{1,2})\.\s?(?P<month>\d{1,2})\.\s?(?P<year>\d{4})\b").match,
    re.compile(rf"(?P<name>{_MONTH})\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?,?\s+(?P<year>\d{{4}})\b")
    .search,
    re.compile(rf"(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s+(?P<name>{_MONTH}),?\s+(?P<year>\d{{4}})\b")
    .search,
)  # fmt: skip


def iso_date(text: str) -> str:
    """The date or time that a text names, in ISO 8601; empty if it cannot be read.

    What can be meant in two ways, such as 01/02/2020, is not read.
    """
    said = " ".join(text[: 2 * LONGEST].split())[:LONGEST]
    found = _partial(said)
    if found:
        return said if _is_year(int(found[1])) else ""
    return _moment(said) or _day(said.lower())


def _moment(said: str) -> str:
    try:
        read = datetime.fromisoformat(_space_before_zone("", said))
    except ValueError:
        return _mailed(said) or _moment_of_start(said)
    if not _is_year(read.year):
        return ""
    if len(said) <= len("2020-W01-1") and not (read.hour or read.minute):
        return read.date().isoformat()
    return read.isoformat(timespec="seconds")


def _mailed(said: str) -> str:
    """A time as in the headers of mails: Tue, 5 May 2020 10:00:00 GMT."""
    if ":" not in said:
        return ""
    try:
        read = parsedate_to_datetime(said)
        return read.isoformat(timespec="seconds") if _is_year(read.year) else ""
    except (ValueError, TypeError, LookupError, ArithmeticError):
        return ""


def _moment_of_start(said: str) -> str:
    """The date at the beginning of a text: 2020-05-05 at noon."""
    found = _starts_with_iso_date(said)
    return _moment(found[0]) if found and found[0] != said else ""


def _day(said: str) -> str:
    for spelled in _SPELLED:
        if found := spelled(said):
            parts = found.groupdict()
            name = parts.get("name")
            month = _MONTHS.index(name[:3]) + 1 if name else int(parts["month"])
            try:
                read = date(int(parts["year"]), month, int(parts["day"]))
            except ValueError:
                continue
            return read.isoformat() if _is_year(read.year) else ""
    return ""


def _is_year(year: int) -> bool:
    return FIRST_YEAR <= year <= LAST_YEAR
