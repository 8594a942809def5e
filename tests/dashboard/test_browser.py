"""The dashboard in a real browser, with a crawl that runs against a served web."""

import json
import os
import signal
import subprocess
import time
from contextlib import contextmanager

import pytest

from honeyguide.web.layout import chromium
from tests.test_live import PROGRAM, flags, served
from tests.web.servers import page as html
from tests.web.servers import served as served_pages

SECONDS = 60_000  # milliseconds that a page is given to show something


@contextmanager
def dashboard(*folders):
    process = subprocess.Popen(
        [PROGRAM, "dashboard", *folders], stdout=subprocess.PIPE, text=True, bufsize=1
    )
    try:
        yield process.stdout.readline().removeprefix("dashboard: ").strip()
    finally:
        process.terminate()
        process.communicate()


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as play:
        opened = play.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        yield opened
        opened.close()


class Watched:
    """A crawl that runs, the web that it crawls, and the page that shows it."""

    def __init__(self, server, crawl, folder, page):
        self.server, self.crawl, self.folder, self.page = server, crawl, folder, page

    def asked(self, since=0):
        return [url for url in self.server.requests[since:] if not url.endswith("/robots.txt")]

    def wait_for_requests(self, count):
        begin, deadline = len(self.server.requests), time.monotonic() + 60
        while len(self.server.requests) < begin + count and time.monotonic() < deadline:
            time.sleep(0.05)
        assert len(self.server.requests) >= begin + count
        return begin

    def curve(self):
        return self.page.evaluate("document.querySelector('#curve .path').getAttribute('d')")

    def links(self):
        return self.page.evaluate(
            "[...document.querySelectorAll('#links li')].map(each => each.innerText)"
        )

    def wait(self, script, argument=None):
        script = script if "=>" in script.partition("(")[0] else f"() => {script}"
        self.page.wait_for_function(script, arg=argument, timeout=SECONDS)

    def toast(self, text):
        self.wait(
            "text => [...document.querySelectorAll('.toast')].some(each =>"
            " each.textContent.includes(text))",
            text,
        )


@pytest.fixture(scope="module")
def watched(browser, tmp_path_factory):
    folder = tmp_path_factory.mktemp("board") / "rocks"
    with served(8000, latency=0.25) as server:
        command = [*flags(server, folder, 100_000), "--in-flight", "6"]
        crawl = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            while not (folder / "recent-0.events").exists():
                assert crawl.poll() is None
                time.sleep(0.1)
            with dashboard(folder) as url:
                page = browser.new_page(viewport={"width": 1280, "height": 900})
                errors = []
                page.on("pageerror", lambda error: errors.append(str(error)))
                page.goto(url)
                page.wait_for_selector("#pages li", timeout=SECONDS)
                yield Watched(server, crawl, folder, page)
                assert errors == []
        finally:
            crawl.kill()
            crawl.wait()


def test_the_curve_moves_while_the_crawl_runs(watched):
    before = watched.curve()
    watched.wait("old => document.querySelector('#curve .path').getAttribute('d') !== old", before)
    assert "running" in watched.page.inner_text("#state")
    watched.wait("document.querySelectorAll('#links .reason').length > 3")
    assert watched.page.inner_text("#hosts tr td")
    assert watched.page.inner_text("#learnt .row .text")


def test_a_label_judges_again_and_ranks_the_frontier_anew(watched):
    page = watched.page
    watched.wait("document.querySelectorAll('#pages .title').length > 10")
    watched.wait_for_requests(60)
    before = watched.links()
    while page.evaluate("document.querySelector('#pages li[aria-current=true] .failed') !== null"):
        page.keyboard.press("j")
    chosen = page.evaluate("document.querySelector('#pages li[aria-current=true]').dataset.url")
    page.keyboard.press("y")
    watched.toast("judged again")
    lines = (watched.folder / "answers.jsonl").read_text().splitlines()
    answers = [json.loads(line) for line in lines]
    assert answers == [{"url": chosen, "relevant": True}]
    watched.wait(
        "old => JSON.stringify([...document.querySelectorAll('#links li')]"
        ".map(each => each.innerText)) !== old",
        json.dumps(before),
    )
    assert watched.crawl.poll() is None


def test_no_request_reaches_a_host_that_was_blocked(watched):
    page = watched.page
    watched.wait(
        "[...document.querySelectorAll('#hosts tr')].some(each =>"
        " Number(each.children[5].innerText.replace(/,/g, '')) > 0)"
    )
    host = page.evaluate(
        "[...document.querySelectorAll('#hosts tr')].find(each =>"
        " Number(each.children[5].innerText.replace(/,/g, '')) > 0).dataset.host"
    )
    assert any(f"//{host}/" in url for url in watched.asked())
    page.click(f'#hosts button[aria-label="block {host}"]')
    watched.toast("denied: ")
    begin = watched.wait_for_requests(80)
    assert not [url for url in watched.asked(begin) if f"//{host}/" in url]
    page.wait_for_selector(f'#hosts button[aria-label="allow {host}"]', timeout=SECONDS)
    assert f"denied: {host}" in page.inner_text("#orders")
    page.keyboard.press("u")
    watched.toast("allowed: ")


def test_pause_and_go_on(watched):
    page = watched.page
    page.click("#pause")
    watched.wait("document.getElementById('state').innerText === 'paused'")
    time.sleep(1.0)  # visits in flight end
    begin = len(watched.server.requests)
    time.sleep(1.5)
    assert len(watched.server.requests) == begin
    page.click("#pause")
    watched.wait("document.getElementById('state').innerText.includes('running')")
    watched.wait_for_requests(10)


def test_why_opens_with_reasons_and_a_path(watched):
    page = watched.page
    page.click('#links button:has-text("why")')
    page.wait_for_selector("#why .why-row", timeout=SECONDS)
    assert "Path from a seed" in page.inner_text("#why")
    page.keyboard.press("Escape")


def test_the_page_stays_when_the_crawl_is_killed(watched):
    os.kill(watched.crawl.pid, signal.SIGKILL)
    watched.crawl.wait()
    watched.wait("document.getElementById('state').innerText.includes('without a word')")
    watched.page.reload()
    watched.page.wait_for_selector("#pages li", timeout=SECONDS)
    watched.wait("document.querySelectorAll('#links .reason').length > 3")
    assert watched.page.is_disabled("#pause")


HOSTILE = "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>\"'"


def test_hostile_titles_are_text_and_two_crawls_stand_side_by_side(browser, tmp_path):
    link = "/a?x=%22%3E%3Cscript%3Ewindow.hacked=1%3C/script%3E"
    text = f"geology and rocks {HOSTILE.replace('<', '&lt;')} " * 30
    title = HOSTILE.replace("<", "&lt;")
    body = f"<title>{title}</title><p>{text}</p><a href='{link}'>{title} geology</a>"
    shown, none = html(body.encode()), html(b"", status="404 Not Found")
    pages = {"/": shown, link: shown, "/robots.txt": none}
    with served_pages(pages) as server:
        for name in ("one", "two"):
            seed = f"http://127.0.0.1:{server.port}/"
            command = [PROGRAM, "crawl", "--topic", "geology", "--seed", seed, "--allow-private"]
            command += ["--delay", "0", "--budget", "2", "--out", str(tmp_path / name)]
            subprocess.run(command, check=True, capture_output=True, timeout=100)
    with dashboard(tmp_path / "one", tmp_path / "two") as url:
        page = browser.new_page(viewport={"width": 390, "height": 844}, color_scheme="dark")
        refused = []
        page.on("console", lambda said: refused.append(said.text))
        page.goto(url)
        page.wait_for_selector("#pages li", timeout=SECONDS)
        assert HOSTILE in page.inner_text("#pages .title")
        assert page.evaluate("window.hacked") is None
        assert page.evaluate("document.querySelectorAll('#pages script, #pages img').length") == 0
        page.wait_for_function(
            "() => document.querySelectorAll('#curve .path').length === 2", timeout=SECONDS
        )
        assert page.locator("nav button").all_inner_texts() == ["one", "two"]
        page.keyboard.press("2")
        assert page.locator("nav button[aria-pressed=true]").inner_text() == "two"
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.click("#help")
        page.wait_for_selector("#help-box[open]", timeout=SECONDS)
        assert refused == []


def test_a_crawl_shows_itself_while_it_runs(browser, tmp_path):
    command = [PROGRAM, "crawl", "--world", "synthetic:pages=3000", "--topic", "geology"]
    command += ["--seed", "geology", "--budget", "60", "--out", str(tmp_path / "rocks")]
    done = subprocess.run(
        [*command, "--dashboard"], capture_output=True, text=True, timeout=100, check=True
    )
    assert "dashboard: http://127.0.0.1:" in done.stderr
    assert "among 60 fetched" in done.stdout
