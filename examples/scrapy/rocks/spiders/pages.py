"""A spider that follows all links, as spiders do."""

from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule


class Pages(CrawlSpider):
    """Yields the address and the title of each page."""

    name = "pages"
    rules = (Rule(LinkExtractor(), callback="parse_page", follow=True),)

    def __init__(self, start="https://www.example.org/", **settings):
        super().__init__(**settings)
        self.start_urls = [start]

    def parse_page(self, response):
        """Yield an item; the add-on sets its relevance."""
        yield {"url": response.url, "title": response.css("title::text").get()}
