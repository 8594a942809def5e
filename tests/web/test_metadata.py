"""What pages say about themselves: canonical URL, author, date of publication, headings."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from honeyguide.contracts import Link, Verdict, Visit
from honeyguide.disk.serialise import pack_visit, unpack_visit
from honeyguide.text.dates import iso_date
from honeyguide.web import metadata
from honeyguide.web.html import parse

URL = "http://site.example/a"


def said(head="", body=""):
    page = parse(f"<head>{head}</head><body>{body}</body>".encode("utf-8", "replace"), URL).page
    return page.metadata


def linked(*values):
    """What is read from scripts of JSON-LD."""
    scripts = [
        f"<script type='application/ld+json'>{each if isinstance(each, str) else json.dumps(each)}"
        "</script>"
        for each in values
    ]
    found = said("".join(scripts))
    return found.author, found.published


ARTICLE = {"@type": "NewsArticle", "datePublished": "2020-05-05T10:00:00Z"}


@pytest.mark.parametrize(
    ("author", "name"),
    [
        ("Ann Lee", "Ann Lee"),
        ({"@type": "Person", "name": " Ann\n Lee "}, "Ann Lee"),
        ([{"name": "Ann"}, "Bo", {"name": ["Cy"]}], "Ann; Bo; Cy"),
        ({"name": {"@value": "x"}}, ""),
        ("https://a.example/ann", ""),
        ("By Ann", "Ann"),
        (7, ""),
        (None, ""),
        ([], ""),
        ("x" * 500, "x" * 100),
        ([["Ann"]], "Ann"),
        (["Ann", "Ann"], "Ann"),
    ],
)
def test_an_article_names_its_authors(author, name):
    assert linked({**ARTICLE, "author": author}) == (name, "2020-05-05T10:00:00+00:00")


def test_an_article_is_found_in_a_graph_and_its_author_by_reference():
    graph = [
        {"@type": "WebPage", "datePublished": "2019-01-01"},
        {"@type": "Person", "@id": "#ann", "name": "Ann"},
        {"@type": ["Thing", "BlogPosting"], "author": {"@id": "#ann"}, "datePublished": "2020"},
    ]
    assert linked({"@graph": graph}) == ("Ann", "2020")
    assert linked(graph[0]) == ("", "2019-01-01")


def deep(levels):
    return '{"author":' * levels + '"x"' + "}" * levels


@pytest.mark.parametrize(
    "script",
    [
        '{"author": "Ann", "datePublished"',
        '["author"' * 50_000,
        '{"author":' + "[" * 100_000,
        deep(50_000),
        '{"author": ' + "9" * 50_000 + "}",
        '{"author": "' + "x" * 3_000_000 + '"}',
        '{"@type": {"a": 1}, "author": {"@id": ["x"], "name": {}}, "datePublished": [[]]}',
        '{"@id": [], "author": "", "@graph": 5, "mainEntity": [1, null, []]}',
        '[{"author": {"@id": "a", "name": null}}, {"@id": "a", "name": {"name": {"@id": "a"}}}]',
        "null, 'author' \x01\x02",
        '"author"',
    ],
)
def test_hostile_json_ld_says_nothing_and_harms_nobody(script):
    author, published = linked(script)
    assert len(author) <= metadata.MAX_NAME
    assert published == ""


def test_a_line_feed_inside_a_text_is_forgiven():
    assert linked('{"@type": "Article", "author": "Ann\nLee"}') == ("Ann Lee", "")


@pytest.mark.parametrize(
    ("head", "author", "published"),
    [
        ("<meta name=author content='Ann Lee'>", "Ann Lee", ""),
        ("<meta property='article:author' content='https://f.example/ann'>", "", ""),
        ("<meta name='DC.creator' content=Ann><meta name='DC.date' content=2020-05>", "Ann",
         "2020-05"),
        ("<meta property=article:published_time content='2020-05-05T01:02:03+02:00'>", "",
         "2020-05-05T01:02:03+02:00"),
        ("<meta name=date content=yesterday><meta name=pubdate content='5 May 2020'>", "",
         "2020-05-05"),
        ("<meta name=citation_author content=A><meta name=citation_author content=B>", "A; B", ""),
        ("<meta itemprop=datePublished content=2020-05-05>", "", "2020-05-05"),
        ("<meta name=author><meta content=x><meta name=date content=''>", "", ""),
    ],
)  # fmt: skip
def test_meta_tags_say_who_and_when(head, author, published):
    found = said(head)
    assert (found.author, found.published) == (author, published)


@pytest.mark.parametrize(
    ("body", "author", "published"),
    [
        ("<time datetime='2020-05-05' pubdate>May</time>", "", "2020-05-05"),
        ("<time datetime='2020-05-05T10:00' itemprop=datePublished>x</time>", "",
         "2020-05-05T10:00:00"),
        ("<span itemprop=datePublished>May 5, 2020</span>", "", "2020-05-05"),
        ("<p itemprop=author>by <b itemprop=name>Ann</b>, editor</p>", "Ann", ""),
        ("<time datetime='2020-05-05'>an event</time>", "", ""),
    ],
)  # fmt: skip
def test_marked_elements_say_who_and_when(body, author, published):
    found = said(body=body)
    assert (found.author, found.published) == (author, published)


def test_json_ld_is_believed_before_meta_tags():
    head = "<meta name=author content=CMS><script type='application/ld+json'>"
    found = said(head + json.dumps({**ARTICLE, "author": "Ann"}) + "</script>")
    assert found.author == "Ann"


def test_headings_are_kept_in_order_and_within_bounds():
    body = "<h2>B <a href=x>link</a></h2><h1>A<br>a</h1><h4>no</h4><h3> </h3>" + "<h3>c</h3>" * 500
    found = said(body=body).headings
    assert found[:3] == ("B link", "A a", "c")
    assert len(found) == metadata.MAX_HEADINGS
    assert len(said(body=f"<h1>{'x' * 9999}</h1>").headings[0]) == metadata.MAX_HEADING


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("2020-05-05", "2020-05-05"),
        ("20200505", "2020-05-05"),
        ("2020-05", "2020-05"),
        ("2020", "2020"),
        ("2020-05-05T10:00:00.123Z", "2020-05-05T10:00:00+00:00"),
        ("2020-05-05 10:00:00 +0200", "2020-05-05T10:00:00+02:00"),
        ("2020-05-05T00:00", "2020-05-05T00:00:00"),
        ("Tue, 05 May 2020 10:00:00 GMT", "2020-05-05T10:00:00+00:00"),
        ("May 5th, 2020", "2020-05-05"),
        ("Published: 5 September 2020", "2020-09-05"),
        ("2020/5/5", "2020-05-05"),
        ("5.5.2020", "2020-05-05"),
        ("2020-05-05 at noon", "2020-05-05"),
        ("01/02/2020", ""),
        ("31.2.2020", ""),
        ("2020-13", ""),
        ("0001-01-01T00:00:00", ""),
        ("9999-12-31", ""),
        ("yesterday", ""),
        ("", ""),
    ],
)
def test_dates_are_written_in_one_way(text, iso):
    assert iso_date(text) == iso


@given(st.text() | st.from_regex(r"[\d :./TZ+-]{0,40}"))
def test_any_text_has_a_date_or_none(text):
    found = iso_date(text)
    assert found == "" or iso_date(found) == found


def test_what_a_page_says_is_stored_with_its_visit():
    head = "<link rel=canonical href='/c'><meta name=author content='A\ufffd'>"
    page = parse(f"<html lang=de><head>{head}</head><h1>H".encode(), URL).page
    visit = Visit(Link(URL), page, Verdict(0.5, True))
    back = unpack_visit(pack_visit(visit), page.text)
    assert back == visit
    assert back.page.metadata == page.metadata
    assert back.page.declared_language == "de"
