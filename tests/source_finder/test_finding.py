"""honeyguide find, regions and watch: from home pages to new items."""

import asyncio
import csv
import io
import json

import pytest
from aiohttp import web

from honeyguide.contracts import Verdict
from honeyguide.errors import HoneyguideError
from honeyguide.plan import Plan
from honeyguide.registry import make
from honeyguide.source_finder.find import Finder
from honeyguide.source_finder.organisations.serve import Server
from honeyguide.source_finder.scorer import combined_probability
from honeyguide.source_finder.watch import (
    Item,
    Watch,
    Watched,
    follow,
    items,
    not_yet_written,
    read_items,
    read_sources,
    write_rss,
)
from tests.test_cli import honeyguide


def live(port):
    return {"resolve": f"*=127.0.0.1:{port}", "allow_private": True, "delay": 0.0}


def answers(homes, world_of):
    """Return a finder's answers on sites served by this process."""
    finder = Finder(delay=0.0)

    async def run():
        async with world_of() as port:
            world = make("world", "web", judge=lambda page: Verdict(0, False), **live(port))
            try:
                return await finder.find(homes, world)
            finally:
                await world.close()

    return asyncio.run(run())


class Sites:
    """Serve generated sites over HTTP; the context returns the port."""

    def __init__(self, world):
        self.server = Server(world)

    async def __aenter__(self):
        return (await self.server.__aenter__()).port

    async def __aexit__(self, *error):
        await self.server.__aexit__(*error)


class Pages:
    """Serve pages by host and path over HTTP."""

    def __init__(self, pages):
        self.pages = pages

    async def __aenter__(self):
        app = web.Application()
        app.router.add_get("/{path:.*}", self._answer)
        self.runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self.runner.setup()
        await web.TCPSite(self.runner, "127.0.0.1", 0).start()
        return self.runner.addresses[0][1]

    async def __aexit__(self, *error):
        await self.runner.cleanup()

    async def _answer(self, request):
        found = self.pages.get((request.host.partition(":")[0], request.path))
        if found is None:
            return web.Response(status=404)
        if found.startswith("to "):
            return web.Response(status=302, headers={"Location": found[3:]})
        kind = "application/pdf" if found.startswith("%PDF") else "text/html"
        return web.Response(text=found, content_type=kind)


def test_events_of_served_sites_are_found_with_few_clicks():
    world = make("world", "organisations:set=tesw,sites=6", judge=None)
    found = answers(world.homes, lambda: Sites(world))
    assert [answer.home for answer in found] == list(world.homes)
    right = [
        any("source:events" in world.page(source.url).labels for source in answer.sources)
        for answer in found
    ]
    assert sum(right) >= 4
    assert sum(answer.clicks for answer in found) <= 3 * len(found)
    assert all(0.5 <= source.probability <= 1 for answer in found for source in answer.sources)


def test_a_site_that_cannot_be_looked_at_gets_one_sentence_and_the_others_go_on():
    good = "<ul><li><a href='/e'>Events</a></li><li><a href='/a'>About</a></li></ul><p>Hello</p>"
    pages = {
        ("good.example", "/"): good,
        ("good.example", "/e"): "<p>Nothing here</p>",
        ("empty.example", "/"): "<p>A page without any link at all</p>" * 20,
        ("app.example", "/"): "<div id='root'></div><script src='/app.js'></script>",
        ("moved.example", "/"): "to http://good.example/",
        ("pdf.example", "/"): "%PDF-1.4",
    }
    homes = [f"http://{name}.example/" for name in ("good", "empty", "app", "moved", "pdf", "gone")]
    found = answers(homes, lambda: Pages(pages))
    assert found[0].complaint == ""
    for answer, said in zip(
        found[1:],
        [
            "has no links",
            "without a browser",
            "leads to another site",
            "cannot be read",
            "status 404",
        ],
        strict=True,
    ):
        assert said in answer.complaint
        assert answer.home in answer.complaint


def test_a_home_that_is_no_address_gets_one_sentence_and_the_others_go_on():
    homes = ("http://site0.tesw.example/", "garbage", "http://site1.tesw.example/")
    world = ("--world", "organisations:set=tesw,sites=3", "--delay", 0)
    done = honeyguide("find", *world, *homes)
    assert done.returncode == 0, done.stderr
    told = [line for line in done.stderr.splitlines() if not line.startswith("sites: ")]
    assert told == ["honeyguide: 'garbage' is no web address, such as https://example.org/"]
    assert all(f"{home}: " in done.stdout for home in (homes[0], homes[2]))


def test_the_command_line_finds_and_shows(tmp_path):
    done = honeyguide(
        "find",
        "--world",
        "organisations:set=tesw,sites=3",
        "--json",
        "http://site0.tesw.example/",
        "http://site1.tesw.example/",
    )
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert {row["home"] for row in rows} == {
        "http://site0.tesw.example/",
        "http://site1.tesw.example/",
    }
    wrong = honeyguide("find", "--kind", tmp_path / "none", "http://site0.tesw.example/")
    assert wrong.returncode == 1
    assert "honeyguide train source_finder" in wrong.stderr


def test_each_answer_says_what_was_clicked_and_why_it_stopped():
    done = honeyguide(
        "find", "--world", "organisations:set=tesw,sites=2", "--json", "http://site0.tesw.example/"
    )
    row = json.loads(done.stdout)
    assert len(row["clicked"]) == row["clicks"] > 0
    assert {"url", "anchor", "expected", "page"} <= row["clicked"][0].keys()
    assert row["clicked"][0]["anchor"]
    assert "link was likely enough" in row["stopped"]
    few = ("--max-clicks", 1, "--threshold", 0)
    done = honeyguide(
        "find", "--world", "organisations:set=tesw,sites=2", *few, "http://site1.tesw.example/"
    )
    assert "stopped: the limit of 1 click was reached" in done.stdout


def test_found_pages_are_a_table_for_other_programs():
    done = honeyguide(
        "find", "--world", "organisations:set=tesw,sites=3", "--csv", "http://site0.tesw.example/",
        "http://site1.tesw.example/",
    )  # fmt: skip
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert {row["home"] for row in rows} == {
        "http://site0.tesw.example/",
        "http://site1.tesw.example/",
    }
    assert any(float(row["probability"]) >= 0.5 for row in rows if row["source"])


def test_a_search_goes_on_after_a_kill_where_it_was(tmp_path):
    out = tmp_path / "found.jsonl"
    world = ("--world", "organisations:set=tesw,sites=4", "--delay", 0, "--out", out)
    first = honeyguide("find", *world, "http://site0.tesw.example/", "http://site1.tesw.example/")
    assert first.returncode == 0, first.stderr
    out.write_bytes(out.read_bytes() + b'{"home": "http://site2.te')  # killed while it wrote
    homes = [f"http://site{n}.tesw.example/" for n in range(4)]
    again = honeyguide("find", *world, "--json", "--workers", 2, *homes)
    assert "2 sites are in" in again.stderr
    assert {json.loads(line)["home"] for line in again.stdout.splitlines()} == set(homes[2:])
    kept = [json.loads(line)["home"] for line in out.read_text().splitlines()]
    assert sorted(kept) == sorted(homes)
    out.write_text("nonsense\n")
    wrong = honeyguide("find", *world, *homes)
    assert "is not a file of 'honeyguide find --out'" in wrong.stderr


def test_pages_like_an_example_are_found_without_a_model():
    world = make("world", "organisations:set=tesw,sites=12", judge=make("judge", "label:x"))
    pages = [(home, world.site(home.split("/")[2])) for home in world.homes]
    english = [(home, site) for home, site in pages if site.wording.language == "en"]
    (_, first), *others = english
    example = next(
        first.url(path) for path, draft in first.pages.items() if draft.labels[0] == "source:events"
    )

    async def run():
        finder = await Finder(delay=0.0).like([example], world)
        return await finder.find([home for home, _ in others[:5]], world)

    found = asyncio.run(run())
    right = [
        any("source:events" in world.page(source.url).labels for source in answer.sources)
        for answer in found
    ]
    assert sum(right) >= 2


def test_a_crawl_for_source_pages_needs_no_topic():
    plan = Plan(
        seeds=("http://site0.tesw.example/",),
        world="organisations:set=tesw,sites=2",
        agent="source_finder:batch=0",
        judge="event_source",
        budget=6,
    )
    assert plan.topic == "events"
    assert plan.simulate().pages > 0


def test_regions_of_a_file_are_shown_and_none_is_said(tmp_path):
    page = tmp_path / "page.html"
    page.write_text(
        "<ul>"
        + "".join(f"<li><a href='/{n}'>Talk {n}</a> <b>May {n}</b></li>" for n in range(4))
        + "</ul>"
    )
    assert "4 records" in honeyguide("regions", page).stdout
    row = json.loads(honeyguide("regions", page, "--json").stdout.splitlines()[0])
    assert row["text"] == "Talk 0 May 0"
    page.write_text("<p>alone</p>")
    assert "no list of similar records" in honeyguide("regions", page).stderr


def test_a_sure_link_and_a_sure_page_outweigh_a_doubtful_other():
    assert combined_probability(0.5, 0.3) == pytest.approx(0.3)
    assert combined_probability(0.98, 0.4) > 0.9
    assert combined_probability(0.96, 0.01) < 0.5
    assert combined_probability(1.0, 0.0) == 0.5


# --------------------------------------------------------------------------- watching


def listing(*numbers):
    rows = "".join(f"<li><a href='/e/{n}'>Event {n}</a> <span>May {n}</span></li>" for n in numbers)
    menu = "".join(f"<li><a href='/m/{n}'>Menu entry number {n}</a></li>" for n in range(20))
    return f"<nav><ul>{menu}</ul></nav><main><ul>{rows}</ul></main>"


def test_items_are_the_records_of_the_list_not_the_menu():
    found = items(listing(1, 2, 3).encode(), "http://x.example/events")
    assert found[0] == ("http://x.example/e/1", "Event 1", "Event 1 May 1")
    assert len(found) == 3
    assert items(b"<p>nothing</p>", "http://x.example/") == []


def look(path, pages):
    """Return the new items of one run with a state file, as after a restart."""

    async def run():
        async with Pages(pages) as port:
            world = make("world", "web", judge=lambda page: Verdict(0, False), **live(port))
            watch = Watch(path, ["http://x.example/events"])
            for watched in watch.sources:
                watched.due = 0.0
            found = [item async for fresh in follow(watch, world, once=True) for item in fresh]
            await world.close()
            return found, watch.sources[0]

    return asyncio.run(run())


def test_new_items_are_reported_once_also_after_a_restart(tmp_path):
    state, place = tmp_path / "state", ("x.example", "/events")
    first, _ = look(state, {place: listing(1, 2, 3)})
    again, rested = look(state, {place: listing(1, 2, 3)})
    third, hurried = look(state, {place: listing(4, 1, 2, 3)})
    assert [item.url[-3:] for item in first] == ["e/1", "e/2", "e/3"]
    assert again == []
    assert [item.title for item in third] == ["Event 4"]
    assert hurried.interval < rested.interval
    gone, failed = look(state, {})
    assert gone == []
    assert failed.failure == "status 404"


def test_a_source_is_visited_more_often_when_it_changes_within_bounds():
    busy, quiet = Watched("http://b.example/"), Watched("http://q.example/")
    for _ in range(40):
        busy.schedule(3, 0.0)
        quiet.schedule(0, 0.0)
    assert busy.interval == 600
    assert quiet.interval == 7 * 86_400


def test_a_crash_between_writing_and_saving_repeats_nothing(tmp_path):
    old, new = (Item("s", f"u{n}", "t", "x", 1.0) for n in (1, 2))
    assert not_yet_written([old, new], [old]) == [new]
    out = tmp_path / "items.jsonl"
    out.write_text('{"source": "s", "url": "u1", "title": "t", "text": "x", "seen": 1.0}\n{"sour')
    assert read_items(out) == [old]


def test_a_feed_holds_what_pages_say_however_odd(tmp_path):
    from xml.etree import ElementTree

    write_rss(
        tmp_path / "feed",
        [Item("s", "http://x.example/?a=1&b=2", "A <b> & \x00", "t", 0.0)],
        "http://x.example/",
    )
    item = ElementTree.parse(tmp_path / "feed").find("channel/item")
    assert item.findtext("title") == "A <b> & "
    assert item.findtext("link") == "http://x.example/?a=1&b=2"


def test_a_file_of_sources_is_addresses_or_what_find_wrote(tmp_path):
    file = tmp_path / "sources"
    file.write_text(
        '# mine\nhttp://a.example/e\n{"home": "x", "sources": [{"url": "http://b.example/"}]}\n'
    )
    assert read_sources(file) == ["http://a.example/e", "http://b.example/"]
    for wrong in ("{nonsense", "not an address", ""):
        file.write_text(wrong)
        with pytest.raises(HoneyguideError):
            read_sources(file)
