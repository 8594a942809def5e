import csv
import json
import os
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from honeyguide.contracts import UNWANTED, Link, Metadata, Page, Response, Verdict, Visit
from honeyguide.errors import HoneyguideError
from honeyguide.storage.database import create
from honeyguide.storage.exports import best_pages, export, format_of, status
from honeyguide.storage.markdown_files import file_name, markdown_file
from honeyguide.storage.store import RecordingNavigator, Store
from honeyguide.warc.reader import RESPONSE, records
from tests import kept

ODD = 'a\x00b\ud800c "quoted", \r\n=1+1 \U0001f41d'
ODD_KEPT = 'a\ufffdb\ufffdc "quoted", \r\n=1+1 \U0001f41d'


@pytest.fixture
def folder(tmp_path):
    """Three pages, one of them relevant and reached twice, and a failure."""
    create(tmp_path / "crawl", {"topic": "birds"})
    store = Store(tmp_path / "crawl", wall=lambda: 1_700_000_000.5)

    def absorb(name, text="", relevant=False, end=None, score=0.5, failure=""):
        link = Link(f"http://a.example/{name}", depth=2, source="http://a.example/")
        url = f"http://a.example/{end or name}"
        body = f"<p>{name}</p>".encode()
        response = Response(link, url, 0 if failure else 200, {}, b"" if failure else body)
        page = None if failure else Page(url, f"Title {ODD}", text)
        verdict = Verdict(0.75 if relevant else 0.0, relevant, ("it fits", ODD) if relevant else ())
        store.record_visit(
            Visit(link, page, verdict, response, failure, 0.1), score, 1.0, waiting=7
        )

    absorb("seed", "the seed", score=float("inf"))
    absorb("birds", f"birds {ODD}", relevant=True)
    absorb("moved", f"birds {ODD}", relevant=True, end="birds")
    absorb("lost", failure="timeout")
    absorb("other", "other text")
    store.note(stopped="budget spent")
    store.close()
    return tmp_path / "crawl"


EXPECTED = {
    "url": "http://a.example/birds",
    "requested_url": "http://a.example/birds",
    "title": f"Title {ODD_KEPT}",
    "text": f"birds {ODD_KEPT}",
    "relevance": 0.75,
    "relevant": True,
    "reasons": ["it fits", ODD_KEPT],
    "score": 0.5,
    "depth": 2,
    "parent": "http://a.example/",
    "fetched": "2023-11-14T22:13:20.500000+00:00",
    "status": 200,
    "language": "it",  # by its letters: it says too little
    "canonical": "",
    "author": "",
    "published": "",
    "headings": [],
}
NAMES = ["http://a.example/seed", "http://a.example/birds", "http://a.example/other"]


def test_json_lines_have_each_page_once_with_all_that_is_known(folder, tmp_path):
    assert export(folder, "jsonl", tmp_path / "out.jsonl") == (3, 0, 0)
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_bytes().splitlines()]
    assert [row["url"] for row in rows] == NAMES
    assert rows[1] == EXPECTED
    assert rows[0]["score"] is None


@pytest.mark.parametrize(
    ("name", "format"),
    [
        ("pages.csv", "csv"),
        ("pages.parquet", "parquet"),
        ("pages.warc.gz", "warc"),
        ("pages.jsonl", "jsonl"),
        ("pages.warc", "warc"),
        ("Pages.CSV", "csv"),
        ("pages.md.jsonl", "jsonl"),
    ],
)
def test_a_file_gets_the_format_that_its_name_ends_in(name, format):
    assert format_of(Path("found") / name) == format


def test_standard_output_gets_json_lines():
    assert format_of(Path("-")) == "jsonl"


@pytest.mark.parametrize(
    "name", ["pages.md", "pages", "csv", "pages.csv.gz", "a.csv.bak", ".jsonl."]
)
def test_a_file_whose_name_says_no_format_is_refused_with_those_that_do(name):
    with pytest.raises(HoneyguideError, match=r"ends in \.jsonl, \.csv, \.parquet, \.warc or"):
        format_of(Path(name))


def test_only_relevant_pages_on_request(folder, tmp_path):
    seen = []
    report = lambda *done: seen.append(done)  # noqa: E731
    assert export(folder, "jsonl", tmp_path / "out.jsonl", True, report) == (1, 0, 0)
    [row] = map(json.loads, (tmp_path / "out.jsonl").read_text().splitlines())
    assert row["url"] == NAMES[1]
    assert seen == [(1, 1)]


def test_csv_can_be_read_back(folder, tmp_path):
    assert export(folder, "csv", tmp_path / "out.csv") == (3, 0, 0)
    with (tmp_path / "out.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["url"] for row in rows] == NAMES
    assert rows[1]["text"] == EXPECTED["text"]
    assert rows[1]["reasons"] == f"it fits; {ODD_KEPT}"
    assert rows[0]["score"] == ""


def test_parquet_can_be_read_back(folder, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    assert export(folder, "parquet", tmp_path / "out.parquet") == (3, 0, 0)
    rows = parquet.read_table(tmp_path / "out.parquet").to_pylist()
    assert [row["url"] for row in rows] == NAMES
    assert rows[1] == EXPECTED


def test_parquet_without_pyarrow_names_the_extra(folder, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(HoneyguideError, match=r"pip install 'honeyguide\[glove\]'"):
        export(folder, "parquet", tmp_path / "out.parquet")
    assert list(tmp_path.iterdir()) == [folder]


def test_warc_has_the_records_of_each_page(folder, tmp_path):
    assert export(folder, "warc", tmp_path / "out.warc.gz", relevant_only=True) == (1, 0, 0)
    found = list(records(tmp_path / "out.warc.gz"))
    types = [record.headers["WARC-Type"] for record in records(tmp_path / "out.warc.gz")]
    assert types == ["warcinfo", "response", "request", "metadata"]
    assert found[0].headers["WARC-Filename"] == "out.warc.gz"
    for record in records(tmp_path / "out.warc.gz"):
        if record.record_type == RESPONSE:
            assert record.verify_block_digest()
            assert record.headers["WARC-Target-URI"] == NAMES[1]
        elif record.headers["WARC-Type"] == "metadata":
            assert b"relevance: 0.75\r\n" in bytes(record.reader.read())


def test_a_warc_file_that_is_missing_is_named_and_nothing_is_left(folder, tmp_path):
    path = next((folder / "warc").glob("*.warc.gz"))
    path.unlink()
    with pytest.raises(HoneyguideError, match=rf"cannot export .*: {path} is missing$"):
        export(folder, "warc", tmp_path / "out.warc.gz")
    assert list(tmp_path.iterdir()) == [folder]


def place_of(folder, url):
    with closing(sqlite3.connect(folder / "crawl.sqlite")) as database:
        row = "SELECT warc, warc_offset, warc_length FROM pages WHERE url = ?"
        name, offset, length = database.execute(row, (url,)).fetchone()
    return folder / "warc" / name, offset, length


def flip(path, at):
    data = bytearray(path.read_bytes())
    data[at] ^= 0xFF  # some bits of the last byte before a checksum mean nothing
    path.write_bytes(data)


@pytest.mark.parametrize("part", [0.0, 0.2, 0.5, 0.8, 0.99])
def test_records_that_are_damaged_are_left_out_of_a_warc_and_counted(folder, tmp_path, part):
    path, offset, length = place_of(folder, NAMES[1])
    flip(path, offset + int(part * length))
    assert export(folder, "warc", tmp_path / "out.warc.gz") == (2, 1, 0)
    found = [
        (record.headers["WARC-Target-URI"], record.verify_block_digest())
        for record in records(tmp_path / "out.warc.gz")
        if record.record_type == RESPONSE
    ]
    assert found == [(NAMES[0], True), (NAMES[2], True)]


def test_records_behind_the_end_of_a_warc_file_are_left_out_and_counted(folder, tmp_path):
    path, offset, length = place_of(folder, NAMES[2])
    path.write_bytes(path.read_bytes()[: offset + length - 1])
    assert export(folder, "warc", tmp_path / "out.warc.gz") == (2, 1, 0)


def test_records_of_another_page_are_no_records_of_this_one(folder, tmp_path):
    places = [place_of(folder, name) for name in NAMES[1:]]
    (path, other, shorter), (_, offset, _) = sorted(places, key=lambda place: place[2])
    data = bytearray(path.read_bytes())
    data[offset : offset + shorter] = data[other : other + shorter]
    path.write_bytes(data)
    assert export(folder, "warc", tmp_path / "out.warc.gz") == (2, 1, 0)


@pytest.mark.parametrize("format", ["jsonl", "csv", "parquet", "warc"])
@pytest.mark.parametrize(
    "change", ["title = 'Another'", "text = x'28b52ffd00'", "title = CAST(x'61ff62' AS TEXT)"]
)
def test_rows_that_are_damaged_are_left_out_and_counted(folder, tmp_path, format, change):
    with closing(sqlite3.connect(folder / "crawl.sqlite")) as database, database:
        database.execute(f"UPDATE pages SET {change} WHERE url = ?", (NAMES[1],))
    assert export(folder, format, tmp_path / "out") == (2, 1, 0)


@pytest.mark.parametrize("out", ["out.jsonl", "out.warc.gz", "-"])
def test_damaged_pages_are_told_in_a_sentence_and_by_the_exit_code(folder, tmp_path, out):
    where = out if out == "-" else str(tmp_path / out)
    with closing(sqlite3.connect(folder / "crawl.sqlite")) as database, database:
        database.execute("UPDATE pages SET status = 404 WHERE url = ?", (NAMES[1],))
    command = [sys.executable, "-m", "honeyguide", "export", str(folder), "--out", where]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    told = "1 page is left out because it is damaged"
    assert f"honeyguide: {told}: 'honeyguide check {folder}' says more\n" in done.stderr
    assert done.returncode == 1
    assert NAMES[1] not in done.stdout


def test_a_crawl_that_kept_no_bodies_makes_no_warc_and_says_so(tmp_path):
    create(tmp_path / "crawl", {})
    store = Store(tmp_path / "crawl")
    link = Link("http://a.example/")
    store.record_visit(Visit(link, Page(link.url, text="x"), Verdict(0.0, False)), 0.5, 1.0)
    store.close()
    assert export(tmp_path / "crawl", "csv", tmp_path / "out.csv") == (1, 0, 0)
    with pytest.raises(HoneyguideError, match="generated and recorded webs have none"):
        export(tmp_path / "crawl", "warc", tmp_path / "out.warc.gz")
    assert not (tmp_path / "out.warc.gz").exists()


def test_nothing_is_overwritten(folder, tmp_path):
    (tmp_path / "out.csv").write_text("mine")
    with pytest.raises(HoneyguideError, match="already exists"):
        export(folder, "csv", tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == "mine"


def test_bad_input_is_one_sentence(folder, tmp_path):
    with pytest.raises(HoneyguideError, match="did you mean 'jsonl'"):
        export(folder, "jsonlines", tmp_path / "out")
    with pytest.raises(HoneyguideError, match="holds no crawl"):
        export(tmp_path, "csv", tmp_path / "out")
    with pytest.raises(HoneyguideError, match="cannot export"):
        export(folder, "csv", tmp_path / "no" / "such" / "folder")


def test_status_says_how_a_crawl_stands(folder):
    known = status(folder)
    assert (known["visits"], known["pages"], known["relevant"]) == (5, 3, 1)
    assert (known["not_relevant"], known["noindex"], known["repeated"]) == (2, 0, 1)
    assert known["failures"] == {"timeout": 1}
    assert (known["waiting"], known["stopped"], known["process"]) == (7, "budget spent", "")
    assert known["last"] == 1_700_000_000.5
    assert known["settings"] == {"topic": "birds"}


def test_damage_is_told_by_status_and_export_in_a_sentence(folder, tmp_path):
    kept.damage_table(folder, "pages")
    for asked in (status, lambda folder: best_pages(folder, 3)):
        with pytest.raises(
            HoneyguideError, match=r"crawl.sqlite is damaged or cut off .*malformed.*--repair"
        ):
            asked(folder)
    with pytest.raises(HoneyguideError, match="cannot export"):
        export(folder, "csv", tmp_path / "out.csv")


def test_status_and_export_of_a_crawl_that_runs(tmp_path):
    create(tmp_path / "crawl", {})
    assert status(tmp_path / "crawl")["waiting"] is None
    store = Store(tmp_path / "crawl")
    steering = RecordingNavigator(kept.navigator(), store)
    kept.crawl(steering, kept.World(), 3, budget=20)
    store.flush()
    known = status(tmp_path / "crawl")
    assert known["visits"] == 20
    assert known["in_flight"] == len(steering.leases)
    assert known["waiting"] > 0
    assert known["process"]
    assert known["stopped"] == ""
    assert export(tmp_path / "crawl", "jsonl", tmp_path / "out") == (known["pages"], 0, 0)
    with pytest.raises(HoneyguideError, match="already open"):
        Store(tmp_path / "crawl")
    store.close()
    assert "can be resumed" in status(tmp_path / "crawl")["stopped"]


def test_no_text_of_a_page_is_a_formula_in_csv(tmp_path):
    create(tmp_path / "crawl", {"topic": "birds"})
    store = Store(tmp_path / "crawl")
    link = Link("http://a.example/")
    page = Page(link.url, '=HYPERLINK("http://evil.example/")', "@SUM(A1)")
    visit = Visit(link, page, Verdict(1.0, True), Response(link, link.url, 200, {}, b""))
    store.record_visit(visit, -1.5, 1.0, waiting=0)
    store.close()
    export(tmp_path / "crawl", "csv", tmp_path / "pages.csv")
    with (tmp_path / "pages.csv").open(newline="") as file:
        [row] = csv.DictReader(file)
    assert row["title"] == "'" + page.title
    assert row["text"] == "'@SUM(A1)"
    assert row["score"] == "-1.5"


def test_a_page_that_was_relevant_the_second_time_is_among_the_relevant_ones(tmp_path):
    create(tmp_path / "crawl", {"topic": "birds"})
    store = Store(tmp_path / "crawl")
    for name, relevant in (("one", False), ("two", True)):
        link = Link(f"http://a.example/{name}")
        page = Page("http://a.example/page", "Page", name)
        response = Response(link, page.url, 200, {}, b"<p>")
        verdict = Verdict(float(relevant), relevant)
        store.record_visit(Visit(link, page, verdict, response), 0.5, 1.0, waiting=0)
    store.close()
    export(tmp_path / "crawl", "jsonl", tmp_path / "all.jsonl")
    export(tmp_path / "crawl", "jsonl", tmp_path / "relevant.jsonl", relevant_only=True)
    texts = [
        [json.loads(line)["text"] for line in (tmp_path / name).read_text().splitlines()]
        for name in ("all.jsonl", "relevant.jsonl")
    ]
    assert texts == [["one"], ["two"]]


def test_a_place_that_takes_no_file_is_told_in_a_sentence(folder, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(HoneyguideError, match=r"cannot export .*: Not a directory"):
        export(folder, "csv", tmp_path / "file" / "out.csv")


def test_a_page_that_asks_not_to_be_indexed_is_no_page_of_the_crawl(folder, tmp_path):
    store = Store(folder)
    link = Link("http://a.example/shy")
    page, response = Page(link.url, "", ""), Response(link, link.url, 200, {}, b"")
    store.record_visit(Visit(link, page, UNWANTED, response, "", 0.1), 0.5, 1.0, waiting=7)
    store.close()
    known = status(folder)
    assert (known["visits"], known["pages"]) == (6, 3)
    assert export(folder, "jsonl", tmp_path / "out.jsonl") == (3, 0, 0)


def piped(folder, *flags):
    command = [sys.executable, "-m", "honeyguide", "export", str(folder), "--out", "-", *flags]
    return subprocess.run(command, capture_output=True, cwd=folder.parent, timeout=60)


@pytest.mark.parametrize("format", ["jsonl", "csv", "markdown-jsonl"])
def test_an_export_to_standard_output_is_what_the_file_would_be(folder, tmp_path, format):
    export(folder, format, tmp_path / "file")
    done = piped(folder, "--format", format)
    assert done.stdout == (tmp_path / "file").read_bytes()
    assert done.stderr == b"3 pages: -\n"
    assert not (tmp_path / "-").exists()


@pytest.mark.parametrize(
    ("format", "place"), [("parquet", "file"), ("warc", "file"), ("markdown", "folder")]
)
def test_what_is_no_text_is_not_written_to_standard_output(folder, format, place):
    done = piped(folder, "--format", format)
    assert (done.returncode, done.stdout) == (1, b"")
    only = "only jsonl, csv or markdown-jsonl can be written to -"
    told = f"honeyguide: {format} needs a {place}: {only}\n"
    assert done.stderr.decode() == told


def test_a_reader_who_has_enough_of_an_export_hears_no_complaint(folder):
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "honeyguide", "export", str(folder), "--out", "-"]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, timeout=60)
    os.close(write)
    assert (done.returncode, done.stderr) == (0, b"")


# ----------------------------------------------------------------------- what pages say


HOSTILE = '"]: {x} --- \u2028 \x85 # <b> \\ \n...'
SAID = Metadata("http://a.example/c", "Ann Lee; Bo", "2020-05-05", ("One", "Two"))


def crawl_of(folder, *pages):
    """A crawl that has fetched (page, body, relevance) each."""
    create(folder, {"topic": "birds", "judge": "keywords"})
    store = Store(folder, wall=lambda: 1_700_000_000.0)
    for page, body, relevance in pages:
        link = Link(page.url, depth=1, source="http://a.example/")
        headers = {"content-type": "text/html; charset=utf-8"}
        response = Response(link, page.url, 200, headers, body) if body else None
        verdict = Verdict(relevance, relevance >= 0.5, ("it fits",))
        store.record_visit(Visit(link, page, verdict, response), 0.5, 1.0)
    store.close()
    return folder


def rows_of(path):
    return [json.loads(line) for line in path.read_bytes().splitlines()]


ENGLISH = "The bird that was on the tree is now in the nest, and it has been there for a day."


@pytest.fixture
def described(tmp_path):
    page = Page("http://a.example/x", HOSTILE, ENGLISH, declared_language="de", metadata=SAID)
    body = b"<title>t</title><main><h1>One</h1><p>See <a href='/y'>this</a>.</p></main>"
    plain = Page("http://a.example/y", "Plain", "# heading\nsecond", declared_language="fr")
    return crawl_of(tmp_path / "crawl", (page, body, 0.8), (plain, b"", 0.25))


def test_what_a_page_says_about_itself_is_exported(described, tmp_path):
    export(described, "jsonl", tmp_path / "out.jsonl")
    first, second = rows_of(tmp_path / "out.jsonl")
    said = ("language", "canonical", "author", "published", "headings")
    assert [first[name] for name in said] == [
        "en", SAID.canonical, SAID.author, SAID.published, ["One", "Two"]
    ]  # fmt: skip
    assert [second[name] for name in said] == ["fr", "", "", "", []]
    export(described, "csv", tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(newline="", encoding="utf-8") as file:
        assert next(csv.DictReader(file))["headings"] == "One; Two"


@pytest.mark.parametrize("format", ["jsonl", "csv", "parquet", "markdown-jsonl", "markdown"])
def test_only_pages_that_are_relevant_enough_on_request(described, tmp_path, format):
    assert export(described, format, tmp_path / "all").pages == 2
    assert export(described, format, tmp_path / "some", min_relevance=0.25).pages == 2
    assert export(described, format, tmp_path / "one", min_relevance=0.26).pages == 1
    assert export(described, format, tmp_path / "none", min_relevance=0.81).pages == 0


@pytest.mark.parametrize("least", [-0.1, 1.1, float("nan")])
def test_a_least_relevance_that_no_page_can_have_is_refused(described, tmp_path, least):
    with pytest.raises(HoneyguideError, match=f"between 0 and 1, not {least:g}"):
        export(described, "jsonl", tmp_path / "out", min_relevance=least)
    assert not (tmp_path / "out").exists()


def test_json_lines_with_markdown_have_it_in_place_of_the_text(described, tmp_path):
    assert export(described, "markdown-jsonl", tmp_path / "out") == (2, 0, 1)
    first, second = rows_of(tmp_path / "out")
    assert first["markdown"] == "# One\n\nSee [this](http://a.example/y)."
    assert "text" not in first
    assert second["markdown"] == "\\# heading\n\nsecond", "its body was not kept"


def parts_of(path):
    """The front matter of a file, and its Markdown."""
    empty, front, markdown = path.read_text("utf-8").split("---\n", 2)
    assert empty == ""
    lines = (line.split(": ", 1) for line in front.removesuffix("\n").split("\n"))
    return {name: json.loads(value) for name, value in lines}, markdown


def test_a_markdown_file_says_where_its_page_comes_from(described, tmp_path):
    assert export(described, "markdown", tmp_path / "out") == (2, 0, 1)
    files = sorted((tmp_path / "out").iterdir())
    assert [path.name for path in files] == ["00001-a.example-x.md", "00002-a.example-y.md"]
    known, markdown = parts_of(files[0])
    assert markdown == "\n# One\n\nSee [this](http://a.example/y).\n"
    assert known == {
        "url": "http://a.example/x",
        "title": HOSTILE,
        "canonical": SAID.canonical,
        "language": "en",
        "author": SAID.author,
        "published": SAID.published,
        "fetched": "2023-11-14T22:13:20+00:00",
        "relevance": 0.8,
        "relevant": True,
        "reasons": ["it fits"],
        "depth": 1,
        "parent": "http://a.example/",
        "requested_url": "http://a.example/x",
        "status": 200,
        "headings": ["One", "Two"],
        "crawl": "crawl",
        "topic": "birds",
        "judge": "keywords",
        "honeyguide": known["honeyguide"],
    }


@given(st.text())
def test_no_title_breaks_the_front_matter(title):
    page = {"url": "http://a.example/", "title": title, "markdown": "x"}
    lines = markdown_file(page, {"crawl": "c"}).splitlines()
    assert lines[0] == lines[-3] == "---" or not title
    front = [line for line in lines if line.startswith("title: ")]
    assert len(lines) == 7 if title else 6
    assert [json.loads(line.removeprefix("title: ")) for line in front] == [title] * bool(title)


@given(st.integers(1, 10**6), st.text())
def test_the_name_of_a_file_is_safe_whatever_the_url(number, url):
    name = file_name(number, url)
    assert re.fullmatch(r"\d{5,}(-[a-z0-9][a-z0-9.-]*)?\.md", name)
    assert len(name) < 100


def test_a_markdown_export_that_fails_leaves_nothing_behind(described, tmp_path):
    (tmp_path / "out").mkdir()
    with pytest.raises(HoneyguideError, match="already exists"):
        export(described, "markdown", tmp_path / "out")
    with pytest.raises(HoneyguideError, match="No such file"):
        export(described, "markdown", tmp_path / "nowhere" / "out")
    with pytest.raises(HoneyguideError, match="stop"):
        export(described, "markdown", tmp_path / "new", progress=_fail)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["crawl", "out"]


def _fail(done, total):
    raise ValueError("stop")


def test_a_body_that_is_gone_leaves_the_text(described, tmp_path):
    for path in (described / "warc").iterdir():
        path.unlink()
    assert export(described, "markdown-jsonl", tmp_path / "out") == (2, 0, 2)
    assert rows_of(tmp_path / "out")[0]["markdown"] == ENGLISH


def test_a_damaged_event_costs_only_what_the_page_said(described, tmp_path):
    with closing(sqlite3.connect(described / "crawl.sqlite")) as database, database:
        database.execute("UPDATE journal SET data = x'00' WHERE n = 1")
    assert export(described, "jsonl", tmp_path / "out") == (2, 0, 0)
    first = rows_of(tmp_path / "out")[0]
    assert (first["text"], first["language"], first["author"]) == (ENGLISH, "en", "")
