"""Crawl folders that earlier versions wrote are resumed by this one."""

import tarfile
from pathlib import Path

import pytest

from honeyguide.storage.crawl_folder import run_crawl
from honeyguide.storage.database import reading
from tests.old_folders import make  # noqa: F401 the world of these crawls

FOLDERS = sorted((Path(__file__).parents[1] / "old_folders").glob("*.tar.xz"))


@pytest.mark.parametrize("archive", FOLDERS, ids=lambda path: path.name)
def test_a_crawl_that_died_after_its_snapshot_is_resumed(archive, tmp_path):
    with tarfile.open(archive) as file:
        file.extractall(tmp_path, filter="data")
    [folder] = tmp_path.iterdir()
    before = pages(folder)
    ended = run_crawl(folder, lambda plan, recorded, visit: None, budget=200)
    assert ended.outcome.pages == 200
    after = pages(folder)
    assert after[: len(before)] == before
    urls = [url for url, _ in after]
    assert len(set(urls)) == len(urls) == 200
    assert not any(url.endswith(".jpg") for url in urls[len(before) :]), "refused links stay so"


def pages(folder):
    with reading(folder) as database:
        return database.execute("SELECT url, score FROM pages ORDER BY n").fetchall()
