"""What speaks for and against a link, as lines to read."""

import textwrap
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from honeyguide.contracts import START
from honeyguide.text.words import counted

if TYPE_CHECKING:
    from honeyguide.engine.view import LinkView, Part
    from honeyguide.storage.why import Chosen, Fetched, Why

WIDTH = 96  # characters of a line
SHOWN = 8  # parts of a score
PARENTS = 3  # other pages that link to it
_CLOCK = 1e9  # seconds: a live crawl's clock counts from 1970, a simulated one from its start


def lines(why: "Why") -> Iterator[str]:
    """The answer for one URL."""
    yield why.url
    yield _state(why)
    if why.fetched is not None and why.fetched.page_url:
        yield from _fetched(why.fetched)
    if why.chosen is not None:
        yield from _chosen(why.chosen)
    elif why.fetched is not None:
        yield "why it was chosen was not stored: an older version fetched it"
    if why.waits is not None:
        yield from _waits(why.waits, why)
    yield from _linked(why)
    if len(why.path) > 1:
        yield "path from a seed"
        yield from (f"  {_marked(step.relevant)} {step.url}" for step in why.path)


def parts_lines(parts: Iterable["Part"], most: int = SHOWN) -> Iterator[str]:
    """A line for each part of a score; small ones are added up, that of all links comes last."""
    every = list(parts)
    listed = [part for part in every if part.name != START]
    same = [part for part in every if part.name == START]
    for part in listed[:most]:
        yield f"  {signed(part.value)}  {part.name}"
    if len(listed) > most:
        rest = sum(part.value for part in listed[most:])
        yield f"  {signed(rest)}  {counted(len(listed) - most, 'smaller reason')}"
    yield from (f"  {signed(part.value)}  {part.name}" for part in same)


def signed(value: float) -> str:
    """A number with its sign."""
    return f"{value:+.2f}".replace("-", "−")


def duration(seconds: float) -> str:
    """Seconds as people say them."""
    return f"{seconds:.0f} s" if seconds < 120 else f"{seconds / 60:.0f} min"


def _state(why: "Why") -> str:
    done = why.fetched
    sentences = {
        "fetched": "fetched",
        "failed": f"failed: {done.failure}" if done else "failed",
        "in flight": "being fetched now",
        "waiting": f"waits, one of {counted(why.waiting, 'link')}",
        "skipped": "skipped by the gate: it is fetched when nothing else waits",
        "refused": f"never taken: {why.refusal}",
        "dropped": "not taken: dropped for lack of room, or refused when its turn came",
    }
    said = sentences.get(why.state, why.state)
    if why.state == "failed" and why.refusal:
        said = f"never asked for: {why.refusal}"
    when = f" {_moment(done.when)}" if done and why.state in ("fetched", "failed") else ""
    return f"{said}{when}"


def _fetched(fetched: "Fetched") -> Iterator[str]:
    verdict = "relevant" if fetched.relevant else "not relevant"
    yield f"judged {verdict} ({fetched.relevance:.2f}){_because(fetched.reasons)}"
    if fetched.title:
        yield f"  {fetched.title}"
    yield from (
        textwrap.wrap(f'"{fetched.passage}"', WIDTH, initial_indent="  ", subsequent_indent="  ")
        if fetched.passage
        else ()
    )


def _because(reasons: tuple[str, ...]) -> str:
    return f": {'; '.join(reasons[:3])}" if reasons else ""


def _chosen(chosen: "Chosen") -> Iterator[str]:
    when = f" {_moment(chosen.when)}" if chosen.when > _CLOCK else ""
    if chosen.score is None:
        yield f"chosen{when} as a seed"
        return
    how = "drawn at random" if chosen.at_random else "chosen"
    among = f"rank {chosen.rank:,} of {counted(chosen.waiting, 'waiting link')}"
    yield f"{how}{when}, {among}, score {chosen.score:.2f}"
    yield from _explained(chosen.parts, chosen.adds_up)


def _waits(link: "LinkView", why: "Why") -> Iterator[str]:
    if link.score is None:
        yield "a seed: it comes first"
    else:
        yield f"rank {link.rank:,} of {why.waiting:,} now, score {link.score:.2f}"
        yield from _explained(link.parts, link.rest is not None)
    yield f"waits for {_what_for(link, why)}"


def _what_for(link: "LinkView", why: "Why") -> str:
    if why.stopped:
        return f"nothing: the crawl has stopped ({why.stopped})"
    if link.is_full:
        return "its host, which is being asked"
    if link.rests > 0:
        return f"its host, which rests for {duration(link.rests)}"
    return "its turn"


def _explained(parts: tuple["Part", ...], adds_up: bool) -> Iterator[str]:
    if parts and not adds_up:
        yield "  what the score would lose without:"
    yield from parts_lines(parts)


def _linked(why: "Why") -> Iterator[str]:
    if why.shown is not None:
        anchor = f" by '{' '.join(why.shown.anchor.split())}'" if why.shown.anchor else ""
        yield f"linked{anchor} from {why.shown.source}"
    shown = why.shown.source if why.shown else ""
    others = [parent for parent in reversed(why.parents) if parent.url != shown]
    yield from (f"  {_marked(parent.relevant)} {parent.url}" for parent in others[:PARENTS])
    left = why.parent_count - min(len(others), PARENTS) - bool(shown)
    if left > 0:
        yield f"  and {counted(left, 'other page')}"


def _marked(relevant: bool) -> str:
    return "+" if relevant else "·"


def _moment(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S")
