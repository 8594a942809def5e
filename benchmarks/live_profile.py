"""Where the time of a crawl goes, from a profile of its thread, by stage."""

import json
import pstats
from collections import Counter
from functools import cache
from pathlib import Path

# the first that a file's path contains says what its time is spent on
STAGES = {
    "/aiohttp/": "fetch and robots",
    "/yarl/": "fetch and robots",
    "/multidict/": "fetch and robots",
    "aiohappyeyeballs": "fetch and robots",
    "honeyguide/web/html.py": "parse",
    "honeyguide/web/block": "parse",
    "honeyguide/web/main_text.py": "parse",
    "honeyguide/web/metadata.py": "parse",
    "selectolax": "parse",
    "honeyguide/web/parser_pool.py": "parse",
    "honeyguide/web": "fetch and robots",
    "honeyguide/urls/spelling.py": "parse",
    "honeyguide/judges": "judge",
    "honeyguide/encoders": "",  # whoever asked for it
    "honeyguide/text/words.py": "",
    "honeyguide/features": "featurise",
    "honeyguide/agents": "score",
    "honeyguide/guards": "guard",
    "honeyguide/engine/memory.py": "memory",
    "honeyguide/engine/decisions.py": "revise verdicts",
    "honeyguide/columns.py": "",
    "honeyguide/frontiers": "frontier",
    "honeyguide/engine/navigator.py": "navigate",
    "honeyguide/storage": "store, in the loop",
    "honeyguide/worlds": "navigate",
    "honeyguide/engine/loop.py": "event loop",
    "asyncio": "event loop",
}
OTHER = "event loop"
Function = tuple[str, int, str]


def stages(profile: Path, pages: int) -> dict[str, float]:
    """Milliseconds a page that each stage takes; what is nobody's is its callers'."""
    stats: dict[
        Function, tuple[int, int, float, float, dict[Function, tuple[int, int, float, float]]]
    ]
    stats = pstats.Stats(str(profile)).stats  # type: ignore[attr-defined]

    @cache
    def shares(function: Function, depth: int = 0) -> dict[str, float]:
        """What a function's own time counts for."""
        stage = _stage(function)
        callers = stats[function][4]
        total = sum(cumulative for *_, cumulative in callers.values())
        if stage or not callers or not total or depth > 12:
            return {stage or OTHER: 1.0}
        found: Counter[str] = Counter()
        for caller, (*_, cumulative) in callers.items():
            for name, share in shares(caller, depth + 1).items():
                found[name] += share * cumulative / total
        return dict(found)

    spent: Counter[str] = Counter()
    for function, (_, _, own, _, _) in stats.items():
        for name, share in shares(function).items():
            spent[name] += share * own
    writer = json.loads(profile.with_suffix(".writer.json").read_text())
    spent["WARC, in a thread"] = writer["warc"]
    spent["store, in a thread"] = writer["all"] - writer["warc"]
    return {name: round(seconds * 1e3 / pages, 3) for name, seconds in spent.most_common()}


def _stage(function: Function) -> str:
    path = function[0].replace("\\", "/")
    return next((stage for part, stage in STAGES.items() if part in path), "")
