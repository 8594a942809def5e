"""The dashboard answers its own page only, and never changes or blocks a crawl."""

import asyncio
import json
import sqlite3
import threading
from contextlib import closing

import aiohttp
import pytest

from honeyguide.dashboard.access import CSRF_HEADER
from honeyguide.dashboard.server import Dashboard
from honeyguide.dashboard.tally import Tally
from honeyguide.errors import HoneyguideError
from honeyguide.plan import Plan
from honeyguide.storage.crawl_folder import create_crawl, run_crawl
from honeyguide.storage.database import reading
from honeyguide.training.crawl_teaching import Teaching


@pytest.fixture(scope="module")
def rocks(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dashboard") / "rocks"
    plan = Plan(topic="geology", seeds=("geology",), world="synthetic:pages=2000", budget=60)
    create_crawl(folder, plan)
    run_crawl(folder, lambda *_: None)
    return folder


def served(test, *folders, **settings):
    """Run a test against a dashboard in the same event loop."""

    async def run():
        board = Dashboard(folders, Teaching, **settings)
        await board.start()
        try:
            async with aiohttp.ClientSession() as session:
                return await test(board, session)
        finally:
            await board.close()

    return asyncio.run(run())


def address(board, path=""):
    return board.url.partition("?")[0].rstrip("/") + path


async def csrf_of(board, session):
    async with session.get(address(board, "/")) as response:
        page = await response.text()
    return page.partition('name="csrf" content="')[2].partition('"')[0]


def test_foreign_hosts_and_origins_are_refused(rocks):
    async def test(board, session):
        right = {"Origin": address(board), CSRF_HEADER: await csrf_of(board, session)}
        order = address(board, "/api/crawls/0/order")
        wrong = [
            {"Host": "evil.example"},
            {"Host": "localhost.evil.example:80"},
        ]
        for headers in wrong:
            async with session.get(address(board, "/api/crawls"), headers=headers) as response:
                assert response.status == 403
                assert "geology" not in await response.text()
        for changed in (
            {"Origin": "http://evil.example"},
            {"Origin": "null"},
            {CSRF_HEADER: "guess"},
            {"Host": "evil.example"},
        ):
            headers = right | changed
            async with session.post(order, json={"order": "pause"}, headers=headers) as response:
                assert response.status == 403, changed
        form = aiohttp.FormData({"order": "pause"})  # as a form of another site would send it
        async with session.post(order, data=form, headers=right) as response:
            assert response.status == 403
        async with session.post(order, json={"order": "pause"}, headers=right) as response:
            assert response.status == 409
            assert "does not run" in (await response.json())["error"]
        async with session.post(order, json={"order": "dance"}, headers=right) as response:
            assert response.status == 409
        async with session.post(order, data=b"{", headers=right | JSON) as response:
            assert response.status == 400

    served(test, rocks)


JSON = {"Content-Type": "application/json"}


def test_every_answer_has_a_strict_policy_and_nothing_inline(rocks):
    async def test(board, session):
        for path in ("/", "/app.js", "/style.css", "/api/crawls", "/nothing", "/api/crawls/7/why"):
            async with session.get(address(board, path)) as response:
                policy = response.headers["Content-Security-Policy"]
                assert "default-src 'none'" in policy
                assert "unsafe" not in policy
                assert response.headers["X-Content-Type-Options"] == "nosniff"
                text = await response.text()
                assert path.endswith(".js") or "style=" not in text
                assert "innerHTML" not in text
        async with session.get(address(board, "/nothing")) as response:
            assert response.status == 404

    served(test, rocks)


def test_other_addresses_than_loopback_need_the_token(rocks):
    async def test(board, session):
        assert "?token=" in board.url
        local = f"http://127.0.0.1:{board.url.rpartition(':')[2].partition('/')[0]}"
        async with session.get(f"{local}/api/crawls") as response:
            assert response.status == 403
        token = board.url.partition("token=")[2]
        async with session.get(f"{local}/?token={token}x") as response:
            assert response.status == 403
        async with session.get(f"{local}/?token={token}", allow_redirects=False) as response:
            assert response.status == 303
            assert "HttpOnly" in response.headers["Set-Cookie"]
            assert response.headers["Location"] == "/"
        bearer = {"Authorization": f"Bearer {token}"}
        async with session.get(f"{local}/api/crawls", headers=bearer) as response:
            assert response.status == 200

    served(test, rocks, host="0.0.0.0")


def test_a_port_in_use_and_a_folder_without_a_crawl_are_one_sentence_each(rocks, tmp_path):
    async def test(board, session):
        port = int(board.url.rpartition(":")[2].rstrip("/"))
        other = Dashboard([rocks], Teaching, port=port)
        with pytest.raises(HoneyguideError, match="cannot serve a dashboard on port"):
            await other.start()
        again = Dashboard([rocks], Teaching)  # two dashboards of one crawl are fine
        await again.start()
        assert again.url != board.url
        await again.close()

    served(test, rocks)
    with pytest.raises(HoneyguideError, match="holds no crawl"):
        Dashboard([tmp_path], Teaching)


def test_what_it_shows_is_what_the_store_has(rocks):
    async def test(board, session):
        for _ in range(200):
            async with session.get(address(board, "/api/crawls")) as response:
                [state] = await response.json()
            if not state["reading"]:
                break
            await asyncio.sleep(0.1)
        url = state["pages"][3]["url"]
        async with session.get(
            address(board, "/api/crawls/0/why"), params={"url": url}
        ) as response:
            return state, await response.json()

    state, why = served(test, rocks)
    with reading(rocks) as database:
        [[visits, relevant]] = database.execute("SELECT count(*), sum(relevant) FROM pages")
    assert (state["visits"], state["relevant"]) == (visits, relevant)
    assert state["curve"][-1] == [visits, relevant]
    assert state["links"][0]["parts"]
    assert state["learnt"]["signs"]
    assert len(state["pages"]) == 25
    assert not state["running"]
    assert state["stopped"] == "budget spent"
    assert why["state"] in ("fetched", "failed")


def test_prometheus_finds_the_metrics_of_all_crawls(rocks):
    async def test(board, session):
        async with session.get(address(board, "/metrics")) as response:
            assert response.headers["Content-Type"].startswith("text/plain; version=0.0.4")
            text = await response.text()
        assert 'honeyguide_pages_total{crawl="rocks"} 60\n' in text
        assert 'honeyguide_running{crawl="rocks"} 0\n' in text
        async with session.get(address(board, "/metrics"), headers={"Host": "evil"}) as response:
            assert response.status == 403

    served(test, rocks)


def test_the_tally_grows_with_the_store_and_follows_revised_verdicts(rocks):
    tally, whole = Tally(), Tally()
    with reading(rocks) as database:
        database.execute("BEGIN")
        while tally.read(database):
            pass
        assert whole.read(database) is False
    assert len(tally) == 60
    assert tally.curve() == whole.curve()
    with reading(rocks) as database:
        url, n = database.execute("SELECT url, n FROM pages ORDER BY n DESC").fetchone()
    assert tally.find(url) == n
    assert tally.find("http://nowhere.example/") is None


def test_a_dashboard_never_blocks_the_writer(rocks):
    async def test(board, session):
        async with session.get(address(board, "/api/crawls")):
            pass
        wrong = []

        def write():
            try:
                with closing(sqlite3.connect(rocks / "crawl.sqlite", timeout=0.0)) as database:
                    for number in range(200):
                        database.execute("REPLACE INTO about VALUES ('x', ?, 0)", (number,))
                        database.commit()
                    database.execute("DELETE FROM about WHERE key = 'x'")
                    database.commit()
            except sqlite3.Error as error:
                wrong.append(error)

        thread = threading.Thread(target=write)
        thread.start()
        while thread.is_alive():
            async with session.get(address(board, "/api/crawls")) as response:
                assert response.status == 200
            await asyncio.sleep(0.005)
        assert not wrong

    served(test, rocks)


def test_the_state_is_json_without_infinite_numbers(rocks):
    async def test(board, session):
        await asyncio.sleep(1.0)
        async with session.get(address(board, "/api/crawls")) as response:
            return await response.text()

    json.loads(served(test, rocks), parse_constant=pytest.fail)
