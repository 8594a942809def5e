"""Sitemaps give links and nothing but links, whatever is in them."""

import asyncio
import gzip
import time

from hypothesis import given, settings
from hypothesis import strategies as st

from honeyguide.contracts import Link, OfHost
from honeyguide.web.host_schedule import RESTS_UNTIL, HostSchedule
from honeyguide.web.sitemaps import Sitemaps, parse_sitemap
from tests.web.servers import Server, fetcher, page

NAMESPACE = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


def urlset(*urls: str) -> bytes:
    entries = "".join(f"<url><loc>{url}</loc><priority>1</priority></url>" for url in urls)
    return f'<?xml version="1.0"?><urlset {NAMESPACE}>{entries}</urlset>'.encode()


def index(*urls: str) -> bytes:
    entries = "".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in urls)
    return f'<?xml version="1.0"?><sitemapindex {NAMESPACE}>{entries}</sitemapindex>'.encode()


def test_the_urls_of_a_sitemap_are_found():
    found = parse_sitemap(urlset("http://a/1", "http://a/?x=1&amp;y=2", "http://a/1"))
    assert not found.is_index
    assert found.urls == ("http://a/1", "http://a/?x=1&y=2")


def test_space_namespaces_and_cdata_do_not_matter():
    body = b"""<s:urlset xmlns:s="x"><s:url><s:loc>
      http://a/1 </s:loc><image:loc>http://a/i.png</image:loc></s:url>
      <url><loc><![CDATA[http://a/2]]></loc></url></s:urlset>"""
    assert parse_sitemap(body).urls == ("http://a/1", "http://a/2")


def test_an_index_and_a_list_of_lines_and_gzip_are_read():
    assert parse_sitemap(index("http://a/s.xml")).is_index
    lines = b"\xef\xbb\xbfhttp://a/1\r\n\r\nnothing\nhttps://a/2"
    assert parse_sitemap(lines).urls == ("http://a/1", "https://a/2")
    assert parse_sitemap(gzip.compress(urlset("http://a/1"))).urls == ("http://a/1",)
    assert parse_sitemap(urlset("http://a/1").decode().encode("utf-16")).urls == ("http://a/1",)


def test_half_a_sitemap_gives_half_its_links():
    body = urlset("http://a/1", "http://a/2", "http://a/3")
    cut = body[: body.index(b"http://a/3") - 3]
    assert parse_sitemap(cut).urls == ("http://a/1", "http://a/2")


def test_entities_are_not_expanded():
    bomb = b"""<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;"><!ENTITY f SYSTEM "file:///etc/passwd">]>
    <urlset><url><loc>http://a/&b;</loc></url><url><loc>http://a/&f;</loc></url></urlset>"""
    assert parse_sitemap(bomb).urls == ("http://a/&b;", "http://a/&f;")


def test_hostile_sitemaps_cost_bounded_time():
    started = time.process_time()
    parse_sitemap(b"<urlset>" + b"<loc>" * 400_000)
    parse_sitemap(b"<urlset><loc>" + b" " * 2_000_000 + b"<loc>" + b"\n" * 2_000_000)
    parse_sitemap(b"\n" * 2_000_000)
    parse_sitemap(gzip.compress(bytes(60_000_000), 1))
    assert len(parse_sitemap(urlset(*(f"http://a/{i}" for i in range(60_000)))).urls) == 50_000
    assert time.process_time() - started < 5.0


@settings(deadline=None)
@given(st.binary(max_size=500))
def test_no_sitemap_is_too_strange(body: bytes):
    parse_sitemap(body)
    parse_sitemap(b"<urlset><loc>" + body)


def links(answers: dict[str, bytes], **limits: int) -> tuple[list[Link], list[str]]:
    async def run() -> tuple[list[Link], list[str]]:
        async with Server(answers) as server:
            http = fetcher(server, "site.test", "cdn.test")
            named = ["http://site.test/s.xml"]
            found = await Sitemaps(http, **limits).links(named, "site.test", pause=0.0)
            await http.close()
            return found, server.asked

    return asyncio.run(run())


def xml(body: bytes) -> bytes:
    return page(body, content_type="application/xml")


def test_only_pages_of_the_host_are_taken():
    body = urlset("http://site.test/1", "http://other.test/", "file:///etc/passwd", "/2")
    found, _ = links({"/s.xml": xml(body)})
    assert found == [Link("http://site.test/1", source="http://site.test/s.xml")]


def test_an_index_leads_to_its_sitemaps():
    root = index("http://site.test/a.xml.gz", "http://other.test/b.xml", "http://site.test/gone")
    packed = page(gzip.compress(urlset("http://site.test/1")), content_type="application/gzip")
    found, asked = links({"/s.xml": xml(root), "/a.xml.gz": packed})
    assert [link.url for link in found] == ["http://site.test/1"]
    assert asked == ["site.test /s.xml", "site.test /a.xml.gz", "site.test /gone"]


def test_files_links_and_depth_are_bounded():
    deep = {f"/{i}": xml(index(f"http://site.test/{i + 1}")) for i in range(9)}
    _, asked = links({**deep, "/s.xml": xml(index("http://site.test/0"))}, max_depth=2)
    assert asked == ["site.test /s.xml", "site.test /0", "site.test /1"]
    wide = xml(index(*(f"http://site.test/w{i}" for i in range(100))))
    assert len(links({"/s.xml": wide}, max_files=5)[1]) == 5
    many = xml(urlset(*(f"http://site.test/{i}" for i in range(100))))
    assert len(links({"/s.xml": many}, max_urls=7)[0]) == 7


def test_an_index_of_itself_ends():
    _, asked = links({"/s.xml": xml(index("http://site.test/s.xml"))})
    assert asked == ["site.test /s.xml"]


def test_all_sitemaps_of_a_host_share_one_bound():
    named = [f"http://site.test/n{i}" for i in range(3)]
    answers = {
        f"/n{i}": xml(index(*(f"http://site.test/{i}-{j}" for j in range(9)))) for i in range(3)
    }

    async def run() -> list[str]:
        async with Server(answers) as server:
            http = fetcher(server, "site.test")
            await Sitemaps(http, max_files=5).links(named, "site.test", pause=0.0)
            await http.close()
            return server.asked

    assert len(asyncio.run(run())) == 5


def test_a_host_that_asks_for_patience_is_asked_for_no_more_sitemaps():
    root = index(*(f"http://site.test/{i}" for i in range(5)))
    answers = {"/s.xml": xml(root), "/0": xml(urlset("http://site.test/page"))}
    answers["/1"] = page(b"", "429 Too Many", retry_after="3600")
    found, asked = links(answers)
    assert [link.url for link in found] == ["http://site.test/page"]
    assert asked == ["site.test /s.xml", "site.test /0", "site.test /1"]


def test_a_host_whose_sitemap_fails_is_not_asked_for_as_long_as_it_says():
    async def run() -> HostSchedule:
        schedule = HostSchedule(clock=lambda: 0.0, wall_clock=lambda: 0.0)
        async with Server({"/s.xml": page(b"", "503 Busy", retry_after="3600")}) as server:
            http = fetcher(server)
            sitemaps = Sitemaps(http, schedule=schedule)
            await sitemaps.links(["http://site.test/s.xml"], "site.test", pause=0.0)
            await http.close()
            return schedule

    schedule = asyncio.run(run())
    assert schedule.wait("site.test") == 3600.0
    assert OfHost("site.test", RESTS_UNTIL, 3600.0) in schedule.news()
