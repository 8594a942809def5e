"""The commands honeyguide train source_finder and honeyguide watch."""

import json
import re
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from typer.testing import CliRunner

from honeyguide.cli import app
from honeyguide.errors import HoneyguideError
from honeyguide.storage.lock import Lock

from .test_finding import listing


def honeyguide(*arguments):
    """Run a command in this process: importing torch in another takes seconds."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def refused(*arguments):
    error = honeyguide(*arguments).exception
    assert isinstance(error, HoneyguideError)
    return str(error)


def test_a_finder_of_another_kind_is_trained_and_used(tmp_path):
    model, homes = tmp_path / "news.model", [f"http://site{n}.train.example/" for n in range(4)]
    done = honeyguide(
        "train", "source_finder", "--kind", "news", "--sites", "organisations:set=train,sites=16",
        "--epochs", 8, "--nets", 1, "--pages", 25, "--encoder", "ngrams:128", "--out", model,
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "page scorer" in done.output
    found = honeyguide(
        "find", "--kind", model, "--world", "organisations:train", "--json", "--feedback",
        "--delay", 0, *homes,
    )  # fmt: skip
    rows = [json.loads(line) for line in found.output.splitlines()]
    assert {row["home"] for row in rows} == set(homes)
    assert sum(bool(row["sources"]) for row in rows) >= 3
    assert "already exists" in refused("train", "source_finder", "--out", model)


def test_sites_without_any_source_page_teach_nothing(tmp_path):
    said = refused(
        "train", "source_finder", "--kind", "recipes", "--sites",
        "organisations:set=train,sites=2", "--pages", 3, "--out", tmp_path / "out",
        "--encoder", "ngrams:64",
    )  # fmt: skip
    assert said == "no source page was found on the labelled sites"


def test_what_is_no_labelled_site_is_said(tmp_path):
    sites = tmp_path / "sites"
    sites.write_text('{"home": 5}\n')
    said = refused("train", "source_finder", "--sites", sites, "--out", tmp_path / "out")
    assert "line 1 is no labelled site" in said
    said = refused("train", "source_finder", "--sites", "synthetic", "--out", tmp_path / "out")
    assert "not made of sites" in said


@pytest.fixture
def served():
    """Serve a page that tests can change."""
    shown = {"page": listing(1, 2, 3)}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            good = self.path == "/events"
            self.send_response(200 if good else 404)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(shown["page"].encode() if good else b"")

        def log_message(self, *said):
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield shown, server.server_port
    server.shutdown()
    thread.join()
    server.server_close()


def test_watching_once_writes_new_items_and_a_feed(served, tmp_path):
    shown, port = served
    sources, out, feed = (tmp_path / name for name in ("sources", "items.jsonl", "feed.xml"))
    sources.write_text("http://x.example/events\n")

    def watch():
        done = honeyguide(
            "watch", sources, "--once", "--out", out, "--rss", feed, "--allow-private",
            "--resolve", f"x.example=127.0.0.1:{port}",
        )  # fmt: skip
        assert done.exit_code == 0, done.output
        return [json.loads(line)["title"] for line in out.read_text().splitlines()]

    assert watch() == ["Event 1", "Event 2", "Event 3"]
    shown["page"] = listing(4, 1, 2, 3)
    assert watch() == ["Event 1", "Event 2", "Event 3"]  # it is not due yet
    state = out.with_name("items.jsonl.state")
    rows = json.loads(state.read_text())
    state.write_text(json.dumps([row | {"due": 0.0} for row in rows]))
    assert watch() == ["Event 1", "Event 2", "Event 3", "Event 4"]
    assert "Event 4" in feed.read_text()
    state.write_text("nonsense")
    assert "damaged" in refused("watch", sources, "--once", "--out", out)


def test_two_watches_never_write_the_same_list(tmp_path):
    sources, out = tmp_path / "sources", tmp_path / "items.jsonl"
    sources.write_text("http://x.example/events\n")
    other = Lock(out, tmp_path / "items.jsonl.lock")
    told = refused("watch", sources, "--once", "--out", out)
    other.release()
    assert told == f"{out} is already open in this process"
    assert not out.exists()


def test_a_list_of_addresses_that_cannot_be_read_is_told_in_words(tmp_path):
    told = refused("watch", tmp_path, "--once")
    assert told == f"cannot read {tmp_path}: Is a directory"
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    told = refused(
        "train", "source_finder", "--sites", tmp_path / "binary", "--out", tmp_path / "f"
    )
    assert told == f"{tmp_path / 'binary'} is not text in UTF-8"


@pytest.mark.parametrize(
    ("places", "sentence"),
    [
        (("--out", "folder"), "folder: it is a folder"),
        (("--out", "no/items.jsonl"), "items.jsonl: there is no folder"),
        (("--out", "items.jsonl", "--rss", "no/feed.xml"), "feed.xml: there is no folder"),
        (("--out", "items.jsonl", "--rss", "folder"), "folder: it is a folder"),
    ],
)
def test_places_that_cannot_be_written_are_told_before_watching(
    served, tmp_path, monkeypatch, places, sentence
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "sources").write_text("http://x.example/events\n")
    there = ("--allow-private", "--resolve", f"x.example=127.0.0.1:{served[1]}")
    assert sentence in refused("watch", "sources", "--once", *there, *places)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "sources"]


def test_the_home_pages_that_serve_names_are_found_by_find():
    command = [sys.executable, "-m", "honeyguide", "serve", "--sites", "mixed", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, bufsize=1) as serving:
        try:
            named = re.findall(r"http://\S+", serving.stdout.readline())
            port = re.search(r"127\.0\.0\.1:(\d+)", serving.stdout.readline())[1]
            found = honeyguide(
                "find", "--delay", 0, "--allow-private", "--resolve", f"*=127.0.0.1:{port}",
                "--clicks", 1, *named,
            )  # fmt: skip
        finally:
            serving.kill()
    assert found.exit_code == 0, found.output
    for home in named:
        assert re.search(rf"^{home}: .* with (0 clicks|1 click)$", found.output, re.MULTILINE)
    assert found.output.count("stopped: ") == len(named)
