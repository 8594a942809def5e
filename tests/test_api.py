"""The Python API: what `from honeyguide import` offers."""

import asyncio
import json
import subprocess
import sys
import threading
import time

import pytest

import honeyguide
from honeyguide import (
    HoneyguideError,
    Page,
    Plan,
    Verdict,
    api,
    compare,
    crawl,
    judge_pages,
    read_page,
)
from honeyguide.agents.best_first import BestFirst
from honeyguide.storage.exports import status
from tests.test_cli import honeyguide as command
from tests.web.servers import page, served

SIMULATED = {
    "topic": "geology", "seeds": ["geology"], "world": "synthetic:pages=2000",
    "judge": "label:geology",
}  # fmt: skip
ROCKS = b"<title>Rocks</title><p>" + b"Geology is about rocks and minerals. " * 3
THINGS = "lava quartz basalt granite fossils strata volcanoes crystals marble slate gneiss".split()


def told(number):
    """Sentences that no other page has."""
    pairs = [(THINGS[number % 11], other, number * step) for step, other in enumerate(THINGS)]
    return " ".join(f"The {a} of {n} is not like {b} {n + 7}." for a, b, n in pairs).encode()


def chain(pages):
    """A site of pages that each link to the next one."""
    made = {
        f"/{n}": page(b'%s%s</p><a href="/%d">more about geology</a>' % (ROCKS, told(n), n + 1))
        for n in range(pages)
    }
    return made | {"/": made["/0"]}


def live(server, **settings):
    return {
        "topic": "geology", "seeds": f"http://127.0.0.1:{server.port}/0", "allow_private": True,
        "delay": 0.0, **settings,
    }  # fmt: skip


def test_everything_public_can_be_imported_and_is_listed():
    for name in honeyguide.__all__:
        assert getattr(honeyguide, name) is not None
        assert name in dir(honeyguide)
    with pytest.raises(AttributeError, match="no attribute 'crawll'"):
        honeyguide.crawll  # noqa: B018


def test_pages_of_a_live_crawl_come_while_it_runs(tmp_path):
    with served(chain(8)) as server:
        found = []
        for each in crawl(**live(server, budget=6), out=tmp_path / "out"):
            found.append(each)
            if len(found) == 1:
                assert status(tmp_path / "out")["process"]
        assert [each.title for each in found] == ["Rocks"] * 6
        assert found[0].relevant
        assert "relevant (" in repr(found[0])
        assert found[0].language == "en"
        assert found[0].links[0].anchor == "more about geology"


def test_leaving_the_loop_ends_the_crawl_and_it_can_be_resumed(tmp_path):
    out = tmp_path / "out"
    with served(chain(30)) as server:
        for number, _ in enumerate(crawl(**live(server, budget=20, in_flight=2), out=out)):
            if number == 4:
                break
        assert not [t for t in threading.enumerate() if t.name == "honeyguide crawl"]
        visits = status(out)["visits"]
        assert 5 <= visits < 20
        result = honeyguide.resume(out).run()
        assert (result.pages, result.reason, result.folder) == (20, "budget spent", out)
        done = command("resume", out, "--budget", 25)
        assert done.returncode == 0, done.stderr
        assert status(out)["visits"] == 25


def test_async_for_works_beside_other_tasks_and_can_be_left(tmp_path):
    async def first(server):
        ticks = 0

        async def tick():
            nonlocal ticks
            while True:
                ticks += 1
                await asyncio.sleep(0.001)

        beside = asyncio.create_task(tick())
        urls = []
        async for each in crawl(**live(server, budget=20), out=tmp_path / "out"):
            urls.append(each.url)
            if len(urls) == 5:
                break
        result = honeyguide.resume(tmp_path / "out").run()  # nothing has to be waited for
        beside.cancel()
        return urls, ticks, result

    with served(chain(30)) as server:
        urls, ticks, result = asyncio.run(first(server))
        assert len(set(urls)) == 5
        assert ticks > 1
        assert result.pages == 20


def test_it_works_where_an_event_loop_is_running_as_in_a_notebook():
    async def cell():
        return [each.url for each in crawl(**SIMULATED, budget=10)]

    assert len(asyncio.run(cell())) == 10


def test_an_error_in_the_loop_ends_the_crawl_and_reaches_the_caller(tmp_path):
    with pytest.raises(ZeroDivisionError):
        for _ in crawl(**SIMULATED, budget=50, out=tmp_path / "out"):
            1 / 0  # noqa: B018
    assert honeyguide.resume(tmp_path / "out").run().pages == 50


def test_what_is_wrong_is_said_where_the_crawl_is_begun(tmp_path):
    with pytest.raises(HoneyguideError, match="needs at least one seed"):
        crawl(topic="geology")
    with pytest.raises(HoneyguideError, match="no agent named 'guid'"):
        crawl(**SIMULATED, agent="guid", out=tmp_path / "out").run()
    with pytest.raises(HoneyguideError, match="no agent named 'guid'"):
        crawl(**SIMULATED, agent="guid").run()
    with pytest.raises(HoneyguideError, match="a plan, or a topic"):
        crawl("geology", plan=Plan(topic="geology", seeds=("geology",)))
    with pytest.raises(TypeError, match="budgit"):
        crawl(**SIMULATED, budgit=7)


def test_a_crawl_is_iterated_over_once_and_says_how_to_go_on(tmp_path):
    begun = crawl(**SIMULATED, budget=5, out=tmp_path / "out")
    assert "not started" in repr(begun)
    begun.run()
    assert repr(begun).startswith("<")
    with pytest.raises(HoneyguideError, match=r"go on with honeyguide.resume\("):
        begun.run()


@pytest.mark.parametrize("budget", [40, 300])
def test_a_slow_consumer_makes_a_simulated_crawl_wait(monkeypatch, budget):
    monkeypatch.setattr(api, "MAX_WAITING", 10)
    running = crawl(**SIMULATED, budget=budget)
    pages = iter(running)
    next(pages)
    time.sleep(0.3)
    ahead = running.fetched
    assert ahead <= 25
    assert sum(1 for _ in pages) > ahead


def test_a_slow_consumer_makes_a_live_crawl_start_no_visits(monkeypatch):
    monkeypatch.setattr(api, "MAX_WAITING", 4)
    with served(chain(60)) as server:
        running = crawl(**live(server, budget=50))
        pages = iter(running)
        next(pages)
        deadline = time.monotonic() + 20
        while running.fetched < 5 and time.monotonic() < deadline:
            time.sleep(0.02)
        time.sleep(0.3)
        assert running.fetched <= 8
        assert 1 + sum(1 for _ in pages) == 50
        assert running.result.reason == "budget spent"


def test_a_crawl_without_a_folder_keeps_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    result = Plan(**SIMULATED, budget=20).run()
    assert result.pages == 20
    assert result.folder is None
    assert "relevant pages among 20 fetched" in repr(result)
    assert list(tmp_path.iterdir()) == []


def test_a_plan_runs_into_a_folder(tmp_path):
    result = Plan(**SIMULATED, budget=20).run(tmp_path / "out")
    assert str(tmp_path / "out") in repr(result)
    assert status(tmp_path / "out")["visits"] == 20


def test_a_comparison_is_readable():
    plan = Plan(**SIMULATED, budget=40)
    shown = repr(compare(plan, ["breadth_first", "random"], runs=2))
    head, first, second = shown.splitlines()
    assert head.startswith("agent")
    assert "relevant of 40" in head
    assert first.startswith("breadth_first")
    assert "±" in second
    assert "%" in second


def test_a_page_is_read_as_a_crawl_reads_it():
    german = "<html lang=de><title>Steine</title><nav><a href=/menu>Menü</a></nav><article>"
    german += "<p>Die Geologie ist die Lehre von der Erde und von ihren Gesteinen. " * 5
    read = read_page(german + "<a href='/mehr'>mehr</a></article>", "http://a.example/x/")
    assert (read.url, read.title, read.language) == ("http://a.example/x/", "Steine", "de")
    assert "Lehre von der Erde" in read.text
    assert [link.url for link in read.links] == ["http://a.example/menu", "http://a.example/mehr"]
    assert read_page("<html lang=fr><p>42").language == "fr"
    latin = "<meta charset=latin-1><p>Größe".encode("latin-1")
    assert "Größe" in read_page(latin).text
    assert read_page(b"").text == ""


def test_pages_are_judged_as_a_crawl_of_them_judges_them(tmp_path):
    with served(chain(3)) as server:
        found = list(crawl(**live(server, budget=3)))
        read = [each.page for each in found]
    assert [v.relevant for v in judge_pages(read, topic="geology")] == [p.relevant for p in found]
    far = Page("http://x.example/", "Cup final", "The striker scored twice in the final. " * 9)
    rocks, football = judge_pages([read[0], far], topic="geology")
    assert rocks.relevant
    assert rocks.reasons
    assert not football.relevant
    assert judge_pages([far], topic="striker", judge="keywords")[0].relevant


class LongRead:
    """A page that takes a while to read."""

    def __call__(self, page: Page) -> Verdict:
        return Verdict(1.0, True) if len(page.text) > 50 else Verdict(0.0, False)


def test_a_class_of_one_s_own_is_given_as_it_is(tmp_path):
    settings = {**SIMULATED, "judge": LongRead, "budget": 10}
    assert crawl(**settings, out=tmp_path / "out").run().relevant > 0
    assert honeyguide.resume(tmp_path / "out", budget=12).run().pages == 12
    text = Page("http://x.example/", text="word " * 20)
    assert judge_pages([text], topic="x", judge=LongRead)[0].relevant
    with pytest.raises(HoneyguideError, match=r"derive it from honeyguide\.Agent"):
        crawl(**{**SIMULATED, "agent": LongRead})


def test_an_import_of_the_package_is_quick_and_loads_no_part():
    script = "import honeyguide, sys, json; print(json.dumps(sorted(sys.modules)))"
    loaded = json.loads(subprocess.check_output([sys.executable, "-c", script]))
    assert not {"numpy", "aiohttp", "torch", "honeyguide.assemble"} & set(loaded)


def test_an_error_after_the_loop_was_left_is_not_lost(tmp_path, monkeypatch):
    from honeyguide.storage.store import Store

    def full(self, state):
        raise HoneyguideError("the disk is full")

    monkeypatch.setattr(Store, "snapshot", full)
    running = crawl(**SIMULATED, budget=500, out=tmp_path / "out")
    with pytest.warns(RuntimeWarning, match="failed when it was ended: the disk is full"):
        for _ in running:
            break
    with pytest.raises(HoneyguideError, match="the disk is full"):
        running.close()
    assert "failed: the disk is full" in repr(running)


def test_only_limits_change_when_a_crawl_is_resumed_and_only_judges_judge(tmp_path):
    with pytest.raises(HoneyguideError, match="no limit of a crawl named 'topic'"):
        honeyguide.resume(tmp_path, topic="chess")
    with pytest.raises(HoneyguideError, match="no setting that chooses a judge named 'budget'"):
        judge_pages([], topic="chess", budget=7)


def test_a_class_inside_a_function_is_refused_with_a_reason(tmp_path):
    class Local(LongRead):
        """Nobody else can import it."""

    with pytest.raises(HoneyguideError, match="Local is defined inside a function"):
        crawl(**{**SIMULATED, "judge": Local})


def test_a_plan_and_a_comparison_take_classes_too():
    plan = Plan(**{**SIMULATED, "judge": LongRead, "budget": 10, "seeds": "geology"})
    assert plan.judge == "tests.test_api:LongRead"
    assert plan.seeds == ("geology",)
    comparison = compare(plan, [BestFirst, "random"], runs=1)
    assert [runs.agent for runs in comparison.runs][1] == "random"
    with pytest.raises(HoneyguideError, match="judge must be a name, MODULE:CLASS or a class"):
        Plan(**{**SIMULATED, "judge": lambda page: None})
    with pytest.raises(HoneyguideError, match="at least one agent"):
        compare(plan, [])


def test_no_page_comes_twice():
    settings = {**SIMULATED, "world": "synthetic:pages=3000", "budget": 150}
    running = crawl(**settings)
    found = [each for each in running if each.relevant]
    assert len({each.url for each in found}) == len(found) == running.result.relevant
