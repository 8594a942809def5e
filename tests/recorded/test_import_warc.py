import gzip
import json
import subprocess
import sys
from pathlib import Path

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


def wat(path, *answers):
    """A WAT file with an answer a record: URL, then what its HTTP-Response-Metadata has."""
    path.write_bytes(
        b"".join(
            wat_record(
                {"Envelope": {"Payload-Metadata": {"HTTP-Response-Metadata": about}}}, url=url
            )
            for url, about in answers
        )
    )
    return path


def wat_page(title="Home", metas=(), links=((BIRDS, ""),), status="200", **headers):
    rows = [{"path": "A@/href", "url": url, "text": "x", "rel": rel} for url, rel in links]
    html = {"Head": {"Title": title, "Metas": list(metas)}, "Links": rows}
    said = {name.replace("_", "-"): value for name, value in headers.items()}
    return {"Response-Message": {"Status": status}, "Headers": said, "HTML-Metadata": html}


@pytest.mark.parametrize(
    ("asked", "title", "links"),
    [
        ({}, "Home", 1),
        ({"metas": [{"name": "ROBOTS", "content": "NoIndex, follow"}]}, "", 1),
        ({"metas": [{"name": "robots", "content": "none"}]}, "", 0),
        ({"metas": [{"name": "robots", "content": "nofollow"}]}, "Home", 0),
        ({"metas": [{"name": "otherbot", "content": "noindex"}]}, "Home", 1),
        ({"metas": [{"property": "og:title", "content": "noindex"}]}, "Home", 1),
        ({"X_Robots_Tag": "noindex"}, "", 1),
        ({"X_Robots_Tag": ["otherbot: noindex", "nofollow"]}, "Home", 0),
        ({"links": [(BIRDS, "nofollow noopener"), (HOME, "")]}, "Home", 1),
    ],
)
def test_wat_files_are_read_by_the_same_rules_as_warc_files(tmp_path, asked, title, links):
    path = wat(tmp_path / "a.warc.wat.gz", (HOME, wat_page(**asked)))
    import_warc(path, tmp_path / "graph")
    page = Graph(tmp_path / "graph").page(0, outside=True)
    assert (page.title, len(page.links)) == (title, links)


def test_answers_of_a_wat_file_that_are_no_pages_are_left_out(tmp_path):
    path = wat(
        tmp_path / "a.warc.wat.gz",
        (HOME + "gone", wat_page(status="404")),
        (HOME + "odd", wat_page(status="what")),
        (HOME + "moved", wat_page(status="301", Location=HOME)),
        (HOME, wat_page()),
    )
    assert import_warc(path, tmp_path / "graph")["pages"] == 1


def test_a_damaged_file_among_several_is_skipped_and_named(tmp_path):
    good = warc(tmp_path / "a", response(HOME, html("Home", (BIRDS, "birds"))))
    cut = warc(tmp_path / "b", response(BIRDS, html("Birds")), response(HOME + "x", html("X")))
    cut.write_bytes(cut.read_bytes()[:-30])
    (tmp_path / "c.warc.gz").write_bytes(b"no archive at all")
    last = warc(tmp_path / "d", response(HOME + "last", html("Last")))
    files, lines = [good, cut, tmp_path / "c.warc.gz", last], []
    import_warc(files, tmp_path / "graph", skipped=lines.append)
    graph = Graph(tmp_path / "graph")
    assert {"Home", "Birds", "Last"} <= {graph.title(page) for page in range(len(graph))}
    assert len(lines) == 2
    assert f"{cut} is cut off: skipped after" in lines[0]
    assert str(tmp_path / "c.warc.gz") in lines[1]
    with pytest.raises(HoneyguideError, match="cut off"):
        import_warc(files, tmp_path / "strict", strict=True)
    with pytest.raises(HoneyguideError, match=r"c\.warc\.gz"):
        import_warc([tmp_path / "c.warc.gz"] * 2, tmp_path / "none")
    assert not (tmp_path / "strict").exists()


def test_a_wet_file_says_that_it_has_no_links(tmp_path):
    wet = tmp_path / "a.warc.wet.gz"
    wet.write_bytes(wat_record({}, "conversion"))
    with pytest.raises(HoneyguideError, match="WET file, which has texts but no links"):
        import_warc(wet, tmp_path / "graph")
    good, lines = warc(tmp_path / "a", response(HOME, html("Home"))), []
    assert import_warc([wet, good], tmp_path / "graph", skipped=lines.append)["pages"] == 1
    assert "no links" in lines[0]


def test_the_command_names_skipped_files_and_refuses_them_with_strict(tmp_path):
    program = Path(sys.executable).parent / "honeyguide"
    warc(tmp_path / "a", response(HOME, html("Home")))
    (tmp_path / "a" / "odd.warc.gz").write_bytes(b"odd")
    said = [program, "import", "warc", "a", "graph"]
    strict = subprocess.run([*said, "--strict"], cwd=tmp_path, capture_output=True, text=True)
    assert strict.returncode != 0
    assert not (tmp_path / "graph").exists()
    done = subprocess.run(said, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "odd.warc.gz" in done.stderr
    assert "1 page" in done.stdout


VARIANTS = (
    "http://site.example/birds",
    "https://site.example/birds/",
    "https://www.site.example/birds",
)


def variants_of_one_page(folder):
    links = [(url, "birds") for url in (*VARIANTS, "http://old.example/birds")]
    return warc(
        folder,
        response("http://site.example/", html("Home", *links)),
        response("http://site.example/birds", html("Birds")),
        response("https://site.example/birds/", html("Birds again")),
        response("http://old.example/birds", b"", status=301, location="http://new.example/b"),
        response(
            "http://new.example/b", b"", status=302, location="https://www.site.example/birds"
        ),
        response("http://site.example/birds?page=2", html("More birds")),
    )


def test_variants_of_a_url_and_redirects_join_if_asked_for(tmp_path):
    path = variants_of_one_page(tmp_path / "in")
    import_warc(path, tmp_path / "joined", join_variants=True)
    graph = Graph(tmp_path / "joined")
    titles = [graph.title(page) for page in range(len(graph))]
    assert titles == ["Home", "Birds", "More birds"]
    home = graph.page(0, outside=True)
    assert [link.url for link in home.links] == ["http://site.example/birds"] * 4


def test_without_the_option_every_spelling_is_a_page_of_its_own(tmp_path):
    path = variants_of_one_page(tmp_path / "in")
    counts = import_warc(path, tmp_path / "graph")
    assert counts["pages"] == 4
    assert counts["links"] == 2


def test_redirects_in_a_circle_lead_outside(tmp_path):
    path = warc(
        tmp_path / "in",
        response(HOME, html("Home", ("http://a.example/x", "x"))),
        response("http://a.example/x", b"", status=301, location="http://b.example/x"),
        response("http://b.example/x", b"", status=301, location="http://a.example/x"),
    )
    assert import_warc(path, tmp_path / "graph", join_variants=True)["outside"] == 1
