"""WARC 1.1 (ISO 28500:2017) and CDXJ: what honeyguide writes, field by field.

Records are read here by a few lines of their own, from the bytes of the file.
"""

import gzip
import hashlib
import json
import re
import zlib
from base64 import b32encode
from datetime import UTC, datetime

import pytest

from honeyguide.contracts import Link, Page, Response, Verdict, Visit
from honeyguide.storage.check import Check
from honeyguide.storage.database import create
from honeyguide.storage.store import Store
from honeyguide.warc.writer import WarcWriter, index_lines, index_path, surt

WHEN = datetime(2026, 3, 1, 12, 30, 45, 900_000, UTC).timestamp()
AGENT = {"User-Agent": "honeyguide/9.9 (+https://example.org/bot)", "Accept": "text/html"}
TYPES = ["warcinfo", "response", "request", "metadata"]  # in the order of a file with one page
BODIES = [b"", b"<p>hello", b"\x00\xff" * 3000, "日本".encode(), b"WARC/1.1\r\n\r\n", b"\r\n\r\n"]


def members(data: bytes) -> list[bytes]:
    """The contents of each gzip member."""
    found = []
    while data:
        engine = zlib.decompressobj(wbits=31)
        found.append(engine.decompress(data))
        assert engine.eof
        data = engine.unused_data
    return found


def taken_apart(record: bytes) -> tuple[bytes, dict[str, str], bytes]:
    """Version line, named fields and the rest of a record."""
    head, _, rest = record.partition(b"\r\n\r\n")
    version, *lines = head.split(b"\r\n")
    pairs = [line.decode().split(": ", 1) for line in lines]
    assert len(dict(pairs)) == len(pairs)  # no field is there twice
    return version, dict(pairs), rest


def written(folder, *responses: Response, **settings):
    writer = WarcWriter(folder, AGENT, **settings)
    for one in responses or (answer(),):
        writer.write(one, {"via": "http://example.org/", "relevance": "0.5"}, WHEN)
    writer.close()
    [path] = folder.glob("*.warc.gz")
    return path


def answer(url="http://example.org/a?b=1", body=b"<p>hello", **more) -> Response:
    headers = more.pop("headers", {"content-type": "text/html"})
    return Response(
        Link(more.pop("asked", url)), url, more.pop("status", 200), headers, body, **more
    )


@pytest.fixture
def records(tmp_path):
    """The records of a file with one page, by type."""
    apart = map(taken_apart, members(written(tmp_path).read_bytes()))
    return {fields["WARC-Type"]: (version, fields, rest) for version, fields, rest in apart}


def test_a_file_begins_with_warcinfo_and_a_page_is_three_records(records):
    assert list(records) == TYPES


@pytest.mark.parametrize("type", TYPES)
def test_a_record_begins_with_the_version(records, type):
    assert records[type][0] == b"WARC/1.1"


@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("field", ["WARC-Record-ID", "Content-Length", "WARC-Date", "WARC-Type"])
def test_a_record_has_the_four_fields_that_all_must_have(records, type, field):
    assert records[type][1][field]


@pytest.mark.parametrize("type", TYPES)
def test_a_record_ends_after_its_length_with_two_line_ends(records, type):
    _, fields, rest = records[type]
    assert rest[int(fields["Content-Length"]) :] == b"\r\n\r\n"


@pytest.mark.parametrize("type", TYPES)
def test_an_id_is_a_uuid_in_angle_brackets(records, type):
    uuid = r"<urn:uuid:[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}>"
    assert re.fullmatch(uuid, records[type][1]["WARC-Record-ID"])


def test_no_two_records_have_the_same_id(tmp_path):
    pages = [answer(f"http://example.org/{n}") for n in range(50)]
    ids = [
        taken_apart(record)[1]["WARC-Record-ID"]
        for record in members(written(tmp_path, *pages).read_bytes())
    ]
    assert len(set(ids)) == len(ids) == 151


@pytest.mark.parametrize("type", TYPES)
def test_a_date_is_utc_in_the_form_of_w3c(records, type):
    assert records[type][1]["WARC-Date"] == "2026-03-01T12:30:45Z"


@pytest.mark.parametrize("is_killed", [False, True])
@pytest.mark.parametrize(("sent", "date"), [(1e9, "01:46:40"), (None, "01:46:57")])
def test_the_date_is_when_the_capture_began(tmp_path, sent, date, is_killed):
    """Asked for at 1e9, or not known; taken in 20 seconds later, after 3 seconds of work."""
    create(tmp_path, {})
    store = Store(tmp_path, batch_seconds=1000.0, wall=lambda: 1e9 + 20.0)
    page = Page("http://example.org/a?b=1")
    visit = Visit(Link(page.url), page, Verdict(0.5, True), answer(sent=sent), seconds=3.0)
    store.record_choice(visit.link, 1.0)
    store.record_visit(visit, 0.5, 2.0)
    if is_killed:
        store._release()
        store = Store(tmp_path)  # reads what the other could not commit
    store.close()
    [path] = (tmp_path / "warc").glob("*.warc.gz")
    dates = [taken_apart(record)[1]["WARC-Date"] for record in members(path.read_bytes())]
    assert dates == [f"2001-09-09T{date}Z"] * 4
    [line] = index_lines(index_path(path))
    assert line.split(b" ")[1].decode() == f"20010909{date.replace(':', '')}"
    assert Check(tmp_path).run() == []


@pytest.mark.parametrize(
    ("type", "kind"),
    [
        ("warcinfo", "application/warc-fields"),
        ("response", "application/http; msgtype=response"),
        ("request", "application/http; msgtype=request"),
        ("metadata", "application/warc-fields"),
    ],
)
def test_a_block_says_of_what_type_it_is(records, type, kind):
    assert records[type][1]["Content-Type"] == kind


@pytest.mark.parametrize("type", TYPES[1:])
def test_records_of_a_page_name_its_url_without_brackets(records, type):
    assert records[type][1]["WARC-Target-URI"] == "http://example.org/a?b=1"


@pytest.mark.parametrize(
    ("field", "types"),
    [
        ("WARC-Target-URI", ["response", "request", "metadata"]),
        ("WARC-Filename", ["warcinfo"]),
        ("WARC-Concurrent-To", ["request", "metadata"]),
        ("WARC-Payload-Digest", ["response"]),
        ("WARC-Block-Digest", ["response"]),
        ("WARC-Truncated", []),
        ("WARC-Refers-To", []),
        ("WARC-Profile", []),
        ("WARC-Segment-Number", []),
        ("WARC-Segment-Origin-ID", []),
        ("WARC-Segment-Total-Length", []),
    ],
)
def test_a_field_is_only_where_it_may_be(records, field, types):
    assert [type for type, (_, fields, _) in records.items() if field in fields] == types


@pytest.mark.parametrize("type", ["request", "metadata"])
def test_request_and_metadata_point_at_their_response(records, type):
    assert records[type][1]["WARC-Concurrent-To"] == records["response"][1]["WARC-Record-ID"]


def test_warcinfo_names_its_file_and_who_wrote_it(records):
    _, fields, rest = records["warcinfo"]
    assert fields["WARC-Filename"] == "pages-00001.warc.gz"
    said = dict(line.split(": ", 1) for line in rest.decode().split("\r\n") if line)
    assert said["software"].startswith("honeyguide/")
    assert said["format"] == "WARC File Format 1.1"
    assert said["http-header-user-agent"] == AGENT["User-Agent"]
    assert "warc-1.1" in said["conformsTo"]


def test_a_request_is_the_http_request_that_was_sent(records):
    lines = records["request"][2].split(b"\r\n")
    assert lines[0] == b"GET /a?b=1 HTTP/1.1"
    assert lines[1] == b"Host: example.org"
    assert lines[2].decode() == f"User-Agent: {AGENT['User-Agent']}"


@pytest.mark.parametrize("body", BODIES, ids=lambda body: repr(body[:20]))
def test_a_block_digest_is_that_of_the_block(tmp_path, body):
    record = members(written(tmp_path, answer(body=body)).read_bytes())[1]
    _, fields, rest = taken_apart(record)
    block = rest[: int(fields["Content-Length"])]
    assert fields["WARC-Block-Digest"] == digest(block)
    assert fields["WARC-Payload-Digest"] == digest(body)
    assert block.partition(b"\r\n\r\n")[2] == body


def digest(data: bytes) -> str:
    return f"sha1:{b32encode(hashlib.sha1(data).digest()).decode()}"


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        ("too large", "length"),
        ("timeout", "time"),
        ("truncated", "disconnect"),
        ("connection reset", "disconnect"),
        ("bad encoding", "unspecified"),
    ],
)
def test_a_body_that_is_not_whole_says_why_in_the_words_of_the_standard(tmp_path, failure, reason):
    record = members(written(tmp_path, answer(failure=failure)).read_bytes())[1]
    assert taken_apart(record)[1]["WARC-Truncated"] == reason


@pytest.mark.parametrize("status", [200, 204, 301, 404, 429, 500, 503, 599])
def test_an_answer_is_kept_with_its_status_line_whatever_it_is(tmp_path, status):
    record = members(written(tmp_path, answer(status=status)).read_bytes())[1]
    assert taken_apart(record)[2].startswith(b"HTTP/1.1 %d " % status)


@pytest.mark.parametrize(
    "value", ["a\r\nWARC-Type: request", "a\nb: c", "a\r\n\r\nbody", "a\x00b", "ü", "a" * 5000]
)
def test_no_header_of_a_server_breaks_a_record(tmp_path, value):
    path = written(tmp_path, answer(headers={"x": value}), answer("http://example.org/2"))
    types = [taken_apart(record)[1]["WARC-Type"] for record in members(path.read_bytes())]
    assert types == [TYPES[0], *TYPES[1:] * 2]


@pytest.mark.parametrize("pages", [1, 2, 7])
def test_every_record_is_a_gzip_member_of_its_own(tmp_path, pages):
    path = written(tmp_path, *(answer(f"http://example.org/{n}") for n in range(pages)))
    found = members(path.read_bytes())
    assert len(found) == 1 + 3 * pages
    assert all(record.startswith(b"WARC/1.1\r\n") for record in found)
    assert gzip.decompress(path.read_bytes()) == b"".join(found)


# --------------------------------------------------------------------------- CDXJ


@pytest.fixture
def index(tmp_path):
    names = ["b.example/", "a.example/?y=2&x=1", "www.a.example/A", "a.example:8080/"]
    asked = "http://old.example/"
    path = written(
        tmp_path,
        *(answer(f"http://{name}") for name in names),
        answer("http://c.example/new", asked=asked, status=404, headers={}),
    )
    lines = path.with_name("pages-00001.cdxj").read_text().splitlines()
    return path, [line.split(" ", 2) for line in lines]


def test_an_index_is_sorted_by_the_bytes_of_its_lines(index):
    lines = [" ".join(line).encode() for line in index[1]]
    assert lines == sorted(lines)
    assert len(lines) == 5


def test_a_line_is_a_sort_key_fourteen_digits_and_json(index):
    for key, moment, about in index[1]:
        said = json.loads(about)
        assert key == surt(said["url"])
        assert moment == "20260301123045"
        assert {"url", "status", "mime", "digest", "length", "offset", "filename"} <= set(said)


def test_a_line_leads_to_its_record_and_to_its_digest(index):
    path, lines = index
    data = path.read_bytes()
    for _, _, about in lines:
        said = json.loads(about)
        begin = int(said["offset"])
        record = gzip.decompress(data[begin : begin + int(said["length"])])
        _, fields, rest = taken_apart(record)
        assert (fields["WARC-Type"], fields["WARC-Target-URI"]) == ("response", said["url"])
        assert fields["WARC-Payload-Digest"] == said["digest"]
        assert rest.startswith(f"HTTP/1.1 {said['status']} ".encode())
        assert said["filename"] == path.name


def test_a_line_without_a_media_type_says_unk(index):
    kinds = {json.loads(about)["url"]: json.loads(about)["mime"] for *_, about in index[1]}
    assert kinds["http://c.example/new"] == "unk"
    assert kinds["http://b.example/"] == "text/html"


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://example.org/", "org,example)/"),
        ("https://example.org/", "org,example)/"),
        ("http://www.example.org/", "org,example)/"),
        ("http://www3.example.org/", "org,example)/"),
        ("http://a.b.example.org/x", "org,example,b,a)/x"),
        ("http://example.org:80/", "org,example)/"),
        ("http://example.org:81/", "org,example:81)/"),
        ("https://example.org:443/", "org,example)/"),
        ("http://example.org/A/B", "org,example)/a/b"),
        ("http://example.org/?b&a", "org,example)/?a&b"),
        ("http://192.0.2.1/x", "192.0.2.1)/x"),
        ("http://[2001:db8::1]/x", "[2001:db8::1])/x"),
    ],
)
def test_a_sort_key_is_the_host_turned_round_and_the_rest_in_order(url, key):
    assert surt(url) == key
