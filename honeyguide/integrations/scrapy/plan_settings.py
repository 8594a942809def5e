"""HONEYGUIDE_ settings of a Scrapy project as a plan."""

from dataclasses import fields
from typing import Any

from scrapy.settings import BaseSettings

from honeyguide.errors import HoneyguideError, unknown
from honeyguide.plan import Plan

PREFIX = "HONEYGUIDE_"
OWN = {"ITEM_FIELD"}  # settings of the add-on itself
# settings that Scrapy has, or that a spider decides
SCRAPYS = {
    "seeds": "start_urls",
    "world": "",
    "budget": "CLOSESPIDER_PAGECOUNT",
    "in_flight": "CONCURRENT_REQUESTS",
    "per_host": "CONCURRENT_REQUESTS_PER_DOMAIN",
    "delay": "DOWNLOAD_DELAY",
    "user_agent": "USER_AGENT",
}
_NOWHERE = "http://localhost/"  # a plan needs a seed; a spider has start requests


def plan_of(settings: BaseSettings) -> Plan:
    """The plan that the HONEYGUIDE_ settings of a project make; Scrapy's own give the rest."""
    known = {field.name for field in fields(Plan)}
    given: dict[str, Any] = {}
    for key in settings:
        name = str(key).removeprefix(PREFIX)
        if str(key).startswith(PREFIX) and name not in OWN and settings[key] is not None:
            given[_checked(name, known)] = settings[key]
    return Plan(
        **{"guard": "none", "patience": 0.0, **given},
        seeds=(_NOWHERE,),
        world="web",
        contact=_NOWHERE,  # politeness is Scrapy's: no limit of hosts here
        delay=0.0,
        per_host=max(settings.getint("CONCURRENT_REQUESTS_PER_DOMAIN"), 1),
        in_flight=max(settings.getint("CONCURRENT_REQUESTS"), 1),
        parsers=0,
    )


def _checked(name: str, known: set[str]) -> str:
    setting = name.lower()
    if setting in SCRAPYS:
        hint = f": say {SCRAPYS[setting]}" if SCRAPYS[setting] else ""
        raise HoneyguideError(f"{PREFIX}{name} is not for spiders{hint}")
    if setting not in known:
        raise unknown("setting", f"{PREFIX}{name}", [f"{PREFIX}{each.upper()}" for each in known])
    return setting
