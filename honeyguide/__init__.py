"""A focused web crawler that learns, while it crawls, which links are worth following."""

from typing import TYPE_CHECKING, Any

from honeyguide.version import VERSION

if TYPE_CHECKING:
    from honeyguide.api import crawl as crawl
    from honeyguide.api import judge_pages as judge_pages
    from honeyguide.api import read_page as read_page
    from honeyguide.api import resume as resume
    from honeyguide.bench.compare import compare as compare
    from honeyguide.contracts import Agent as Agent
    from honeyguide.contracts import Features as Features
    from honeyguide.contracts import Goal as Goal
    from honeyguide.contracts import Judge as Judge
    from honeyguide.contracts import Link as Link
    from honeyguide.contracts import Page as Page
    from honeyguide.contracts import Step as Step
    from honeyguide.contracts import Verdict as Verdict
    from honeyguide.errors import HoneyguideError as HoneyguideError
    from honeyguide.plan import Plan as Plan
    from honeyguide.registry import make as make
    from honeyguide.registry import part as part
    from honeyguide.registry import parts as parts
    from honeyguide.storage.why import why as why
    from honeyguide.training.crawl_teaching import Teaching as Teaching
    from honeyguide.training.crawl_teaching import teach as teach

__version__ = VERSION
_HOMES = {
    "api": ("crawl", "judge_pages", "read_page", "resume"),
    "bench.compare": ("compare",),
    "contracts": ("Agent", "Features", "Goal", "Judge", "Link", "Page", "Step", "Verdict"),
    "errors": ("HoneyguideError",),
    "plan": ("Plan",),
    "registry": ("make", "part", "parts"),
    "storage.why": ("why",),
    "training.crawl_teaching": ("Teaching", "teach"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}
__all__ = [
    "Agent",
    "Features",
    "Goal",
    "HoneyguideError",
    "Judge",
    "Link",
    "Page",
    "Plan",
    "Step",
    "Teaching",
    "Verdict",
    "__version__",
    "compare",
    "crawl",
    "judge_pages",
    "make",
    "part",
    "parts",
    "read_page",
    "resume",
    "teach",
    "why",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first asked for."""
    from importlib import import_module

    if name not in _HOME_OF:
        raise AttributeError(f"module 'honeyguide' has no attribute {name!r}")
    return getattr(import_module(f"honeyguide.{_HOME_OF[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "contracts", "testing"]
