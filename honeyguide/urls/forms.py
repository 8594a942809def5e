"""The form of a URL: a pattern that it shares with others of its site."""


def form(url: str) -> str:
    """The pattern of all URLs in the same first folder of a site, as allow and deny lists take it.

    "https://example.org/wiki/Lava?x=1" has the form "example.org/wiki/*".
    """
    place = url.partition("://")[2] or url
    host, _, path = place.partition("?")[0].partition("/")
    folder, slash, _ = path.partition("/")
    return f"{host}/{folder}/*" if slash and folder else f"{host}/*"
