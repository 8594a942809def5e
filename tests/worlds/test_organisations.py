"""Generated sites of organisations."""

import asyncio

import aiohttp
import numpy as np
import pytest

from honeyguide.contracts import Verdict
from honeyguide.errors import HoneyguideError
from honeyguide.registry import make
from honeyguide.source_finder.organisations.megamenus import MEGAS
from honeyguide.source_finder.organisations.serve import Server
from honeyguide.source_finder.organisations.templates import TEMPLATES
from honeyguide.source_finder.organisations.words import WORDINGS
from honeyguide.source_finder.regions import read_regions
from honeyguide.web.html import tree

EVENTS = "source:events"


def sites(set, count=0):
    return make(
        "world", f"organisations:set={set},sites={count}", judge=lambda page: Verdict(0, False)
    )


def clicks_to_events(world, host):
    """Clicks from the home page to the nearest list of events; None when there is none."""
    site = world.site(host)
    seen, row, clicks = {"/"}, ["/"], 0
    while row:
        if any(EVENTS in site.pages[path].labels for path in row):
            return clicks
        links = {
            link.url.removeprefix(f"http://{host}")
            for path in row
            for link in world.page(site.url(path)).links
        }
        row = [path for path in sorted(links - seen) if path in site.pages]
        seen |= set(row)
        clicks += 1
    return None


def test_sets_have_the_sizes_of_the_paper():
    sizes = {
        "train": 40,
        "validation": 20,
        "tesw": 100,
        "unlabelled": 300,
        "rww": 404,
        "mixed": 504,
        "wide": 800,
        "wide_test": 400,
        "wide_news": 300,
    }
    assert {name: len(sites(name).hosts) for name in sizes} == sizes
    few = sites("mixed", 50).hosts
    assert sum("tesw" in host for host in few) == 10
    assert len(set(few)) == 50
    with pytest.raises(HoneyguideError, match="did you mean 'train'"):
        sites("trian")


@pytest.mark.parametrize("name", ["train", "tesw"])
def test_labelled_sites_have_their_events_one_click_away(name):
    world = sites(name, 15)
    assert {clicks_to_events(world, host) for host in world.hosts} == {1}


def test_sites_as_found_have_them_up_to_three_clicks_away_or_not_at_all():
    world = sites("rww", 60)
    assert {clicks_to_events(world, host) for host in world.hosts} == {1, 2, 3, None}


def test_test_sites_share_neither_words_for_events_nor_names_nor_templates_with_the_others():
    for language in ("en", "zh"):
        test = WORDINGS[language, "test"]
        for other in (WORDINGS[language, "train"], WORDINGS[language, "more"]):
            for purpose in test.menus:
                assert not set(test.menus[purpose]) & set(other.menus[purpose])
            assert not set(test.places) & set(other.places)
            assert not set(test.subjects) & set(other.subjects)
            assert not set(test.headings) & set(other.headings)
            for sort in test.names:
                assert not set(test.names[sort]) & set(other.names[sort])
    for part in ("menus", "lists", "teasers", "feet", "frames", "styles"):
        test = set(getattr(TEMPLATES["test"], part))
        assert not test & (
            set(getattr(TEMPLATES["train"], part)) | set(getattr(TEMPLATES["more"], part))
        )


def test_mega_menus_of_the_three_kinds_of_parts_are_written_in_other_tags():
    def shapes(name):
        pieces = [(m.sections, m.columns, m.links) for m in MEGAS[name]]
        return {"".join(a.before + a.each + a.after for a in each) for each in pieces}

    train, more, test = map(shapes, ("train", "more", "test"))
    assert not train & more | train & test | more & test
    assert all(any("hover" in m.style for m in MEGAS[name]) for name in MEGAS)


def with_menus(set, count=0):
    world = sites(set, count)
    return world, [site for host in world.hosts if (site := world.site(host)).mega]


def in_panels(site):
    return [link for section in site.sections for c in section.columns for link in c.links]


@pytest.mark.parametrize("name", ["train", "unlabelled", "tesw"])
def test_some_sites_have_a_mega_menu_of_sections_with_columns_and_headings(name):
    world, large = with_menus(name, 40)
    assert 4 < len(large) < 30
    sections = [section for site in large for section in site.sections]
    assert {bool(section.path) for section in sections} == {True, False}
    assert np.mean([len(section.columns) for section in sections]) > 1.5
    assert all(len(site.sections) >= 3 and len(in_panels(site)) >= 8 for site in large)
    page = tree(world.html(large[0].url("/"))).body.text()
    assert all(
        column.heading in page for section in large[0].sections for column in section.columns
    )


def test_a_mega_menu_is_on_every_page_of_its_site_and_no_page_is_in_it_twice():
    world, large = with_menus("tesw", 12)
    for site in large:
        paths = [path for _, path in in_panels(site)]
        assert len(set(paths)) == len(paths)
        for path in list(site.pages)[:8]:
            linked = {link.url for link in world.page(site.url(path)).links}
            assert {site.url(there) for there in paths if there != path} <= linked


def test_panels_have_decoys_and_lists_of_events_that_are_sometimes_linked_nowhere_else():
    _, large = with_menus("tesw")
    kinds, elsewhere = set(), set()
    for site in large:
        other = {path for _, path in site.foot} | {path for _, path in site.pages["/"].leads}
        for _, path in in_panels(site):
            kind = site.pages[path].labels[0]
            kinds.add(kind.partition(":")[0])
            if kind == EVENTS:
                elsewhere.add(path in other)
    assert {"decoy", "source", "page"} <= kinds
    assert elsewhere == {True, False}


def test_sites_to_learn_from_show_more_decoys_than_those_as_found():
    def decoys(name):
        labels = sites(name, 40).labels()
        return sum(count for label, count in labels.items() if label.startswith("decoy:"))

    assert decoys("train") > 2 * decoys("rww") > 0


def test_some_menus_have_pictures_without_words():
    world = sites("tesw", 40)
    drawn = [host for host in world.hosts if world.site(host).icons]
    assert 0 < len(drawn) < 40
    assert any(not link.anchor for host in drawn for link in world.page(f"http://{host}/").links)


def test_a_list_of_events_is_a_data_region_and_decoys_are_not_labelled_as_sources():
    world = sites("rww", 40)
    seen = set()
    for host in world.hosts:
        for path, draft in world.site(host).pages.items():
            seen.add(draft.labels[0])
            if EVENTS in draft.labels:
                texts = [
                    r.text
                    for region in read_regions(world.html(f"http://{host}{path}"))
                    for r in region.records
                ]
                assert sum(
                    any(entry.title in text for text in texts) for entry in draft.entries
                ) == len(draft.entries)
    assert {"decoy:single", "decoy:shop", "decoy:archive", "source:news", "page:hub"} <= seen


def test_both_languages_and_every_sort_of_site_occur_and_a_seed_decides_them():
    world = sites("train")
    assert {world.site(host).wording.language for host in world.hosts} == {"en", "zh"}
    again = sites("train")
    other = make("world", "organisations:set=train,seed=2", judge=None)
    home = world.homes[3]
    assert world.html(home) == again.html(home) != other.html(home)


def test_sites_are_served_over_http_by_their_names():
    world = sites("tesw", 2)

    async def ask():
        async with Server(world) as server, aiohttp.ClientSession() as session:
            at = f"http://127.0.0.1:{server.port}"
            headers = {"Host": world.hosts[1]}
            async with session.get(f"{at}/", headers=headers) as good:
                body = await good.read()
            async with session.get(f"{at}/nothing", headers=headers) as bad:
                return body, good.content_type, bad.status

    body, kind, status = asyncio.run(ask())
    assert body == world.html(world.homes[1])
    assert (kind, status) == ("text/html", 404)


def test_the_truth_knows_every_source():
    world = make(
        "world", "organisations:set=tesw,sites=3", judge=make("judge", "label:source:events")
    )
    truth = world.truth()
    assert int(truth.relevant.sum()) == world.labels()[EVENTS]
    assert np.all(truth.targets >= 0)
