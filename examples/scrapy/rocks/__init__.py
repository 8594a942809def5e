"""A Scrapy project that follows its most promising links first."""
