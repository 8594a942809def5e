import asyncio

import pytest
from msgspec.structs import replace

from honeyguide import urls
from honeyguide.contracts import Link, Verdict
from honeyguide.web.html import parse
from honeyguide.worlds.synthetic import SyntheticWorld
from honeyguide.worlds.synthetic.html import render


@pytest.fixture(scope="module")
def world():
    return SyntheticWorld(lambda page: Verdict(0.0, False), pages=3000, seed=9)


def both(world, address):
    """The page as a visit shows it, and as it is read from HTML."""
    shown = asyncio.run(world.visit(Link(address, depth=3))).page
    html = render(world.draft(address)).encode()
    return shown, parse(html, address, "text/html; charset=utf-8").page


def same(shown, parsed):
    links = tuple(replace(link, url=urls.canonical(link.url), depth=0) for link in shown.links)
    assert parsed.links == links  # also what stands around them
    assert parsed.text.split() == shown.text.split()
    assert parsed.title == shown.title


def test_reading_the_html_of_a_page_gives_what_a_visit_gives(world):
    read = 0
    for number in range(0, world.pages, 11):
        address = world.names.url(world.layout.spot(number))
        if (draft := world.draft(address)) is not None and draft.url == address:
            same(*both(world, address))
            read += 1
    assert read > 200


def test_traps_are_shown_as_they_are_visited(world):
    entrances = (world.traps.entrance(world.layout.host(n), 0) for n in range(world.layout.hosts))
    found = [urls.canonical(entrance.url) for entrance in entrances if entrance]
    assert any("/shop/" in address for address in found)
    assert any("/calendar/" in address for address in found)
    for address in found:
        same(*both(world, address))


def test_every_url_is_in_its_one_spelling(world):
    for number in range(0, world.pages, 7):
        address = world.names.url(world.layout.spot(number))
        assert urls.canonical(address) == address


def test_links_of_a_page_are_one_step_deeper_and_know_their_source(world):
    shown, _ = both(world, world.find("music").url)
    assert {link.depth for link in shown.links} == {4}
    assert {link.source for link in shown.links} == {shown.url}
