"""Where a browser draws links; skipped without one, failed if HONEYGUIDE_BROWSER=required."""

import asyncio
import importlib.util
import os
import shutil

import pytest

from honeyguide.contracts import Page
from honeyguide.errors import HoneyguideError
from honeyguide.registry import make
from honeyguide.web import layout
from honeyguide.web.html import parse


def draw(*pages):
    async def run():
        async with layout.open_layout() as drawn:
            return [await drawn(page) for page in pages]

    return asyncio.run(run())


def page_of(html):
    body = html.encode()
    parsed = parse(body, "http://x.example/").page
    return Page(parsed.url, parsed.title, parsed.text, parsed.links, html=body)


@pytest.fixture
def browser():
    missing = pytest.fail if os.environ.get("HONEYGUIDE_BROWSER") == "required" else pytest.skip
    if importlib.util.find_spec("playwright") is None:
        missing("NO BROWSER TESTS: pip install 'honeyguide[browser]'")
    try:
        layout.chromium()
    except HoneyguideError as error:
        missing(f"NO BROWSER TESTS: {error}")


def test_links_get_the_boxes_that_a_browser_draws_them_in(browser):
    html = (
        "<html><head><style>#low{position:absolute;top:700px;left:300px;width:90px;height:30px;"
        "display:block}</style></head><body><a href='/a'>one</a> <a href='/b'>two</a>"
        "<a id='low' href='/c'>three</a><a href='/a'>one more</a><img src='/no.png'></body></html>"
    )
    one, two, low, more = draw(page_of(html))[0].links
    assert low.box == (300, 700, 90, 30)
    assert two.box[0] > one.box[0] + one.box[2]
    assert one.box[1] == two.box[1]
    assert more.box[0] > two.box[0]


def test_without_a_browser_it_is_said_how_to_get_one(monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda program: None)
    with pytest.raises(HoneyguideError, match="install"):
        draw(page_of("<a href='/a'>one</a>"))


def test_links_in_a_panel_that_shows_when_hovered_take_no_room_until_then(browser):
    world = make("world", "organisations:tesw", judge=make("judge", "label:source:events"))
    site = next(
        site
        for host in world.hosts
        if (site := world.site(host)).mega and "display:none" in site.mega.style
    )
    hidden = {site.url(path) for s in site.sections for c in s.columns for _, path in c.links}
    hidden -= {site.url(path) for _, path in [*site.foot, *site.pages["/"].leads]}
    links = draw(world.page(site.url("/")))[0].links
    sizes = {link.url in hidden: set() for link in links}
    for link in links:
        sizes[link.url in hidden].add(link.box[2:])
    assert sizes[True] == {(0, 0)}
    assert (0, 0) not in sizes[False]
