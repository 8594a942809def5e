"""What clicks are worth, when a search stops, and what is reported."""

import math

import pytest

from honeyguide.contracts import Link, Page
from honeyguide.source_finder.stopping import Calibrated, Equation5, Reporting

HOME = "http://a.example/"


def page(path, *to):
    return Page(f"{HOME}{path}", links=tuple(Link(f"{HOME}{target}", target) for target in to))


def graph(pages, sources):
    value = pytest.importorskip("honeyguide.source_finder.training.value")
    site = value.SiteGraph(HOME)
    site.depths[HOME] = 0
    waiting = [""]
    for path in waiting:
        url = f"{HOME}{path}"
        site.pages[url] = page(path, *pages.get(path, ()))
        site.worths[url] = sources.get(path, 0.0)
        for to in pages.get(path, ()):
            if f"{HOME}{to}" not in site.depths:
                site.depths[f"{HOME}{to}"] = site.depths[url] + 1
                waiting.append(to)
    return site


def test_a_hub_is_worth_what_it_leads_to_and_a_page_with_the_same_menu_is_not():
    menu = ("about", "contact", "community")
    pages = {
        "": menu,
        "about": menu,
        "contact": menu,
        "community": (*menu, "groups"),
        "groups": (*menu, "events"),
        "events": menu,
    }
    values = graph(pages, {"events": 1.0}).returns(0.7)
    assert values[f"{HOME}events"] == 1
    assert values[f"{HOME}groups"] == pytest.approx(0.7)
    assert values[f"{HOME}community"] == pytest.approx(0.49)
    assert values[f"{HOME}about"] == values[f"{HOME}contact"] == 0


def test_a_page_that_counts_neither_way_teaches_nothing():
    values = graph({"": ("news",), "news": ("events",)}, {"news": math.nan, "events": 1.0})
    assert math.isnan(values.returns(0.7)[f"{HOME}news"])


def test_more_is_asked_of_each_click_and_most_after_a_find():
    rule = Calibrated(first=0.1, growth=0.05, after=0.6)
    assert rule.least(0, 0) == pytest.approx(0.1)
    assert rule.least(4, 0) == pytest.approx(0.3)
    assert rule.least(100, 0) == rule.least(1, 1) == 0.6
    assert Equation5(0.4).least(9, 3) == 0.4
    assert rule.thorough().least(9, 0) == 0
    assert rule.thorough().least(9, 1) == rule.after


def test_a_page_vetoes_its_link():
    report = Reporting(page=1.5, link=1.0, bias=0.0)
    assert report(0.9, 0.9) > 0.9
    assert report(0.9, 0.05) < 0.5
    assert report(0.3, 0.95) > 0.5
    assert 0 < report(0.0, 1.0) < 1


def test_the_chosen_rule_finds_sites_without_paying_for_hopeless_ones():
    calibration = pytest.importorskip("honeyguide.source_finder.training.calibration")
    good = calibration.FullWalk((calibration.WalkedClick(0.6, 0.9, 1.0),), True)
    deep = calibration.FullWalk(
        (calibration.WalkedClick(0.2, 0.1, 0.0), calibration.WalkedClick(0.9, 0.9, 1.0)), True
    )
    hopeless = calibration.FullWalk((calibration.WalkedClick(0.04, 0.1, 0.0),) * 10, False)
    walks = [good, deep, hopeless]
    rule = calibration.calibrated(walks, 0.04, [1.0] * 3)
    clicks = [len(list(calibration.prefix(walk, rule))) for walk in walks]
    assert clicks == [1, 2, 0]
