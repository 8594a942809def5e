"""Settings of the project: the last three lines are honeyguide's."""

BOT_NAME = "rocks"
SPIDER_MODULES = ["rocks.spiders"]
ROBOTSTXT_OBEY = True
CLOSESPIDER_PAGECOUNT = 100
TELNETCONSOLE_ENABLED = False

ADDONS = {"honeyguide.integrations.scrapy.Addon": 500}
HONEYGUIDE_TOPIC = "geology rocks minerals"
HONEYGUIDE_ITEM_FIELD = "relevance"
