"""Fuzz what servers send: reading it raises nothing and takes bounded time and memory."""

import gzip
import zlib

import brotli
import pytest
import zstandard

from honeyguide import urls
from honeyguide.recorded.importers.wikitext import parse as parse_wikitext
from honeyguide.source_finder.regions import read_regions
from honeyguide.source_finder.watch import items
from honeyguide.text.words import printable, terms, words
from honeyguide.urls.patterns import Patterns
from honeyguide.urls.spelling import as_ascii, follow, host_of, target
from honeyguide.web.decoding import decode
from honeyguide.web.host_schedule import retry_after
from honeyguide.web.html import parse
from honeyguide.web.robots_txt import RobotsTxt, robots_directives
from honeyguide.web.sitemaps import parse_sitemap
from tests.fuzz.harness import fuzzed

URL = "http://site.example/folder/page.html?a=1"


@pytest.fixture(scope="module")
def place():
    """No files are needed."""


def said(data):
    """Return bytes as a text that may contain lone surrogates."""
    return data.decode("utf-8", "surrogatepass" if b"\xed\xa0\x80" in data else "replace")


def text_of(data):
    try:
        return said(data)
    except UnicodeDecodeError:
        return data.decode("latin-1")


@fuzzed(
    "urls",
    [
        b"http://example.org/a/b.html?x=1&utm_source=y#z",
        b"HTTPS://User:Pass@Ex%41mple.org:8080/..;jsessionid=1/../a?sid=0123456789abcdef0",
        "http://bücher.example/ä/%C3%A4/🙂".encode(),
        b"//[2001:db8::1]:443/\\a\\b",
        b"../../x?y=z;jsessionid=2",
        b"http://1.2.3/%00/%2e%2e/",
    ],
    [b"xn--", b"%2e", b"://", b"@", b":", b"?", b"#", b"\\", b"\t", b";jsessionid=", b"&", b"*"],
    few=300,
)
def test_a_url_is_canonical_or_none(_, data):
    url = text_of(data)
    for found in (urls.canonical(url), urls.canonical(url, URL)):
        urls.words(found or url)
        if found is not None:
            assert found.startswith(("http://", "https://"))
            assert urls.canonical(found) == found
            assert "/" not in urls.host(found)
            found.encode()
    target(url)
    host_of(url)
    follow(URL, url)
    as_ascii(data.decode("utf-8", "surrogateescape"))


@fuzzed(
    "patterns",
    [b"example.org", b"http://example.org/a*b*c", b"*.example.org/*", b"[a-z]*", b"*?[!x]"],
    [b"*", b"?", b"[", b"]", b"!", b"-", b"\\", b"(", b"a*"],
    few=30,
)
def test_any_pattern_fits_or_does_not(_, data):
    pattern = text_of(data)
    Patterns([pattern, "*a*a*a*a*b"]).match("http://example.org/" + "a" * 2000)
    Patterns([pattern]).match(URL)


@fuzzed(
    "robots",
    [
        b"User-agent: *\nDisallow: /a*b$\nAllow: /a/\nCrawl-delay: 1.5\nSitemap: http://x.example/s\n",
        b"\xef\xbb\xbfuser-agent: honeyguide\r\ndisallow: /%7e*?x=\r\n\r\nuser agent : x\rallow:/",
    ],
    [b"disallow: /*a*a*a*a*b\n", b"user-agent: *\n", b"crawl-delay: ", b"*", b"$", b"#", b":"],
    few=100,
)
def test_any_robots_txt_decides(_, data):
    rules = RobotsTxt(data, "honeyguide/1.0")
    for url in (URL, "http://x.example/" + "a" * 2000, "http://x.example/%7E?x=%2F"):
        assert isinstance(rules.decide(url).allowed, bool)
    assert rules.crawl_delay is None or rules.crawl_delay >= 0
    rules.allows("/\ud800")


HTML = [
    b"<!doctype html><html lang=de><head><meta charset=latin1><title>T</title><base href='/b/'>"
    b"<meta name=robots content=noindex></head><body><nav><a href=x>x</a></nav><h1>H</h1>"
    b"<ul><li><a href='?y'>one</a> text</li><li><a href=z>two</a> more</li><li>three</ul>"
    b"<table><tr><td>a<td>b<tr><td>c<td>d</table><svg><a xlink:href=q>s</a></svg></body></html>",
    "\ufeff<p>utf-16 <a href=/ü>ü</a>".encode("utf-16"),
    b"<?xml version='1.0' encoding='utf-7'?><!-- <a href=c> --><textarea><script><a href=s>",
]
HTML_TOKENS = [b"<div>", b"<a href=x>", b"</a>", b"<li>", b"<table><tr><td>", b"<!--", b"<![CDATA[",
               b"<base href=//[>", b"<meta charset=utf-16>", b"&#xd800;", b"<svg>", b"<template>",
               b" a=1", b"<a a=1 ", b"<plaintext>", b"<select>", b"<font><p>"]  # fmt: skip
TYPES = ("text/html", "text/html; charset=utf-7", "text/html; charset=\ud800", "")


@fuzzed("html", HTML, HTML_TOKENS, few=50)
def test_any_page_is_read(_, data):
    for kind in TYPES:
        page = parse(data, URL, kind).page
        for link in page.links:
            urls.host(link.url)
    words(page.text)
    terms(page.text)
    printable(page.text).encode()


@fuzzed("regions", HTML, HTML_TOKENS, few=30)
def test_any_page_has_regions_or_none(_, data):
    read_regions(data, URL)
    for url, title, text in items(data, URL):
        printable(f"{url} {title} {text}").encode()


@fuzzed(
    "sitemaps",
    [
        b"<urlset><url><loc>http://x.example/a&amp;b</loc></url><image:loc>http://y</image:loc></urlset>",
        b"<sitemapindex><sitemap><loc><![CDATA[http://x.example/s]]></loc></sitemap></sitemapindex>",
        b"http://x.example/a\nhttp://x.example/b\n",
        gzip.compress(b"<urlset><loc>http://x.example/z</loc></urlset>", mtime=0),
        "\ufeff<urlset><loc>http://x.example/u</loc>".encode("utf-16-le"),
    ],
    [b"<loc>", b"<loc> ", b"<a:loc>", b"<![CDATA[", b"&#x", b"<sitemapindex>"],
    few=100,
)
def test_any_sitemap_gives_urls_or_none(_, data):
    for url in parse_sitemap(data).urls:
        urls.canonical(url)


PLAIN = b"<p>hello world " * 50
ENCODED = {
    "gzip": gzip.compress(PLAIN, mtime=0),
    "deflate": zlib.compress(PLAIN),
    "br": brotli.compress(PLAIN),
    "zstd": zstandard.compress(PLAIN),
}


@fuzzed(
    "encodings",
    [*ENCODED.values(), gzip.compress(bytes(1 << 22), mtime=0), zstandard.compress(bytes(1 << 22))],
    few=100,
)
def test_any_content_encoding_is_undone_or_fails(_, data):
    for name in (*ENCODED, "gzip, br", "identity, gzip,,zstd", "gzip,gzip,gzip"):
        body, failure = decode(data, name, 1 << 20)
        assert len(body) <= 1 << 20
        assert isinstance(failure, str)


@fuzzed(
    "headers",
    [b"120", b"Fri, 31 Dec 1999 23:59:59 GMT", b"noindex, honeyguide: nofollow", b"1e400, 5"],
    [b"GMT", b"Feb 30", b"0000", b"+9999", b"unavailable_after: ", b":"],
    few=200,
)
def test_any_header_is_understood_or_not(_, data):
    value = data.decode("utf-8", "surrogateescape")
    wait = retry_after({"retry-after": value}, 1e9)
    assert wait is None or wait >= 0
    robots_directives({"x-robots-tag": value})


WIKITEXT = b"""'''A''' is {{t|x=[[B|b]]}} [[File:x.jpg|thumb|[[C]] d]] <ref name=a>r</ref>
== H ==
{|
|-
| a || b
|}
[http://x y] __NOTOC__ <!-- c --> [[Category:K]]"""
MARKS = b"{{ }} [[ ]] {| |} <ref> <!-- ''' <nowiki> [http:// &#x110000; |".split()


@fuzzed("wikitext", [WIKITEXT], MARKS, few=60)
def test_any_wikitext_is_read(_, data):
    article = parse_wikitext(data.decode("utf-8", "replace"))
    for _, start, end in article.links:
        article.anchor(start, end)
        article.context(start, end)
