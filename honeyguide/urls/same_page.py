"""Whether the canonical URL that a page names can be another address of the same page."""

import re

from honeyguide.urls.domains import registrable
from honeyguide.urls.spelling import host

_home = re.compile(r"/(?:(?:index|default|home)(?:\.\w{2,5})?)?", re.IGNORECASE).fullmatch
_page_number = re.compile(r"(?:[?&](?:page|paged|pg|start|offset)=|/page[/-])\d", re.IGNORECASE)
_language = re.compile(r"([a-z]{2})(?:[-_][a-z]{2})?", re.IGNORECASE).fullmatch
_asked_language = re.compile(r"[?&](?:lang|language|locale|hl)=([a-z]{2})", re.IGNORECASE).search
_LANGUAGES = frozenset(
    "ar bg bn ca cs da de el en es et fa fi fr he hi hr hu id it ja ko lt lv ms nb nl no pl pt ro"
    " ru sk sl sr sv sw ta te th tr uk ur vi zh".split()
)


def names_same_page(url: str, named: str) -> bool:
    """Whether a page at `url` may be believed that `named` is its canonical URL.

    It is another address of the same registrable domain, but none of the usual mistakes: the home
    page or the first of several pages for all of them, or the page in another language.
    """
    if named == url or min(named.count("/"), url.count("/")) < 3:  # empty, or no URL of the web
        return False
    if registrable(host(named)) != registrable(host(url)):
        return False
    if _home(_path(named)) and "?" not in named and not _home(_path(url)):
        return False
    if _page_number.search(url) and not _page_number.search(named):
        return False
    own = _languages(url)
    return not own or own == _languages(named)


def _path(url: str) -> str:
    return "/" + url.partition("?")[0].split("/", 3)[3]


def _languages(url: str) -> set[str]:
    """The languages that an address names: de.example.org, /de-at/..., ?lang=de."""
    segments = [host(url).partition(".")[0], *_path(url).split("/")[1:3]]
    found = {code[1].lower() for each in segments if (code := _language(each))}
    asked = _asked_language(url)
    return (found | ({asked[1].lower()} if asked else set())) & _LANGUAGES
