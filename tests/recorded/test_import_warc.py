import gzip
import json

import pytest

from honeyguide.contracts import Link, Response
from honeyguide.errors import HoneyguideError
from honeyguide.recorded.graph import Graph
from honeyguide.recorded.importers.warc import import_warc
from honeyguide.warc.writer import WarcWriter

HOME = "http://site.example/"
BIRDS = "http://site.example/birds"


def html(title, *links):
    anchors = "".join(f'<p>See <a href="{url}">{anchor}</a> there.</p>' for url, anchor in links)
    text = f"{title} is a page with enough words to be the text of a page. " * 3
    return f"<html><title>{title}</title><body><p>{text}</p>{anchors}</body></html>".encode()


def response(url, body, status=200, kind="text/html", **headers):
    return Response(Link(url), url, status, {"content-type": kind, **headers}, body)


def warc(folder, *responses):
    writer = WarcWriter(folder)
    for one in responses:
        writer.write(one, {}, 1e9)
    writer.close()
    return next(folder.glob("*.warc.gz"))


def wat_record(envelope, kind="metadata", url=HOME):
    block = json.dumps(envelope).encode()
    head = (
        f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Record-ID: <urn:uuid:1>\r\n"
        f"WARC-Target-URI: {url}\r\nWARC-Date: 2020-01-01T00:00:00Z\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(block)}\r\n\r\n"
    )
    return gzip.compress(head.encode() + block + b"\r\n\r\n")


def test_pages_of_a_warc_file_become_a_graph(tmp_path):
    path = warc(
        tmp_path / "in",
        response(HOME, html("Home", (BIRDS, "all birds"), ("http://other.example/", "others"))),
        response(BIRDS, html("Birds", (HOME, "back"))),
        response(HOME + "gone", html("Gone"), status=404),
        response(HOME + "a.pdf", b"%PDF", kind="application/pdf"),
    )
    seen = []
    counts = import_warc(path, tmp_path / "graph", lambda *done: seen.append(done))
    assert (counts["pages"], counts["links"], counts["outside"]) == (2, 2, 1)
    graph = Graph(tmp_path / "graph")
    page = graph.page(graph.find("Home"))
    assert page.url == HOME
    assert "enough words" in page.text
    [link] = page.links
    assert (link.url, link.anchor) == (BIRDS, "all birds")
    assert "See all birds there" in link.context
    assert link.tag_path
    assert seen == sorted(seen)
    assert seen[-1][1] == path.stat().st_size


def test_several_files_become_one_graph_and_each_page_counts_once(tmp_path):
    files = [
        warc(tmp_path / "a", response(HOME, html("Home", (BIRDS, "birds")))),
        warc(tmp_path / "b", response(BIRDS, html("Birds")), response(HOME, html("Again"))),
    ]
    assert import_warc(files, tmp_path / "graph")["pages"] == 2
    assert import_warc([tmp_path / "a", tmp_path / "b"], tmp_path / "other")["links"] == 1


def test_wat_files_tell_titles_links_and_anchors(tmp_path):
    about = {
        "Head": {"Title": "Home \ud83d\udc26", "Base": "http://site.example/folder/"},
        "Links": [
            {"path": "A@/href", "url": "/birds", "text": "all birds"},
            {"path": "A@/href", "url": "page", "text": "a page"},
            {"path": "IMG@/src", "url": "bird.png"},
            {"path": "A@/href", "url": "javascript:void(0)"},
        ],
    }
    response = {"HTTP-Response-Metadata": {"HTML-Metadata": about}}
    path = tmp_path / "a.warc.wat.gz"
    path.write_bytes(
        wat_record({"Container": {}}, "warcinfo", "")
        + wat_record({"Envelope": {"Payload-Metadata": {"HTTP-Request-Metadata": {}}}})
        + wat_record({"Envelope": {"Payload-Metadata": response}})
        + wat_record({"Envelope": {"Payload-Metadata": "odd"}})
    )
    counts = import_warc(path, tmp_path / "graph")
    assert (counts["pages"], counts["outside"]) == (1, 2)
    page = Graph(tmp_path / "graph").page(0, outside=True)
    assert page.title == "Home \U0001f426"
    assert [(link.url, link.anchor) for link in page.links] == [
        (BIRDS, "all birds"),
        ("http://site.example/folder/page", "a page"),
    ]


def test_nothing_is_left_of_an_import_that_failed(tmp_path):
    path = warc(tmp_path / "in", response(HOME, html("Home")), response(BIRDS, html("Birds")))
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(HoneyguideError, match="cut off"):
        import_warc(path, tmp_path / "graph")
    with pytest.raises(HoneyguideError, match="no WARC file at"):
        import_warc(tmp_path / "nowhere.warc", tmp_path / "graph")
    empty = warc(tmp_path / "empty", response(HOME, b"", status=500))
    with pytest.raises(HoneyguideError, match="has no pages"):
        import_warc(empty, tmp_path / "graph")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "in"]


@pytest.mark.parametrize("encoding", ["gzip", "identity"])
def test_encoded_bodies_of_other_archives_are_read(tmp_path, encoding):
    body = html("Home", (BIRDS, "birds"))
    if encoding == "gzip":
        body = gzip.compress(body)
    http = (
        f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: {encoding}\r\n\r\n"
    ).encode() + body
    head = (
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:1>\r\n"
        f"WARC-Target-URI: {HOME}\r\nWARC-Date: 2020-01-01T00:00:00Z\r\n"
        f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(http)}\r\n\r\n"
    )
    (tmp_path / "a.warc").write_bytes(head.encode() + http + b"\r\n\r\n")
    assert import_warc(tmp_path / "a.warc", tmp_path / "graph")["pages"] == 1


@pytest.mark.parametrize(
    ("headers", "text", "links"),
    [
        ({}, True, 1),
        ({"x-robots-tag": "noindex"}, False, 1),
        ({"x-robots-tag": "nofollow"}, True, 0),
        ({"x-robots-tag": "otherbot: noindex"}, True, 1),
    ],
)
def test_what_a_page_asks_of_crawlers_holds_for_its_record_too(tmp_path, headers, text, links):
    home = response(HOME, html("Home", (HOME + "x", "x")), **headers)
    path = warc(tmp_path / "in", home, response(HOME + "x", html("X")))
    import_warc(path, tmp_path / "graph")
    page = Graph(tmp_path / "graph").page(0)
    assert (bool(page.text), bool(page.title), len(page.links)) == (text, text, links)
