"""What a person does who has not read the manual gets a sentence, and soon."""

import json
import subprocess

import pytest

from honeyguide.cli.seed_names import read_names
from honeyguide.errors import HoneyguideError
from tests.test_cli import PROGRAM, SMALL, honeyguide, refused
from tests.web.servers import page, redirect, served


@pytest.fixture(scope="module")
def crawled(tmp_path_factory):
    """The folder of a small crawl."""
    folder = tmp_path_factory.mktemp("crawled") / "out"
    done = honeyguide("crawl", *SMALL, "--budget", 10, "--out", folder)
    assert done.returncode == 0, done.stderr
    return folder


# --------------------------------------------------------------------------- where results go


@pytest.mark.parametrize("name", ["pages.md", "pages", "pages.csv.gz"])
def test_an_export_to_an_unknown_ending_names_those_it_knows(crawled, tmp_path, name):
    told = refused("export", crawled, "--out", tmp_path / name)
    assert "ends in .jsonl, .csv, .parquet, .warc or .warc.gz, or say --format" in told
    assert not list(tmp_path.iterdir())
    done = honeyguide("export", crawled, "--out", tmp_path / name, "--format", "csv")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / name).read_text().startswith("url,requested_url,title")


@pytest.mark.parametrize(
    ("command", "what"),
    [
        (("crawl", *SMALL, "--budget", 5), "a crawl"),
        (("bench", *SMALL, "--budget", 5), "a comparison"),
    ],
)
def test_results_are_never_mixed_with_other_things(command, what, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    (tmp_path / "photos").mkdir()
    told = refused(*command, "--out", tmp_path)
    assert told == (
        f"{tmp_path} holds other things (notes.txt and 1 more): {what} goes into a new or empty"
        " folder"
    )
    assert {path.name for path in tmp_path.iterdir()} == {"notes.txt", "photos"}


def test_an_empty_folder_and_what_a_killed_beginning_left_are_no_other_things(tmp_path):
    (tmp_path / "lock").touch()
    done = honeyguide("crawl", *SMALL, "--budget", 5, "--out", tmp_path)
    assert done.returncode == 0, done.stderr


# --------------------------------------------------------------------------- where to start


@pytest.mark.parametrize(
    ("said", "names"),
    [
        ("https://a.example,https://b.example/x", ("https://a.example", "https://b.example/x")),
        ("https://a.example/x , http://b.example", ("https://a.example/x", "http://b.example")),
        ("a.example,b.example/x,y", ("a.example", "b.example/x,y")),
        ("https://a.example, b.example,", ("https://a.example", "b.example")),
        ("https://a.example/x,y", ("https://a.example/x,y",)),
        ("a.example/?near=1,2#a,b", ("a.example/?near=1,2#a,b",)),
        ("example.org/robots.txt", ("example.org/robots.txt",)),
        ("https://seeds.txt", ("https://seeds.txt",)),
    ],
)
def test_seeds_with_commas_between_them_are_several_unless_the_comma_is_in_a_url(said, names):
    assert read_names([said], "web") == names


@pytest.mark.parametrize("name", ["Paris, Texas", "a.example,b.example", "1000 random pages", ""])
def test_names_of_pages_of_a_recorded_web_keep_their_commas(name):
    assert read_names([name], "graph:somewhere") == (name,)


def seed_file(folder, data):
    (folder / "seeds.txt").write_bytes(data)
    return str(folder / "seeds.txt")


def test_a_file_of_seeds_has_one_a_line_and_comments(tmp_path):
    lines = "\ufeff# mine\n\nhttps://a.example/#top  # a comment\r\n  b.example/x,y\n"
    file = seed_file(tmp_path, lines.encode())
    names = ("https://a.example/#top", "b.example/x,y")
    assert read_names([file, "c.example"], "web") == (*names, "c.example")
    assert read_names([file], "graph:somewhere") == names


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "is empty"),
        (b"# nothing yet\n", "has comments and no page to start from"),
        (b"\x89PNG\r\n", "is not text in UTF-8"),
        (b"a\0b", "is not text in UTF-8"),
    ],
)
def test_a_file_without_seeds_is_told(data, sentence, tmp_path):
    file = seed_file(tmp_path, data)
    told = refused("crawl", "--topic", "rocks", "--seed", file, "--out", tmp_path / "out")
    assert told == f"{file} {sentence}"


@pytest.mark.parametrize("command", ["crawl", "bench", "find"])
def test_a_file_of_seeds_that_is_not_there_is_told(command, tmp_path):
    task = ("--topic", "rocks", "--world", "web", "--out", "out", "--seed")
    told = refused(command, *(task if command != "find" else ()), "seeds.txt", folder=tmp_path)
    assert told == "there is no file seeds.txt to read; a URL begins with https://"
    with pytest.raises(HoneyguideError, match="there is no file lists/mine"):
        read_names(["lists/mine.csv"], "web")


def test_a_crawl_starts_from_all_pages_of_a_file_of_a_config_and_of_standard_input(tmp_path):
    with served({"/": page(b"<p>rocks"), "/a,b": page(b"<p>stones")}) as server:
        site = f"http://127.0.0.1:{server.port}"
        seed_file(tmp_path, f"{site}/\n{site}/a,b\n".encode())
        (tmp_path / "crawl.toml").write_text('topic = "rocks"\nseed = "seeds.txt"\n')
        live = ("--allow-private", "--delay", 0, "--budget", 2)
        command = ("crawl", *live, "--config", "crawl.toml")
        done = honeyguide(*command, "--out", "out", folder=tmp_path)
        assert "among 2 fetched" in done.stdout, done.stderr
        piped = subprocess.run(
            [PROGRAM, *map(str, command), "--seed", "-", "--out", "piped"],
            cwd=tmp_path,
            input=f"{site}/a,b\n{site}/\n",
            capture_output=True,
            text=True,
            timeout=100,
        )
        assert "among 2 fetched" in piped.stdout, piped.stderr
    known = json.loads(honeyguide("status", tmp_path / "piped", "--json").stdout)
    assert known["settings"]["seeds"] == [f"{site}/a,b", f"{site}/"]


# --------------------------------------------------------------------------- status


def test_status_accounts_for_every_fetch_and_shows_a_delay_of_nothing(tmp_path):
    links = b"".join(b"<a href=/%s>x</a>" % name for name in (b"shy", b"a", b"moved", b"gone"))
    answers = {
        "/": page(b"<p>geology, rocks</p>" + links),
        "/shy": page(b"<meta name=robots content=noindex><p>geology</p>"),
        "/a": page(b"<p>ships and harbours</p>"),
        "/moved": redirect("/"),
    }
    with served(answers) as server:
        seed = f"http://127.0.0.1:{server.port}/"
        live = ("--allow-private", "--delay", 0, "--budget", 5, "--judge", "keywords:geology")
        task = ("--topic", "geology", "--seed", seed, "--out", tmp_path / "out")
        done = honeyguide("crawl", *task, *live)
        assert done.returncode == 0, done.stderr
    told = honeyguide("status", tmp_path / "out").stdout
    figures = dict(line.rsplit(maxsplit=1) for line in told.splitlines()[1:6])
    assert figures == {
        "relevant": "1",
        "not relevant": "1",
        "noindex": "1",
        "repeated": "1",
        "failed": "1",
    }
    assert told.startswith("visits       5 of 5\n")
    assert "\n  delay          0\n" in told
    known = json.loads(honeyguide("status", tmp_path / "out", "--json").stdout)
    parts = ("relevant", "not_relevant", "noindex", "repeated", "failed")
    assert known["visits"] == sum(known[part] for part in parts)
