import gzip
import os
import resource
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from honeyguide.contracts import Link, Response
from honeyguide.errors import HoneyguideError
from honeyguide.warc.reader import RESPONSE, archived, locations, read_at, records
from honeyguide.warc.writer import WarcWriter, read_index, surt

AGENT = {"User-Agent": "honeyguide/0 (+http://me.example)", "Accept": "text/html"}
WHEN = 1_700_000_000.7


def response(url="http://a.example/", body=b"<p>hello", headers=None, asked=None, **more):
    headers = {"content-type": "text/html"} if headers is None else headers
    return Response(Link(asked or url), url, more.pop("status", 200), headers, body, **more)


def write(folder, *responses, fields=None, **settings):
    writer = WarcWriter(folder, AGENT, **settings)
    places = [writer.write(one, fields or {"relevance": "0.5"}, WHEN) for one in responses]
    writer.close()
    return places


def only_file(folder):
    [path] = folder.glob("*.warc.gz")
    return path


def test_a_visit_is_a_response_a_request_and_what_is_known_about_it(tmp_path):
    write(tmp_path, response("http://a.example/x?y=1"), fields={"relevance": "0.9", "score": "2"})
    info, answer, asked, known = [
        (record.headers, bytes(record.reader.read())) for record in records(only_file(tmp_path))
    ]
    assert [part[0]["WARC-Type"] for part in (info, answer, asked, known)] == [
        "warcinfo",
        "response",
        "request",
        "metadata",
    ]
    assert b"software: honeyguide/" in info[1]
    assert info[0]["WARC-Filename"] == "pages-00001.warc.gz"
    assert answer[0]["WARC-Target-URI"] == "http://a.example/x?y=1"
    assert answer[0]["WARC-Date"] == "2023-11-14T22:13:20Z"
    assert answer[1] == (
        b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nContent-Length: 8\r\n\r\n<p>hello"
    )
    assert asked[1] == (
        b"GET /x?y=1 HTTP/1.1\r\nHost: a.example\r\n"
        b"User-Agent: honeyguide/0 (+http://me.example)\r\nAccept: text/html\r\n\r\n"
    )
    assert asked[0]["WARC-Concurrent-To"] == answer[0]["WARC-Record-ID"]
    assert known[1] == b"relevance: 0.9\r\nscore: 2\r\n"
    assert only_file(tmp_path).read_bytes().count(b"WARC/1.1") == 0  # compressed


def test_every_record_is_a_gzip_file_of_its_own(tmp_path):
    write(tmp_path, response(), response("http://b.example/", os.urandom(20_000)))
    data, count = only_file(tmp_path).read_bytes(), 0
    while data:
        engine = zlib.decompressobj(wbits=31)
        assert engine.decompress(data).startswith(b"WARC/1.1\r\n")
        assert engine.eof
        data, count = engine.unused_data, count + 1
    assert count == 7


@settings(max_examples=30, deadline=None)
@given(
    body=st.binary(max_size=6000),
    headers=st.dictionaries(st.from_regex(r"[a-z-]{1,12}", fullmatch=True), st.text(max_size=30)),
    status=st.integers(100, 599),
)
def test_digests_and_bodies_hold_whatever_a_server_sends(tmp_path_factory, body, headers, status):
    folder = tmp_path_factory.mktemp("warc")
    headers.pop("transfer-encoding", None)
    [place] = write(folder, response(body=body, headers=headers, status=status))
    [answer] = [r for r in _copies(only_file(folder)) if r["type"] == RESPONSE]
    assert answer["block"]
    assert answer["payload"]
    found = read_at(folder / place.file, place.offset)
    assert (found.body, found.status, found.url) == (body, status, "http://a.example/")


def _copies(path):
    kinds = [
        {"type": record.record_type, "block": record.verify_block_digest()}
        for record in records(path)
    ]
    for kind, record in zip(kinds, records(path), strict=True):
        record.parse_http()
        kind["payload"] = record.verify_payload_digest()
    return kinds


def test_a_body_is_kept_as_decoded_and_its_headers_say_so(tmp_path):
    sent = {"content-encoding": "gzip", "content-length": "17", "transfer-encoding": "chunked"}
    [place] = write(tmp_path, response(body=b"plain text", headers=sent))
    found = read_at(tmp_path / place.file, place.offset)
    assert found.body == b"plain text"
    assert found.headers == {
        "x-crawler-content-encoding": "gzip",
        "x-crawler-content-length": "17",
        "x-crawler-transfer-encoding": "chunked",
        "content-length": "10",
    }


def test_a_header_cannot_smuggle_in_another(tmp_path):
    write(tmp_path, response(headers={"x": "a\r\nWARC-Type: evil\r\n\r\nbody", "y\n": "\x00b"}))
    assert sum(1 for _ in records(only_file(tmp_path))) == 4


@pytest.mark.parametrize(
    ("failure", "why"),
    [
        ("too large", "length"),
        ("timeout", "time"),
        ("truncated", "disconnect"),
        ("odd", "unspecified"),
    ],
)
def test_a_body_that_is_not_whole_is_marked(tmp_path, failure, why):
    write(tmp_path, response(failure=failure))
    answer = next(r for r in records(only_file(tmp_path)) if r.record_type == RESPONSE)
    assert answer.headers["WARC-Truncated"] == why
    assert archived(answer).cut


def test_a_new_file_begins_when_one_is_full(tmp_path):
    pages = [response(f"http://a.example/{n}", os.urandom(3000)) for n in range(10)]
    places = write(tmp_path, *pages, max_bytes=8000)
    files = sorted(path.name for path in tmp_path.glob("*.warc.gz"))
    assert files == [f"pages-0000{n}.warc.gz" for n in range(1, 6)]
    assert [read_at(tmp_path / p.file, p.offset).url for p in places] == [p.url for p in pages]


# ----------------------------------------------------------------------- index


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://www.Example.org/A?b=2&a=1", "org,example)/a?a=1&b=2"),
        ("https://www2.example.org:443/", "org,example)/"),
        ("http://example.org:8080/x", "org,example:8080)/x"),
        ("http://127.0.0.1:80/x", "127.0.0.1)/x"),
        ("http://[::1]/x", "[::1])/x"),
        ("http://user@a.example/x y\n", "example,a)/x%20y%20"),
    ],
)
def test_the_sort_key_of_a_url(url, key):
    assert surt(url) == key


def test_the_index_is_sorted_and_leads_to_each_record(tmp_path):
    names = ["c.example/", "a.example/", "b.example/"]
    write(tmp_path, *(response(f"http://{name}") for name in names))
    [index] = tmp_path.glob("*.cdxj")
    lines = index.read_text().splitlines()
    assert [line.split(")")[0] for line in lines] == ["example,a", "example,b", "example,c"]
    assert lines[0].split(" ")[1] == "20231114221320"
    path = only_file(tmp_path)
    for entry in read_index(index, path):
        assert read_at(path, int(entry.offset)).url == entry.url
        member = path.read_bytes()[int(entry.offset) : int(entry.offset) + int(entry.length)]
        assert gzip.decompress(member).startswith(b"WARC/1.1\r\nWARC-Type: response")


def test_a_url_that_redirected_leads_to_where_it_led(tmp_path):
    asked, end = "http://a.example/old", "http://a.example/new"
    write(tmp_path, response(end, asked=asked), fields={"requested-url": asked})
    path = only_file(tmp_path)
    from_index = dict(locations(path))
    next(tmp_path.glob("*.cdxj")).unlink()
    assert dict(locations(path)) == from_index
    assert set(from_index) == {asked, end}


# ----------------------------------------------------------------------- going on


def test_what_was_not_known_to_be_whole_is_cut_off(tmp_path):
    writer = WarcWriter(tmp_path, max_bytes=10_000)
    places = [writer.write(response(f"http://a.example/{n}"), {}, WHEN) for n in range(3)]
    writer.sync()
    file, size = writer.file, writer.size
    for n in range(3, 9):
        writer.write(response(f"http://a.example/{n}", os.urandom(4000)), {}, WHEN)
        writer.sync()
    writer.abandon()
    assert len(list(tmp_path.glob("*.warc.gz"))) > 1

    again = WarcWriter(tmp_path, max_bytes=10_000)
    again.resume(file, size)
    places.append(again.write(response("http://a.example/new"), {}, WHEN))
    again.close()
    kept = [f"http://a.example/{n}" for n in (0, 1, 2, "new")]
    assert [r.headers["WARC-Target-URI"] for r in records(only_file(tmp_path)) if r.is_http][
        ::2
    ] == kept
    assert [read_at(tmp_path / p.file, p.offset).url for p in places] == kept
    [index] = tmp_path.glob("*.cdxj")
    assert sorted(entry.url for entry in read_index(index, only_file(tmp_path))) == kept


def test_a_file_that_somebody_took_away_is_followed_by_the_next(tmp_path):
    [place] = write(tmp_path, response())
    (tmp_path / place.file).unlink()
    writer = WarcWriter(tmp_path)
    writer.resume(place.file, place.offset + place.length)
    assert writer.write(response(), {}, WHEN).file == "pages-00002.warc.gz"
    writer.close()


def test_a_file_that_lost_its_end_is_left_alone_and_what_is_said_of_it_stays_true(tmp_path):
    [place] = write(tmp_path, response())
    size = place.offset + place.length
    os.truncate(tmp_path / place.file, size - 10)
    writer = WarcWriter(tmp_path)
    writer.resume(place.file, size)
    assert (writer.file, writer.size) == (place.file, size)
    next_place = writer.write(response(), {}, WHEN)
    assert (writer.file, next_place.file) == ("pages-00002.warc.gz",) * 2
    assert writer.size == next_place.offset + next_place.length
    writer.close()
    assert (tmp_path / place.file).stat().st_size == size - 10


# ----------------------------------------------------------------------- other writers' files


def record(http, url="http://a.example/", type="response"):
    return (
        f"WARC/1.0\r\nWARC-Type: {type}\r\nWARC-Record-ID: <urn:uuid:1>\r\n"
        f"WARC-Target-URI: <{url}>\r\nWARC-Date: 2020-01-01T00:00:00Z\r\n"
        f"Content-Type: application/http; msgtype={type}\r\nContent-Length: {len(http)}\r\n\r\n"
    ).encode() + b"%b\r\n\r\n" % http


@pytest.mark.parametrize(
    ("body", "read"),
    [
        (b"4\r\nabcd\r\n3;x=y\r\nefg\r\n0\r\n\r\n", b"abcdefg"),
        (b"4\r\nabcd\r\n9\r\nef", b"abcdef"),  # cut off
        (b"<html>no chunks", b"<html>no chunks"),
        (b"", b""),
    ],
)
def test_chunks_are_undone_where_they_are(tmp_path, body, read):
    path = tmp_path / "a.warc"
    path.write_bytes(record(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + body))
    [found] = [archived(one) for one in records(path)]
    assert found.body == read
    assert found.url == "http://a.example/"


@pytest.mark.parametrize("compressed", [True, False])
@pytest.mark.parametrize("share", [0.3, 0.6, 0.95])
def test_a_file_that_is_cut_off_is_told_so(tmp_path, compressed, share):
    write(tmp_path, *(response(f"http://a.example/{n}", os.urandom(900)) for n in range(3)))
    data = only_file(tmp_path).read_bytes()
    data = data if compressed else gzip.decompress(data)
    path = tmp_path / "cut.warc"
    path.write_bytes(data[: int(len(data) * share)])
    with pytest.raises(HoneyguideError, match=r"cut off|damaged"):
        list(records(path))


@pytest.mark.parametrize("data", [b"", b"garbage" * 50, gzip.compress(b"garbage" * 50, mtime=0)])
def test_a_file_that_is_no_warc_is_told_so(tmp_path, data):
    path = tmp_path / "a.warc.gz"
    path.write_bytes(data)
    with pytest.raises(HoneyguideError, match="not a WARC file"):
        list(records(path))


def test_metadata_is_no_response(tmp_path):
    write(tmp_path, response())
    for one in records(only_file(tmp_path)):
        assert (archived(one) is not None) == (one.record_type == RESPONSE)


def test_headers_of_any_length_leave_a_file_that_can_be_read(tmp_path):
    long = {"content-type": "text/html", **{f"x-{n}": "y" * 20_000 for n in range(5)}}
    write(tmp_path, response(headers=long), response("http://b.example/"))
    path = only_file(tmp_path)
    found = [archived(one) for one in records(path) if one.headers["WARC-Type"] == "response"]
    assert [one.url for one in found] == ["http://a.example/", "http://b.example/"]
    assert found[0].headers["content-type"] == "text/html"
    assert found[0].body == b"<p>hello"


def test_a_damaged_line_of_an_index_is_left_out_and_the_rest_goes_on(tmp_path):
    write(tmp_path, response())
    index = only_file(tmp_path).with_name("pages-00001.cdxj")
    index.write_bytes(index.read_bytes() + b"com,example)/ 2023 {\x00garbled\n")
    writer = WarcWriter(tmp_path, AGENT)
    writer.resume("pages-00001.warc.gz", only_file(tmp_path).stat().st_size)
    writer.write(response("http://b.example/"), {}, WHEN)
    writer.close()
    assert [e.url for e in read_index(index, only_file(tmp_path))] == [
        "http://a.example/",
        "http://b.example/",
    ]


def test_what_was_written_is_indexed_when_no_more_files_can_be_opened(tmp_path):
    writer = WarcWriter(tmp_path, {})
    writer.write(response("http://a.example/1"), {}, 1.0)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    free = os.dup(0)
    os.close(free)
    resource.setrlimit(resource.RLIMIT_NOFILE, (free, hard))
    try:
        writer.sync()
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    writer.close()
    assert "http://a.example/1" in next(tmp_path.glob("*.cdxj")).read_text()
