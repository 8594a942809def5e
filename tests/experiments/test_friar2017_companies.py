"""Real URLs with their values: the split, the training, the figures; and names that are cut."""

import csv
import io

import numpy as np
import pytest
import zstandard

from experiments.friar2017_companies import (
    BAG,
    FOLDER,
    NETWORK,
    companies_tables,
    companies_trials,
    groups_of,
    measured,
    trained,
)
from experiments.friar2017_names import DOMAINS, cut_names, names_table, names_trials
from experiments.friar2017_reach import explained
from experiments.friar2017_table import TABLE, Example, read_table, side
from experiments.harness.report_page import Page
from experiments.harness.results import Results
from honeyguide.errors import HoneyguideError

WORDS = "tax law garden river cloud bridge".split()


def rows():
    """Pages about tax and law lead to a reward, others do not; rewards are bare domains."""
    rng = np.random.default_rng(0)
    for site in range(300):
        word = WORDS[site % 6]
        value = 0.75 if word in ("tax", "law") else 0.0
        ending = "com" if value else "co.uk"
        for page in range(3):
            yield (
                f"www.site{'abcdefghij'[site % 10]}{site}.{ending}/{word}/{rng.integers(9)}{page}",
                value,
            )
    for site in range(10):
        yield f"www.reward{site}.co.uk", 1.0


@pytest.fixture
def world(tmp_path):
    """What the harness hands over: a file in the folder beside the table's."""
    folder = tmp_path / FOLDER
    folder.mkdir()
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerows([("url", "domain", "value"), *((url, "", value) for url, value in rows())])
    (folder / TABLE).write_bytes(zstandard.compress(text.getvalue().encode()))
    domains = ["url", "www.leonberger-farthing.co.uk", "www.tax-advice.co.uk", "www.river.com"]
    domains += [f"www.{one}-{two}.co.uk" for one in WORDS for two in WORDS if one != two]
    (folder / DOMAINS).write_bytes(zstandard.compress("\n".join(domains).encode()))
    return str(tmp_path / "webkb" / "html.tar.zst")


def test_every_page_of_a_site_is_on_one_side_of_the_split():
    pages = [Example(f"http://{host}/{n}", 0.0) for host in ("a.blogspot.com",) for n in range(9)]
    assert len({side(page) for page in pages}) == 1
    mirrored = Example("http://a.blogspot.co.uk/", 0.0)
    assert side(mirrored) == side(pages[0])
    assert side(Example("http://www.news.a.co.uk/x", 0.0)) == side(Example("http://a.co.uk", 0.0))


def test_half_of_the_sites_are_for_the_test_and_a_tenth_of_the_others_for_validation():
    found = [side(Example(f"http://site{n}.com/", 0.0)) for n in range(4000)]
    shares = {name: found.count(name) / 4000 for name in ("test", "validation", "train")}
    assert shares == pytest.approx({"test": 0.5, "validation": 0.05, "train": 0.45}, abs=0.02)


def test_a_table_has_each_url_once(world, tmp_path):
    examples = read_table(tmp_path / FOLDER / TABLE)
    assert len(examples) == 910 == len({example.url for example in examples})
    assert sum(not example.is_full for example in examples) == 10
    with pytest.raises(HoneyguideError, match="there is no"):
        read_table(tmp_path / "none.csv.zst")


def small(name, quick=True):
    return next(t for t in companies_trials(quick) if t.entry.name == name)


@pytest.mark.parametrize("name", [BAG, NETWORK])
def test_models_tell_values_of_domains_that_they_have_not_seen(world, name):
    found = trained(small(name), world, 0)
    assert found["auc"]["full"] > 0.9
    assert found["separation"] > 0.6
    assert found["explained"]["by_host"] > 0.9
    assert sum(row["pages"] for row in found["histograms"]) == found["examples"]["test"]
    losses = np.array(found["losses"])
    assert losses[-1, 1] < losses[0, 1]  # of training
    assert trained(small(name), world, 0)["auc"] == found["auc"]


def test_only_urls_of_one_kind_are_compared_but_for_the_first_column():
    test = [
        Example("http://reward.co.uk", 1.0),
        Example("http://a.com/x", 0.75),
        Example("http://a.com/y", 0.75),
        Example("http://b.co.uk/x", 0.0),
        Example("http://c.com/x", 0.0),
    ]
    counted = {name: mask.tolist() for name, mask in groups_of(test).items()}
    assert counted["all"] == [True] * 5
    assert counted["full"] == [False, True, True, True, True]
    assert counted["full, not .uk"] == [False, True, True, False, True]
    assert counted["full, .uk"] == [False, False, False, True, False]
    assert counted["one a domain, full"] == [False, True, False, True, True]
    found = measured(np.array([0.1, 0.9, 0.8, 0.2, 0.3], np.float32), test)
    assert found["auc"]["full"] == 1.0
    assert found["auc"]["full, .uk"] is None  # nothing to compare
    assert found["auc_of_uk"]["full, not .uk"] == 0.5


def test_groups_explain_what_is_equal_within_them_and_nothing_by_chance():
    values = np.repeat(np.array([0.0, 0.5, 1.0]), 50)
    assert explained(np.repeat(["a", "b", "c"], 50), values) == pytest.approx(1.0)
    chance = np.random.default_rng(0).integers(0, 3, 150)
    assert explained(chance, values) < 0.1


def test_the_report_shows_figures_of_real_urls(world, tmp_path):
    trials = [t for t in companies_trials(True) if t.entry.name == NETWORK]
    same = {"repeat": 0, "trial": 0, "part": "companies", "budget": 60}
    records = [
        same
        | {"entry": t.entry.name, "task": t.task.name, "digest": t.digest}
        | trained(t, world, 0)
        for t in trials
    ]
    page = Page(tmp_path)
    headline = companies_tables(Results(trials, records), page)
    assert headline["network, AUC of full URLs"] > 0.9
    assert "no network: .uk hosts last" in page.markdown()
    assert (tmp_path / "losses.png").exists() and (tmp_path / "companies-3-9.png").exists()


def test_names_are_cut_less_often_once_they_are_known(world, tmp_path):
    trials = names_trials(True)
    records = [
        {"repeat": 0, "trial": 0, "part": "names", "budget": 1, "entry": t.entry.name}
        | {"task": t.task.name, "digest": t.digest}
        | cut_names(t, world, 0)
        for t in trials
    ]
    none, _, everything = (record["right"] for record in records)
    assert 0 < none <= everything
    page = Page(tmp_path)
    names_table(Results(trials, records), page)
    assert "| no names | 0 |" in page.markdown()
