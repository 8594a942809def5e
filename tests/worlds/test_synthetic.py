import asyncio
import copy
import hashlib
import pickle
import tracemalloc
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from honeyguide.bench.web_statistics import web_statistics
from honeyguide.contracts import Link, Verdict
from honeyguide.engine.loop import run_simulated
from honeyguide.errors import HoneyguideError
from honeyguide.registry import make
from honeyguide.worlds.synthetic import VERSION, SyntheticWorld
from honeyguide.worlds.synthetic.layout import (
    FINE,
    GATE_HOST,
    HIDDEN_HOST,
    MOVED,
    ROLES,
    SILENT,
    TUNNEL,
)
from honeyguide.worlds.synthetic.truth import arrives, reachable
from honeyguide.worlds.synthetic.words import NO_TOPIC


class About:
    """Says what the labels say, and counts how often it is asked."""

    def __init__(self, topic="geology"):
        self.label = f"topic:{topic}"
        self.asked = 0

    def __call__(self, page):
        self.asked += 1
        relevant = self.label in page.labels
        return Verdict(float(relevant), relevant)


@pytest.fixture(scope="module")
def world():
    return SyntheticWorld(About(), pages=3000, seed=5)


@pytest.fixture(scope="module")
def pages(world):
    """Every page of the small web that can be read under its own URL."""
    visits = look(world, [url(world, number) for number in range(world.pages)])
    return [v.page for v in visits if v.page is not None and v.page.url == v.link.url]


def url(world, number):
    return world.names.url(world.layout.spot(number))


def look(world, urls):
    async def all_of_them():
        return [await world.visit(Link(address)) for address in urls]

    return asyncio.run(all_of_them())


def fingerprint(world, numbers):
    digest = hashlib.sha256()
    for visit in look(world, [url(world, number) for number in numbers]):
        said = [visit.link.url, visit.failure]
        if visit.page is not None:
            page = visit.page
            said += [page.url, page.title, page.text, *page.labels]
            said += [f"{k.url} {k.anchor} {k.context} {k.tag_path}" for k in page.links]
        digest.update("\n".join(said).encode())
    return digest.hexdigest()[:16]


# ------------------------------------------------------------------- the same everywhere


def test_synthetic_v1_never_changes():
    assert VERSION == "synthetic-v1"
    judge = About()
    sample = range(0, 10_000, 37)
    assert fingerprint(SyntheticWorld(judge), sample) == "9a01b542dcfb3a26"
    assert (
        fingerprint(SyntheticWorld(judge, pages=10_000_000, seed=2), sample) == "8a80f3262ac5efc0"
    )


def test_a_page_does_not_depend_on_what_was_visited_before():
    forth, back = SyntheticWorld(About(), pages=500), SyntheticWorld(About(), pages=500)
    urls = [url(forth, number) for number in range(0, 500, 7)]
    assert look(forth, urls) == look(back, urls[::-1])[::-1]


def test_another_seed_is_another_web():
    assert url(SyntheticWorld(About(), seed=1), 77) != url(SyntheticWorld(About(), seed=2), 77)


def test_a_web_can_be_copied_and_sent_elsewhere(world):
    for other in (copy.deepcopy(world), pickle.loads(pickle.dumps(world))):
        assert fingerprint(other, range(20)) == fingerprint(world, range(20))


@settings(max_examples=40, deadline=None)
@given(pages=st.integers(64, 5_000_000), seed=st.integers(0, 2**40), place=st.floats(0, 1))
def test_every_url_leads_back_to_its_page(pages, seed, place):
    web = SyntheticWorld(About(), pages=pages, seed=seed)
    number = min(int(place * pages), pages - 1)
    spot = web.layout.spot(number)
    assert web.names.find_page(web.names.url(spot)) == number
    assert all(0 <= target < pages for target in web.wiring.targets(spot))


def test_ten_million_pages_are_not_stored():
    tracemalloc.start()
    web = SyntheticWorld(About(), pages=10_000_000)
    (visit,) = look(web, [web.find("geology").url])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert visit.page is not None
    assert peak < 30_000_000  # bytes


# ------------------------------------------------------------------- names


def test_a_seed_is_found_by_url_host_or_topic(world):
    start = world.find("Geology")
    assert world.find(start.url) == start
    (visit,) = look(world, [start.url])
    assert "topic:geology" in visit.page.labels
    assert "kind:index" in visit.page.labels
    host = start.url.split("/")[2]
    assert world.find(host).url == f"http://{host}/"
    assert all(look(world, [world.find(topic).url])[0].page for topic in world.topics())


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("geolgy", "did you mean 'geology'"),
        ("http://nowhere.example/", "no page named"),
        ("http://[bad", "no page named"),
        ("", "no page"),
    ],
)
def test_an_unknown_seed_gets_a_sentence_that_helps(world, name, hint):
    with pytest.raises(HoneyguideError, match=hint):
        world.find(name)


@pytest.mark.parametrize(
    "address",
    [
        "http://nowhere.example/",
        "https://{host}/",
        "http://{host}/nothing-9999999",
        "http://{host}/p/zzzzzz",
        "http://{host}/calendar/2000/13",
        "http://{host}",
        "mailto:someone",
        "",
    ],
)
def test_what_is_not_there_is_a_failed_visit(world, address):
    host = world.names.host_name(9)
    (visit,) = look(world, [address.format(host=host)])
    assert visit.page is None
    assert visit.failure == "status 404"


def test_the_registry_makes_one_by_number_of_pages_and_seed():
    assert make("world", "synthetic:pages=700,seed=3", judge=About()).pages == 700
    assert make("world", "synthetic:800", judge=About()).pages == 800
    with pytest.raises(HoneyguideError, match="at least"):
        make("world", "synthetic:3", judge=About())
    with pytest.raises(HoneyguideError, match="at most 1,000,000,000 pages"):
        make("world", f"synthetic:{10**20 - 1}", judge=About())


def test_more_random_pages_than_there_are_cannot_be_drawn(world):
    assert len(world.sample(3000, np.random.default_rng(1))) == 3000
    with pytest.raises(HoneyguideError, match="are more than the 3,000 of this web"):
        world.sample(99_999_999_999, np.random.default_rng(1))


# ------------------------------------------------------------------- truth


def test_the_truth_is_what_visits_show(world):
    truth = world.truth()
    visits = look(world, [url(world, number) for number in range(world.pages)])
    for number, visit in enumerate(visits):
        shown = {truth.index(link.url) for link in visit.page.links} if visit.page else set()
        links = truth.targets[truth.offsets[number] : truth.offsets[number + 1]]
        assert set(links.tolist()) == shown - {-1}
        assert truth.relevant[number] == visit.verdict.relevant
    assert truth.relevant.sum() > 10


def test_a_crawl_of_everything_finds_exactly_the_bound():
    web = SyntheticWorld(About("chess"), pages=1000, seed=2)
    start = web.find("chess")
    waiting, seen, found = [start.url], {start.url}, 0
    while waiting:
        for visit in look(web, [waiting.pop()]):
            found += visit.verdict.relevant
            for link in visit.page.links if visit.page else ():
                trap = "/calendar/" in link.url or "/shop/" in link.url
                if link.url not in seen and not trap:
                    seen.add(link.url)
                    waiting.append(link.url)
    assert found == web.bound(start) > 5


def test_labels_are_counted(world, pages):
    counts = world.labels()
    moved = [world.layout.spot(n) for n in range(world.pages)]
    moved = [arrives(world.layout, spot) for spot in moved if spot.status == MOVED]
    shown = Counter(label for page in pages for label in page.labels)
    assert counts["topic:geology"] == shown["topic:geology"] + sum(
        world.topics()[spot.topic] == "geology" for spot in moved if spot.topic >= 0
    )
    assert {f"topic:{topic}" for topic in world.topics()} <= counts.keys()


def test_the_truth_of_a_huge_web_is_refused_and_its_labels_estimated():
    web = SyntheticWorld(About(), pages=2_000_000)
    with pytest.raises(HoneyguideError, match="500,000"):
        web.truth()
    assert 10_000 < web.labels()["topic:geology"] < 200_000


def test_the_truth_reports_its_progress():
    seen = []
    SyntheticWorld(About(), pages=100).truth(lambda done, total: seen.append((done, total)))
    assert seen[0] == (1, 100)
    assert seen[-1] == (100, 100)


# ------------------------------------------------------------------- what the web is like


def test_failing_pages_are_failed_visits_that_no_judge_sees():
    judge = About()
    web = SyntheticWorld(judge, pages=3000)
    spots = map(web.layout.spot, range(web.pages))
    bad = [spot for spot in spots if arrives(web.layout, spot) is None]
    visits = look(web, [web.names.url(spot) for spot in bad])
    assert 0.02 < len(bad) / web.pages < 0.06
    assert judge.asked == 0
    assert {visit.failure for visit in visits} == {
        "status 404", "status 410", "status 500", "timeout",
    }  # fmt: skip


def test_moved_pages_show_what_they_moved_to(world):
    spots = map(world.layout.spot, range(world.pages))
    moved = [spot for spot in spots if spot.status == MOVED]
    for visit in look(world, [world.names.url(spot) for spot in moved]):
        assert visit.page.url != visit.link.url
        assert look(world, [visit.page.url])[0].page == visit.page


def test_visits_take_time_only_with_delays():
    slow = SyntheticWorld(About(), pages=500, delays=True)

    async def timed(web):
        clock = asyncio.get_running_loop().time
        spots = [web.layout.spot(number) for number in range(500)]
        silent = next(spot for spot in spots if spot.status == SILENT)
        begin = clock()
        visit = await web.visit(Link(web.names.url(silent)))
        return clock() - begin, visit.seconds

    took, said = run_simulated(timed(slow))
    assert took == pytest.approx(said)
    assert said > 5
    assert run_simulated(timed(SyntheticWorld(About(), pages=500))) == (0.0, 0.0)


def test_some_hosts_ask_to_be_left_alone_for_longer():
    web = SyntheticWorld(About(), pages=3000, delays=True)

    async def rests():
        hosts = range(web.layout.hosts)
        homes = [Link(f"http://{web.names.host_name(host)}/") for host in hosts]
        return [(await web.visit(home)).host_delay for home in homes]

    delays = run_simulated(rests())
    assert None in delays
    assert any(delay for delay in delays if delay)


def test_traps_have_no_end_and_no_topic(world):
    for word, follow in (("/calendar/", "next"), ("/shop/", "Item 3")):
        entrances = (world.traps.entrance(world.layout.host(n), 0) for n in range(93))
        address = next(e.url for e in entrances if e and word in e.url and "sid=" not in e.url)
        seen = set()
        for _ in range(60):
            (visit,) = look(world, [address])
            assert visit.page.labels == ("kind:trap",)
            seen.add(address)
            address = next(link.url for link in visit.page.links if link.anchor == follow)
        assert len(seen) == 60
        assert world.truth().index(address) == -1


def test_hidden_hosts_are_reached_through_tunnels_only(world):
    layout, wiring = world.layout, world.wiring
    hosts = [layout.host(number) for number in range(layout.hosts)]
    hidden = {host.number for host in hosts if host.kind == HIDDEN_HOST}
    assert hidden
    ways = set()
    for number in range(world.pages):
        spot = layout.spot(number)
        for target in wiring.targets(spot):
            to = layout.spot(target).host.number
            if to in hidden and to != spot.host.number:
                ways.add((ROLES[spot.role], spot.host.kind, to))
    assert {(role, kind) for role, kind, _ in ways} == {("tunnel", GATE_HOST)}
    assert len({to for *_, to in ways}) > len(hidden) / 2


def test_a_tunnel_leads_from_a_topic_over_other_pages_to_more_of_it():
    web = SyntheticWorld(About(), pages=20_000)
    topic = web.topics().index("geology")
    spots = [web.layout.spot(number) for number in range(web.pages)]
    links = {spot.page: web.wiring.targets(spot) for spot in spots if spot.topic == topic}
    mouths = {s.page for s in spots if s.role == TUNNEL and s.page - s.host.start == TUNNEL}
    entered = mouths & {target for found in links.values() for target in found}
    ends = {
        spots[target].host.topic
        for mouth in entered
        for target in web.wiring.targets(spots[mouth + 2])
        if spots[target].host.kind == HIDDEN_HOST
    }
    assert ends == {topic}
    assert {spots[mouth + step].topic for mouth in entered for step in range(3)} == {NO_TOPIC}


def test_almost_every_page_can_be_reached(world):
    truth = world.truth()
    assert reachable(truth, [0]).mean() > 0.9


def test_pages_stand_together_by_topic_and_degrees_have_long_tails(pages):
    labels = ["topic:geology", "topic:music", "topic:chess", "topic:birds"]
    measured = web_statistics(pages, labels, np.random.default_rng(0), probes=40)
    lift = measured["topics"]["lift_at_distance"]
    assert lift[0] > 8
    assert lift[0] > lift[1] > lift[2] > lift[3]
    assert lift[1] > 3
    assert lift[3] < 1.5
    assert 0.2 < measured["anchor_useless"] < 0.3
    assert 0.03 < measured["near_duplicates"] < 0.1
    assert 1.8 < measured["in_degree"]["tail_exponent"] < 2.8
    assert measured["in_degree"]["max"] > 20 * measured["in_degree"]["median"]
    assert measured["hosts"]["largest_share"] > 0.1
    assert 0.55 < measured["topics"]["auc_anchor"] < 0.75
    assert 0.6 < measured["topics"]["auc_url"] < 0.85


def test_most_but_not_all_pages_of_a_topic_name_it_and_some_others_do(world, pages):
    named, others, of_topic = 0, 0, 0
    for page in pages:
        words = set(page.text.lower().replace(".", " ").replace(",", " ").split())
        for topic in world.topics():
            on = f"topic:{topic}" in page.labels
            of_topic += on
            named += on and topic in words
            others += topic in words and not on
    assert 0.6 < named / of_topic < 0.95
    assert 0.1 < others / (named + others) < 0.5


def test_pages_have_a_readable_length_and_links_in_all_places(pages):
    lengths = sorted(len(page.text.split()) for page in pages)
    assert lengths[len(lengths) // 20] >= 100
    assert 150 < lengths[len(lengths) // 2] < 300
    paths = Counter(link.tag_path for page in pages for link in page.links)
    assert len(paths) > 12
    assert 15 < sum(paths.values()) / len(pages) < 35


def test_copies_say_almost_what_their_original_says(world, pages):
    copies = [page for page in pages if "kind:copy" in page.labels]
    assert copies
    for page in copies[:20]:
        spot = world.layout.spot(world.names.find_page(page.url))
        original = world.layout.spot(spot.original)
        if original.status == FINE:
            (visit,) = look(world, [world.names.url(original)])
            mine, theirs = (Counter(p.text.split()) for p in (page, visit.page))
            assert (mine & theirs).total() > 0.75 * mine.total()
            assert page.labels[:-1] == visit.page.labels[:-1]
