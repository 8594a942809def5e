"""Allow and deny lists of page titles: "title:log in" in --allow and --deny (Lim 2016, §9.3)."""

import re
from collections.abc import Callable, Sequence

from honeyguide.errors import HoneyguideError
from honeyguide.urls.patterns import TITLE, any_of, translated

DENIED_TITLE, OTHER_TITLE = "denied title", "title not among those allowed"


def listed_titles(allow: Sequence[str], deny: Sequence[str]) -> Callable[[str], str]:
    """Say why a title is refused: the deny list matches, or a given allow list does not."""
    allowed, denied = _patterns(allow), _patterns(deny)

    def refusal(title: str) -> str:
        if denied is not None and denied.search(title):
            return DENIED_TITLE
        return OTHER_TITLE if allowed is not None and not allowed.search(title) else ""

    return refusal


def _patterns(said: Sequence[str]) -> re.Pattern[str] | None:
    """One expression for the entries of a list that are titles; None without any."""
    titles = [each.removeprefix(TITLE).strip() for each in said if each.startswith(TITLE)]
    if not all(titles):
        raise HoneyguideError(f"'{TITLE}' names no title: say '{TITLE}log in' or '{TITLE}*login*'")
    return any_of([_expression(title) for title in titles]) if titles else None


def _expression(title: str) -> str:
    """A pattern with * fits whole titles; another fits titles that contain its words."""
    if "*" in title:
        return rf"\A{translated(title)}"
    words = r"\s+".join(map(re.escape, title.split()))
    return rf"(?<!\w){words}(?!\w)"
