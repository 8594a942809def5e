"""What tags, class names and short texts say about their place in a page, as bits."""

import re
from collections.abc import Mapping
from functools import lru_cache

_TAGS = (
    "article|main|section|nav|aside|footer|header|form fieldset|table|ul ol menu|dl|pre listing xmp"
    "|blockquote|figure|address|dialog|p|li dd dt|td th"
).split("|")

# words of class, id, role and itemprop, one group a line; *word also within longer words
_NAMES = """
*comment *disqus dsq respond response responses reply replies discussion thread *kommentar
*sidebar side rail secondary aside sb complementary *rightcol *leftcol
*footer foot colophon contentinfo *copyright legal disclaimer terms imprint impressum bottombar
*header masthead head *banner branding logo tagline topbar
*navigation *navbar nav subnav topnav menu *menu pager *paginat prev next previous older newer skip
*breadcrumb crumbs
*share *sharing *social twitter facebook tweet fb pinterest digg delicious like follow linkedin
*related *recommend *popular *trending most latest recent more also similar suggested *outbrain
ad ads *advert *sponsor *promo *adsense dfp advertisement mpu *billboard affiliate commercial
*newsletter *subscri *signup sign register *login log account donate cta join membership
*cookie *consent gdpr *privacy ccpa cmp onetrust didomi
*modal *popup *overlay *lightbox *tooltip toast snackbar drawer interstitial
*widget module box portlet block panel gadget card cards tile
*archive *categor *blogroll cloud calendar *taxonomy tags tag labels label topics topic keywords
meta *metadata info details stats count status
*byline *author vcard bio fn profile credit attribution user avatar contributor
date time *timestamp *published updated posted dateline
*search cse
form field *button btn submit input select control
tools tool *toolbar actions action print email mail rss feed feeds
list items item links link row
*gallery *carousel *slider slide *slideshow thumb thumbnail *video player media audio
*caption photo image img figure picture
content *maincontent main primary *contents
*article *story post *entry hentry hfeed single blog node posting
body *articlebody *postbody text *bodytext copy prose richtext markdown *bodycontent paragraph
*title *headline heading subhead subtitle
container *wrapper wrap page site outer inner column col columns layout grid
left right
top bottom
toc navbox catlinks editsection printfooter *jump noprint mwe vertical references
*teaser excerpt *summary dek lead intro standfirst abstract description
home about contact company site services help faq
*hidden screenreader visually sronly offscreen invisible
"""

# words of short texts, one group a line
_TEXTS = """
copyright © rights reserved privacy terms conditions impressum datenschutz mentions disclaimer
comments comment reply replies says wrote responses kommentare commentaires comentarios commenti
share tweet facebook twitter email print linkedin pinterest whatsapp teilen partager compartir
related recommended popular trending more next previous continue also read latest mehr lire leer
by posted published updated written author von par por
cookies cookie consent accept agree
subscribe newsletter sign register login log signin signup account password anmelden abonnieren
tags tagged categories category filed labels topics under archives
advertisement advertising sponsored ads promoted anzeige
home about contact help search menu skip top back sitemap faq
am pm january february march april may june july august september october november december
photo image source credit getty video gallery watch play
"""

TAG_BITS = len(_TAGS)
NAME_BITS = len(_NAMES.strip().splitlines())
BITS = TAG_BITS + NAME_BITS + 1  # of an element
TEXT_BITS = len(_TEXTS.strip().splitlines())
HIDDEN = 1 << TAG_BITS + NAME_BITS
SECTIONS = {tag: 1 << i for i, tags in enumerate(_TAGS) for tag in tags.split()}

_of_words: dict[str, int] = {}
_within: dict[str, int] = {}
for _i, _line in enumerate(_NAMES.strip().splitlines()):
    for _word in _line.split():
        (_within if _word[0] == "*" else _of_words)[_word.lstrip("*")] = 1 << TAG_BITS + _i
_find_within = re.compile("|".join(sorted(_within, key=len, reverse=True))).findall
_of_text = {
    word: 1 << i for i, line in enumerate(_TEXTS.strip().splitlines()) for word in line.split()
}
_parts = re.compile(r"[A-Z]?[a-z]+|[A-Z]+").findall
_unseen = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE).search
_NAMING = frozenset(["class", "id", "role", "itemprop"])
_HIDING = frozenset(["hidden", "aria-hidden", "style"])
_words = re.compile(r"\w+|©").findall


def bits_of_element(tag: str, given: Mapping[str, str | None]) -> int:
    """What an element's tag, names and style say about it."""
    bits = SECTIONS.get(tag, 0)
    for key, value in given.items():
        if key in _NAMING:
            if value:
                bits |= _bits_of_names(value[:200])
        elif key in _HIDING and _hides(key, value or ""):
            bits |= HIDDEN
    return bits


def bits_of_text(text: str) -> int:
    """What the words of a short text say about it."""
    bits = 0
    for word in _words(text.lower()):
        bits |= _of_text.get(word, 0)
    return bits


def _hides(key: str, value: str) -> bool:
    if key == "style":
        return _unseen(value[:500]) is not None
    return key == "hidden" or value == "true"


@lru_cache(4096)
def _bits_of_names(names: str) -> int:
    bits = 0
    for part in _parts(names):
        bits |= _bits_of_name(part.lower())
    return bits


@lru_cache(8192)
def _bits_of_name(name: str) -> int:
    bits = _of_words.get(name, 0)
    for found in _find_within(name):
        bits |= _within[found]
    return bits
