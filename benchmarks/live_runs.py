"""One crawl of a served site by one program, in a process of its own; see live.py."""

import argparse
import cProfile
import json
import os
import time
from pathlib import Path
from typing import Any

ADDRESS = "127.0.0.1"
IN_FLIGHT = 32
TOPIC = "geology"


def run_honeyguide(given: argparse.Namespace) -> None:
    """The whole of it: robots, fetch, parse, judge, featurise, score, guard, store, WARC."""
    from honeyguide.keeping import begin, go_on  # noqa: PLC0415 each program imports its own

    plan = _plan(given)
    begin(given.out, plan)
    if given.profile:
        profile = cProfile.Profile()
        profile.runcall(go_on, given.out, lambda *_: None)
        profile.dump_stats(given.profile)
    else:
        go_on(given.out, lambda *_: None)


def _plan(given: argparse.Namespace) -> Any:
    from honeyguide.plan import Plan  # noqa: PLC0415

    return Plan(
        topic=TOPIC,
        seeds=(given.seed,),
        world=f"web:parsers={given.parsers}",
        budget=given.pages,
        in_flight=IN_FLIGHT,
        delay=0.0,
        patience=0.0,
        contact="benchmark@example.org",
        allow_private=True,
        resolve=f"*={ADDRESS}:{given.port}",
    )


def run_scrapy(given: argparse.Namespace) -> None:
    """Plain link-following: robots, fetch, extract links, follow each once; nothing is kept."""
    from scrapy import Request, Spider  # noqa: PLC0415
    from scrapy.crawler import CrawlerProcess  # noqa: PLC0415
    from scrapy.linkextractors import LinkExtractor  # noqa: PLC0415

    extractor = LinkExtractor()

    class Follower(Spider):
        name = "follower"
        start_urls = [given.seed]  # noqa: RUF012 the way of Scrapy

        def parse(self, response: Any) -> Any:
            for link in extractor.extract_links(response):
                yield Request(link.url)

    process = CrawlerProcess(
        {
            "ROBOTSTXT_OBEY": True,
            "CONCURRENT_REQUESTS": IN_FLIGHT,
            "CONCURRENT_REQUESTS_PER_DOMAIN": IN_FLIGHT,
            "DOWNLOAD_DELAY": 0,
            "CLOSESPIDER_PAGECOUNT": given.pages,
            "LOG_LEVEL": "WARNING",
            # what it does not need here is off, what makes it faster is on
            "COOKIES_ENABLED": False,
            "TELNETCONSOLE_ENABLED": False,
            "ASYNCIO_EVENT_LOOP": "uvloop.Loop",
            "TWISTED_DNS_RESOLVER": _resolver(given.port),
        }
    )
    process.crawl(Follower)
    process.start()


def _resolver(port: int) -> type:
    """Every host is found at one port of this machine, as for the other program."""
    from twisted.internet.address import IPv4Address  # noqa: PLC0415
    from twisted.internet.interfaces import IHostnameResolver, IHostResolution  # noqa: PLC0415
    from zope.interface import implementer  # noqa: PLC0415

    @implementer(IHostResolution)
    class Resolution:
        def __init__(self, name: str) -> None:
            self.name = name

    @implementer(IHostnameResolver)
    class Resolver:
        @classmethod
        def from_crawler(cls, crawler: Any, reactor: Any) -> Any:
            made = cls()
            made.reactor = reactor  # type: ignore[attr-defined]
            return made

        def install_on_reactor(self) -> None:
            self.reactor.installNameResolver(self)  # type: ignore[attr-defined]

        def resolveHostName(self, receiver: Any, name: str, *_: Any, **__: Any) -> Any:  # noqa: N802
            receiver.resolutionBegan(Resolution(name))
            receiver.addressResolved(IPv4Address("TCP", ADDRESS, port))
            receiver.resolutionComplete()
            return receiver

    return Resolver


def main() -> None:
    """Crawl, then say when it was over and what it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", choices=("honeyguide", "scrapy"))
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--seed", required=True)
    parser.add_argument("--pages", type=int, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--parsers", type=int, default=0)
    parser.add_argument("--profile", type=Path)
    given = parser.parse_args()
    {"honeyguide": run_honeyguide, "scrapy": run_scrapy}[given.program](given)
    peak = int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) // 1024
    print(json.dumps({"ended": time.time(), "peak_megabytes": peak}), flush=True)
    os._exit(0)


if __name__ == "__main__":
    main()
