"""Crawl folders that earlier versions wrote are resumed by this one."""

import tarfile
from pathlib import Path

import pytest

from honeyguide.engine.orders import Deny
from honeyguide.storage.control import give_order, orders_in_force
from honeyguide.storage.crawl_folder import run_crawl
from honeyguide.storage.database import reading
from honeyguide.urls.spelling import host
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


def test_orders_steer_a_crawl_that_an_earlier_version_began(tmp_path):
    with tarfile.open(FOLDERS[0].with_name("0.1.0-guide-110.tar.xz")) as file:
        file.extractall(tmp_path, filter="data")
    [folder] = tmp_path.iterdir()
    before = [host(url) for url, _ in pages(folder)]
    name = max(sorted(set(before)), key=before.count)
    assert orders_in_force(folder).in_force() == {}
    told = give_order(folder, Deny((name,)))
    assert "the order is kept" in told.sentence
    for budget in (130, 150):
        run_crawl(folder, lambda plan, recorded, visit: None, budget=budget)
    after = [host(url) for url, _ in pages(folder)]
    assert len(after) == 150 and name not in after[len(before) :]
