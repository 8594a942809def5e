"""The part of a web around some targets."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from honeyguide.errors import HoneyguideError
from honeyguide.judges.targets import Targets
from honeyguide.recorded.graph import Graph
from honeyguide.recorded.importers.jsonl import import_jsonl
from honeyguide.recorded.importers.subgraph import cut_subgraph

# far -> second -> first -> target; first and second also link elsewhere, which links on
LINKS = {
    "http://far.example/": ["http://second.example/"],
    "http://second.example/": ["http://first.example/", "http://aside.example/"],
    "http://first.example/": ["http://www.law.example/", "http://aside.example/"],
    "http://www.law.example/": ["http://beyond.example/"],
    "http://aside.example/": ["http://far.example/"],
    "http://beyond.example/": ["http://first.example/"],
}


def on(domain):
    judge = Targets(domain)
    return lambda page: judge(page).relevant


@pytest.fixture
def whole(tmp_path):
    source = tmp_path / "pages.jsonl"
    with source.open("w") as file:
        for url, links in LINKS.items():
            rows = [[to, "more"] for to in links]
            page = {"id": url, "url": url, "title": url[7:-1], "text": "x", "links": rows}
            file.write(json.dumps(page) + "\n")
    import_jsonl(source, tmp_path / "whole")
    return tmp_path / "whole"


def test_pages_within_two_hops_and_what_they_link_to_are_kept(whole, tmp_path):
    counts = cut_subgraph(whole, tmp_path / "part", is_target=on("law.example"))
    assert counts == {"pages": 5, "at 0 hops": 1, "at 1 hop": 1, "at 2 hops": 2, "outgoing": 1}
    part = Graph.open(tmp_path / "part")
    assert part.labels() == {"hops:2": 2, "hops:0": 1, "hops:1": 1, "hops:outgoing": 1}
    first = part.page(part.find("http://first.example/"))
    assert [link.url for link in first.links] == [
        "http://www.law.example/",
        "http://aside.example/",
    ]
    assert first.links[0].anchor == "more"
    assert part.page(part.find("http://aside.example/")).links == ()
    with pytest.raises(HoneyguideError):
        part.find("http://far.example/")


def test_links_that_lead_outside_are_kept_for_crawls_that_may_leave(whole, tmp_path):
    cut_subgraph(whole, tmp_path / "part", is_target=on("law.example"))
    part = Graph.open(tmp_path / "part")
    aside = part.page(part.find("http://aside.example/"), outside=True)
    assert [link.url for link in aside.links] == ["http://far.example/"]
    assert aside.links[0].anchor == "more"
    cut_subgraph(whole, tmp_path / "near", is_target=on("law.example"), hops=0)
    near = Graph.open(tmp_path / "near")
    beyond = near.find("http://beyond.example/")
    assert near.page(beyond).links == ()  # walks inside end there
    assert [link.url for link in near.page(beyond, outside=True).links] == ["http://first.example/"]


def test_a_cut_of_a_cut_keeps_what_led_outside_the_first(whole, tmp_path):
    cut_subgraph(whole, tmp_path / "part", is_target=on("law.example"))
    cut_subgraph(tmp_path / "part", tmp_path / "again", is_target=on("law.example"))
    again = Graph.open(tmp_path / "again")
    aside = again.page(again.find("http://aside.example/"), outside=True)
    assert [link.url for link in aside.links] == ["http://far.example/"]


def test_the_command_cuts_around_a_label_and_pages_keep_their_names(small_graph, tmp_path):
    program = Path(sys.executable).parent / "honeyguide"
    cut = ["import", "subgraph", small_graph, "part", "--label", "geology", "--hops", "1"]
    done = subprocess.run([program, *cut], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "10 at 0 hops" in done.stdout
    whole, part = Graph.open(small_graph), Graph.open(tmp_path / "part")
    assert 10 < len(part) < len(whole)
    assert {part.id(page) for page in range(len(part))} < {f"Page_{n}" for n in range(40)}
    shown = part.page(part.find("Page_4")).links
    assert shown == whole.page(whole.find("Page_4")).links


def test_more_hops_than_there_are_end_where_nothing_new_is_found(whole, tmp_path):
    counts = cut_subgraph(whole, tmp_path / "part", is_target=on("law.example"), hops=10**17)
    assert counts["pages"] == len(LINKS)
    assert "at 4 hops" in counts
    assert "at 5 hops" not in counts


def test_without_a_target_there_is_nothing_to_keep(whole, tmp_path):
    with pytest.raises(HoneyguideError, match="no page of whole is a target"):
        cut_subgraph(whole, tmp_path / "part", is_target=on("nowhere.example"))
    with pytest.raises(HoneyguideError, match="either target domains or a label"):
        cut_subgraph(whole, tmp_path / "part")
