"""A crawl says why it took a link, why one waits, and why another was never taken."""

import json
import shutil
import signal
import subprocess
import sys
import tarfile
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from honeyguide.cli import app
from honeyguide.contracts import Link
from honeyguide.engine.view import Part
from honeyguide.errors import HoneyguideError
from honeyguide.plan import Plan
from honeyguide.storage.best_links import best_links
from honeyguide.storage.choices import Choice, names_in, pack_choice, unpack_choice
from honeyguide.storage.crawl_folder import create_crawl, run_crawl
from honeyguide.storage.database import about, reading
from honeyguide.storage.host_rows import host_rows
from honeyguide.storage.looking import Question, ask, look
from honeyguide.storage.orders import FOLDER, waiting_orders
from honeyguide.storage.restored import restored
from honeyguide.storage.why import readable, why
from tests.old_folders import make  # noqa: F401 the world of some of them
from tests.test_live import flags, run, served

WORLD = "synthetic:pages=3000"


def crawled(folder, budget=150, **settings):
    plan = {"topic": "geology", "seeds": ("geology",), "world": WORLD, "budget": budget}
    create_crawl(folder, Plan(**plan | settings))
    run_crawl(folder, lambda *_: None)
    return folder


@pytest.fixture(scope="module")
def rocks(tmp_path_factory):
    return crawled(tmp_path_factory.mktemp("why") / "rocks")


def visits(folder, where="1"):
    with reading(folder) as database:
        return database.execute(
            f"SELECT url, score, parent FROM pages WHERE {where} ORDER BY n"
        ).fetchall()


def test_every_choice_is_stored_with_its_rank_and_reasons(rocks):
    with reading(rocks) as database:
        lists = names_in(about(database))
        rows = database.execute("SELECT url, data FROM journal WHERE kind = 'take'").fetchall()
    scores = {url: score for url, score, _ in visits(rocks)}
    sizes = [len(data) for _, data in rows]
    assert len(rows) == 150
    assert np.mean(sizes) < 70
    for url, data in rows:
        choice = unpack_choice(data, lists)
        assert choice.rank == 1  # no host rests on a generated web
        if choice.score == np.inf:
            continue
        assert choice.score == pytest.approx(scores[url], rel=1e-5)
        named = choice.named()
        assert len(named) == len(choice.parts) > 0
        # what is left out of the twelve largest parts is small
        assert sum(value for _, value in named) == pytest.approx(choice.score, abs=0.1)


def test_a_choice_is_packed_and_unpacked_without_loss_of_what_matters():
    choice = Choice(3, 12_345, 0.5, True, False, ("a", "b"), ((1, 0.25), (0, -0.125)))
    assert unpack_choice(pack_choice(choice, 1), [(), ("a", "b")]) == choice
    huge = Choice(1, 1, 1e30, names=("a",), parts=((0, 1e30),))
    assert np.isfinite(unpack_choice(pack_choice(huge, 0), [("a",)]).parts[0][1])


def test_a_fetched_page_says_who_linked_to_it_and_what_spoke_for_it(rocks):
    url, score, parent = visits(rocks, "relevant AND depth > 1")[-1]
    found = why(rocks, url)
    assert found.state == "fetched"
    assert found.fetched.relevant
    assert found.fetched.passage
    assert found.shown.source == parent
    assert found.chosen.rank == 1
    assert found.chosen.waiting > 1
    total = sum(part.value for part in found.chosen.parts)
    assert total == pytest.approx(score, abs=1e-3)
    assert any(part.name.startswith("its own words '") for part in found.chosen.parts)
    assert found.path[-1].url == url
    assert len(found.path) == visits_depth(rocks, url) + 1
    assert found.parent_count >= 1


def visits_depth(folder, url):
    with reading(folder) as database:
        return database.execute("SELECT depth FROM pages WHERE url = ?", (url,)).fetchone()[0]


def test_a_waiting_link_has_its_rank_now_and_the_same_split(rocks):
    best = best_links(rocks, 30)
    assert best.waiting > 30
    scores = [link.score for link in best.links]
    assert scores == sorted(scores, reverse=True)
    assert best.links[0].rank == 1
    link = best.links[7]
    found = why(rocks, link.url)
    assert found.state == "waiting"
    assert found.waits.rank == link.rank
    assert sum(part.value for part in found.waits.parts) == pytest.approx(link.score, abs=1e-3)
    assert found.stopped == "budget spent"
    assert sum(host.waiting for host in best_links(rocks, 1000).hosts) == best.waiting


def test_words_are_named_as_the_link_has_them():
    link = Link("http://a.example/lava", anchor="hot lava")
    from honeyguide.features.hashed_words import signs_of, word_name

    [bucket] = [b for b, signs in signs_of("", "hot", "", 256).items() if "a:hot" in signs]
    assert readable(Part(word_name(bucket, 256), 0.1), link).name == "the word 'hot' in its anchor"
    absent = readable(Part(word_name((bucket + 1) % 256, 256), 0.1), link).name
    assert "'hot'" not in absent
    assert readable(Part("its own words", 1.0), link).name == "its own words 'hot lava'"


def test_a_denied_link_names_the_list_and_an_unknown_url_is_one_sentence(tmp_path):
    folder = crawled(tmp_path / "out", 60, deny=("*/node/1*",))
    refused = None
    with reading(folder) as database:
        from honeyguide.storage.replay import visited_page

        for row in database.execute("SELECT * FROM journal WHERE kind = 'visit'"):
            page = visited_page(row)
            for link in page.links if page else ():
                refused = link.url if "/node/1" in link.url else refused
    found = why(folder, refused)
    assert (found.state, found.refusal) == ("refused", "denied")
    assert found.shown.source
    with pytest.raises(HoneyguideError, match="has not met http://nowhere"):
        why(folder, "http://nowhere.example/")


def test_a_killed_crawl_is_seen_as_a_resumed_one_would_be(tmp_path):
    folder = tmp_path / "out"
    code = (
        "import os, sys; from honeyguide.plan import Plan; from pathlib import Path;"
        "from honeyguide.storage.crawl_folder import create_crawl, run_crawl;"
        f"f = Path({str(folder)!r});"
        f"create_crawl(f, Plan(topic='geology', seeds=('geology',), world={WORLD!r}, budget=200));"
        "n = [0]\n"
        "def watch(plan, recorded, visit):\n"
        "    n[0] += 1\n"
        "    if n[0] == 60: os.kill(os.getpid(), 9)\n"
        "run_crawl(f, watch)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=100)
    assert done.returncode == -signal.SIGKILL, done.stderr
    copy = shutil.copytree(folder, tmp_path / "copy")
    before = look(folder, Question(links=50)).frontier
    assert not waiting_orders_of(folder)
    from honeyguide.storage.store import RecordingNavigator, Store
    from honeyguide.storage.stored_plan import stored_plan

    store = Store(copy)
    resumed = RecordingNavigator(stored_plan(copy).open().navigator(), store)
    from honeyguide.engine.view import frontier_view

    assert frontier_view(resumed.navigator, resumed.started_at, 50) == before
    store.close()


def waiting_orders_of(folder):
    return list(waiting_orders(folder))


def test_a_running_crawl_answers_itself_and_chooses_as_if_nobody_had_asked(tmp_path):
    seen, done = [], threading.Event()

    def watcher(plan, recorded, visit):
        time.sleep(0.002)

    def crawl():
        crawled_with(tmp_path / "asked", watcher)
        done.set()

    thread = threading.Thread(target=crawl)
    thread.start()
    while not done.is_set():
        time.sleep(0.05)
        if (tmp_path / "asked/lock").exists() and (tmp_path / "asked/recent-0.events").exists():
            question = Question(links=5, words=("geology",), crawl=True)
            answer = ask(tmp_path / "asked", question)
            if answer is not None:
                seen.append(answer)
    thread.join()
    crawled_with(tmp_path / "alone", lambda *_: None)
    assert len(seen) >= 2
    assert seen[0].crawl.visits < seen[-1].crawl.visits
    assert all(answer.frontier.links and answer.learnt.words for answer in seen)
    assert visits(tmp_path / "asked") == visits(tmp_path / "alone")
    assert not list((tmp_path / "asked" / FOLDER).iterdir())


def crawled_with(folder, watcher):
    plan = Plan(topic="geology", seeds=("geology",), world=WORLD, budget=200)
    create_crawl(folder, plan)
    run_crawl(folder, watcher)


def test_a_live_crawl_names_the_robots_rule_and_its_hosts(tmp_path):
    with served(2000) as server:
        run(*flags(server, tmp_path / "out", 200))
    [[url, *_], *_] = visits(tmp_path / "out", "failure = 'robots'")
    found = why(tmp_path / "out", url)
    assert found.state == "failed"
    assert "robots.txt forbids it: 'Disallow" in found.refusal
    rows = host_rows(tmp_path / "out")
    assert sum(row.pages for row in rows) == 200
    assert sum(row.requests for row in rows) > 150
    assert sum(row.refused for row in rows) > 0
    assert rows[0].relevant == max(row.relevant for row in rows) > 0
    assert sum(row.bytes for row in rows) > 0


def test_the_commands_print_lines_or_json(rocks):
    url = visits(rocks, "relevant AND depth > 1")[0][0]

    def printed(*command):
        done = CliRunner().invoke(app, [command[0], str(rocks), *command[1:]])
        assert done.exit_code == 0, done.output
        return done.output

    said = printed("why", url)
    assert "judged relevant" in said
    assert "rank 1 of" in said
    assert "path from a seed" in said
    assert json.loads(printed("why", url, "--json"))["chosen"]["parts"]
    assert "by host" in printed("frontier")
    assert json.loads(printed("frontier", "--json"))["links"][0]["parts"]
    assert "yield" in printed("hosts")
    assert json.loads(printed("hosts", "--json").splitlines()[0])["relevant"] > 0


def old_folder(name, tmp_path):
    archive = Path(__file__).parents[1] / "old_folders" / f"{name}.tar.xz"
    with tarfile.open(archive) as file:
        file.extractall(tmp_path, filter="data")
    [folder] = tmp_path.iterdir()
    return folder


def test_a_folder_of_the_first_format_is_one_sentence(tmp_path):
    with pytest.raises(HoneyguideError, match="honeyguide resume"):
        best_links(old_folder("0.1.0-guide-110", tmp_path))


def test_a_folder_of_an_older_version_says_what_it_did_not_store(tmp_path):
    folder = old_folder("0.2.0-guide-110", tmp_path)
    before = {path.name: path.stat().st_mtime_ns for path in folder.iterdir() if path.is_file()}
    found = why(folder, visits(folder)[-1][0])
    assert found.state in ("fetched", "failed")
    assert found.chosen is None
    assert best_links(folder, 3).links
    after = {path.name: path.stat().st_mtime_ns for path in folder.iterdir() if path.is_file()}
    assert {name: after[name] for name in before if not name.endswith("-shm")} == {
        name: when for name, when in before.items() if not name.endswith("-shm")
    }


def test_looking_at_a_finished_crawl_restores_it_without_writing(rocks):
    before = sorted((path.name, path.stat().st_size) for path in rocks.iterdir() if path.is_file())
    navigator, _ = restored(rocks)
    assert navigator.memory.visits == 150
    after = sorted((path.name, path.stat().st_size) for path in rocks.iterdir() if path.is_file())
    assert [each for each in after if "-" not in each[0]] == [
        each for each in before if "-" not in each[0]
    ]
