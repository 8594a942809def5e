import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from honeyguide.web import html

URL = "http://site.example/dir/page.html"


def links(body, **settings):
    return html.parse(body.encode(), URL, **settings).page.links


def test_the_words_around_a_link_are_whole_ones():
    before, after = "volcanoes " * 40, " eruptions" * 40
    (link,) = links(f"<p>{before}<a href=/x>lava</a>{after}</p>")
    assert set(link.context.split()) == {"volcanoes", "lava", "eruptions"}
    assert 250 < len(link.context) <= 150 + len("lava") + 150


def test_where_no_spaces_are_words_around_a_link_are_cut():
    (link,) = links(f"<p>{'火山' * 200}<a href=/x>熔岩</a>{'喷发' * 200}</p>")
    assert min(link.context.count("火山"), link.context.count("喷发")) >= 74


def test_a_link_carries_its_anchor_context_and_tag_path():
    before, after = "word " * 60, " tail" * 60
    body = f"<body><nav><ul><li>{before}<a href='../bees'>wild <b>bees</b></a>{after}</ul></nav>"
    (link,) = links(body)
    assert link.url == "http://site.example/bees"
    assert link.anchor == "wild bees"
    assert link.tag_path == "html/body/nav/ul/li/a"
    assert link.source == URL
    assert link.context.startswith("d word word") or link.context.startswith("word word")
    assert "word wild bees tail" in link.context
    assert len(before) > 150 and len(link.context) <= 150 + len("wild bees") + 150


def test_links_come_in_document_order_each_with_its_own_words():
    body = "".join(f"<p>about {word} see <a href='/{word}'>{word}</a>" for word in "abcdef")
    found = links(body)
    assert [link.anchor for link in found] == list("abcdef")
    assert all(f"about {link.anchor} see {link.anchor}" in link.context for link in found)


def test_an_image_link_is_anchored_by_its_alt_text():
    (link,) = links("<a href='/x'><img src='i.png' alt='a honey badger'></a>")
    assert link.anchor == "a honey badger"


def test_image_maps_and_frames_are_links_too():
    found = links("<map><area href='/n' alt='north'></map>")
    assert [(link.url, link.anchor) for link in found] == [("http://site.example/n", "north")]
    found = links("<frameset><frame src='list.htm'></frameset>")
    assert [link.url for link in found] == ["http://site.example/dir/list.htm"]


def test_links_are_relative_to_the_base():
    (link,) = links("<head><base href='http://other.example/a/'></head><a href='b'>b</a>")
    assert link.url == "http://other.example/a/b"


def test_what_leads_nowhere_is_no_link():
    body = (
        "<a href='#top'>top</a><a href='mailto:x@y.z'>m</a><a href='javascript:f()'>j</a><a>n</a>"
    )
    assert links(body) == ()


def test_nofollow_links_are_left_out_unless_asked_for():
    body = "<a href='/a' rel='external NoFollow'>a</a><a href='/b'>b</a>"
    assert [link.anchor for link in links(body)] == ["b"]
    assert [link.anchor for link in links(body, follow_nofollow=True)] == ["a", "b"]


def test_the_head_speaks_to_crawlers():
    head = "<meta name='Robots' content='NOINDEX, nofollow'><link rel='canonical' href='/c#x'>"
    parsed = html.parse(f"<head>{head}</head><a href='/a'>a</a>".encode(), URL)
    assert (parsed.noindex, parsed.nofollow) == (True, True)
    assert parsed.page.metadata.canonical == "http://site.example/c"
    assert parsed.page.links == ()


@pytest.mark.parametrize(
    "said",
    [
        "<head><noscript><img src=p.gif></noscript><meta name=robots content='noindex, nofollow'>",
        "<body><p>x</p><meta name=robots content='noindex,nofollow'>",
        "<head><meta name=' Robots ' content='noindex; nofollow'>",
        "<head><meta name=robots content=none>",
    ],
)
def test_what_a_page_asks_of_crawlers_is_heard_wherever_it_stands(said):
    parsed = html.parse(f"{said}<a href='/a'>a</a>".encode(), URL)
    assert (parsed.noindex, parsed.nofollow) == (True, True)
    assert parsed.page.links == ()


def test_a_base_counts_wherever_it_stands_and_a_canonical_address_in_the_head_only():
    body = "<img src=p.gif><base href='/deep/'><link rel=canonical href='/c'><a href=x>x</a>"
    parsed = html.parse(body.encode(), URL)
    assert [link.url for link in parsed.page.links] == ["http://site.example/deep/x"]
    assert parsed.page.metadata.canonical == ""


def test_scripts_and_styles_are_not_text():
    body = "<script>alert('boo')</script><style>p {}</style><p>see <a href='/x'>x</a> now"
    parsed = html.parse(body.encode(), URL)
    assert parsed.page.links[0].context == "see x now"
    assert "boo" not in parsed.page.text


def test_the_main_text_leaves_the_navigation_out():
    article = "<p>" + "The honeyguide leads people to the nests of wild bees. " * 60 + "</p>"
    menu = "<nav><ul>" + "<li><a href='/m'>menu entry</a>" * 10 + "</ul></nav>"
    title = "<title> Greater\n honeyguide </title>"
    parsed = html.parse(f"{title}<body>{menu}<main>{article}</main></body>".encode(), URL)
    assert parsed.page.title == "Greater honeyguide"
    assert "wild bees" in parsed.page.text
    assert "menu entry" not in parsed.page.text
    assert parsed.page.language == "en"


def test_a_page_without_a_main_part_keeps_all_of_its_text():
    body = "<ul>" + "".join(f"<li><a href='/{i}'>entry {i}</a>" for i in range(50)) + "</ul>"
    text = html.parse(body.encode(), URL).page.text
    assert all(f"entry {i}" in text for i in range(50))


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        ("größe".encode("latin-1"), "text/html; charset=ISO-8859-1"),
        ("größe".encode(), "text/html; charset='utf-8'"),
        (b"<meta charset=windows-1252>" + "größe".encode("cp1252"), ""),
        ("\ufeffgröße".encode("utf-16-le"), "text/html; charset=utf-8"),
        ("\ufeffgröße".encode(), "text/html; charset=latin-1"),
        ("größe".encode(), ""),
        ("größe".encode(), "text/html; charset=zip"),
        (("größe über alles, schöne grüße " * 20).encode("latin-1"), "text/html"),
    ],
)
def test_the_charset_is_found(body, content_type):
    assert "größe" in html.decode(body, content_type)


HOSTILE = {
    "deep": "<div>" * 100_000 + "<a href='/x'>x</a>",
    "lists": "<ul><li>" * 100_000,
    "links": "<a href='/x'>y</a>" * 1_000_000,
    "fonts": "".join(f"<font id={i}>" for i in range(9000)) + "<p>x" * 9000,
    "bold": "<b><i><u><s><tt><em>" * 3 + "<p>x" * 100_000,
    "adoption": "<b>" * 10 + "<div>" * 50_000 + "</b>" * 50_000,
    "attributes": "<a " + " ".join(f"a{i}" for i in range(300_000)) + ">x",
    "quoted": "<a x='>' " + " ".join(f"a{i}='<'" for i in range(200_000)) + ">x",
    "one name": "<a" * 20_000 + "x" * 1_900_000,
    "quotes": "<a x='" * 300_000,
    "a long address": "<a href='" + "x" * 3_000_000 + "'>y</a>",
    "nothing": "\x00" * 3_000_000,
    "angles": "<" * 2_000_000,
    "space": "a" + " " * 3_000_000 + "b",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_html_costs_bounded_time(name):
    started = time.process_time()
    parsed = html.parse(HOSTILE[name].encode(), URL)
    assert time.process_time() - started < 10  # without the limits: minutes
    assert len(parsed.page.links) <= html.MAX_LINKS


def test_a_deep_page_keeps_its_links_with_short_paths():
    (link,) = links("<div>" * 5000 + "<a href='/x'>x</a>")
    assert link.url == "http://site.example/x"
    assert link.tag_path.count("/") == html.MAX_DEPTH


def test_a_page_cannot_forge_the_marks_around_links():
    found = links("<p>&#1; \x01 <a href='/x'>x</a> <img alt='&#1;'>")
    assert [link.url for link in found] == ["http://site.example/x"]


TAGS = (
    "<div> </div> <b> <p> x <table> <td> </b> <a_href=q> </a> <font_a> <ul> <li> <select> <svg>"
    " <!-- --> <template> </template> <script> </script> &#1; \x01 \x00 &#xD800; é <frameset>"
    " <frame_src=z> <base_href='http://q/'> <title> </title> <body> <html_lang=de> <head> <math>"
    " <img_alt='y'> <meta_name=robots_content=none> <link_rel=canonical_href=/c> <area_href=1>"
    " <textarea> <noscript> <style> <plaintext> </svg> _"
).split(" ")


@settings(max_examples=200)
@given(st.lists(st.sampled_from(TAGS), max_size=40))
def test_any_mix_of_tags_is_read(pieces):
    page = html.parse("".join(pieces).replace("_", " ").encode(), URL).page
    for link in page.links:
        (link.url + link.anchor + link.context).encode()
    (page.title + page.text).encode()


@given(st.binary(max_size=300), st.sampled_from(["", "text/html; charset=utf-16", "charset=gbk"]))
def test_any_bytes_are_read(body, content_type):
    html.parse(body, URL, content_type).page.text.encode()
