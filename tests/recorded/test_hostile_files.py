"""Hostile files cost an import bounded time and memory, and are refused in one sentence."""

import bz2
import gzip
import io
import json
import tarfile

import pytest
import zstandard

from honeyguide.errors import HoneyguideError
from honeyguide.recorded.graph import Graph
from honeyguide.recorded.importers.html import import_html
from honeyguide.recorded.importers.jsonl import import_jsonl
from honeyguide.recorded.importers.sqldump import SqlTable
from tests.terminals import shown

SECONDS, MEMORY = 10, 1500 << 20  # of the processor; bytes of address space, libraries included
BOUNDED = f"""
import resource
resource.setrlimit(resource.RLIMIT_CPU, ({SECONDS}, {SECONDS}))
resource.setrlimit(resource.RLIMIT_AS, ({MEMORY}, {MEMORY}))
from honeyguide.cli import main
main()
"""
TAR_END = b"\0" * 1024
XML = b"<mediawiki><siteinfo><base>http://x/wiki/M</base></siteinfo>"


def member(name, size=0, kind=tarfile.REGTYPE, **told):
    info = tarfile.TarInfo(name)
    info.size, info.type = size, kind
    for key, value in told.items():
        setattr(info, key, value)
    return info.tobuf(tarfile.USTAR_FORMAT if len(name) < 100 else tarfile.GNU_FORMAT)


def page(name, body=b"<title>x</title><p>page"):
    return member(name, len(body)) + body.ljust(-(-len(body) // 512) * 512, b"\0")


def zst(data):
    return zstandard.compress(data, 19)


def zst_repeated(block, times, end=b""):
    """Compress many repetitions of a block without having them in memory."""
    packer = zstandard.ZstdCompressor(3).compressobj()
    pieces = [packer.compress(block * 1000) for _ in range(times // 1000)]
    return b"".join([*pieces, packer.compress(end), packer.flush()])


def long_name(size):
    return member("././@LongLink", size, tarfile.GNUTYPE_LONGNAME) + zeros(size, b"a")


def zeros(size, of=b"\0"):
    return of * size + b"\0" * (-size % 512)


DECLARED = b'<?xml version="1.0" encoding="%s"?><mediawiki>'
ZEROS = gzip.compress(zeros(1 << 22))
PAX = member("x", 512, tarfile.XHDTYPE) + b"11 path=ab\n".ljust(512, b"\0")
HEADERS = b"".join(b"A%d: b\r\n" % n for n in range(5000))
HOSTILE = {
    "a tar of endless names": ("html", lambda: zst((long_name(1 << 20) + page("a")) * 200)),
    "a tar of long names": ("html", lambda: zst((long_name(4000) + page("a")) * 40_000)),
    "a tar with an endless pax header": (
        "html",
        lambda: zst(member("x", 1 << 29, tarfile.XHDTYPE) + zeros(1 << 28)),
    ),
    "a tar with millions of members": ("html", lambda: zst_repeated(page("a.html"), 2_000_000)),
    "a tar of nothing but pax headers": (
        "html",
        lambda: zst_repeated(PAX, 1_000_000),
    ),
    "a bomb in gzip": ("html", lambda: gzip.compress(member("a", 1 << 32)) + ZEROS * 128),
    "a bomb in zstd": ("jsonl", lambda: zst_repeated(zeros(1 << 14), 100_000)),
    "a bomb in bzip2": ("wikipedia", lambda: bz2.compress(XML + b" " * (1 << 25)) * 12),
    "a line without an end": ("jsonl", lambda: zst(b'{"id": "' + b"a" * (1 << 27))),
    "JSON without a floor": ("jsonl", lambda: b'{"id": "a", "other": ' + b"[" * 100_000 + b"\n"),
    "XML without a floor": ("wikipedia", lambda: zst(XML + b"<a>" * 10_000_000)),
    "a tag without an end": ("wikipedia", lambda: zst(XML + b"<page a='" + b"x" * (1 << 27))),
    "a comment without an end": ("wikipedia", lambda: zst(XML + b"<!--" + b"-x" * (1 << 26))),
    "laughs": (
        "wikipedia",
        lambda: b'<!DOCTYPE m [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><mediawiki>&b;',
    ),
    "an unknown encoding": ("wikipedia", lambda: DECLARED % b"evil"),
    "an encoding of many bytes": ("wikipedia", lambda: DECLARED % b"big5"),
    "a namespace in a revision": (
        "wikipedia",
        lambda: XML + b"<page><content><namespace>x</namespace></content></page></mediawiki>",
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def told(tmp_path_factory):
    """Return the output of each import, in a process with limits of memory and time."""
    folder = tmp_path_factory.mktemp("files")
    scripts = []
    for number, (kind, make) in enumerate(HOSTILE.values()):
        (folder / f"{number}").write_bytes(make())
        argv = ["import", kind, str(folder / f"{number}"), str(folder / f"out{number}")]
        scripts.append({"argv": argv, "code": BOUNDED})
    return dict(zip(HOSTILE, shown(scripts, TERM="dumb"), strict=True)), folder


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_file_costs_little_and_gets_one_sentence(told, name):
    sentence = told[0][name].decode().strip().split("\n")[-1]
    assert sentence.startswith("honeyguide: "), told[0][name][-500:]
    assert "Traceback" not in told[0][name].decode()


def test_hostile_files_leave_nothing_behind(told):
    assert not [path for path in told[1].iterdir() if "out" in path.name]


def test_headers_of_a_page_are_read_in_linear_time(tmp_path):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "a.html").write_bytes(HEADERS + b"<p>no empty line")
    assert import_html(tmp_path / "site", tmp_path / "web")["pages"] == 1


def test_names_of_all_kinds_stay_within_the_archive(tmp_path):
    names = ["/etc/page.html", "../../page.html", "./page.html", "a/../page.html", "b\udcff.html"]
    kinds = [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE]
    data = b"".join(page(name) for name in names)
    data += b"".join(
        member(f"{n}.html", 5, kind, linkname="/etc/passwd") for n, kind in enumerate(kinds)
    )
    (tmp_path / "a.tar").write_bytes(data + page("last.html") + TAR_END)
    counts = import_html(tmp_path / "a.tar", tmp_path / "web")
    graph = Graph.open(tmp_path / "web")
    ids = [graph.id(number) for number in range(len(graph))]
    assert ids == ["etc/page.html", "page.html", "a/page.html", "b\ufffd.html", "last.html"]
    assert counts["duplicates"] == 1


@pytest.mark.parametrize("form", [tarfile.PAX_FORMAT, tarfile.GNU_FORMAT, tarfile.USTAR_FORMAT])
def test_archives_of_other_programs_are_read(tmp_path, form):
    long = "é" * 40 + "/" + "n" * 90 + ".html"
    with tarfile.open(tmp_path / "a.tar", "w", format=form) as archive:
        for name, kind in ((long, None), ("folder", tarfile.DIRTYPE), ("b.html", None)):
            info = tarfile.TarInfo(name)
            info.type = kind or info.type
            info.size = 0 if kind else 3
            archive.addfile(info, io.BytesIO(b"<p>"))
    import_html(tmp_path / "a.tar", tmp_path / "web")
    graph = Graph.open(tmp_path / "web")
    assert [graph.id(number) for number in range(len(graph))] == [long, "b.html"]


def test_a_sparse_file_is_passed_over(tmp_path):
    old = bytearray(member("sparse.html", 512, tarfile.GNUTYPE_SPARSE))
    old[482] = 1  # one more block of its map
    old[148:156] = b"%06o\0 " % (sum(old) - sum(old[148:156]) + 256)
    more = bytes(512)
    said = b"22 GNU.sparse.major=1\n"
    pax = member("x", len(said), tarfile.XHDTYPE) + said.ljust(512, b"\0")
    data = bytes(old) + more + zeros(512, b"x") + pax + page("new.html") + page("last.html")
    (tmp_path / "a.tar").write_bytes(data + TAR_END)
    assert import_html(tmp_path / "a.tar", tmp_path / "web")["pages"] == 1


def test_links_in_a_folder_are_not_followed(tmp_path):
    (tmp_path / "site").mkdir()
    (tmp_path / "secret.html").write_text("<p>secret")
    (tmp_path / "site" / "a.html").write_text("<p>a")
    (tmp_path / "site" / "b.html").symlink_to(tmp_path / "secret.html")
    (tmp_path / "site" / "c").symlink_to(tmp_path)
    assert import_html(tmp_path / "site", tmp_path / "web")["pages"] == 1


def test_anchors_are_not_looked_for_without_end(tmp_path):
    row = {
        "id": "a",
        "text": "a " * 2_000_000,
        "links": [["b", f"{'a ' * 100}b {number}"] for number in range(50_000)],
    }
    (tmp_path / "a.jsonl").write_text(json.dumps(row) + "\n")
    assert import_jsonl(tmp_path / "a.jsonl", tmp_path / "web")["pages"] == 1


@pytest.mark.parametrize("columns", [1000, 0])
def test_a_table_that_no_wiki_has_is_refused_at_once(tmp_path, columns):
    said = b"".join(b"  `c%d` int,\n" % number for number in range(columns))
    begin = b"CREATE TABLE `pagelinks` (\n"
    (tmp_path / "t.sql").write_bytes(begin + said + b"\n)\n" if columns else begin * 40_000)
    with pytest.raises(HoneyguideError):
        SqlTable(tmp_path / "t.sql", "pagelinks")
