"""The Scrapy add-on with real Scrapy, in processes of their own, against a real server."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from tests.web.servers import page, redirect, served

ADDON = {"honeyguide.integrations.scrapy.Addon": 500}
USUAL = {
    "ADDONS": ADDON,
    "HONEYGUIDE_TOPIC": "volcanoes and lava",
    "CONCURRENT_REQUESTS": 2,
    "ROBOTSTXT_OBEY": False,
    "TELNETCONSOLE_ENABLED": False,
    "LOG_LEVEL": "INFO",
    "RETRY_TIMES": 1,
}
SPIDERS = {
    "plain": """
        class Plain(scrapy.Spider):
            name = "plain"
            def __init__(self, start, **settings):
                self.start_urls = [start]
            def parse(self, response, found_by=""):
                verdict = response.meta["honeyguide"]
                yield {"url": response.url, "by": found_by, "relevance": verdict.relevance}
                for link in response.css("a"):
                    yield response.follow(link, self.parse, cb_kwargs={"found_by": response.url})
        """,
    "crawl": """
        from scrapy.spiders import CrawlSpider, Rule
        from scrapy.linkextractors import LinkExtractor
        class Following(CrawlSpider):
            name = "crawl"
            rules = [Rule(LinkExtractor(), callback="parse_item", follow=True)]
            def __init__(self, start, **settings):
                super().__init__()
                self.start_urls = [start]
            def parse_item(self, response):
                yield {"url": response.url}
        """,
    "asynchronous": """
        class Asynchronous(scrapy.Spider):
            name = "asynchronous"
            def __init__(self, start, **settings):
                self.first = start
            async def start(self):
                yield scrapy.Request(self.first)
            async def parse(self, response):
                yield {"url": response.url}
                for link in response.css("a::attr(href)").getall():
                    yield response.follow(link)
        """,
    "sitemap": """
        from scrapy.spiders import SitemapSpider
        class Mapped(SitemapSpider):
            name = "sitemap"
            def __init__(self, start, **settings):
                self.sitemap_urls = [start]
                super().__init__()
            def parse(self, response):
                yield {"url": response.url}
        """,
    "posting": """
        class Posting(scrapy.Spider):
            name = "posting"
            def __init__(self, start, **settings):
                self.start_urls = [start]
            def parse(self, response):
                yield scrapy.FormRequest(response.urljoin("/form"), formdata={"a": "1"},
                                         callback=self.posted)
                yield scrapy.Request(response.urljoin("/api?q=1"), callback=self.posted)
                yield scrapy.Request(response.url, callback=self.posted, dont_filter=True)
            def posted(self, response):
                yield {"url": response.url, "method": response.request.method}
        """,
}
SCRIPT = """
import json, sys, scrapy
from scrapy.crawler import {process}
{spider}
kinds = [each for each in list(globals().values()) if isinstance(each, type)]
spider = [each for each in kinds if each.__module__ == "__main__"][0]
process = {process}(json.loads(sys.argv[2]))
process.crawl(spider, start=sys.argv[1])
crawler = list(process.crawlers)[0]
process.start()
print("STATS", json.dumps(crawler.stats.get_stats(), default=str))
"""


def volcanoes(count=30):
    """A site with a start page, many pages on volcanoes, and as many on cheese."""
    answers = {}
    kinds = {"lava": "Volcanoes and lava: the volcano erupts lava and ash.", "cheese": "Cheese."}
    for kind, text in kinds.items():
        for number in range(count):
            links = "".join(
                f"<a href=/{kind}/{n}>{kind} {n}</a> " for n in (2 * number + 1, 2 * number + 2)
            )
            other = "cheese" if kind == "lava" else "lava"
            links += f"<a href=/{other}/{number}>{other} {number}</a>"
            body = f"<title>{kind} {number}</title><p>{text * 5}</p>{links}"
            answers[f"/{kind}/{number}"] = page(body.encode())
    start = "<title>Start</title><p>All.</p><a href=/cheese/0>cheese</a><a href=/lava/0>lava</a>"
    return answers | {"/": page(start.encode())}


def script(tmp_path, spider, process="CrawlerProcess"):
    file = tmp_path / f"{spider}.py"
    text = textwrap.dedent(SPIDERS[spider])
    file.write_text(SCRIPT.format(process=process, spider=text))
    return file


def command(tmp_path, spider, url, process="CrawlerProcess", **settings):
    feed = {str(tmp_path / "items.jsonl"): {"format": "jsonlines"}}
    given = USUAL | {"FEEDS": feed} | settings
    return [sys.executable, str(script(tmp_path, spider, process)), url, json.dumps(given)]


def crawled(tmp_path, spider, url, process="CrawlerProcess", **settings):
    """The items and the stats of a spider's crawl."""
    done = subprocess.run(
        command(tmp_path, spider, url, process, **settings),
        capture_output=True, text=True, timeout=100, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    stats = json.loads(done.stdout.split("STATS ")[1])
    file = tmp_path / "items.jsonl"
    items = list(map(json.loads, file.read_text().splitlines())) if file.exists() else []
    return items, stats, done.stderr


def on_lava(urls):
    return sum("/lava/" in url for url in urls)


@pytest.mark.parametrize(
    ("spider", "process"),
    [
        ("plain", "CrawlerProcess"),
        ("crawl", "CrawlerProcess"),
        ("asynchronous", "AsyncCrawlerProcess"),
    ],
)
def test_an_unchanged_spider_follows_its_most_promising_links_first(tmp_path, spider, process):
    with served(volcanoes()) as server:
        url = f"http://127.0.0.1:{server.port}/"
        items, stats, _ = crawled(tmp_path, spider, url, process, CLOSESPIDER_PAGECOUNT=20)
    asked = [each.split()[1] for each in server.asked]
    assert len(asked) == len(set(asked)), "nothing is fetched twice"
    assert on_lava(asked) >= 2 * (len(asked) - on_lava(asked))
    assert stats["honeyguide/relevant"] >= 10
    if spider == "plain":
        assert all(item["by"] for item in items if "/lava/" in item["url"]), "cb_kwargs are kept"


def test_without_the_add_on_the_same_spider_does_not(tmp_path):
    with served(volcanoes()) as server:
        url = f"http://127.0.0.1:{server.port}/"
        crawled(tmp_path, "crawl", url, ADDONS={}, HONEYGUIDE_TOPIC=None, CLOSESPIDER_PAGECOUNT=20)
        asked = [each.split()[1] for each in server.asked]
    assert on_lava(asked) < 1.5 * (len(asked) - on_lava(asked))


def test_requests_that_are_no_links_pass_untouched(tmp_path):
    answers = {"/": page(b"<p>start"), "/form": page(b"posted"), "/api?q=1": page(b"{}")}
    with served(answers) as server:
        items, stats, _ = crawled(tmp_path, "posting", f"http://127.0.0.1:{server.port}/")
    found = {(item["url"].rpartition("/")[2], item["method"]) for item in items}
    assert found == {("form", "POST"), ("api?q=1", "GET"), ("", "GET")}
    assert stats["honeyguide/passed"] == 4


def test_urls_of_a_sitemap_are_links(tmp_path):
    with served(volcanoes(6)) as server:
        base = f"http://127.0.0.1:{server.port}"
        names = [f"{base}/{kind}/{n}" for n in range(6) for kind in ("cheese", "lava")]
        entries = "".join(f"<url><loc>{name}</loc></url>" for name in names)
        xml = f"<?xml version='1.0'?><urlset>{entries}</urlset>".encode()
        server.answers["/sitemap.xml"] = page(xml, content_type="text/xml")
        _, stats, _ = crawled(tmp_path, "sitemap", f"{base}/sitemap.xml", CONCURRENT_REQUESTS=1)
        asked = [each.split()[1] for each in server.asked]
    assert stats["honeyguide/links"] == 12
    assert on_lava(asked[1:7]) >= 5


def test_retries_redirects_and_refusals_end_as_they_do_in_scrapy(tmp_path):
    links = "".join(f"<a href=/{name}>volcano</a>" for name in ("moved", "broken", "no", "gone"))
    answers = {
        "/": page(f"<p>Volcanoes and lava</p>{links}".encode()),
        "/moved": redirect("/end"),
        "/end": page(b"<p>the end of a volcano"),
        "/broken": page(b"", "503 Busy"),
        "/robots.txt": page(b"User-agent: *\nDisallow: /no", content_type="text/plain"),
    }
    with served(answers) as server:
        url = f"http://127.0.0.1:{server.port}/"
        items, stats, log = crawled(tmp_path, "plain", url, ROBOTSTXT_OBEY=True)
        asked = [each.split()[1] for each in server.asked]
    assert sorted(asked) == ["/", "/broken", "/broken", "/end", "/gone", "/moved", "/robots.txt"]
    assert {item["url"].rpartition("/")[2] for item in items} == {"", "end"}
    assert stats["honeyguide/failures"] == 3
    assert stats["finish_reason"] == "finished"
    assert "Traceback" not in log


def test_pending_requests_come_back_after_a_kill(tmp_path):
    jobdir = str(tmp_path / "job")
    with served(volcanoes(20)) as server:
        url = f"http://127.0.0.1:{server.port}/"
        settings = {"JOBDIR": jobdir, "DOWNLOAD_DELAY": 0.05, "RANDOMIZE_DOWNLOAD_DELAY": False}
        for pages in (4, 9, 15):
            running = subprocess.Popen(
                command(tmp_path, "plain", url, **settings),
                cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
            deadline = time.monotonic() + 60
            while len(set(server.asked)) < pages and time.monotonic() < deadline:
                time.sleep(0.01)
            os.kill(running.pid, signal.SIGKILL)
            running.wait()
        _, stats, log = crawled(tmp_path, "plain", url, **settings)
        asked = [each.split()[1] for each in server.asked]
    everything = {f"/{kind}/{n}" for kind in ("lava", "cheese") for n in range(41)}
    assert set(asked) == {"/", *everything}, "pages that are not there were asked for, too"
    again = len(asked) - len(set(asked))
    assert again <= 3 * 2 + 3, "only what was in flight at a kill, and the start page"
    assert stats["finish_reason"] == "finished"
    assert "Traceback" not in log


def test_the_example_project_crawls(tmp_path):
    project = Path(__file__).parents[2] / "examples" / "scrapy"
    script = Path(sys.executable).parent / "scrapy"
    program = [str(script)] if script.exists() else [sys.executable, "-m", "scrapy"]
    with served(volcanoes(8)) as server:
        url = f"http://127.0.0.1:{server.port}/"
        done = subprocess.run(
            [*program, "crawl", "pages", "-a", f"start={url}", "-o", str(tmp_path / "pages.jsonl")],
            capture_output=True, text=True, timeout=100, cwd=project,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    items = list(map(json.loads, (tmp_path / "pages.jsonl").read_text().splitlines()))
    assert len(items) == 16
    assert all(0 <= item["relevance"] <= 1 for item in items)


def test_a_project_without_a_topic_or_with_another_scheduler_is_told(tmp_path):
    with served(volcanoes(2)) as server:
        url = f"http://127.0.0.1:{server.port}/"
        _, stats, log = crawled(tmp_path, "crawl", url, HONEYGUIDE_TOPIC=None)
        assert "set HONEYGUIDE_TOPIC to a few words" in log
        assert "honeyguide/pages" not in stats
        other = {"SCHEDULER": "tests.integrations.test_scrapy.OtherScheduler"}
        environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
        done = subprocess.run(
            command(tmp_path, "crawl", url, **other),
            capture_output=True, text=True, timeout=100, cwd=tmp_path, env=environment,
        )  # fmt: skip
        assert "a spider has one scheduler only" in done.stderr
        done = subprocess.run(
            command(tmp_path, "crawl", url, HONEYGUIDE_AGNET="guide"),
            capture_output=True, text=True, timeout=100, cwd=tmp_path,
        )  # fmt: skip
        assert "did you mean 'HONEYGUIDE_AGENT'?" in done.stderr


def __getattr__(name):
    if name == "OtherScheduler":
        from scrapy.core.scheduler import Scheduler

        return type(name, (Scheduler,), {})
    raise AttributeError(name)
