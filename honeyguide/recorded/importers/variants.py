"""Spellings of a URL under which sites show the same page, and redirects between pages."""

from urllib.parse import urlsplit

MOST_REDIRECTS = 10  # that are followed one after another


class Variants:
    """Joins http and https, with and without www., with and without a last slash; and redirects."""

    def __init__(self) -> None:
        self._redirects: dict[str, str] = {}  # key of a URL -> key of the URL it leads to

    def redirect(self, url: str, to: str) -> None:
        """Note that a URL redirects to another; a redirect to a variant of itself is none."""
        begin, end = key(url), key(to)
        if begin != end:
            self._redirects.setdefault(begin, end)

    def ways(self, url: str) -> list[str]:
        """The key of a URL, then those of the URLs that it redirects to one after another."""
        found = [key(url)]
        while (end := self._redirects.get(found[-1])) and len(found) <= MOST_REDIRECTS:
            found.append(end)
        return found


def key(url: str) -> str:
    """What all variants of a URL share: host without www., path without its last slash, query."""
    parts = urlsplit(url)
    path = parts.path.rstrip("/")
    query = f"?{parts.query}" if parts.query else ""
    return f"{parts.netloc.removeprefix('www.')}{path}{query}"
