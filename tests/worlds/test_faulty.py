import asyncio

import pytest

from honeyguide.contracts import Link, Page, Verdict, Visit
from honeyguide.engine.loop import run_simulated
from honeyguide.errors import HoneyguideError
from honeyguide.worlds.faulty import FaultyWorld

LINKS = [Link(f"http://site.example/{i}") for i in range(2000)]


class Calm:
    async def visit(self, link):
        return Visit(link, Page(link.url), Verdict(1.0, True), seconds=0.5)

    def find(self, name):
        return Link(name)

    def truth(self):
        raise HoneyguideError("none")


def visits(world, links=LINKS):
    async def all_of_them():
        return [await world.visit(link) for link in links]

    return run_simulated(all_of_them())


def share(seen, failure):
    return sum(visit.failure == failure for visit in seen) / len(seen)


def test_the_given_shares_of_visits_fail_and_are_slow():
    seen = visits(FaultyWorld(Calm(), failing=0.2, vanished=0.1, slow=0.3, seconds=4.0))
    assert share(seen, "status 500") == pytest.approx(0.2, abs=0.04)
    assert share(seen, "status 404") == pytest.approx(0.1, abs=0.04)
    slow = [visit for visit in seen if visit.seconds == 4.5]
    fast = [visit for visit in seen if visit.seconds == 0.5]
    assert len(slow) / (len(slow) + len(fast)) == pytest.approx(0.3, abs=0.04)
    assert all(visit.page is None and not visit.verdict.relevant for visit in seen if visit.failure)


def test_the_same_pages_fail_each_time_and_others_with_another_seed():
    first = [visit.failure for visit in visits(FaultyWorld(Calm(), seed=1))]
    assert first == [visit.failure for visit in visits(FaultyWorld(Calm(), seed=1))]
    assert first != [visit.failure for visit in visits(FaultyWorld(Calm(), seed=2))]


def test_the_same_page_fails_on_every_machine():
    seen = visits(FaultyWorld(Calm(), seed=7, failing=0.3, vanished=0.0, slow=0.0), LINKS[:12])
    assert "".join("x" if visit.failure else "." for visit in seen) == "....x....xx."


def test_slow_pages_take_their_time():
    async def timed():
        clock = asyncio.get_running_loop().time
        begin = clock()
        await FaultyWorld(Calm(), failing=0, vanished=0, slow=1, seconds=9.0).visit(LINKS[0])
        return clock() - begin

    assert run_simulated(timed()) == pytest.approx(9.0)


def test_a_world_without_faults_is_unchanged():
    world = FaultyWorld(Calm(), failing=0.0, vanished=0.0, slow=0.0)
    assert [visit.page.url for visit in visits(world)] == [link.url for link in LINKS]
    assert world.find("x") == Link("x")
    with pytest.raises(HoneyguideError):
        world.truth()


def test_impossible_shares_are_refused():
    with pytest.raises(HoneyguideError, match="between 0 and 1"):
        FaultyWorld(Calm(), failing=0.8, vanished=0.4)
