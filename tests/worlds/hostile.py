"""Hostile input that could slow a crawler: pages, responses, robots.txt files and sitemaps."""

import gzip
import random
import zlib
from collections.abc import Callable

import brotli
import zstandard

from honeyguide.web.parser_pool import SMALL_BODY, SMALL_TAGS
from tests.web.servers import page

START = b"<!doctype html><title>t</title><body>"
FULL = 2_000_000  # bytes, the most that are read of a page
WORDS = b"geology rock mineral stone sediment layer " * 50_000

UNITS = {
    "nested div": b"<div>",
    "nested list": b"<ul><li>x",
    "nested links and blocks": b"<a href=/x><div>",
    "nested tables": b"<table><tr><td>",
    "nested formatting": b"<b>x<p>",
    "misnested formatting": b"<b><i><a></b>",
    "nested svg": b"<svg><foreignObject>",
    "nested frames of a page": b"<nav><footer>x",
    "long tags": b"<" + b"z" * 5_000 + b">",
    "options": b"<option>x",
    "cells": b"<td>x",
    "paragraphs": b"<p>x",
    "stray ends": b"</p></br>",
    "less than": b"<",
    "entities": b"&CounterClockwiseContourIntegral;",
    "half entities": b"&",
    "comments": b"<!---->",
    "scripts": b"<script>1</script>",
    "images": b"<a href=/x><img alt='some words'></a>",
    "meta tags": b"<meta name=robots content='a,b'>",
    "links in the head": b"<link rel='x canonical' href=/x>",
    "marks": b"\x01 ",
    "zeros": b"\0",
    "lines": b"a\n",
    "one word": b"x",
    "spaces": b" ",
}


def repeated(unit: bytes, size: int, tags: float = float("inf")) -> bytes:
    """Return a page of so many bytes, with at most so many tags."""
    times = size // len(unit)
    if per_unit := unit.count(b"<"):
        times = int(min(times, tags // per_unit))
    return START + unit * times


def numbered(size: int, line: Callable[[int], bytes], start: bytes = START) -> bytes:
    """Return a page of numbered lines."""
    lines, length = [start], 0
    while length < size:
        lines.append(line(len(lines)))
        length += len(lines[-1])
    return b"".join(lines)


def link(number: int) -> bytes:
    return b"<a href=/%d>link %d</a> " % (number, number)


def long_link(number: int) -> bytes:
    return b"<a href='/%s/%d'>x</a>" % (b"a-b_c" * 380, number)


def strange_link(number: int) -> bytes:
    place = f"http://b\u00fccher{number}.example/{'../' * 50}%e9?" + "&".join("abcdefghij")
    return f"<a href='{place}'>x</a>".encode()


def pages() -> dict[str, bytes]:
    """Return pages of every kind, by name: at the limit of small pages, and far larger."""
    return {
        "200,000 links": numbered(4_500_000, link),
        "links": numbered(SMALL_BODY // 2, link)[: SMALL_BODY - 100],
        "long links": numbered(SMALL_BODY - 5_000, long_link),
        "many long links": numbered(FULL, long_link),
        "strange links": numbered(SMALL_BODY - 5_000, strange_link),
        "many strange links": numbered(FULL, strange_link),
        "frames": numbered(FULL, lambda n: b"<frame src=/%d>" % n, b"<frameset>"),
        "links under long tags": START
        + b"".join(b"<%s%d>" % (b"z" * 9_000, n) for n in range(64))
        + numbered(100_000, link, b""),
        "a million attributes": START + b"<p " + numbered(9_000_000, lambda n: b"a%d=1 " % n, b""),
        "attributes": repeated(
            b"<p " + b" ".join(b"a%d=1" % n for n in range(500)) + b">", SMALL_BODY
        ),
        "attributes of one tag": START + b"<p " + numbered(20_000, lambda n: b"a%d=1 " % n, b""),
        "attributes with quoted ends": START
        + b"<p "
        + numbered(20_000, lambda n: b"a%d='>' " % n, b""),
        "attributes in UTF-16": ("<p " + "".join(f"a{n}=1 " for n in range(5_000)) + ">x").encode(
            "utf-16"
        ),
        "attributes of middling tags": repeated(
            b"<p " + b" ".join(b"%x" % n for n in range(190)) + b">", SMALL_BODY
        ),
        "attributes of formatting tags": repeated(
            b"<i " + b" ".join(b"%x" % n for n in range(190)) + b">", SMALL_BODY
        ),
        "one attribute": START + b"<p class='" + b"menu-" * 25_000 + b"'>x",
        "a long list of wishes": b"<meta name=robots content='" + b"a, " * 40_000 + b"'>x",
        "a title": b"<title>" + b"word " * 25_000 + b"</title>",
        "a giant title": b"<title>" + b"word " * 1_900_000 + b"</title>",
        "JSON": b"<script type='application/ld+json'>" + b'{"a":[' * 20_000 + b"</script>x",
        "a giant text": START + WORDS * 4,
        "a giant word": START + b"x" * 9_900_000,
        "a text": START + WORDS[: SMALL_BODY - 100],
        "unknown bytes": START + random.Random(1).randbytes(SMALL_BODY - 100),
        "many unknown bytes": START + random.Random(1).randbytes(FULL),
        "a false character set": b"<meta charset=iso-2022-jp>" + b'\x1b$B"\x1b(B' * 18_000,
        "UTF-16": b"\xff\xfe" + ("<p>" + "word " * 12_000).encode("utf-16-le"),
        "UTF-7": b"<meta charset=utf-7>" + b"+ADw-" * 25_000,
        **{name: repeated(unit, SMALL_BODY - 100, SMALL_TAGS - 10) for name, unit in UNITS.items()},
        **{f"many: {name}": repeated(unit, 60_000) for name, unit in UNITS.items()},
    }


def encoded(body: bytes, encoding: str) -> bytes:
    return page(body, content_encoding=encoding)


def chunked(piece: bytes, size: int = 1_000_000) -> bytes:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n"
    return head + piece * (size // len(piece)) + b"0\r\n\r\n"


def responses() -> dict[str, bytes]:
    """Return hostile HTTP responses by name."""
    bomb = bytes(30_000_000)
    text = (START + WORDS * 10)[:19_000_000]
    return {
        "interim responses": b"HTTP/1.1 100 Continue\r\n\r\n" * 100_000,
        "responses": page(b"") * 20_000,
        "tiny chunks": chunked(b"1\r\na\r\n"),
        "small chunks": chunked(b"5\r\nhello\r\n"),
        "chunk extensions": chunked(b"1;" + b"a" * 10_000 + b"\r\na\r\n"),
        "long headers": b"HTTP/1.1 200 OK\r\n" + (b"A: " + b"a" * 30_000 + b"\r\n") * 120,
        "many headers": b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 100_000,
        "cookies": page(b"x", **{f"set_cookie{n}": "a=" + "b; " * 500 for n in range(100)}),
        "wishes in a header": page(b"x", x_robots_tag="a: b, " * 5_000),
        "a place in a header": page(b"", "302 Found", location="/" + "../%e9" * 5_000),
        "gzip": encoded(gzip.compress(bomb), "gzip"),
        "gzip in gzip": encoded(gzip.compress(gzip.compress(bomb)), "gzip, gzip"),
        "deflate": encoded(zlib.compress(bomb), "deflate"),
        "br": encoded(brotli.compress(bomb, quality=1), "br"),
        "zstd": encoded(zstandard.compress(bomb), "zstd"),
        "gzipped text": encoded(gzip.compress(text), "gzip"),
        "br text": encoded(brotli.compress(text, quality=1), "br"),
        "zstd text": encoded(zstandard.compress(text), "zstd"),
        "10 MB": page(START + b"word " * 1_990_000),
    }


def rules(line: Callable[[int], bytes]) -> bytes:
    return numbered(600 * 1024, lambda n: line(n) + b"\n", b"User-agent: *\n")


def robots_files() -> dict[str, bytes]:
    """Return hostile robots.txt files by name, longer than is read."""
    return {
        "wildcards": rules(lambda n: b"Disallow: /*a*a*a*a*b%d$" % n),
        "one wildcard": rules(lambda n: b"Allow:*%x" % n),
        "prefixes": rules(lambda n: b"Disallow: /%xz" % n),
        "every length": rules(lambda n: b"Allow: /" + b"a" * n),
        "empty lines": b"\r" * 600 * 1024,
        "bytes": rules(lambda n: b"Disallow: /" + b"\xe9" * 16_000),
        "UTF-16": "\ufeffUser-agent: *\n".encode("utf-16-le") + b"A\0:\0/\0\n\0" * 70_000,
    }


def sitemap(line: Callable[[int], bytes], size: int = 5_000_000) -> bytes:
    return numbered(size, lambda n: b"<url><loc>%s</loc></url>" % line(n), b"<urlset>")


def sitemaps() -> dict[str, bytes]:
    """Return huge sitemaps by name."""
    return {
        "of this site": sitemap(lambda n: b"http://HOST/%d" % n),
        "of other sites": sitemap(lambda n: b"http://b\xc3\xbccher%d.example/%%e9" % n),
        "index": b"<sitemapindex>" + sitemap(lambda n: b"http://b\xc3\xbccher%d.example/x" % n),
        "locations": b"<urlset>" + b"<loc>" * 1_000_000,
        "spaces": b"<urlset><loc>" + b" " * 9_000_000,
        "less than": b"<" * 9_000_000,
        "UTF-16": b"\xff\xfe" + b"<\0a\0" * 2_000_000,
        "gzipped": gzip.compress(b"<urlset>" + b"<loc>http://h/" * 3_000_000),
    }
