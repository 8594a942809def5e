"""What a person does who has not read the manual gets a sentence, and soon."""

import pytest

from tests.test_cli import SMALL, honeyguide, refused


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
