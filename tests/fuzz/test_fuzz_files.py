"""Fuzz files: reading one returns its content or raises an error of one sentence."""

import gzip
import io
import json
import shutil
import struct
import tarfile
import zlib
from contextlib import suppress
from random import Random

import msgspec
import numpy as np
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from honeyguide.cli.sites import _row
from honeyguide.contracts import Link, Page, Response, Verdict, Visit
from honeyguide.disk.line_files import read_lines
from honeyguide.disk.serialise import (
    DamagedError,
    pack_visit,
    read_state,
    unpack_visit,
    write_state,
)
from honeyguide.errors import HoneyguideError
from honeyguide.judges import classifier
from honeyguide.recorded.graph import Graph
from honeyguide.recorded.importers.html import import_html
from honeyguide.recorded.importers.jsonl import import_jsonl
from honeyguide.recorded.importers.mediawiki import Export
from honeyguide.recorded.importers.pagelinks import LinkTables
from honeyguide.recorded.importers.warc import import_warc
from honeyguide.recorded.importers.wikipedia import import_wikipedia
from honeyguide.recorded.writer import GraphWriter
from honeyguide.registry import make
from honeyguide.source_finder.model import SHIPPED, read_model
from honeyguide.source_finder.watch import Watch, read_items, read_sources, write_rss
from honeyguide.warc.reader import locations, read_at, records
from honeyguide.warc.writer import WarcWriter, read_index
from honeyguide.web.archive import ArchiveFetcher
from tests.fuzz.harness import bounded, fuzz, fuzzed, mutated, try_all

EXPECTED = (HoneyguideError, DamagedError)


class Place:
    """The input file and the output folder of a test, reused for each input."""

    def __init__(self, folder):
        self.file, self.out = folder / "input", folder / "out"

    def put(self, data, name="input"):
        self.file = self.out.with_name(name)
        self.file.write_bytes(data)
        shutil.rmtree(self.out, ignore_errors=True)
        return self.file


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return Place(tmp_path_factory.mktemp("fuzzed"))


def read_all(graph):
    graph.labels()
    graph.inside()
    for number in range(len(graph)):
        with suppress(HoneyguideError):
            page = graph.page(number, outside=True)
            graph.index(page.url)
            graph.find(graph.id(number))
            graph.page_without_links(number)


def imported(work, *arguments):
    """Run an import and read every page of its result."""
    work(*arguments)
    read_all(Graph(arguments[-1]))


# --------------------------------------------------------------------------- imports

ROW = {"id": "a", "title": "A", "text": "on a", "url": "http://x.example/", "labels": ["t:b"]}
JSONL = "".join(
    json.dumps({**ROW, "id": id, "links": [["b", "x"], ["http://y.example/", "y", "c", "html/a"]]})
    + "\n"
    for id in "abc"
).encode()


@fuzzed(
    "jsonl",
    [JSONL, gzip.compress(JSONL, mtime=0), zstandard.compress(JSONL)],
    [b'"id":', b"null", b"[[", b'{"', b'"\\ud800"', b'"\\u0000"', b"1e400", b'["http://"]'],
    few=50,
)
def test_any_jsonl_is_imported_or_refused(place, data):
    imported(import_jsonl, place.put(data), place.out)


def tarred(form=tarfile.PAX_FORMAT):
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=form) as archive:
        for name in (
            "site/a.html",
            "site/" + "é" * 60 + "/b.html",
            "site/c.css",
            "http^^x.edu^~b^",
        ):
            info = tarfile.TarInfo(name)
            body = b"Content-type: text/html\r\n\r\n<title>x</title><a href=b.html>b</a>"
            info.size = len(body)
            archive.addfile(info, io.BytesIO(body))
    return file.getvalue()


TARS = [
    tarred(),
    tarred(tarfile.GNU_FORMAT),
    gzip.compress(tarred(), mtime=0),
    zstandard.compress(tarred()),
]


@fuzzed("tar", TARS, [b"ustar\0", b"0000644", b"30 path=", b"L", b"x", b"../", b"\x80"], few=50)
def test_any_archive_is_imported_or_refused(place, data):
    imported(import_html, place.put(data), place.out)


@fuzzed("tar headers", TARS[:2], [b"ustar\0", b"0000644", b"30 path=", b"../"], few=50)
def test_any_archive_with_right_checksums_is_imported_or_refused(place, data):
    blocks = [data[at : at + 512] for at in range(0, len(data), 512)]
    imported(import_html, place.put(b"".join(map(_signed, blocks))), place.out)


def _signed(block):
    if block[257:262] != b"ustar":
        return block
    total = sum(block[:148]) + 8 * 32 + sum(block[156:])
    return block[:148] + b"%06o\0 " % total + block[156:]


XML = b"""<mediawiki><siteinfo><base>http://w.example/wiki/M</base><namespaces>
<namespace key="0" case="first-letter" /><namespace key="14">Category</namespace></namespaces>
</siteinfo><page><title>A b</title><ns>0</ns><id>1</id><revision><id>9</id><model>wikitext</model>
<text>See [[C|c]] and [[D]]. [[Category:K]]</text></revision></page><page><title>D</title><ns>0</ns>
<id>2</id><redirect title="A b"/><revision><text>#R</text></revision></page></mediawiki>"""


@fuzzed(
    "wikipedia",
    [XML, gzip.compress(XML, mtime=0)],
    [
        b"<page>",
        b"</page>",
        b"<text>",
        b"<title>",
        b"&#0;",
        b"<!DOCTYPE a>",
        b"<?xml encoding='u'?>",
    ],
    few=50,
)
def test_any_export_is_imported_or_refused(place, data):
    imported(import_wikipedia, place.put(data), place.out)
    list(Export(place.file).pages())


SQL = b"""CREATE TABLE `pagelinks` (
  `pl_from` int,
  `pl_namespace` int,
  `pl_title` varbinary(255),
  KEY `x` (`pl_from`)
) ENGINE=x;
INSERT INTO `pagelinks` VALUES (1,0,'B_\\'c'),(1,14,'K'),(2,0,'A_b');
"""


@fuzzed(
    "sql",
    [SQL, gzip.compress(SQL, mtime=0)],
    [
        b"INSERT INTO `pagelinks` VALUES ",
        b"(1,0,'",
        b"NULL",
        b"\\'",
        b"`a` int,\n",
        b");\n",
        b"9" * 18,
    ],
    few=50,
)
def test_any_table_is_read_or_refused(place, data):
    tables = LinkTables(place.put(data, "pagelinks.sql"))
    tables.read({b"1": 0, b"2": 1}, lambda namespace, title: len(title) % 2, place.file.parent)


def archived(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    writer = WarcWriter(folder)
    for number in range(3):
        url = f"http://x.example/{number}"
        headers = {"content-type": "text/html", "content-encoding": "gzip"}
        body = gzip.compress(b"<title>x</title><a href=/1>one</a>", mtime=0)
        writer.write(Response(Link(url), url, 200, headers, body), {}, 0.0)
    writer.close()
    return next(folder.glob("*.warc.gz")), next(folder.glob("*.cdxj"))


@pytest.fixture(scope="module")
def archive(place):
    warc, index = archived(place.out.with_name("warc"))
    return warc.read_bytes(), index.read_bytes(), warc.name


def read_archive(path):
    with suppress(*EXPECTED):
        for record in records(path):
            record.reader.read(1000)
    with suppress(*EXPECTED):
        list(locations(path))


WARC_TOKENS = [
    b"WARC/1.1\r\n", b"Content-Length: ", b"\r\n\r\n", b"WARC-Type: response\r\n", b"ffffffff\r\n",
    b"HTTP/1.1 200 OK\r\n", b"Transfer-Encoding: chunked\r\n",
]  # fmt: skip


@pytest.mark.parametrize("packed", [True, False])
def test_any_warc_file_is_read_or_refused(place, archive, packed):
    data, _, name = archive
    whole = data if packed else gzip.decompress(data)
    name = name if packed else name.removesuffix(".gz")

    def check(changed):
        path = place.put(changed, f"x{name}")
        read_archive(path)
        with suppress(*EXPECTED):
            imported(import_warc, [path], place.out)
        with suppress(OSError):  # whoever reads at a place expects it
            read_at(path, len(changed) // 3)

    try_all("warc", [whole], WARC_TOKENS, 40, check)


def test_any_index_is_read_or_passed_over(place, archive):
    warc, index, name = archive
    path = place.put(warc, name)
    beside = path.with_name(name.removesuffix(".warc.gz") + ".cdxj")

    def check(changed):
        beside.write_bytes(changed)
        list(read_index(beside, path))
        ArchiveFetcher([path])

    try_all("cdxj", [index], [b'"offset":', b'"-1"', b'"filename"', b"{", b"[["], 60, check)


# --------------------------------------------------------------------------- recorded webs


@pytest.fixture(scope="module")
def web(place):
    folder = place.out.with_name("web")
    with GraphWriter(folder) as writer:
        for number in range(6):
            links = [(f"{number + 1}", "next", "c", "html/a"), ("http://o.example/", "out")]
            writer.add(f"{number}", "", f"T{number}", "text", links, ["a", f"k:{number}"])
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_any_recorded_web_is_read_or_refused(place, web):
    place.put(b"")
    place.out.mkdir()
    for name, data in web.items():
        (place.out / name).write_bytes(data)

    @fuzz(120)
    @given(st.integers(0, 2**63))
    def many(seed):
        random = Random(seed)
        name = random.choice(sorted(web))
        data = spoilt(random, name, web[name])
        (place.out / name).write_bytes(data)
        bounded(lambda: read_all(Graph(place.out)), len(data))
        (place.out / name).write_bytes(web[name])

    many()


def spoilt(random, name, data):
    """Return a file of a recorded web with changed numbers or a changed header."""
    if not name.endswith(".npy") or random.random() < 0.3:
        return mutated(random, [data], [b"(99999999999,)", b"'<f8'", b"'|O'", b"PK\3\4", b"{\0"])
    at = random.randrange(128, len(data)) if len(data) > 128 else 0
    return data[:at] + random.choice([b"\xff" * 4, b"\0" * 4, random.randbytes(4)]) + data[at + 4 :]


@pytest.mark.parametrize("make_it", ["link", "pipe", "folder"])
def test_a_recorded_web_is_made_of_files_only(place, web, make_it):
    import os

    shutil.rmtree(place.out, ignore_errors=True)
    place.out.mkdir()
    for name, data in web.items():
        (place.out / name).write_bytes(data)
    for name in ("graph.json", "urls.bin", "targets.npy"):
        (place.out / name).unlink()
        if make_it == "link":
            (place.out / name).symlink_to("/etc/passwd")
        elif make_it == "pipe":
            os.mkfifo(place.out / name)
        else:
            (place.out / name).mkdir()
        with pytest.raises(HoneyguideError):
            Graph(place.out)
        shutil.rmtree(place.out / name) if make_it == "folder" else (place.out / name).unlink()
        (place.out / name).write_bytes(web[name])
    read_all(Graph(place.out))


# --------------------------------------------------------------------------- states and models


def as_file(state):
    file = io.BytesIO()
    write_state(file, state)
    return file.getvalue()


STATE = {
    "a": np.arange(9.0).reshape(3, 3),
    "b": [1, "x", None, 2.5, 1 << 70],
    "c": {"d\ud800": b"e"},
}


@fuzzed(
    "states",
    [as_file(STATE)],
    [b"\xc1", b"\xdd\xff\xff\xff\xff", b"\xc9\xff\xff\xff\xff\x04"],
    few=150,
)
def test_any_state_is_read_or_damaged(place, data):
    with suppress(DamagedError):
        read_state(place.put(data))


HEAD = struct.calcsize("<QI")


def skeleton_of(data):
    start = data.index(b"\n") + 1
    length, _ = struct.unpack_from("<QI", data, start)
    return data[start + HEAD : start + HEAD + length]


def signed(state, change):
    """Return a state file with a changed skeleton and a right checksum."""
    data = as_file(state)
    before, old, rest = data.partition(skeleton_of(data))
    new = change(old)
    return before[:-HEAD] + struct.pack("<QI", len(new), zlib.crc32(new)) + new + rest


def test_any_state_with_a_right_checksum_is_read_or_damaged(place):
    tokens = [b"\x91", b"\xc7", b"\xce\xff\xff\xff\xff"]

    def check(skeleton):
        read_state(place.put(signed(STATE, lambda _: skeleton)))

    try_all("skeletons", [skeleton_of(as_file(STATE))], tokens, 150, check)


def packed_array(*about):
    return msgspec.msgpack.encode(msgspec.msgpack.Ext(4, msgspec.msgpack.encode(about)))


CRAFTED = {
    "deep": b"\x91" * 100_000 + b"\x90",
    "large": packed_array("<f8", (1 << 30, 1 << 30), False),
    "objects": packed_array("|O", (1,), False),
    "negative": packed_array("<f8", (-1,), False),
    "no integer": b"\xc7\x03\x02abc",
}


@pytest.mark.parametrize("skeleton", CRAFTED.values(), ids=CRAFTED)
def test_a_crafted_state_is_damaged(place, skeleton):
    data = signed(STATE, lambda _: skeleton)
    with pytest.raises(DamagedError):
        read_state(place.put(data))


VISIT = pack_visit(
    Visit(
        Link("http://x.example/"),
        Page("http://x.example/", "t", "", (Link("http://y.example/"),)),
        Verdict(1.0, True, ("r",)),
    )
)


def test_any_visit_is_read_or_damaged():
    tokens = [b"\x91", b"\xc0", b"\xdc\xff\xff", b"\xc7\x03\x01abc"]
    try_all("visits", [VISIT], tokens, 150, lambda data: unpack_visit(data, "text"))


EIGHT, SIXTEEN = np.zeros(8, np.float32), np.ones(16, np.float32)
MODEL = {
    "kind": "honeyguide judge",
    "version": 1,
    "encoder": "ngrams:8",
    "probe": EIGHT,
    "meaning": EIGHT,
    "words": SIXTEEN,
    "idf": SIXTEEN,
    "bias": 0.0,
}
WRONG = [
    None, 1, -1, "x", "\ud800", 1e400, float("nan"), [], {}, [[1]], True, b"x", 1 << 80,
    np.zeros(0, np.float32), np.zeros((2, 2), np.float32), np.array(1.0), np.array([1j]),
    np.full(8, np.nan, np.float32), np.zeros(8, np.complex64), np.zeros(8, np.int8),
]  # fmt: skip


NETWORK = {key: value for key, value in MODEL.items() if key != "meaning"} | {
    "kind": "honeyguide network judge",
    "hidden": np.zeros((8, 4), np.float32),
    "hidden_offset": np.zeros(4, np.float32),
    "out": np.zeros(4, np.float32),
}


@pytest.mark.parametrize("whole", [MODEL, NETWORK], ids=["linear", "network"])
def test_any_judge_file_is_used_or_refused(place, whole):
    page = Page("http://x.example/", "title", "some words of a page")
    for key in whole:
        for wrong in WRONG:
            place.put(as_file({**whole, key: wrong}))
            with suppress(HoneyguideError):
                judge = make(
                    "judge", f"classifier:{place.file}", encoder=make("encoder", "ngrams:8")
                )
                assert 0 <= judge(page).relevance <= 1
    place.put(as_file(whole))
    classifier.read_model(place.file)


def test_any_source_finder_is_used_or_refused(place):
    shipped = read_state(SHIPPED / "events.model")
    for key, value in shipped.items():
        changes = [{**shipped, key: wrong} for wrong in WRONG]
        if isinstance(value, dict):
            first = next(iter(value))
            changes += [{**shipped, key: {**value, first: wrong}} for wrong in WRONG]
        for state in changes:
            place.put(as_file(state))
            with suppress(HoneyguideError):
                read_model(str(place.file))


@pytest.mark.parametrize(
    "encoder",
    [
        "glove:/etc/passwd",
        "joined:ngrams+glove:../../x",
        "glove:path=/dev/zero",
        "ngrams:9999999999",
        "\x1b[2J",
        "",
    ],
)
def test_a_source_finder_names_no_file_elsewhere(place, encoder):
    shipped = read_state(SHIPPED / "events.model")
    place.put(as_file({**shipped, "encoder": encoder}))
    with pytest.raises(HoneyguideError):
        read_model(str(place.file))


def test_a_source_finder_may_name_a_file_beside_it(place):
    place.put(b"a 1 2\n", "vectors.txt")
    encoder = f"glove:{place.file}"
    place.put(as_file({**read_state(SHIPPED / "events.model"), "encoder": encoder}))
    assert read_model(str(place.file)).encoder == encoder


# --------------------------------------------------------------------------- other files

SOURCES = [
    b"http://x.example/a\n# note\nhttp://y.example/\n",
    b'{"home": "http://x.example/", "sources": [{"url": "http://x.example/e", "clicks": 1}]}\n',
]
WATCHED = json.dumps([{"url": "http://x.example/", "known": ["http://x.example/1"], "due": 1.0}])
ITEM = b'{"source": "s", "url": "u", "title": "t", "text": "x", "seen": 1.0}\n'
JSON_TOKENS = [b"[", b"{", b'"url":', b"null", b"NaN", b"1e999", b'"\\ud800"', b'"due": "x"']


@fuzzed("sources", [*SOURCES, WATCHED.encode(), ITEM], JSON_TOKENS, few=150)
def test_any_file_of_sources_states_or_items_is_read_or_refused(place, data):
    place.put(data)
    for read in (read_sources, read_lines, lambda path: write_rss(place.out, read_items(path), "")):
        with suppress(HoneyguideError):
            read(place.file)
    with suppress(HoneyguideError):
        _row("file", 1, data.decode("utf-8", "replace"))
    with suppress(HoneyguideError):
        watch = Watch(place.file, ["http://x.example/"])
        watched = watch.next_due()
        watched.schedule(1, 2.0)
        assert watched.due >= 2.0
        watch.save()
