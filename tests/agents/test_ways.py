"""The ways through a graph of Lim (2016)."""

from itertools import pairwise

import numpy as np
import pytest

from honeyguide.contracts import Goal, Link
from honeyguide.engine.loop import simulate
from honeyguide.engine.navigator import Navigator
from honeyguide.errors import HoneyguideError
from honeyguide.registry import make

from ..webs import TinyWeb

#        a
#     b     c
#    d e   f g
TREE = {"a": "bc", "b": "de", "c": "fg", "d": "", "e": "h", "f": "", "g": "", "h": ""}


def navigator(spec, encoder=None, **settings):
    rng = np.random.default_rng(0)
    agent = make("agent", spec, goal=Goal("geology", encoder), rng=rng)
    frontier = make("frontier", agent.frontier, width=agent.features.width, rng=rng)
    return Navigator(agent, frontier, **settings)


def order(spec, world, seed="a", budget=100, **settings):
    steering = navigator(spec, **settings)
    simulate(steering, world, [world.find(seed)], budget)
    return "".join(world.asked)


def test_breadth_first_goes_level_by_level():
    assert order("breadth_first", TinyWeb(TREE)) == "abcdefgh"


def test_depth_first_goes_to_the_end_of_a_path_before_the_next():
    assert order("depth_first", TinyWeb(TREE)) == "acgfbehd", "the last link of a page first"


def test_depth_first_goes_where_a_link_was_found_last():
    web = TinyWeb({"a": "cxb", "b": "dc", "c": "", "d": "", "x": ""})
    assert order("depth_first", web) == "abcdx", "c was found again, after x"


@pytest.mark.parametrize(("step", "expected"), [(1, "acbedgfh"), (2, "acgfbedh"), (3, "acgfbehd")])
def test_iterative_deepening_ends_a_depth_before_the_next_and_visits_nothing_twice(step, expected):
    assert order(f"iterative_deepening:{step}", TinyWeb(TREE)) == expected


@pytest.mark.parametrize(
    ("deepest", "expected"), [(1, "acb"), (2, "acbedgf"), (3, "acbedgfh"), (9, "acbedgfh")]
)
def test_iterative_deepening_never_goes_below_its_maximum_depth(deepest, expected):
    assert order(f"iterative_deepening:deepest={deepest}", TinyWeb(TREE)) == expected


def test_a_maximum_depth_holds_for_larger_steps_and_for_links_found_again():
    web = TinyWeb({"a": "b", "b": "c", "c": "dz", "d": "z", "z": ""})
    assert order("iterative_deepening:step=5,deepest=3", web) == "abczd", "z is 3 from a, by c"
    assert order("iterative_deepening:step=5,deepest=2", TinyWeb(web.links)) == "abc"
    with pytest.raises(HoneyguideError, match="maximum depth of at least 1"):
        make("agent", "iterative_deepening:deepest=0")


def chain(hosts):
    """A chain of pages, each also linking to a page of its own that leads nowhere."""
    names = [chr(ord("a") + n) for n in range(len(hosts))]
    links = {name: [name.upper(), after] for name, after in pairwise(names)}
    links |= {names[-1]: [], **{name.upper(): [] for name in names}}
    where = dict(zip(names, hosts, strict=True)) | {name.upper(): "other" for name in names}
    return TinyWeb(links, hosts=where)


def test_links_are_left_when_the_three_pages_before_were_of_the_same_host():
    assert order("host_limited_depth_first", chain("x" * 8)) == "abcdCBA", "e was never pushed"


def test_a_page_of_another_host_between_starts_the_count_again():
    assert order("host_limited_depth_first", chain("xxxyxxxxz")) == "abcdefghGFEDCBA"


def test_the_limit_of_pages_in_a_row_can_be_set():
    assert order("host_limited_depth_first:1", chain("x" * 8)) == "abA"
    with pytest.raises(HoneyguideError, match="limit of at least 1 page"):
        make("agent", "host_limited_depth_first:0")


def wide(pages=60):
    """A web where every page links to ten others."""
    links = {str(n): [str((n * 7 + k) % pages) for k in range(1, 11)] for n in range(pages)}
    return TinyWeb(links)


@pytest.mark.parametrize("spec", ["breadth_first", "depth_first", "best_first", "guide", "random"])
def test_a_beam_never_holds_more_links_than_its_width(spec, encoder):
    steering, most = navigator(f"beam:agent={spec},width=7", encoder), []
    web = wide()
    note = lambda visit, step, now: most.append(len(steering.frontier))  # noqa: E731
    simulate(steering, web, [web.find("0")], 40, observer=note)
    assert len(most) == 40
    assert max(most) == 7
    assert steering.shed_links.count > 0


def test_a_beam_wide_enough_goes_where_its_agent_goes(encoder):
    traces = []
    for spec in ("guide", "beam:agent=guide,width=1000"):
        web = wide()
        simulate(navigator(spec, encoder), web, [web.find("0")], 40)
        traces.append(web.asked)
    assert traces[0] == traces[1]


def test_a_beam_needs_an_agent_that_exists_and_some_room(encoder):
    with pytest.raises(HoneyguideError, match="did you mean 'best_first'"):
        navigator("beam:agent=bestfirst", encoder)
    with pytest.raises(HoneyguideError, match="at least 1 waiting"):
        navigator("beam:width=0", encoder)


@pytest.mark.parametrize("spec", ["beam:agent=guide,width=5", "host_limited_depth_first"])
def test_what_was_shed_is_known_after_a_resume(spec, encoder):
    def crawl(steering, web, seeds, budget):
        simulate(steering, web, seeds, budget)
        return web.asked

    web = wide()
    whole = navigator(spec, encoder, max_waiting=9)
    expected = crawl(whole, web, [web.find("0")], 30)
    half, rest = (navigator(spec, encoder, max_waiting=9) for _ in range(2))
    web = wide()
    crawl(half, web, [web.find("0")], 15)
    rest.load(half.state())
    assert crawl(rest, web, [], 30) == expected
    assert rest.shed_links == whole.shed_links
    assert len(rest.frontier) == len(whole.frontier)


def test_what_is_shed_is_the_worst_the_newest_among_equals():
    frontier = make("frontier", "best_first", width=1, rng=np.random.default_rng(0))
    ids = np.arange(6, dtype=np.int32)
    scores = np.array([1, 3, 2, 1, 5, 1], np.float32)
    frontier.put(ids, ids * 0, scores[:, None], scores)
    assert sorted(frontier.shed(4).tolist()) == [1, 1]
    assert frontier.wants(ids).tolist() == [True] * 6, "what was shed can be found again"
    taken = [frontier.take(0.0)]
    while taken[-1] is not None:
        frontier.release(taken[-1].id, 0.0)
        taken.append(frontier.take(0.0))
    assert [link.id for link in taken[:-1]] == [4, 1, 2, 0]
    assert frontier.shed(3).tolist() == []


def test_a_seed_is_not_shed():
    web = TinyWeb(dict.fromkeys("abcxyz", "xyz"))
    steering = navigator("breadth_first", max_waiting=1)
    simulate(steering, web, [Link(web.address(name)) for name in "abc"], 10)
    assert "".join(web.asked) == "abcxyz", "y and z were shed, and found again"
