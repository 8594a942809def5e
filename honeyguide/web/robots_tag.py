"""X-Robots-Tag: what a response's headers ask of crawlers."""

import re
from collections.abc import Mapping
from dataclasses import replace

from honeyguide.contracts import Page

_product = re.compile(r"[a-z_-]+").fullmatch
_WITH_VALUE = frozenset(
    {"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"}
)


def robots_directives(headers: Mapping[str, str], product: str = "honeyguide") -> frozenset[str]:
    """The directives for this crawler: "noindex", "nofollow" and their like."""
    found: set[str] = set()
    is_meant = True  # "otherbot: noindex, nofollow" speaks to another crawler to its end
    for piece in headers.get("x-robots-tag", "").lower().split(","):
        name, colon, rest = map(str.strip, piece.partition(":"))
        directive = name
        if not name:
            is_meant = True  # an empty element parts two header lines
        elif colon and name not in _WITH_VALUE and _product(name):
            is_meant = name == product
            directive = rest
        if is_meant and _product(directive):
            found |= {"noindex", "nofollow"} if directive == "none" else {directive}
    return frozenset(found - _WITH_VALUE)


def as_wished(page: Page, noindex: bool, headers: Mapping[str, str]) -> tuple[Page, bool]:
    """What may be kept of a page whose own wish is known, and whether it may be judged."""
    wishes = robots_directives(headers)
    if "nofollow" in wishes:
        page = replace(page, links=())
    if noindex or "noindex" in wishes:
        return replace(page, title="", text=""), False
    return page, True
