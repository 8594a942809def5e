"""The structure of a page as numbers: dated records, calendars, marked events, headings."""

import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import unquote, urlsplit

import numpy as np

from honeyguide.contracts import Page, Vector
from honeyguide.source_finder.lexicon import CONCEPTS, plain, shares
from honeyguide.source_finder.regions import Region, regions
from honeyguide.source_finder.tag_tree import TagTree, read_tags
from honeyguide.text.dates_in_text import FoundDate, dates_in, times_in, weekdays_in
from honeyguide.text.unaccented import unaccented
from honeyguide.web.html import tree

MOST_RECORDS = 60  # of a region that are read
MOST_REGIONS = 12
LONGEST_PIECE = 100  # characters of a text that can be a date line or a heading
_json_events = re.compile(
    r'"@type"\s*:\s*\[?\s*"(?:\w*Event|Festival|EventSeries|Hackathon)"'
).findall
_json_articles = re.compile(r'"@type"\s*:\s*\[?\s*"(?:\w*Article|BlogPosting)"').findall
_event_type = re.compile(r"schema\.org/\w*(?:Event|Festival)\b").search
_event_class = re.compile(
    r"\b(?:vevent|h-event|event|events|calendar|agenda|termin\w*|veranstaltung\w*|evenement\w*|fixture"
    r"|tribe|fc|evento|eventi|eventos|schedule|program\w*)(?:[-_]\w+)*\b"
).search
_post_class = re.compile(r"\b(?:post|blog|news|article|entry)(?:[-_]\w+)*\b").search
_calendar_frame = re.compile(
    r"calendar|teamup|meetup|eventbrite|agenda|kalender|termin|timify|lu\.ma|luma|tockify|addevent"
    r"|ticket|billet|calend|plugins/page",
    re.IGNORECASE,
).search
_calendar_link = re.compile(
    r"\.ics(?:$|\?)|^webcal:|[?&/]ical\b|calendar\.google\.com|outlook\.live|/calendar/render",
    re.IGNORECASE,
).search
_outside = re.compile(
    r"eventbrite|meetup\.com|lu\.ma|facebook\.com/events|ticket|weezevent|billetweb|doodle",
    re.IGNORECASE,
).search
_nothing_planned = re.compile(
    r"no (?:upcoming|current|scheduled|future|forthcoming) (?:events?|meetings?|dates|fixtures)"
    r"|keine (?:\w+ )?(?:veranstaltungen|termine)|aucun (?:\w+ )?evenement|no hay (?:\w+ )?eventos"
    r"|nessun (?:\w+ )?evento|geen (?:\w+ )?(?:evenementen|activiteiten)|nenhum (?:\w+ )?evento"
    r"|brak (?:\w+ )?wydarzen|ingen (?:\w+ )?(?:arrangementer|evenemang|begivenheder)"
    r"|no events|予定はありません|暂无|沒有活動|没有活动|행사가 없"
).search
_item_path = re.compile(r"/(?:19|20)\d\d[/-]\d").search
_tag_path = re.compile(r"/(?:tags?|categor(?:y|ies|ia)|author|archives?|page)/").search
_PLACES = re.compile(
    r"\b(?:room|hall|street|road|avenue|centre|center|library|church|campus|building|auditorium|zoom"
    r"|online|stadium|ground|park|raum|saal|strasse|haus|halle|hotel|kirche|salle|rue|place|maison"
    r"|eglise|sala|calle|via|piazza|plaza|teatro|theater|zaal|kerk|straat|rua|praca|igreja|ulica"
    r"|sal|gate|gata|vej|kirke|museum|school|university|club|venue|location|lieu|ort|luogo|lugar"
    r"|local|locatie|sted|plats|miejsce)\b|会場|場所|地点|地點|장소|ホール|会館|教室|体育館|公園|広場"
).search
_OF_TITLE = tuple(f"title {name}" for name in CONCEPTS)
_OF_HEADING = tuple(f"heading {name}" for name in CONCEPTS)
_OF_ADDRESS = tuple(f"address {name}" for name in CONCEPTS)
_OF_LOWER = tuple(f"lower heading {name}" for name in CONCEPTS)
STRUCTURE = (
    *_OF_TITLE, *_OF_HEADING, *_OF_ADDRESS, *_OF_LOWER,
    "title or heading events", "title and heading events", "events with decoy", "events with past",
    "time tags", "dated time tags", "json events", "json articles", "event items", "event classes",
    "post classes", "calendar links", "outside tickets", "calendar frames", "feeds",
    "calendar table", "articles", "nothing planned", "dates", "dates per text", "days",
    "clock times", "weekdays", "years", "newest year share", "dates without year", "dated lines",
    "dated headings",
    "dated records", "share of dated records", "different days", "records with a time",
    "records with a place", "records with a weekday", "records with links", "record length",
    "records without a year", "dated regions", "records", "text length", "links", "headings",
    "images", "prose", "is home", "path depth", "dated path", "tag path", "is article",
    "one date at the top", "months as headings",
    "parent events", "parent maybe", "parent news", "parent past", "below a list", "title number",
    "address number", "title length", "address events alone", "title events alone",
)  # fmt: skip
_EVENTS, _MAYBE, _NEWS, _DECOY, _PAST = (
    CONCEPTS.index(name) for name in ("events", "maybe", "news", "decoy", "past")
)


def structure(page: Page, tags: TagTree | None = None, found: Sequence[Region] = ()) -> Vector:
    """Return the structure of a page with its HTML, a (len(STRUCTURE),) array of small numbers."""
    body = page.html or _written(page)
    tags = tags or read_tags(body, page.url)
    found = found or regions(tags)
    parsed = tree(body)
    titles = _titles(page, parsed)
    events = [shares(text)[_EVENTS] for text in titles[:2]]
    row = [
        *(share for text in titles for share in shares(text)),
        max(events),
        min(events),
        float(max(events) > 0 and max(shares(text)[_DECOY] for text in titles[:2]) > 0),
        float(max(events) > 0 and max(shares(text)[_PAST] for text in titles[:2]) > 0),
        *_marks(parsed, body),
        *_dates(tags),
        *_records(found, page.url),
        *_size(tags, parsed),
        *_address(page.url),
        *_article(parsed, tags),
        *_item(page, titles),
    ]
    return np.array(row, np.float32)


def own_titles(page: Page) -> list[str]:
    """Return a page's own title, its first heading, the words of its path, lower headings."""
    return _titles(page, tree(page.html or _written(page)))


def _written(page: Page) -> bytes:
    """Return the text of a page without HTML as a page of paragraphs."""
    return "\n".join(["<title>", page.title, "</title>", *_paragraphs(page.text)]).encode(
        "utf-8", "replace"
    )


def _paragraphs(text: str) -> list[str]:
    return [f"<p>{line.replace('<', '&lt;')}</p>" for line in text.splitlines() if line.strip()]


def _titles(page: Page, parsed: Any) -> list[str]:
    """Return the page's own title, its first heading, the words of its path, lower headings."""
    said = [_text(node) for node in parsed.css("h1, h2")[:6]]
    first = next((_text(node) for node in parsed.css("h1")[:3] if _text(node)), "")
    heading = first or next((text for text in said if text), "")
    title = re.split(r"\s[|–—·»«:-]\s|\s[|–—-]|[|»]", page.title)[0]
    path = [part for part in unquote(urlsplit(page.url).path).split("/") if part]
    path = [part for part in path if not part.startswith("index.")]
    last = re.sub(r"\.\w{2,4}$", "", path[-1]) if path else ""
    lower = " ".join(_text(node)[:60] for node in parsed.css("h2, h3, h4")[:12])
    return [title[:100], heading[:100], last.replace("-", " ").replace("_", " "), lower]


def _text(node: Any) -> str:
    return " ".join(node.text(separator=" ").split())[:300]


def _marks(parsed: Any, body: bytes) -> list[float]:
    """Return what the page's markup says of events."""
    html = body.decode("utf-8", "replace")
    times = parsed.css("time")
    items = parsed.css("[itemtype], .vevent, .h-event")
    named = [
        f"{node.attributes.get('class') or ''} {node.attributes.get('id') or ''}".lower()
        for node in parsed.css("main [class], article [class], section [class], div [class]")[:800]
    ]
    hrefs = [node.attributes.get("href") or "" for node in parsed.css("a[href], link[href]")]
    frames = [
        node.attributes.get("src") or node.attributes.get("data-src") or ""
        for node in parsed.css("iframe, embed, object")
    ]
    return [
        _log(len(times)),
        _log(sum(bool(node.attributes.get("datetime")) for node in times)),
        _log(len(_json_events(html))),
        _log(len(_json_articles(html))),
        _log(sum(_is_event(node) for node in items)),
        _log(sum(bool(_event_class(name)) for name in named)),
        _log(sum(bool(_post_class(name)) for name in named)),
        _log(sum(bool(_calendar_link(href)) for href in hrefs)),
        _log(sum(bool(_outside(href)) for href in hrefs)),
        _log(sum(bool(_calendar_frame(src)) for src in frames) + ("FullCalendar" in html)),
        float(bool(parsed.css_first("link[type*='rss'], link[type*='atom']"))),
        float(any(_is_month(table) for table in parsed.css("table")[:20])),
        _log(len(parsed.css("article"))),
        float(bool(_nothing_planned(_said(parsed)))),
    ]


def _said(parsed: Any) -> str:
    """Return the first part of a page's text without accents, to search for a phrase."""
    text = parsed.body.text(separator=" ")[:20_000] if parsed.body else ""
    return unaccented(" ".join(text.split()))


def _is_event(node: Any) -> bool:
    kind = node.attributes.get("itemtype")
    return bool(_event_type(kind)) if kind else True


def _is_month(table: Any) -> bool:
    """Return whether a table's cells count the days of a month."""
    cells = [_text(cell).split(" ")[0] for cell in table.css("td")[:60]]
    days = [int(cell) for cell in cells if cell.isdecimal() and len(cell) <= 2]
    return len(days) >= 27 and set(range(1, 28)) <= set(days)


def _dates(tags: TagTree) -> list[float]:
    """Return counts of the dates in all texts of the page."""
    text = "\n".join(tags.pieces)
    found = dates_in(text)
    years = [date.year for date in found if date.year]
    newest = max(years, default=0)
    lines = [piece for piece in tags.pieces if len(piece) <= LONGEST_PIECE]
    dated = [piece for piece in lines if _is_dated(piece)]
    return [
        _log(len(found)),
        min(1.0, 200 * len(found) / max(len(text), 200)),
        _log(len({(date.month, date.day) for date in found if date.day})),
        _log(times_in(text)),
        _log(weekdays_in(text)),
        min(1.0, len(set(years)) / 5),
        years.count(newest) / len(years) if years else 0.0,
        _log(sum(not date.year for date in found)),
        _log(len(dated)),
        _log(sum(_is_dated(text) for text in _headings(tags))),
    ]


def _headings(tags: TagTree) -> list[str]:
    nodes = [at for at, name in enumerate(tags.names) if name in ("h2", "h3", "h4", "h5", "dt")]
    return [tags.text(node, tags.ends[node])[:LONGEST_PIECE] for node in nodes[:100]]


def _is_dated(text: str) -> bool:
    return bool(_digit(text)) and bool(dates_in(text))


_digit = re.compile(r"\d").search


def _records(found: Sequence[Region], url: str) -> list[float]:
    """Return the best dated region's figures; zeros without one."""
    rated = [_rated(region, url) for region in found[:MOST_REGIONS]]
    best = max(rated, key=lambda row: row[0] * row[1], default=None)
    if best is None:
        return [0.0] * 11
    dated_regions = sum(row[1] >= 0.5 for row in rated)
    return [_log(best[0]), *best[1:9], _log(dated_regions), _log(best[9])]


def _rated(region: Region, url: str) -> list[float]:
    """Return how many records have a date, and shares of them by what else they have."""
    texts = [record.text[:600] for record in region.records[:MOST_RECORDS]]
    dates = [dates_in(text) for text in texts]
    dated = [at for at, some in enumerate(dates) if some]
    count = max(len(dated), 1)
    return [
        float(len(dated)),
        len(dated) / len(texts),
        len({_first(dates[at]) for at in dated}) / count,
        sum(times_in(texts[at]) > 0 for at in dated) / count,
        sum(bool(_PLACES(plain(texts[at]))) for at in dated) / count,
        sum(weekdays_in(texts[at]) > 0 for at in dated) / count,
        sum(any(link.url != url for link in region.records[at].links) for at in dated) / count,
        min(1.0, float(np.mean([len(text) for text in texts])) / 600),
        sum(not dates[at][0].year for at in dated) / count,
        float(len(texts)),
    ]


def _first(dates: Sequence[FoundDate]) -> tuple[int, int, int]:
    return dates[0].year, dates[0].month, dates[0].day


def _size(tags: TagTree, parsed: Any) -> list[float]:
    written = sum(map(len, tags.pieces))
    prose = sum(len(piece) for piece in tags.pieces if len(piece) > 2 * LONGEST_PIECE)
    return [
        _log(written / 100),
        _log(sum(map(bool, tags.hrefs))),
        _log(len(parsed.css("h2, h3, h4"))),
        _log(len(parsed.css("img"))),
        prose / max(written, 1),
    ]


def _address(url: str) -> list[float]:
    path = urlsplit(url).path
    return [
        float(path.strip("/") in ("", "index.html", "index.htm", "index.php")),
        min(1.0, path.strip("/").count("/") / 3),
        float(bool(_item_path(path))),
        float(bool(_tag_path(path))),
    ]


def _item(page: Page, titles: Sequence[str]) -> list[float]:
    """Return signs of a page below a list: its folder is named for the list, its title is long."""
    path = [part for part in unquote(urlsplit(page.url).path).split("/") if part]
    path = [part for part in path if not part.startswith("index.")]
    above = shares(" ".join(path[:-1]).replace("-", " ").replace("_", " "))
    own = shares(titles[2])[_EVENTS]
    return [
        *(above[at] for at in (_EVENTS, _MAYBE, _NEWS, _PAST)),
        float(above[_EVENTS] > 0.5 and own < 0.5),
        float(bool(_digit(titles[0]))),
        float(bool(_digit(titles[2]))),
        min(1.0, len(titles[0]) / 60),
        float(own > 0.95),
        float(max(shares(text)[_EVENTS] for text in titles[:2]) > 0.95),
    ]


def _article(parsed: Any, tags: TagTree) -> list[float]:
    """Return whether the page says it is one article, or begins with its only date."""
    kind = parsed.css_first("meta[property='og:type']")
    said = "article" in (kind.attributes.get("content") or "") if kind else False
    said = said or bool(parsed.css_first("meta[property='article:published_time']"))
    lines = [piece for piece in tags.pieces if len(piece) <= LONGEST_PIECE]
    at = [place for place, piece in enumerate(lines) if _is_dated(piece)]
    months = sum(_names_month(text) for text in _headings(tags))
    return [float(said), float(len(at) == 1 and at[0] < len(lines) / 2), _log(months)]


def _names_month(text: str) -> bool:
    return len(text) < 30 and any(date.day == 0 for date in dates_in(text))


def _log(count: float) -> float:
    return float(np.log1p(count))
