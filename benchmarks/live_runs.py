"""One crawl of a served site by one program, in a process of its own; see live.py."""

import argparse
import cProfile
import json
import os
import resource
import time
from collections import Counter
from pathlib import Path
from typing import Any

ADDRESS = "127.0.0.1"
IN_FLIGHT = 32
TOPIC = "geology"


def run_honeyguide(given: argparse.Namespace) -> None:
    """The whole of it: robots, fetch, parse, judge, featurise, score, guard, store, WARC."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # as the command `honeyguide` does
    from honeyguide.engine.loop import Crawl  # noqa: PLC0415 each program imports its own
    from honeyguide.plan import Plan  # noqa: PLC0415
    from honeyguide.storage.crawl_folder import create_crawl, run_crawl  # noqa: PLC0415

    plan = Plan(
        topic=TOPIC,
        agent=given.agent,
        seeds=(given.seed,),
        world="web",
        parsers=given.parsers,
        budget=given.pages,
        in_flight=IN_FLIGHT,
        delay=0.0,
        contact="benchmark@example.org",
        allow_private=True,
        resolve=f"*={ADDRESS}:{given.port}",
    )
    create_crawl(given.out, plan)
    _mark_start(Crawl, "run")
    if given.profile is None:
        run_crawl(given.out, lambda *_: None)
        return
    seconds = _watch_writer()
    profile = cProfile.Profile(time.thread_time)  # others may be using the processor, too
    profile.runcall(run_crawl, given.out, lambda *_: None)
    profile.dump_stats(given.profile)
    given.profile.with_suffix(".writer.json").write_text(json.dumps(seconds))


def _watch_writer() -> Counter[str]:
    """Count the processor time of the thread that writes, by what it writes."""
    from honeyguide.storage.ledger import Writer  # noqa: PLC0415
    from honeyguide.warc.writer import WarcWriter  # noqa: PLC0415

    seconds: Counter[str] = Counter()

    def timed(owner: type, method: str, name: str) -> None:
        original = getattr(owner, method)

        def measured(*arguments: Any) -> Any:
            begin = time.thread_time()
            try:
                return original(*arguments)
            finally:
                seconds[name] += time.thread_time() - begin

        setattr(owner, method, measured)

    timed(Writer, "_run", "all")
    timed(WarcWriter, "write", "warc")
    timed(WarcWriter, "sync", "warc")
    return seconds


def run_scrapy(given: argparse.Namespace) -> None:
    """Plain link-following: robots, fetch, extract links, follow each once; nothing is kept."""
    from scrapy.core.engine import ExecutionEngine  # noqa: PLC0415
    from scrapy.crawler import CrawlerProcess  # noqa: PLC0415
    from scrapy.linkextractors import LinkExtractor  # noqa: PLC0415
    from scrapy.spiders import CrawlSpider, Rule  # noqa: PLC0415

    class Follower(CrawlSpider):
        name = "follower"
        start_urls = (given.seed,)
        rules = (Rule(LinkExtractor(), follow=True),)

    process = CrawlerProcess(
        {
            "ROBOTSTXT_OBEY": True,
            "CONCURRENT_REQUESTS": IN_FLIGHT,
            "CONCURRENT_REQUESTS_PER_DOMAIN": IN_FLIGHT,
            "DOWNLOAD_DELAY": 0,
            "COOKIES_ENABLED": False,
            "TELNETCONSOLE_ENABLED": False,
            "LOG_LEVEL": "WARNING",
            "TWISTED_DNS_RESOLVER": _resolver(given.port),
        }
    )
    _mark_start(ExecutionEngine, "open_spider_async")
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
        def __init__(self, reactor: Any) -> None:
            self.reactor = reactor

        @classmethod
        def from_crawler(cls, crawler: Any, reactor: Any) -> Any:
            return cls(reactor)

        def install_on_reactor(self) -> None:
            self.reactor.installNameResolver(self)

        def resolveHostName(self, receiver: Any, name: str, *_: Any, **__: Any) -> Any:  # noqa: N802
            receiver.resolutionBegan(Resolution(name))
            receiver.addressResolved(IPv4Address("TCP", ADDRESS, port))
            receiver.resolutionComplete()
            return receiver

    return Resolver


_started: list[float] = []  # processor time when the crawl began


def _mark_start(owner: type, method: str) -> None:
    original = getattr(owner, method)

    def marked(*arguments: Any, **named: Any) -> Any:
        _started.append(_processor_seconds())
        return original(*arguments, **named)

    setattr(owner, method, marked)


def _processor_seconds() -> float:
    """Of this process and of those that it started and that have ended."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def main() -> None:
    """Crawl, then say when it was over and how much memory it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", choices=("honeyguide", "scrapy"))
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--seed", required=True)
    parser.add_argument("--pages", type=int, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--agent", default="guide")
    parser.add_argument("--parsers", type=int, help="else as `honeyguide crawl` has them")
    parser.add_argument("--profile", type=Path)
    given = parser.parse_args()
    {"honeyguide": run_honeyguide, "scrapy": run_scrapy}[given.program](given)
    ended = time.time()
    peak = int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) // 1024
    processor = _processor_seconds() - _started[0]
    told = {"ended": ended, "peak_megabytes": peak, "processor_seconds": processor}
    print(json.dumps(told), flush=True)
    os._exit(0)


if __name__ == "__main__":
    main()
