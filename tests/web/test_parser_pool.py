import asyncio
import os
import signal
import subprocess
import sys
import time
from contextlib import asynccontextmanager
from itertools import cycle

import pytest
import uvloop
from hypothesis import given, settings
from hypothesis import strategies as st

from honeyguide.errors import HoneyguideError
from honeyguide.web import parser_pool as module
from honeyguide.web.html import parse as parse_here
from honeyguide.web.judge_spec import JudgeSpec
from honeyguide.web.parser_pool import InProcess, NoProcessError, ParserPool, Read, SmallInProcess

from ..processes import end, runs

URL = "http://site.example/dir/page.html"
PAGES = [
    b"<title>Bees</title><p>wild <a href=/bees>bees</a> and <a href=/wasps rel=nofollow>wasps</a>",
    "<meta charset=latin1><p>g\u00e9ologie <a href='?q=\u00e9'>\u00e9t\u00e9</a>".encode("latin1"),
    b"<meta name=robots content=noindex><base href=http://other.example/><a href=x>y</a>",
    b"\xff\xfe\x00<a href=/\xc3\x28>broken</a>&#xD800;",
    b"",
    b"<a href=/x>x</a>" * 3000,
]
# one that dies when it is told to, sleeps when it is told to, and otherwise reads
FRAIL = """
import os, sys, time
from honeyguide.web import parser_pool as pool
real = pool.read
def read(body, url, content_type):
    if b"die" in body:
        os._exit(1)
    if b"sleep" in body:
        time.sleep(60)
    return real(body, url, content_type)
pool.read = read
pool.work()
"""


def parse(*page):
    return Read(parse_here(*page))


@asynccontextmanager
async def opened(processes=1, longest=30.0):
    pool = ParserPool(processes, longest)
    try:
        for _ in range(2000):
            await pool.ready()
            if sum(reader.is_ready for reader in pool._readers) == processes:
                break
            await asyncio.sleep(0.01)
        yield pool
    finally:
        await pool.close()


@pytest.mark.parametrize("processes", [1, 2])
def test_other_processes_find_what_this_one_finds(processes):
    async def main():
        async with opened(processes) as pool:
            return await asyncio.gather(*(pool.read(body, URL, "text/html") for body in PAGES * 5))

    assert uvloop.run(main()) == [parse(body, URL, "text/html") for body in PAGES * 5]


def test_reading_here_is_parsing():
    assert asyncio.run(InProcess().read(PAGES[0], URL, "")) == parse(PAGES[0], URL)


@pytest.fixture(scope="module")
def reads():
    with asyncio.Runner() as runner:
        pool = opened()
        reader = runner.run(pool.__aenter__())

        async def read_all(bodies):
            return await asyncio.gather(*(reader.read(body, URL) for body in bodies))

        yield lambda bodies: runner.run(read_all(bodies))
        runner.run(pool.__aexit__(None, None, None))


@settings(max_examples=50, deadline=None)
@given(bodies=st.lists(st.binary(max_size=300) | st.text(max_size=300).map(str.encode)))
def test_whatever_the_pages_are_answers_go_to_those_who_asked(reads, bodies):
    assert reads(bodies) == [parse(body, URL) for body in bodies]


def test_pages_are_read_here_until_somebody_is_ready():
    async def main():
        pool = ParserPool(1)
        first = await pool.read(PAGES[0], URL)
        ready = [reader.is_ready for reader in pool._readers]
        await pool.close()
        return first, ready

    first, ready = asyncio.run(main())
    assert first == parse(PAGES[0], URL) and not any(ready)


def test_no_request_waits_for_a_process_to_start():
    async def main():
        pool = ParserPool(1)
        await pool.ready()
        starting = len(pool._opening), [reader.is_ready for reader in pool._readers]
        await pool.close()
        return starting

    assert asyncio.run(main()) == (1, [])


class Clock:
    """Moves on by some seconds between two pages, and by others while one is read."""

    def __init__(self, idle, busy):
        self.now, self.steps = 0.0, cycle([idle, busy])

    def __call__(self):
        self.now += next(self.steps)
        return self.now


@pytest.mark.parametrize(("idle", "moved"), [(0.01, True), (1.0, False)])
def test_pages_are_read_apart_once_reading_keeps_the_process_busy(idle, moved):
    pages = 20

    async def main():
        reader = SmallInProcess(others=1, clock=Clock(idle, busy=0.03))
        found = [await reader.read(PAGES[0], URL) for _ in range(pages)]
        started = bool(reader._pool._readers or reader._pool._opening)
        await reader.close()
        return found, started

    found, started = asyncio.run(main())
    assert found == [parse(PAGES[0], URL)] * pages
    assert started is moved


def test_no_process_is_started_where_nobody_asked_for_one():
    async def main():
        reader = SmallInProcess(clock=Clock(0.0, busy=1.0))
        for _ in range(5):
            await reader.read(PAGES[0], URL)
        started = bool(reader._pool._readers or reader._pool._opening)
        await reader.close()
        return started

    assert not asyncio.run(main())


def test_a_page_that_kills_its_reader_costs_no_other_page(monkeypatch):
    monkeypatch.setattr(module, "_PROGRAM", FRAIL)

    async def main():
        async with opened() as pool:
            bodies = [PAGES[0], b"die", PAGES[1], PAGES[2]]
            found = await asyncio.gather(*(pool.read(body, URL) for body in bodies))
            return found, await pool.read(PAGES[0], URL)

    found, later = asyncio.run(main())
    assert found == [parse(PAGES[0], URL), None, parse(PAGES[1], URL), parse(PAGES[2], URL)]
    assert later == parse(PAGES[0], URL)


def test_a_page_that_takes_too_long_is_given_up(monkeypatch):
    monkeypatch.setattr(module, "_PROGRAM", FRAIL)

    async def main():
        async with opened(longest=1.0) as pool:
            return await asyncio.gather(pool.read(b"sleep", URL), pool.read(PAGES[0], URL))

    begin = time.monotonic()
    assert asyncio.run(main()) == [None, parse(PAGES[0], URL)]
    assert time.monotonic() - begin < 30


def test_readers_that_do_not_start_are_complained_about(monkeypatch):
    monkeypatch.setattr(module, "_PROGRAM", "raise SystemExit(3)")

    async def main():
        pool = ParserPool(1)
        try:
            async with asyncio.timeout(20):
                while True:
                    await pool.read(PAGES[0], URL)
                    await asyncio.sleep(0.01)
        finally:
            await pool.close()

    with pytest.raises(HoneyguideError, match="do not start"):
        asyncio.run(main())


def test_readers_end_with_a_pool_that_is_closed():
    async def main():
        async with opened(2) as pool:
            return [reader._process.get_pid() for reader in pool._readers]

    assert not any(map(runs, asyncio.run(main())))


@pytest.mark.skipif(os.name != "posix", reason="kill -9")
def test_readers_end_with_a_process_that_is_killed():
    code = f"""
import asyncio
from tests.web.test_parser_pool import opened
async def main():
    async with opened(2) as pool:
        print(*[reader._process.get_pid() for reader in pool._readers], flush=True)
        asyncio.create_task(pool.read({b"<a href=/x>x</a>" * 1000!r}, {URL!r}))
        await asyncio.sleep(60)
asyncio.run(main())
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        readers = list(map(int, process.stdout.readline().split()))
        assert len(readers) == 2 and all(map(runs, readers))
        process.send_signal(signal.SIGKILL)
    assert end(readers)


def test_readers_that_die_together_are_replaced():
    async def run():
        async with opened(2) as pool:
            before = list(pool._readers)
            for reader in before:
                reader._process.kill()
            await asyncio.gather(*(reader._ended for reader in before))
            return [await pool.read(PAGES[0], URL, "text/html") for _ in range(3)]

    assert asyncio.run(run()) == [parse(PAGES[0], URL, "text/html")] * 3


@pytest.mark.parametrize("cut", [None, -3], ids=["whole question", "cut off question"])
def test_a_reader_whose_crawl_was_killed_ends_without_a_word(cut):
    command = [sys.executable, "-c", module._PROGRAM]
    piped = subprocess.PIPE
    reader = subprocess.Popen(command, stdin=piped, stdout=piped, stderr=piped)
    recipe = module._packed(module._encode(None))
    question = module._packed(module._encode((URL, "text/html", PAGES[0])))
    reader.stdout.close()  # nobody is there for the answers
    reader.stdin.write((recipe + question)[:cut])
    assert reader.communicate(timeout=60)[1] == b""


SHORTAGE = """
import asyncio, os, resource
from honeyguide.web import parser_pool as pool
pool.FIRST_PAUSE, pool.LONGEST_PAUSE = 0.05, 0.1
async def main():
    reader = pool.SmallInProcess()
    spare = [os.open("/", os.O_RDONLY)]
    resource.setrlimit(resource.RLIMIT_NOFILE, (spare[0] + 50,) * 2)
    while True:
        try:
            spare.append(os.dup(spare[0]))
        except OSError:
            break
    loop = asyncio.get_running_loop()
    loop.call_later(0.3, lambda: [os.close(file) for file in spare])
    async with asyncio.timeout(60):
        found = await reader.read(b"<a href=/x>x</a>" * 5000, "http://a.example/", "text/html")
    print(len(found.parsed.page.links), reader._pool._failed > 0)
    await reader.close()
asyncio.run(main())
"""


@pytest.mark.skipif(os.name != "posix", reason="limits of open files")
def test_a_page_waits_until_there_are_files_for_a_reader():
    ended = subprocess.run([sys.executable, "-c", SHORTAGE], capture_output=True, text=True)
    assert ended.stdout == "5000 True\n", ended.stderr
    assert ended.stderr.count("cannot be started yet: Too many open files") == 1


async def refused(*command, **settings):
    raise OSError(24, "Too many open files")


def test_a_reader_that_can_never_be_started_is_given_up_and_tried_again_later(monkeypatch):
    monkeypatch.setattr(module, "FIRST_PAUSE", 0.001)
    monkeypatch.setattr(module, "LONGEST_PAUSE", 0.001)

    async def main():
        reader, large = SmallInProcess(), b"<p>" * 5000
        loop = asyncio.get_running_loop()
        start, loop.subprocess_exec = loop.subprocess_exec, refused
        async with asyncio.timeout(60):
            for _ in range(2):
                with pytest.raises(NoProcessError, match="can be started: Too many open files"):
                    await reader.read(large, URL)
            loop.subprocess_exec = start
            found = await reader.read(large, URL)
        await reader.close()
        return found == parse(large, URL)

    assert asyncio.run(main())


def test_a_pool_is_closed_whatever_became_of_its_processes(monkeypatch):
    async def main():
        pool = ParserPool(2)
        asyncio.get_running_loop().subprocess_exec = broken
        found = await pool.read(PAGES[0], URL)
        await pool.close()
        return found

    async def broken(*command, **settings):
        raise ValueError("a bug")

    assert asyncio.run(main()) == parse(PAGES[0], URL)


LARGE = [b"<p>page %d" % n + b"<a href=/x>x</a>" * 4000 for n in range(4)]


@pytest.fixture
def parsed_here(monkeypatch):
    """The sizes of pages that are parsed in this process."""
    sizes = []

    def noting(body, *rest):
        sizes.append(len(body))
        return parse_here(body, *rest)

    monkeypatch.setattr(module, "parse", noting)
    return sizes


@pytest.mark.skipif(os.name != "posix", reason="kill -9")
@pytest.mark.parametrize(
    ("run", "kills"), [(asyncio.run, 1), (uvloop.run, 2)], ids=["asyncio", "uvloop"]
)
def test_large_pages_behind_a_reader_that_is_killed_are_read_by_another(
    monkeypatch, parsed_here, run, kills
):
    monkeypatch.setattr(module, "_PROGRAM", FRAIL)
    sleepy = b"sleep" + LARGE[0]

    async def main():
        async with opened() as pool:
            asked = [pool.read(sleepy, URL) for _ in range(kills)]
            asked += [pool.read(body, URL) for body in LARGE]
            pages = asyncio.gather(*asked)
            for _ in range(kills):
                await pool._started()
                reader = pool._readers[0]
                for _ in range(1000):
                    if reader.waiting:
                        break
                    await asyncio.sleep(0.01)
                os.kill(reader._process.get_pid(), signal.SIGKILL)
                await reader._ended
            async with asyncio.timeout(60):
                return await pages

    assert run(main()) == [None] * kills + [parse(body, URL) for body in LARGE]
    assert parsed_here == []


FAULTY = """
from honeyguide.web import parser_pool as pool
class Spec:
    def make_all(self):
        return lambda page: 1 / 0, None
pool._received = lambda spec: Spec()
pool.work()
"""


def test_a_large_page_that_its_reader_cannot_judge_is_not_parsed_here(monkeypatch, parsed_here):
    monkeypatch.setattr(module, "_PROGRAM", FAULTY)

    async def main():
        pool = ParserPool(spec=JudgeSpec("keywords:x"))
        try:
            await pool.ready()
            return await pool.read(LARGE[0], URL)
        finally:
            await pool.close()

    assert asyncio.run(main()) == parse(LARGE[0], URL)  # whoever asks will judge it
    assert parsed_here == []


def test_a_large_page_whose_words_cannot_be_sent_is_unreadable(monkeypatch, parsed_here):
    program = (
        "from honeyguide.web import parser_pool as pool; pool._unjudged = pool._encode = None; "
    )
    program += "pool._answer = lambda *question: b''; pool.work()"
    monkeypatch.setattr(module, "_PROGRAM", program)

    async def main():
        async with opened() as pool:
            return await asyncio.gather(pool.read(LARGE[0], URL), pool.read(PAGES[0], URL))

    assert asyncio.run(main()) == [None, parse(PAGES[0], URL)]
    assert parsed_here == [len(PAGES[0])]


def test_a_pool_that_is_closed_starts_no_process_for_a_page_that_waits(monkeypatch):
    monkeypatch.setattr(module, "_PROGRAM", FRAIL)

    async def main():
        async with opened() as pool:
            waiting = [asyncio.create_task(pool.read(b"sleep" + LARGE[0], URL))]
            waiting.append(asyncio.create_task(pool.read(LARGE[1], URL)))
            await asyncio.sleep(0)
            await pool.close()
            with pytest.raises(NoProcessError, match="the crawl ends"):
                await pool.read(LARGE[2], URL)
            async with asyncio.timeout(60):
                found = await asyncio.gather(*waiting, return_exceptions=True)
            return found, pool._readers, pool._opening

    (first, second), readers, opening = asyncio.run(main())
    assert first is None and isinstance(second, NoProcessError)
    assert not readers and not opening


def tags_of_attributes(tag, count):
    names = b" ".join(b"%x" % n for n in range(count))
    one = b"<%s %s>" % (tag, names)
    return one * (module.SMALL_BODY // len(one))


@pytest.mark.parametrize("tag", [b"i", b"a", b"font", b"/b"])
@pytest.mark.parametrize("count", [50, 120, 180])
def test_a_page_of_many_tags_with_many_attributes_is_not_small(tag, count):
    assert not module.is_small(tags_of_attributes(tag, count))
    quoted = tags_of_attributes(tag, count // 2).replace(b" ", b"='1'")  # nothing between them
    assert not module.is_small(quoted[: module.SMALL_BODY])


def test_pages_as_people_write_them_are_small():
    item = b"<li class='a b c'><a href='/path/to/page?x=1&y=2' title='some words'>words</a>\n"
    assert module.is_small(b"<!doctype html><title>Bees</title><ul>" + item * 500)
