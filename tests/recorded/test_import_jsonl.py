import gzip
import json

import pytest
import zstandard

from honeyguide.errors import HoneyguideError
from honeyguide.recorded.graph import Graph
from honeyguide.recorded.importers.jsonl import import_jsonl

PAGES = [
    {
        "id": f"page/{number}",
        "title": f"Page {number}",
        "text": f"text {number} " * 200,
        "links": [[f"page/{(number * 7 + 1) % 300}", "text"], ["http://out.example/", "out"]],
        "labels": ["n:even" if number % 2 == 0 else "n:odd"],
    }
    for number in range(300)
]
LINES = "".join(json.dumps(page) + "\n" for page in PAGES).encode()


def zstd(data, window=27):
    parameters = zstandard.ZstdCompressionParameters(window_log=window)
    return zstandard.ZstdCompressor(compression_params=parameters).compress(data)


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("pages.jsonl", LINES),
        ("pages.jsonl", LINES.rstrip() + b"\n\n"),
        ("pages.jsonl.zst", zstd(LINES)),
        ("pages.jsonl.zst", zstd(LINES[:10_000]) + zstd(LINES[10_000:])),
        ("pages.jsonl.gz", gzip.compress(LINES)),
    ],
)
def test_every_page_label_and_link_arrives(tmp_path, name, data):
    (tmp_path / name).write_bytes(data)
    seen = []
    counts = import_jsonl(tmp_path / name, tmp_path / "web", lambda *step: seen.append(step))
    assert counts == {"pages": 300, "links": 300, "outside": 300, "duplicates": 0, "labels": 2}
    assert seen[-1] == (len(data), len(data))
    graph = Graph.open(tmp_path / "web")
    page = graph.page(5)
    assert (page.title, page.text) == (PAGES[5]["title"], PAGES[5]["text"])
    assert [link.url for link in page.links] == ["http://web.example/page/36"]
    assert page.links[0].context.startswith("text 5 text 5")
    assert graph.labels() == {"n:even": 150, "n:odd": 150}


def test_an_archive_with_a_long_window_is_read(tmp_path):
    (tmp_path / "long.zst").write_bytes(zstd(LINES, window=31))
    assert import_jsonl(tmp_path / "long.zst", tmp_path / "web")["pages"] == 300


def test_links_may_bring_context_and_tag_path(tmp_path):
    row = {"id": "a", "links": [["a", "x", "some x here", "html/body/a"], ["a", None], ["a"]]}
    (tmp_path / "x.jsonl").write_text(json.dumps(row))
    import_jsonl(tmp_path / "x.jsonl", tmp_path / "web")
    first, second, third = Graph.open(tmp_path / "web").page(0).links
    assert (first.context, first.tag_path) == ("some x here", "html/body/a")
    assert second.anchor == third.anchor == ""


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (LINES[:-20], "cut off in line 300"),
        (zstd(LINES)[:-9], "cut off"),
        (zstd(LINES)[:40] + b"\xff" * 400, "damaged|cut off"),
        (gzip.compress(LINES)[:-30], "cut off"),
        (gzip.compress(LINES)[:100] + b"\xff" * 400, "damaged|cut off"),
        (LINES[:5000].rpartition(b"\n")[0] + b"\nhello there\n", "line 4 is not JSON"),
        (b'{"id": "a"}\n{"title": "b"}\n', "line 2 is not a page"),
        (b'{"id": 7}\n', "line 1 is not a page"),
        (b"[1, 2]\n", "line 1 is not a page"),
        (b'{"id": "a", "links": [[]]}\n', "line 1: a link must be"),
        (b'{"id": "a", "links": ["b"]}\n', "line 1 is not a page"),
        (b'{"id": "a", "links": [["b", "c", "d", "e", "f"]]}\n', "line 1: a link must be"),
        (b'{"id": "\xff"}\n', "line 1"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "line 1"),
        (b"", "no pages"),
        (b"\n\n", "no pages"),
    ],
)
def test_bad_input_is_told_in_a_sentence_and_leaves_nothing(tmp_path, data, sentence):
    source = tmp_path / "bad"
    source.write_bytes(data)
    with pytest.raises(HoneyguideError, match=sentence) as caught:
        import_jsonl(source, tmp_path / "web")
    assert "\n" not in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["bad"]


def test_a_missing_or_unreadable_source_is_told(tmp_path):
    with pytest.raises(HoneyguideError, match="cannot read"):
        import_jsonl(tmp_path / "none.jsonl", tmp_path / "web")
    with pytest.raises(HoneyguideError, match="cannot read"):
        import_jsonl(tmp_path, tmp_path / "web")
    assert list(tmp_path.iterdir()) == []


def test_an_existing_graph_is_not_overwritten(tmp_path):
    (tmp_path / "x.jsonl").write_bytes(LINES)
    import_jsonl(tmp_path / "x.jsonl", tmp_path / "web")
    with pytest.raises(HoneyguideError, match="already exists"):
        import_jsonl(tmp_path / "x.jsonl", tmp_path / "web")
