import asyncio
import gzip
import zlib

import pytest

from honeyguide.contracts import Link, Response, Verdict
from honeyguide.errors import HoneyguideError
from honeyguide.registry import make
from honeyguide.warc.writer import WarcWriter
from honeyguide.web.archive import ArchiveFetcher
from honeyguide.web.fetch_limits import ANYTHING, Terms

A, B = "http://a.example/", "http://b.example/page?x=1"


def archive(folder, *responses, index=True):
    writer = WarcWriter(folder)
    for one in responses:
        asked = {"requested-url": one.link.url} if one.link.url != one.url else {}
        writer.write(one, asked, 1e9)
    writer.close()
    if not index:
        next(folder.glob("*.cdxj")).unlink()


def page(url, body=b"<p>hello", asked="", **headers):
    headers = {"content-type": "text/html", **headers}
    return Response(Link(asked or url), url, 200, headers, body)


def fetch(fetcher, url, terms=None):
    return asyncio.run(fetcher.fetch(Link(url), terms))


@pytest.mark.parametrize("index", [True, False])
def test_a_url_is_answered_as_it_once_was(tmp_path, index):
    archive(tmp_path, page(A, b"a"), page(B, b"b", asked="http://b.example/old"), index=index)
    fetcher = ArchiveFetcher([tmp_path])
    assert len(fetcher) == 3
    assert fetch(fetcher, A).body == b"a"
    moved = fetch(fetcher, "http://b.example/old")
    assert (moved.url, moved.body, moved.status, moved.failure) == (B, b"b", 200, "")
    assert moved.headers["content-type"] == "text/html"


def test_what_is_not_there_is_a_failure(tmp_path):
    archive(tmp_path, page(A))
    answer = fetch(ArchiveFetcher(str(tmp_path)), B)
    assert (answer.status, answer.failure) == (0, "not archived")


def test_other_content_and_large_bodies_are_failures_as_they_are_on_the_web(tmp_path):
    archive(tmp_path, page(A, b"x" * 100), page(B, b"%PDF", **{"content-type": "application/pdf"}))
    fetcher = ArchiveFetcher([tmp_path])
    assert fetch(fetcher, B).failure == "content type"
    assert fetch(fetcher, B, Terms(ANYTHING)).body == b"%PDF"
    assert fetch(fetcher, A, Terms(max_bytes=99)).failure == "truncated"
    assert fetch(fetcher, A, Terms(max_bytes=99, cut=True)).body == b"x" * 99


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip", gzip.compress(b"text", mtime=0)),
        ("deflate", zlib.compress(b"text")),
        ("gzip", b"text"),
    ],
)
def test_encodings_are_undone_where_an_archive_kept_them(tmp_path, encoding, body):
    http = f"HTTP/1.1 200 OK\r\nContent-Encoding: {encoding}\r\n\r\n".encode() + body
    head = (
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:1>\r\n"
        f"WARC-Target-URI: {A}\r\nWARC-Date: 2020-01-01T00:00:00Z\r\n"
        f"Content-Type: application/http; msgtype=response\r\nContent-Length: {len(http)}\r\n\r\n"
    )
    (tmp_path / "a.warc").write_bytes(head.encode() + http + b"\r\n\r\n")
    answer = fetch(make("fetcher", f"archive:{tmp_path / 'a.warc'}"), A)
    assert (answer.body, answer.failure) == (b"text", "")


def test_files_folders_and_patterns_are_found(tmp_path):
    for name, url in (("one", A), ("two", B)):
        archive(tmp_path / name, page(url))
    both = f"{tmp_path / 'one'},{tmp_path / 'two'}"
    pattern = f"{tmp_path / 'one' / '*.warc.gz'}"
    assert len(make("fetcher", f"archive:{both}")) == 2
    assert len(make("fetcher", f"archive:{pattern}")) == 1
    assert len(ArchiveFetcher(tmp_path.rglob("*.warc.gz"))) == 2
    with pytest.raises(HoneyguideError, match="no WARC file at"):
        ArchiveFetcher([tmp_path / "nowhere"])


def test_of_two_captures_the_later_counts(tmp_path):
    archive(tmp_path, page(A, b"old"), page(A, b"new"))
    assert fetch(ArchiveFetcher([tmp_path]), A).body == b"new"


def test_a_damaged_archive_is_a_failure(tmp_path):
    archive(tmp_path, page(A))
    fetcher = ArchiveFetcher([tmp_path])
    path = next(tmp_path.glob("*.warc.gz"))
    path.write_bytes(b"x" * path.stat().st_size)
    assert fetch(fetcher, A).failure == "damaged archive"
    path.unlink()
    assert fetch(fetcher, A).failure == "damaged archive"
    asyncio.run(fetcher.close())


def test_a_redirect_that_was_archived_as_such_is_followed(tmp_path):
    moved = Response(Link(A), A, 301, {"location": "/new"})
    archive(tmp_path, moved, page("http://a.example/new", b"<p>geology"))
    world = make("world", f"archive:{tmp_path}", judge=lambda page: Verdict(0.0, False))
    visit = asyncio.run(world.visit(Link(A)))
    assert (visit.failure, visit.page and visit.page.url) == ("", "http://a.example/new")
