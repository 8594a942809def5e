"""States and actions of Han et al. (2018) and Pertejo (2021)."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from honeyguide.contracts import Link, Page, Verdict, Visit
from honeyguide.engine.memory import Memory
from honeyguide.errors import HoneyguideError
from honeyguide.features.discrete import HAN, PERTEJO, Discrete

AXES = ["geology", "earth", "science"]


class Shares:
    """A text's vector says what shares its words give: "earth=0.3" is 0.3 along its axis."""

    width = 3

    def __init__(self):
        self.asked = []

    def __call__(self, texts):
        self.asked.extend(texts)
        return np.array([self.vector(text) for text in texts], np.float32).reshape(-1, 3)

    def vector(self, text):
        if text in AXES:
            return np.eye(3)[AXES.index(text)]
        said = dict(word.split("=") for word in text.split() if "=" in word)
        return [float(said.get(axis, 0)) for axis in AXES]

    def knows(self, text):
        return text in AXES


def url(name):
    return f"http://site.example/{name}"


class Crawl:
    """Pages visited one after another."""

    def __init__(self, buckets=HAN, categories=("earth", "science")):
        self.memory = Memory()
        self.encoder = Shares()
        self.features = Discrete("geology", self.encoder, categories, buckets)

    def visit(self, name, relevance, relevant, links, text=""):
        found = self.memory.seed([Link(url(name))])
        shown = tuple(Link(url(to), context=words) for to, words in links.items())
        page = Page(url(name), name, text, shown)
        visit = Visit(Link(url(name)), page, Verdict(relevance, relevant))
        source = self.memory.visit(int(found.ids[0]), visit)
        return self.features(self.memory, self.memory.link(source, page))


def test_a_row_is_the_page_and_the_link_in_document_001s_numbers():
    crawl = Crawl()
    crawl.visit("seed", 0.75, True, {"page": ""})
    x = crawl.visit(
        "page",
        0.33,
        False,
        {"next": "geology=0.95 earth=0.2 science=0.05", "other": ""},
        text="earth=0.61 science=0.5",
    )
    # five buckets of 0.2, then six that begin half a bucket earlier;
    # topic, earth, science, all parents, relevant parents
    page = [*(1, 3, 2, 3, 3), *(2, 3, 3, 4, 4)]
    change, distance = 4, 1  # 0.33 - 0.75 is much less
    assert x[0].tolist() == [*page, change, distance, *(4, 1, 0, 1, 0), *(5, 1, 0, 2, 0)]
    assert x[1].tolist() == [*page, change, distance, *(0, 0, 0, 1, 0), *(0, 0, 0, 2, 0)]
    assert x.dtype == np.float32
    assert crawl.features.width == 14 + 4 * 2 == x.shape[1]


def test_the_same_row_in_document_000s_numbers():
    crawl = Crawl(PERTEJO)
    crawl.visit("seed", 0.75, True, {"page": ""})
    x = crawl.visit("page", 0.33, False, {"next": "geology=0.95"}, text="earth=0.61 science=1.0")
    # the change is 0.33 - (0.4 * 0.33 + 0.6 * 0.75) = -0.252; nearness is 9 - 1
    assert x[0].tolist() == [*(3, 6, 10, 7, 7), *(3, 8), *(9, 0, 0, 3, 0)]
    assert crawl.features.width == 8 + 2 * 2


def test_a_seed_has_no_features():
    crawl = Crawl(PERTEJO)
    found = crawl.memory.seed([Link(url("seed"), context="geology=1")])
    assert not crawl.features(crawl.memory, found).any()


def test_a_page_without_parents_has_not_changed():
    x = Crawl().visit("seed", 0.75, False, {"page": ""})
    assert x[0, 10:12].tolist() == [0, 9]


@pytest.mark.parametrize(
    ("buckets", "changes"), [(HAN, [4, 3, 0, 0, 1, 2]), (PERTEJO, [4, 3, 3, 0, 1, 2])]
)
def test_change_is_against_the_smoothed_relevance_of_the_best_ancestors(buckets, changes):
    share = buckets.change_share
    for change, expected in zip([-0.4, -0.2, -0.05, 0.05, 0.2, 0.35], changes, strict=True):
        crawl = Crawl(buckets, categories=())
        crawl.visit("low", 0.0, False, {"page": ""})
        first, parent = (0.3, 0.2) if change > 0 else (0.7, 0.8)
        crawl.visit("first", first, True, {"parent": ""})
        crawl.visit("parent", parent, True, {"page": ""})
        past = 0.4 * parent + 0.6 * first
        x = crawl.visit("page", past + change / share, False, {"next": ""})
        assert x[0, len(buckets.relevance) * 3] == expected


# Han et al. (2018, §3.1), delta_1 = 0.1 and delta_2 = 0.3: within delta_1 0, increase by delta_2 1,
# more than that 2, decrease by delta_2 3, more than that 4. Pertejo (2021, A.3): half-open
@pytest.mark.parametrize(
    ("buckets", "table"),
    [
        (HAN, {-0.31: 4, -0.3: 3, -0.11: 3, -0.1: 0, 0.0: 0, 0.1: 0, 0.11: 1, 0.3: 1, 0.31: 2}),
        (PERTEJO, {-0.31: 4, -0.29: 3, -0.01: 3, 0.0: 0, 0.09: 0, 0.11: 1, 0.29: 1, 0.31: 2}),
    ],
)
def test_a_change_on_an_edge_has_the_index_of_the_documents_table(buckets, table):
    for parent in (0.52, 0.6):  # in float32, 0.62 - 0.52 is above 0.1, and 0.7 - 0.6 below
        found = {}
        for change in table:
            crawl = Crawl(buckets, categories=())
            crawl.visit("parent", parent, False, {"page": ""})
            x = crawl.visit("page", parent + change / buckets.change_share, False, {"next": ""})
            found[change] = x[0, len(buckets.relevance) * 3]
        assert found == table


def test_a_link_found_again_belongs_to_the_new_page_and_has_one_parent_more():
    crawl = Crawl(categories=())
    crawl.visit("one", 0.9, True, {"next": ""})
    x = crawl.visit("two", 0.5, False, {"next": ""})
    assert x[0, [0, 3]].tolist() == [2, 3]  # page: 0.5
    assert x[0, [9, 12]].tolist() == [3, 4]  # all parents: 0.7
    assert x[0, [10, 13]].tolist() == [4, 5]  # relevant parents: 0.9


@given(st.floats(0, 1, width=32))
def test_every_relevance_falls_into_both_of_its_buckets(relevance):
    crawl = Crawl(categories=())
    x = crawl.visit("page", relevance, False, {"next": ""})
    five, six = x[0, 0], x[0, 3]
    assert five == min(4, np.floor(np.float32(relevance) / np.float32(0.2) + 1e-6))
    assert six - five in (0, 1)


@given(st.floats(0, 1, width=32))
def test_ten_buckets_are_the_first_decimal(relevance):
    x = Crawl(PERTEJO, categories=()).visit("page", relevance, False, {"next": ""})
    assert x[0, 0] == int(np.float64(relevance) * 10 + 1e-6)


def test_a_page_is_read_once_and_only_for_categories():
    crawl = Crawl(categories=())
    crawl.visit("seed", 0.5, False, {"next": ""}, text="long text")
    assert not any("long text" in text for text in crawl.encoder.asked)
    crawl = Crawl()
    crawl.visit("seed", 0.5, False, {"next": "", "other": ""}, text="long text")
    assert sum("long text" in text for text in crawl.encoder.asked) == 1


def test_a_category_that_means_nothing_is_refused():
    with pytest.raises(HoneyguideError, match="the category 'xyzzy' has no word"):
        Crawl(categories=("earth", "xyzzy"))
