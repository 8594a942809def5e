import json
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from honeyguide.contracts import Link
from honeyguide.errors import HoneyguideError
from honeyguide.recorded.graph import Graph
from honeyguide.recorded.writer import GraphWriter, around, write_arrays

TEXT = "The greater honeyguide is a bird that leads people\n   to the nests of wild bees."


def write(path, *pages):
    """Pages as (id, links) or (id, links, more)."""
    with GraphWriter(path) as writer:
        for id, links, *more in pages:
            page = {"url": "", "title": "", "text": "", "labels": []} | (more[0] if more else {})
            writer.add(id=id, links=links, **page)
    return writer.counts


def test_a_page_comes_back_as_it_was_recorded(tmp_path):
    links = [("Bee", "wild bees", "nests of wild bees", "html/body/a"), ("Bird", "bird")]
    bird = {"title": "A bird", "text": TEXT, "labels": ["kind:bird", "part.of.Nature"]}
    counts = write(tmp_path / "web", ("Bird", links, bird), ("Bee", []))
    graph = Graph.open(tmp_path / "web")
    page = graph.page(graph.find("Bird"))
    assert (page.url, page.title, page.text) == ("http://web.example/Bird", "A bird", TEXT)
    assert page.labels == ("kind:bird", "part.of.Nature")
    assert page.links[0] == Link(
        "http://web.example/Bee", "wild bees", "nests of wild bees", "html/body/a", source=page.url
    )
    assert page.links[1].url == page.url
    assert counts == {"pages": 2, "links": 2, "outside": 0, "duplicates": 0, "labels": 2}


def test_a_link_without_context_gets_the_text_around_its_anchor(tmp_path):
    write(
        tmp_path / "web",
        ("a", [("a", "bird"), ("a", "people to"), ("a", "no such")], {"text": TEXT}),
    )
    found = Graph.open(tmp_path / "web").page(0).links
    assert found[0].context == " ".join(TEXT.split())
    assert found[1].context == " ".join(TEXT.split())  # broken over two lines
    assert found[2].context == ""


def test_context_reaches_150_characters_to_either_side():
    text = "x" * 500 + "anchor" + "y" * 500 + "anchor"
    assert around(text, "anchor") == "x" * 150 + "anchor" + "y" * 150


def test_links_out_of_the_recording_are_kept_but_not_shown(tmp_path):
    links = [
        ("http://else.example/x#y", "out", "ctx out"),
        ("b", "in", "ctx in"),
        ("nothing", "no"),
    ]
    counts = write(tmp_path / "web", ("a", links), ("b", []))
    graph = Graph.open(tmp_path / "web")
    assert (counts["links"], counts["outside"]) == (1, 2)
    (link,) = graph.page(0).links
    assert (link.url, link.anchor, link.context) == ("http://web.example/b", "in", "ctx in")
    shown = graph.page(0, outside=True).links
    # "nothing" is no URL that could be followed
    assert [link.url for link in shown] == ["http://else.example/x", link.url]
    offsets, targets = graph.inside()
    assert (offsets.tolist(), targets.tolist()) == ([0, 1, 1], [1])


def test_a_page_keeps_its_own_url_and_others_get_one_from_their_id(tmp_path):
    write(
        tmp_path / "My Web",
        ("1", [("http://A.example:80/one", "by url")], {"url": "http://a.example/one#x"}),
        ("http://b.example/two", []),
        ("http://B.example:80/two", [("http://b.example/two", "x")]),
        ("wp/Áedán_(king)?", [], {"url": "wp/a.htm"}),
        ("..", []),
        ("ftp://c.example/", []),
    )
    graph = Graph.open(tmp_path / "My Web")
    found = [graph.url(page) for page in range(len(graph))]
    assert found == [
        "http://a.example/one",
        "http://b.example/two",
        "http://B.example:80/two",
        "http://my-web.example/wp/%C3%81ed%C3%A1n_(king)%3F",
        "http://my-web.example/",
        "http://my-web.example/ftp://c.example/",
    ]
    assert [graph.index(url) for url in found] == list(range(6))
    assert graph.page(0).links[0].url == "http://a.example/one"
    assert graph.page(2).links[0].url == "http://b.example/two"


def test_a_made_url_is_never_that_of_another_page(tmp_path):
    odd = ("x", "http://web.example/x", "page/1", "page/3", "..", ".")
    write(tmp_path / "web", *((id, []) for id in odd))
    graph = Graph.open(tmp_path / "web")
    assert len({graph.url(page) for page in range(len(odd))}) == len(odd)
    assert [graph.find(id) for id in odd] == list(range(len(odd)))


def test_a_damaged_page_is_told_in_a_sentence(tmp_path):
    write(tmp_path / "web", ("a", [], {"text": "word " * 1000}))
    file = tmp_path / "web" / "records.bin"
    file.write_bytes(b"\x00" * file.stat().st_size)
    with pytest.raises(HoneyguideError, match="damaged"):
        Graph.open(tmp_path / "web").page(0)


def test_a_page_is_found_by_id_title_or_url_case_aside(tmp_path):
    write(
        tmp_path / "web",
        ("Rock", [], {"title": "Stones"}),
        ("stones", [], {"title": "Rock"}),
        ("ROCK", [], {"title": "Straße"}),
    )
    graph = Graph.open(tmp_path / "web")
    assert graph.find("Rock") == 0
    assert graph.find("stones") == 1
    assert graph.find("ROCK") == 2
    assert graph.find("rOCK") == 0
    assert graph.find("STRASSE") == 2
    assert graph.find("HTTP://WEB.example/Rock#x") == 0
    assert graph.find("http://web.example/rock") == 0
    assert graph.index("http://web.example/rock") == -1


def test_an_unknown_page_or_label_is_answered_with_the_nearest(tmp_path):
    write(tmp_path / "web", ("1", [], {"title": "Honeyguide", "labels": ["Science.Birds"]}))
    graph = Graph.open(tmp_path / "web")
    with pytest.raises(
        HoneyguideError, match="no page named 'honeygide'; did you mean 'Honeyguide'"
    ):
        graph.find("honeygide")
    with pytest.raises(HoneyguideError, match="no label named 'brids'; did you mean 'Birds'"):
        graph.pages_with_label("brids")
    assert graph.index("\ud800") == -1


def test_a_label_is_named_by_its_last_part(tmp_path):
    write(
        tmp_path / "web",
        ("a", [], {"labels": ["class:Course", "x.y.Birds"]}),
        ("b", []),
        ("c", [], {"labels": ["birds", "class:student", "birds"]}),
    )
    graph = Graph.open(tmp_path / "web")
    assert graph.pages_with_label("BIRDS").tolist() == [0, 2]
    assert graph.pages_with_label("class:course").tolist() == [0]
    assert graph.labels() == {"birds": 1, "class:Course": 1, "class:student": 1, "x.y.Birds": 1}


def test_the_first_of_two_pages_with_one_id_is_kept(tmp_path):
    counts = write(tmp_path / "web", ("a", [], {"title": "1"}), ("a", [("a", "")], {"title": "2"}))
    assert (counts["pages"], counts["duplicates"], counts["links"]) == (1, 1, 0)
    assert Graph.open(tmp_path / "web").title(0) == "1"


def test_nothing_half_written_is_left_behind(tmp_path):
    with pytest.raises(ZeroDivisionError), GraphWriter(tmp_path / "web") as writer:
        writer.add("a", "", "", "", [], [])
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


def test_an_existing_place_is_refused_and_left_alone(tmp_path):
    (tmp_path / "web").mkdir()
    with pytest.raises(HoneyguideError, match="already exists"):
        GraphWriter(tmp_path / "web")
    (tmp_path / "file").write_text("x")
    with pytest.raises(HoneyguideError, match="cannot write"):
        GraphWriter(tmp_path / "file" / "web")


def test_what_is_no_recording_is_refused_in_a_sentence(tmp_path):
    with pytest.raises(HoneyguideError, match="not a recorded web"):
        Graph.open(tmp_path / "none")
    write(tmp_path / "web", ("a", [], {"text": "x" * 1000}))
    about = tmp_path / "web" / "graph.json"
    about.write_text(json.dumps(json.loads(about.read_text()) | {"version": 99}))
    with pytest.raises(HoneyguideError, match="another version"):
        Graph.open(tmp_path / "web")
    about.write_text("{")
    with pytest.raises(HoneyguideError, match="cannot read"):
        Graph.open(tmp_path / "web")


@pytest.mark.parametrize("name", ["records.bin", "targets.npy", "urls.npy"])
def test_an_emptied_recording_is_refused_when_opened(tmp_path, name):
    write(tmp_path / "web", ("a", [("a", "x")] * 50, {"text": "word " * 1000}))
    (tmp_path / "web" / name).write_bytes(b"")
    with pytest.raises(HoneyguideError, match="cannot read the recorded web"):
        Graph.open(tmp_path / "web")


@pytest.mark.parametrize("name", ["records.bin", "targets.npy", "urls.npy"])
def test_a_cut_off_recording_is_refused_when_opened(tmp_path, name):
    write(tmp_path / "web", ("a", [("a", "x")] * 50, {"text": "word " * 1000}))
    file = tmp_path / "web" / name
    file.write_bytes(file.read_bytes()[:-7])
    with pytest.raises(HoneyguideError, match="cannot read"):
        Graph.open(tmp_path / "web")


def test_a_graph_travels_to_another_process_by_its_path(tmp_path):
    write(tmp_path / "web", ("a", [("a", "x")]))
    graph = Graph.open(tmp_path / "web")
    sent = pickle.dumps(graph)
    assert len(sent) < 1000
    assert pickle.loads(sent).page(0) == graph.page(0)


def test_a_generated_graph_is_written_from_arrays(tmp_path):
    rng = np.random.default_rng(0)
    offsets = np.arange(0, 5001, 5)
    targets = rng.integers(0, 1000, 5000)
    addresses = (f"http://h{n % 7}.example/{n}" for n in range(1000))
    write_arrays(tmp_path / "web", addresses, offsets, targets, {"a": np.array([5, 3]), "b": [3]})
    graph = Graph.open(tmp_path / "web")
    assert len(graph) == 1000
    assert [link.url for link in graph.page(9).links] == [
        f"http://h{n % 7}.example/{n}" for n in targets[45:50]
    ]
    assert graph.pages_with_label("a").tolist() == [3, 5]
    assert graph.page(3).labels == ("a", "b")


IDS = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)


@settings(max_examples=50)
@given(st.dictionaries(IDS, st.lists(IDS, max_size=5), min_size=1, max_size=12))
def test_every_page_has_one_url_and_every_link_its_target(tmp_path_factory, pages):
    path = tmp_path_factory.mktemp("any") / "web"
    write(path, *((id, [(to, to) for to in links], {"title": id}) for id, links in pages.items()))
    graph = Graph.open(path)
    numbers = {id: number for number, id in enumerate(pages)}
    assert len({graph.url(n) for n in range(len(graph))}) == len(pages)
    for id, links in pages.items():
        assert graph.find(id) == numbers[id]
        shown = graph.page(numbers[id]).links
        assert [graph.index(link.url) for link in shown if link.anchor in pages] == [
            numbers[to] for to in links if to in pages
        ]


def test_links_without_their_words_are_damage_and_not_left_out(tmp_path):
    for name, links in (("one", ["a"]), ("two", ["a", "b"])):
        targets = [(target, f"to {target}") for target in links]
        write(tmp_path / name, ("a", targets), ("b", []))
    for file in ("records.bin", "records.npy"):
        (tmp_path / "two" / file).write_bytes((tmp_path / "one" / file).read_bytes())
    with pytest.raises(HoneyguideError, match="damaged"):
        Graph.open(tmp_path / "two").page(0)
