"""Hub pages: what the seed "hubs" stands for (Lim 2016, §1.3 and §7.2.1)."""

from honeyguide.contracts import Hubbed, Link, World
from honeyguide.errors import HoneyguideError

NAME = "hubs"
BETWEEN = "|"  # of pages in "hubs:https://a.example/|https://b.example/"
# the two seeds of Lim (2016); its list of the most visited sites is no longer published
PAGES = ("https://stackexchange.com/sites", "https://en.wikipedia.org/wiki/Main_Page")
MOST_LINKED = 10  # pages with most links, of a recorded web that has none of the listed pages


def is_hubs(seed: str) -> bool:
    """Whether a seed is "hubs", or "hubs:" and a list of pages."""
    return seed == NAME or seed.startswith(f"{NAME}:")


def hub_pages(seed: str) -> tuple[str, ...]:
    """The pages that such a seed lists, or the usual ones."""
    listed = seed.partition(":")[2]
    pages = tuple(page for each in listed.split(BETWEEN) if (page := each.strip()))
    if not pages and seed != NAME:
        raise HoneyguideError(f"the seed '{seed}' lists no page: say '{NAME}' for the usual ones")
    return pages or PAGES


def hub_links(seed: str, world: World) -> list[Link]:
    """The listed pages; of a web that is not live those it has, else its pages with most links."""
    pages = hub_pages(seed)
    if world.live:
        return [world.find(page) for page in pages]
    known = [link for page in pages if (link := _found(page, world)) is not None]
    if known:
        return known
    if not isinstance(world, Hubbed):
        raise HoneyguideError(f"none of the hub pages is in this web: {', '.join(pages)}")
    return world.hubs(MOST_LINKED)


def _found(page: str, world: World) -> Link | None:
    try:
        return world.find(page)
    except HoneyguideError:
        return None
