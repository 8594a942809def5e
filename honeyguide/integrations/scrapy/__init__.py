"""A Scrapy add-on: an existing spider follows its most promising links first, and learns."""

from scrapy.exceptions import NotConfigured
from scrapy.settings import BaseSettings
from scrapy.utils.misc import load_object

from honeyguide.integrations.scrapy.plan_settings import plan_of
from honeyguide.integrations.scrapy.signals import page_judged

__all__ = ["Addon", "page_judged"]

_HERE = "honeyguide.integrations.scrapy"
_SCHEDULER = f"{_HERE}.scheduler.Scheduler"
_USUAL_SCHEDULER = "scrapy.core.scheduler.Scheduler"
# nearer to the engine than all of Scrapy's own: what arrives there is final
_SPIDER_MIDDLEWARE, _DOWNLOADER_MIDDLEWARE = 25, 25


class Addon:
    """Puts honeyguide's scheduler and middlewares into a project's settings."""

    def update_settings(self, settings: BaseSettings) -> None:
        """Check the settings, and use honeyguide's scheduler in place of Scrapy's own."""
        if not any(settings.get(f"HONEYGUIDE_{name}") for name in ("TOPIC", "JUDGE", "LIKE")):
            raise NotConfigured("set HONEYGUIDE_TOPIC to a few words on what to look for")
        plan_of(settings)  # an error in a setting is said before the spider starts
        scheduler = load_object(settings["SCHEDULER"])
        if scheduler not in (load_object(_USUAL_SCHEDULER), load_object(_SCHEDULER)):
            raise NotConfigured(
                f"SCHEDULER is {settings['SCHEDULER']}, and a spider has one scheduler only:"
                " remove one of the two"
            )
        settings.set("SCHEDULER", _SCHEDULER, "addon")
        for name, place, number in (
            ("SPIDER_MIDDLEWARES", f"{_HERE}.middlewares.PageMiddleware", _SPIDER_MIDDLEWARE),
            (
                "DOWNLOADER_MIDDLEWARES",
                f"{_HERE}.middlewares.FailureMiddleware",
                _DOWNLOADER_MIDDLEWARE,
            ),
        ):
            settings.setdefault_in_component_priority_dict(name, load_object(place), number)
