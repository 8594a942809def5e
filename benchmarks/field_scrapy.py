"""Scrapy's link following on a served web, in a process of its own; see field.py."""

import argparse

from live_runs import _resolver
from scrapy.crawler import CrawlerProcess
from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule


def main() -> None:
    """Follow all links from one page until enough pages were read."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--seed", required=True)
    parser.add_argument("--pages", type=int, required=True)
    parser.add_argument("--in-flight", type=int, required=True)
    parser.add_argument("--per-host", type=int, required=True)
    parser.add_argument("--delay", type=float, required=True)
    parser.add_argument("--topic", default="", help="use honeyguide's add-on, with this topic")
    given = parser.parse_args()

    class Follower(CrawlSpider):
        name = "follower"
        start_urls = (given.seed,)
        rules = (Rule(LinkExtractor(), follow=True),)

    settings = {
        "ROBOTSTXT_OBEY": True,
        "CONCURRENT_REQUESTS": given.in_flight,
        "CONCURRENT_REQUESTS_PER_DOMAIN": given.per_host,
        "DOWNLOAD_DELAY": given.delay,
        "RANDOMIZE_DOWNLOAD_DELAY": False,
        "CLOSESPIDER_PAGECOUNT": given.pages,
        "COOKIES_ENABLED": False,
        "TELNETCONSOLE_ENABLED": False,
        "LOG_LEVEL": "ERROR",
        "TWISTED_DNS_RESOLVER": _resolver(given.port),
    }
    if given.topic:
        settings["ADDONS"] = {"honeyguide.integrations.scrapy.Addon": 500}
        settings["HONEYGUIDE_TOPIC"] = given.topic
        settings["HONEYGUIDE_JUDGE"] = "field_web:Marked"
    process = CrawlerProcess(settings)
    process.crawl(Follower)
    process.start()


if __name__ == "__main__":
    main()
