"""Dates and times of day inside a text, in the languages of Europe and East Asia."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from honeyguide.text.unaccented import unaccented

LONGEST = 20_000  # characters of a text that are read
# beginnings of the twelve months' names, without accents, one row a language or group of them
_MONTHS = """
jan feb mar apr may jun jul aug sep oct nov dec
janua februa march april may june july august septem octob novem decem
janua februa marz april mai juni juli august septem oktob novem dezem
jan feb maerz apr mai jun jul aug sept okt nov dez
janv fevr mars avri mai juin juil aout sept octo nove dece
janv fevr mars avr mai juin juil aout sept oct nov dec
ener febr marz abri mayo juni juli agos septi octu novie dicie
ene feb mar abr may jun jul ago set oct nov dic
genn febb marz apri magg giug lugl agos sett otto nove dice
gen feb mar apr mag giu lug ago set ott nov dic
janu febr maar apri mei juni juli augu sept okto nove dece
jan fev marco abri maio junh julh agos sete outu nove deze
jan fev mar abr mai jun jul ago set out nov dez
stycz lute marz kwie maj czerw lipc sierp wrze pazd listop grud
stycz luty marz kwie maja czerw lipi sierp wrze pazd listop grud
gen febr marc abri maig juny julio agos sete octu novem desem
janu febr mars apri maj juni juli augu sept okto nove dece
janua februa mars april mai juni juli august septem oktob novem desem
tammi helmi maalis huhti touko kesa heina elok syys loka marras joulu
ledn unor brez dubn kvet cerv cervene srpn zari rijn listopad prosin
jan febr marc apr maj jun jul aug szept okt nov dec
ianua februa marti apri mai iuni iuli augu septem octom noiem decem
ocak suba mart nisan mayis hazir temm agust eylul ekim kasim aral
янва февр март апре мая июня июля авгу сент октя нояб дека
січн люто берез квіт трав черв липн серп верес жовт листоп груд
sije velja ozuj trav svib lipn srpnj kolo rujn listo stude prosi
ιανο φεβρ μαρτ απρι μαιο ιουν ιουλ αυγο σεπτ οκτω νοεμ δεκε
"""


def _month_numbers() -> dict[str, int]:
    """Return the month of each name's beginning; a beginning keeps its first meaning."""
    known: dict[str, int] = {}
    for row in _MONTHS.split("\n"):
        for month, name in enumerate(row.split(), 1):
            known.setdefault(unaccented(name), month)
    return known


_NUMBER = _month_numbers()
_SHORT = "|".join(sorted(name for name in _NUMBER if len(name) == 3))
_LONG = "|".join(sorted((name for name in _NUMBER if len(name) > 3), key=lambda n: (-len(n), n)))
_NAME = rf"(?P<name>\b(?:{_LONG})(?=[^\W\d_]{{0,9}}\b)|\b(?:{_SHORT})\b)[^\W\d_]{{0,9}}\.?"
_DAY = r"(?P<day>0?[1-9]|[12]\d|3[01])"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_TO = r"(?:\s?(?:-|–|—|to|bis|au|al|a|till|til|tot|do|/|&|and|und|et|y|e)\s?(?:[0-3]?\d)\.?)?"
_SUFFIX = r"(?:st|nd|rd|th|er|\.|º|ª|°|e)?"
_OF = r"\s{0,2}(?:of |de |d'|del |den )?"
_PATTERNS = tuple(
    re.compile(pattern)
    for pattern in (
        r"\b(?P<year>(?:19|20)\d\d)[-/.](?P<month>0?[1-9]|1[0-2])[-/.](?P<day>0?[1-9]|[12]\d|3[01])\b",
        r"(?:(?P<year>(?:19|20)\d\d)\s?[年년]\s?)?(?P<month>1[0-2]|0?[1-9])\s?[月월]\s?(?P<day>[12]\d|3[01]|0?[1-9])\s?[日号號일]",
        r"(?<![\d.,/])(?P<day>0?[1-9]|[12]\d|3[01])(?P<sep>[./])\s?(?P<month>0?[1-9]|1[0-2])(?P=sep)\s?(?P<year>(?:(?:19|20)\d\d|\d\d)(?!\d))?",
        r"(?<![\d.,/])(?P<month>0?[1-9]|1[0-2])/(?P<day>1[3-9]|2\d|3[01])/(?P<year>(?:19|20)\d\d)\b",
        rf"(?<![\d.,:]){_DAY}{_SUFFIX}{_TO}{_OF}{_NAME}(?:,?\s(?:de |del )?{_YEAR})?",
        rf"{_NAME}\s{{0,2}}{_DAY}(?![\d:]){_SUFFIX}{_TO}(?:,?\s{_YEAR})?",
        rf"{_NAME},?\s(?:de |del )?{_YEAR}\b",
        r"(?P<year>(?:19|20)\d\d)\s?[年년]\s?(?P<month>1[0-2]|0?[1-9])\s?[月월]",
    )
)  # fmt: skip
_CLOCK = re.compile(
    r"(?<![\d.:])(?:[01]?\d|2[0-4])(?::[0-5]\d|\s?h\s?(?:[0-5]\d)?\b|\.[0-5]\d\s?(?:uhr|am|pm|h\b))"
    r"|\b(?:1[0-2]|[1-9])\s?(?:am|pm|a\.m|p\.m)\b|\b(?:[01]?\d|2[0-3])\s?uhr\b|[上下]午|午[前後后]"
    r"|오[전후]|\d\s?[時时시點点]"
)
_WEEKDAYS = re.compile(
    r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b|\b(?:mon|tue|wed|thu|fri|sat|sun)\b[,.]?"
    r"|\b(?:mon|diens|donners|frei|sams|sonn)tag\w*|\bmittwoch\w*|\b(?:mo|di|mi|do|fr|sa|so)[.,]\s"
    r"|\b(?:lun|mar|mercre|jeu|vendre|same|diman)(?:di|che)s?\b"
    r"|\b(?:lunes|martes|miercoles|jueves|viernes|sabado|domingo|lunedi|martedi|mercoledi|giovedi)\b"
    r"|\b(?:venerdi|domenica|segunda|terca|quarta|quinta|sexta|maandag|dinsdag|woensdag|donderdag)\b"
    r"|\b(?:vrijdag|zaterdag|zondag|poniedzialek|wtorek|sroda|czwartek|piatek|sobota|niedziela)\b"
    r"|\b(?:mandag|tirsdag|onsdag|torsdag|fredag|lordag|sondag|mandag|tisdag|dilluns|dimarts)\b"
    r"|\b(?:dimecres|dijous|divendres|dissabte|diumenge|понедельник|вторник|среда|четверг|пятница)\b"
    r"|[（(][月火水木金土日一二三四五六][)）]|[月火水木金土日]曜|(?:周|週|星期|礼拜|禮拜)[一二三四五六日天]"
    r"|[월화수목금토일]요일|[（(][월화수목금토일][)）]"
)


@dataclass(frozen=True, slots=True)
class FoundDate:
    """A date in a text; a part that is not said is 0."""

    year: int
    month: int
    day: int
    start: int  # where it stands in the text without accents
    end: int


def dates_in(text: str) -> list[FoundDate]:
    """Return the dates that a text names, in order; 4/5/2020 is read as the fourth of May."""
    said = unaccented(text[:LONGEST])
    if not _has_digit(said):
        return []
    found: list[FoundDate] = []
    for pattern in _PATTERNS:
        for date in _read(pattern, said):
            if not any(date.start < other.end and other.start < date.end for other in found):
                found.append(date)
    return sorted(found, key=lambda date: date.start)


_has_digit = re.compile(r"\d").search


def _read(pattern: re.Pattern[str], said: str) -> Iterator[FoundDate]:
    for match in pattern.finditer(said):
        parts = match.groupdict()
        name = parts.get("name")
        month = _NUMBER[name] if name else int(parts["month"] or 0)
        year = int(parts.get("year") or 0)
        year += 2000 if 0 < year < 100 else 0
        yield FoundDate(year, month, int(parts.get("day") or 0), *match.span())


def times_in(text: str) -> int:
    """Return how many times of day a text names."""
    return len(_CLOCK.findall(unaccented(text[:LONGEST])))


def weekdays_in(text: str) -> int:
    """Return how many days of the week a text names."""
    return len(_WEEKDAYS.findall(unaccented(text[:LONGEST])))
