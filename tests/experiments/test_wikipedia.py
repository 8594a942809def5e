"""The experiment on a dump: a generated export through the whole command."""

import bz2
import json
from xml.etree import ElementTree

import numpy as np
import pytest

from experiments import wikipedia
from experiments.harness.experiment import Entry, Task, Trial
from experiments.harness.report_page import Page as ReportPage
from experiments.harness.results import Results
from experiments.similarities import in_ranges, mean_cosine, report_similarities
from experiments.wikipedia_export import SCHEMA, Wiki, _sha1, main, write_export
from experiments.wikipedia_webs import Steps, cut_sample, relevant_pages
from honeyguide.bench.link_statistics import link_statistics
from honeyguide.errors import HoneyguideError
from honeyguide.recorded.graph import Graph
from honeyguide.recorded.importers.wikipedia import import_wikipedia
from honeyguide.registry import make

PAGES = 200
pytestmark = pytest.mark.timeout(300)  # the word vectors are loaded several times


@pytest.fixture(scope="module")
def dump(tmp_path_factory):
    path = tmp_path_factory.mktemp("dump") / "generated.xml.bz2"
    assert main(["--pages", str(PAGES), "--out", str(path)]) == 0
    return path


@pytest.fixture(scope="module")
def larger(tmp_path_factory):
    """A wiki of 3,000 articles, imported."""
    folder = tmp_path_factory.mktemp("larger")
    write_export(folder / "dump.xml", Wiki(3000, seed=1))
    counts = import_wikipedia(folder / "dump.xml", folder / "web")
    return Graph.open(folder / "web"), counts


@pytest.fixture(scope="module")
def finished(dump, tmp_path_factory):
    out = tmp_path_factory.mktemp("run") / "out"
    assert wikipedia.main([str(dump), "--out", str(out), "--quick"]) == 0
    return out


# --------------------------------------------------------------------------- export


def test_an_export_is_what_mediawiki_writes(dump):
    root = ElementTree.fromstring(bz2.decompress(dump.read_bytes()))
    assert root.tag == f"{{{SCHEMA}}}mediawiki"
    names = {"": SCHEMA}
    spaces = {n.get("key"): n.text for n in root.findall("siteinfo/namespaces/namespace", names)}
    assert (spaces["0"], spaces["10"], spaces["14"]) == (None, "Template", "Category")
    pages = root.findall("page", names)
    articles = [
        page
        for page in pages
        if page.find("ns", names).text == "0" and page.find("redirect", names) is None
    ]
    assert len(articles) == PAGES + 1  # and the main page
    order = [child.tag.rpartition("}")[2] for child in articles[0].find("revision", names)]
    assert order == (
        "id parentid timestamp contributor minor comment model format text sha1".split()
    )
    text = articles[0].find("revision/text", names)
    assert int(text.get("bytes")) == len(text.text.encode())
    titles = [page.find("title", names).text for page in pages]
    assert len(set(titles)) == len(titles)
    assert {"Cameras", "Olympics"} <= {
        p.find("title", names).text for p in pages if p.find("redirect", names) is not None
    }


def test_the_sha1_of_the_empty_text_is_the_one_mediawiki_has():
    assert _sha1("") == "phoiac9h4m842xq45sp7s6u21eteeq1"


def test_the_same_arguments_write_the_same_bytes_and_another_seed_others(dump, tmp_path):
    for name, seed in (("again", "1"), ("other", "2")):
        path = tmp_path / f"{name}.xml.bz2"
        assert main(["--pages", str(PAGES), "--seed", seed, "--out", str(path)]) == 0
    assert (tmp_path / "again.xml.bz2").read_bytes() == dump.read_bytes()
    assert (tmp_path / "other.xml.bz2").read_bytes() != dump.read_bytes()


@pytest.mark.timeout(300)
def test_links_are_about_as_many_as_table_4_1_says(larger):
    graph, counts = larger
    found = link_statistics(graph)
    assert found.links / found.pages_with_links == pytest.approx(21.41, rel=0.12)
    assert (counts["links"] + counts["outside"]) / len(graph) == pytest.approx(31.12, rel=0.12)
    assert counts["redirects"] > 500
    _, inlinks = found.curves(len(graph))
    assert inlinks[0] > 10 * inlinks.mean()  # few pages have most links


def test_articles_of_a_topic_have_its_word_more_often_and_links_lead_to_it(larger):
    graph, _ = larger
    assert graph.title(graph.find("Cameras")) == "Camera"
    wiki = Wiki(3000, seed=1)
    counts = relevant_pages(graph, ["geology", "fiction"])
    assert 0.003 < counts["geology"] / len(graph) < 0.05
    number = [topic.word for topic in wiki.topics].index("geology")
    of_topic = set(wiki.members[number].tolist())
    own = [t for article in wiki.members[number].tolist() for t in wiki.targets(article)]
    assert np.mean([target in of_topic for target in own]) > 10 * len(of_topic) / wiki.pages


# --------------------------------------------------------------------------- steps


def test_a_sample_has_its_share_the_kept_pages_and_only_links_between_them(larger, tmp_path):
    graph, _ = larger
    keep = [graph.url(graph.find("Geology"))]
    cut_sample(graph.path, tmp_path / "tenth", 0.1, keep)
    tenth = Graph.open(tmp_path / "tenth")
    assert 300 <= len(tenth) <= 301
    assert tenth.index(keep[0]) >= 0
    urls = {tenth.url(number) for number in range(len(tenth))}
    for number in range(len(tenth)):
        page, whole = tenth.page(number), graph.page(graph.index(tenth.url(number)))
        assert page.text == whole.text
        assert [link.url for link in page.links] == [x.url for x in whole.links if x.url in urls]


def test_words_are_counted_as_the_judge_of_the_crawls_does(larger):
    graph, _ = larger
    judge = make("judge", "keywords", topic="geology")
    judged = sum(judge(graph.page(number)).relevant for number in range(len(graph)))
    assert relevant_pages(graph, ["geology"]) == {"geology": judged}


def test_a_step_is_done_once_and_another_dump_is_refused(tmp_path):
    calls, said = [], []

    def work():
        calls.append(1)
        return {"pages": 7}

    for _ in range(2):
        steps = Steps(tmp_path / "steps.json", {"bytes": 1}, said.append)
        assert steps.run("import", work) == {"pages": 7}
    assert (len(calls), len(said)) == (1, 1)
    assert steps.done["import"]["megabytes"] > 0
    with pytest.raises(HoneyguideError, match="another dump"):
        Steps(tmp_path / "steps.json", {"bytes": 2}, said.append)


# --------------------------------------------------------------------------- command


def test_one_command_does_the_whole_experiment(finished):
    report = (finished / "report.md").read_text()
    for heading in ("table 4.1", "table 4.2", "figure 4.4", "table 4.3", "figure 4.6", "§5.2"):
        assert heading in report
    assert "Unfinished" not in report
    assert "generated" in report and "say nothing about Wikipedia" in report
    assert "Peak memory of the whole command" in report
    parts = json.loads((finished / "results.json").read_text())["parts"]
    assert set(parts) == {"gamma", "network", "topics", "exhausted"}
    assert all(done["runs"] == done["asked"] > 0 for done in parts.values())
    for picture in ("links-full", "links-reduced", "gamma", "network", "topics", "exhausted"):
        assert (finished / f"{picture}.png").read_bytes().startswith(b"\x89PNG")


def test_the_same_command_again_runs_nothing_anew(finished, dump, capfd):
    def kept():
        steps = json.loads((finished / "steps.json").read_text())["steps"]
        return (finished / "runs.jsonl").read_bytes(), steps

    before = kept()
    assert wikipedia.main([str(dump), "--out", str(finished), "--quick"]) == 0
    assert kept() == before
    assert "peak memory" in capfd.readouterr().out


def test_what_cannot_be_done_is_one_sentence(dump, finished, tmp_path, capfd):
    absent = str(tmp_path / "none.xml.bz2")
    assert wikipedia.main([absent, "--out", str(tmp_path / "a")]) == 1
    assert "cannot read the dump" in capfd.readouterr().err
    assert wikipedia.main([str(dump), "--out", str(tmp_path / "b"), "--steps", "0"]) == 1
    assert "--steps cannot be 0" in capfd.readouterr().err
    other = [str(dump), "--out", str(finished), "--quick", "--share", "0.5"]
    assert wikipedia.main(other) == 1
    assert "with another --share" in capfd.readouterr().err
    assert main(["--pages", "3", "--out", str(tmp_path / "x.xml")]) == 1


# --------------------------------------------------------------------------- similarities


def test_the_cosines_of_finds_are_reported_by_range(tmp_path):
    task = Task(name="geology", web="w", topic="geology", seeds=("x",), budget=20)
    trial = Trial(part="topics", task=task, entry=Entry(name="basic", agent="best_first"))
    record = {
        "part": "topics", "task": "geology", "entry": "basic", "digest": trial.digest,
        "trial": 0, "repeat": 0, "budget": 20, "relevant": 8, "curve": [1, 8],
        "intervals": [0, 0, 0, 2, 2, 0, 4, 0, 0, 0],
    }  # fmt: skip
    page = ReportPage(tmp_path)
    means = report_similarities(Results([trial], [record]), page, "topics", ("basic", "absent"))
    assert means == {"geology, basic": pytest.approx((2 * 0.35 + 2 * 0.45 + 4 * 0.65) / 8)}
    assert "| geology | basic | 8.00 | 0.53 | 25% | 25% | 0% | 50% |" in page.markdown()
    assert (tmp_path / "topics-similarities.png").exists()
    counts = np.array(record["intervals"])
    assert sum(in_ranges(counts)) == pytest.approx(1)
    assert mean_cosine(np.eye(10)[9]) == pytest.approx(0.95)
