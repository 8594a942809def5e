"""Links of recorded webs: table 4.1 and figures 4.1 and 4.2 of Pertejo (2021)."""

import re

import numpy as np
import pytest
from typer.testing import CliRunner

from honeyguide.bench.link_statistics import link_statistics
from honeyguide.cli import app
from honeyguide.recorded.graph import Graph
from honeyguide.recorded.writer import GraphWriter

# b is linked twice from a; c links to itself and outside; d has no links
LINKS = {"a": "b b c d".split(), "b": ["a"], "c": ["c", "http://elsewhere.example/"], "d": []}


@pytest.fixture
def web(tmp_path):
    with GraphWriter(tmp_path / "web") as writer:
        for name, targets in LINKS.items():
            writer.add(name, "", name, "", [(target,) for target in targets], ())
    return tmp_path / "web"


def said(*arguments):
    return CliRunner().invoke(app, ["show", "links", *map(str, arguments)])


def test_each_link_between_two_pages_counts_once_and_others_do_not(web):
    found = link_statistics(Graph.open(web))
    assert found.outlinks.tolist() == [3, 1, 0, 0]
    assert found.inlinks.tolist() == [1, 1, 1, 1]
    assert (found.recorded, found.links, found.pages_with_links) == (7, 4, 2)


def test_the_mean_of_the_paper_is_over_pages_that_have_links(web):
    table = dict(link_statistics(Graph.open(web)).table())
    assert table["links per page"] == "1.00"  # 4 links, 4 pages
    assert table["links per page with links"] == "2.00"  # 4 links, 2 pages


def test_curves_fall_from_the_page_with_the_most_links(web):
    outlinks, inlinks = link_statistics(Graph.open(web)).curves(3)
    assert (outlinks.tolist(), inlinks.tolist()) == ([3, 1, 0], [1, 1, 1])


def test_degrees_are_those_of_a_plain_count_on_a_random_web(tmp_path):
    rng = np.random.default_rng(0)
    links = {n: rng.integers(0, 50, rng.integers(0, 20)).tolist() for n in range(50)}
    with GraphWriter(tmp_path / "web") as writer:
        for name, targets in links.items():
            writer.add(str(name), "", "", "", [(str(target),) for target in targets], ())
    found = link_statistics(Graph.open(tmp_path / "web"))
    pairs = {(source, target) for source in links for target in links[source] if source != target}
    assert found.outlinks.tolist() == [sum(s == n for s, _ in pairs) for n in range(50)]
    assert found.inlinks.tolist() == [sum(t == n for _, t in pairs) for n in range(50)]


def test_the_command_prints_the_table_and_writes_the_curves(web, tmp_path):
    done = said(web, "--curves", tmp_path / "links.csv", "--top", 2)
    assert done.exit_code == 0, done.output
    assert re.search(r"^links between different pages +4$", done.stdout, re.MULTILINE)
    assert (tmp_path / "links.csv").read_text() == "rank,outlinks,inlinks\n1,3,1\n2,1,1\n"


def test_the_curves_are_drawn(web, tmp_path):
    pytest.importorskip("matplotlib")
    done = said(web, "--curves", tmp_path / "links.png")
    assert done.exit_code == 0, done.output
    assert (tmp_path / "links.png").read_bytes().startswith(b"\x89PNG")


def test_curves_of_another_format_are_refused(web, tmp_path):
    done = said(web, "--curves", tmp_path / "links.doc")
    assert done.exit_code != 0
    assert ".csv or .png" in str(done.exception)
    assert not (tmp_path / "links.doc").exists()
