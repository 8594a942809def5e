"""What a recorded or generated world promises."""

import asyncio
from typing import Any

import numpy as np

from honeyguide.contracts import Judge, Link, Page, Sampled, Truth, Verdict, Visit
from honeyguide.errors import HoneyguideError
from honeyguide.testing.contract import PartLike, make_part, promised, require, require_bool

NOWHERE = "http://nowhere.example/at/all"
MEMBERS = ("live", "visit", "find", "labels", "truth", "close")
LINKS = 5  # of the first page that are visited too
SAMPLED = 20


def check_world(world: PartLike, seed: str, *, judge: Judge | None = None) -> None:
    """Raise a ContractError unless a world that is not live keeps its promises.

    `judge` is filled in; it also decides what the truth of this web is.

    - `find` gives a link for the name `seed`, and a HoneyguideError for an unknown name.
    - `visit` gives a page with text, and links with absolute addresses; the verdict is the
      judge's; the link is the one that was visited.
    - A page is the same each time, in any order, and when many are visited at once.
    - An unknown address is a failed visit, not an exception; a visit has a page or a failure.
    - `labels` counts pages by label; `truth` agrees with what visits show, or says in a
      HoneyguideError that it is not known.
    - Where pages can be drawn (`sample`), so many are, the same for the same generator.
    - `close` can be called when all is done.
    """
    made = make_part("world", world, MEMBERS, judge=judge or _judge, spec=None)
    require_bool(made.live, "live")
    asyncio.run(_check(made, seed, judge or _judge))


async def _check(world: Any, seed: str, judge: Judge) -> None:
    with promised(f"find({seed!r}) must give the link to a page"):
        start = world.find(seed)
    first = await _visited(world, start)
    page = first.page
    if page is None:
        raise AssertionError  # as _visited() has checked
    _check_page(page)
    require(
        first.verdict == judge(page),
        f"the verdict is {first.verdict}, the judge says {judge(page)}: ask the judge that a"
        " crawl hands in",
    )
    await _check_order(world, start, first)
    await _check_unknown(world)
    _check_labels(world)
    _check_truth(world, first, page)
    if isinstance(world, Sampled):
        await _check_sample(world)
    with promised("close() must let go of everything, but raised an error"):
        await world.close()


async def _visited(world: Any, link: Link, fails: bool | None = False) -> Visit:
    """A visit that is one."""
    with promised("a failed fetch is a visit too, but visit() raised an error"):
        visit: Visit = await world.visit(link)
    require(isinstance(visit, Visit), f"visit() returned {visit!r}: return a Visit")
    require(visit.link == link, f"visit.link is {visit.link}: give the link that was visited")
    require(
        (visit.page is None) == bool(visit.failure),
        f"the visit of {link.url} has the failure {visit.failure!r} and"
        f" {'no page' if visit.page is None else 'a page'}: give a page, or say why there is none",
    )
    require(
        fails is None or (visit.page is None) == fails,
        f"the visit of {link.url} {'brought a page' if fails else f'failed: {visit.failure}'}",
    )
    return visit


def _check_page(page: Page) -> None:
    require(page.text, f"the page {page.url} has no text: judges and agents read it")
    require(page.links, f"the seed page {page.url} has no links: there is nothing to crawl")
    wrong = [link.url for link in page.links if "://" not in link.url]
    require(not wrong, f"the link {wrong[:1]} is not absolute: join it with the page's address")


async def _check_order(world: Any, start: Link, first: Visit) -> None:
    links = first.page.links[:LINKS] if first.page else ()
    alone = [await world.visit(link) for link in links]
    together = await asyncio.gather(*(world.visit(link) for link in (*reversed(links), start)))
    for visit, again in zip([first, *alone], reversed(together), strict=True):
        require(
            (again.page, again.failure, again.verdict)
            == (visit.page, visit.failure, visit.verdict),
            f"{visit.link.url} showed something else the second time: what an address shows may"
            " not depend on what was visited before",
        )


async def _check_unknown(world: Any) -> None:
    visit = await _visited(world, Link(NOWHERE), fails=True)
    require(not visit.verdict.relevant, "a visit without a page is relevant: it cannot be")
    try:
        found = world.find("no such page anywhere")
    except HoneyguideError as error:
        said = "" if str(error) else "raised a HoneyguideError without a word"
    except Exception as error:
        said = f"raised {type(error).__name__}"
    else:
        said = f"gave {found}"
    require(
        not said,
        f"find() {said} for an unknown name: raise a HoneyguideError that says what is not there",
    )


def _check_labels(world: Any) -> None:
    labels = world.labels()
    require(
        isinstance(labels, dict)
        and all(isinstance(k, str) and isinstance(v, int) for k, v in labels.items()),
        f"labels() returned {labels!r}: return {{label: how many pages have it}}, perhaps empty",
    )


def _check_truth(world: Any, visit: Visit, page: Page) -> None:
    try:
        truth: Truth = world.truth()
    except HoneyguideError:
        return
    require(
        truth.offsets[-1] == len(truth.targets),
        f"truth.offsets end with {truth.offsets[-1]}, for {len(truth.targets)} targets: the links"
        " of page p are targets[offsets[p]:offsets[p + 1]]",
    )
    number = truth.index(page.url)
    shown = {truth.index(link.url) for link in page.links} - {-1}
    links = set(truth.targets[truth.offsets[number] : truth.offsets[number + 1]].tolist()) - {-1}
    require(
        links == shown, f"the truth has links to {sorted(links)} at {page.url}, a visit {shown}"
    )
    require(
        truth.relevant[number] == visit.verdict.relevant,
        f"the truth says {truth.relevant[number]} of {page.url}, its verdict"
        f" {visit.verdict.relevant}: let the judge decide both",
    )
    require(truth.index(NOWHERE) == -1, "truth.index() of an unknown address must be -1")


async def _check_sample(world: Any) -> None:
    drawn = world.sample(SAMPLED, np.random.default_rng(3))
    require(len(drawn) == SAMPLED, f"sample({SAMPLED}) gave {len(drawn)} links")
    again = world.sample(SAMPLED, np.random.default_rng(3))
    require(drawn == again, "sample() gave other pages for the same generator: draw from `rng`")
    for link in drawn[:LINKS]:
        await _visited(world, link, fails=None)  # some pages of a web fail for good


def _judge(page: Page) -> Verdict:
    return Verdict(0.5, "geology" in page.text)
