from collections import Counter

import numpy as np
import pytest

from honeyguide.contracts import Link, Page, Verdict, Visit
from honeyguide.engine.memory import Memory
from honeyguide.errors import HoneyguideError
from honeyguide.guards.none import NoGuard
from honeyguide.guards.once_per_target import OncePerTarget
from honeyguide.judges.targets import Targets, target_in
from honeyguide.plan import Plan
from honeyguide.registry import make
from honeyguide.text.phrases import Phrases
from honeyguide.text.words import words
from honeyguide.urls import host

HOST = "http://elsewhere.example/"


@pytest.mark.parametrize(
    "said",
    ["companies.csv", "lists/companies.txt", "./companies", "/no/such/list", "a.example,b.txt"],
)
def test_a_mistyped_file_is_an_error(said):
    with pytest.raises(HoneyguideError, match="there is no file"):
        make("judge", f"targets:{said}")


def test_a_path_into_a_folder_that_exists_is_not_taken_for_a_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lists").mkdir()
    with pytest.raises(HoneyguideError, match="there is no file 'lists/companies'"):
        Targets("lists/companies")
    assert Targets("Novo/S")(Page(HOST, "Novo/S")).relevant


def test_one_of_two_files_is_not_silently_a_target(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("Acme\n")
    with pytest.raises(HoneyguideError, match="name one file"):
        Targets("a.txt,b.txt")


def table(tmp_path, text, name="companies.csv"):
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


COMPANIES = (
    'Name,Website\n"Smith & Co. Ltd.",http://www.smith.example/home\nStone plc,stone.example\n'
)


def test_a_table_without_a_chosen_column_is_an_error_that_names_the_columns(tmp_path):
    path = table(tmp_path, COMPANIES)
    with pytest.raises(HoneyguideError, match="has the columns Name, Website"):
        make("judge", f"targets:{path}")


def test_a_table_with_another_ending_is_not_silently_a_list_of_names(tmp_path):
    path = table(tmp_path, COMPANIES, "companies.txt")
    with pytest.raises(HoneyguideError, match=r"line 2 of .* has several columns"):
        make("judge", f"targets:{path}")


@pytest.mark.parametrize("column", ["website", "Website", "2"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_column_of_a_table_is_chosen_by_name_or_number(column, delimiter, tmp_path):
    path = table(tmp_path, COMPANIES.replace(",", delimiter))
    judge = make("judge", f"targets:domains={path},column={column}")
    assert judge(Page("http://smith.example/x")).relevant
    assert judge(Page("http://sub.stone.example/")).relevant
    assert not judge(Page(HOST, "Stone plc")).relevant


def test_an_unknown_column_is_an_error_that_names_the_nearest(tmp_path):
    path = table(tmp_path, COMPANIES)
    with pytest.raises(HoneyguideError, match="did you mean 'Website'"):
        make("judge", f"targets:domains={path},column=Websites")
    with pytest.raises(HoneyguideError, match="no file 'acme'"):
        make("judge", "targets:domains=acme,column=Name")


@pytest.mark.parametrize(
    "title", ["Smith & Co. Ltd.", "About SMITH & CO LTD", "Smith, Co. Ltd – home"]
)
def test_a_name_with_dots_is_a_name(title):
    judge = Targets("Smith & Co. Ltd.")
    assert judge(Page(HOST, title)).reasons == ("has the target 'Smith & Co. Ltd.' in its title",)
    assert not judge(Page(HOST, "Smith and Ltd.")).relevant
    assert not judge(Page(HOST, "Smithy & Co. Ltd.")).relevant


def test_signs_that_make_a_name_are_not_left_out():
    judge = Targets("C++,Acme")
    assert judge(Page(HOST, "learn c++ today")).relevant
    assert not judge(Page(HOST, "vitamin c")).relevant


def test_an_entry_that_may_be_a_domain_or_a_name_is_both():
    judge = Targets("Node.js")
    assert judge(Page(HOST, "Node.js for beginners")).relevant
    assert judge(Page("http://www.node.js/")).relevant


def test_names_in_texts_count_only_if_asked_for():
    page = Page(HOST, "News", "Yesterday Stone plc, a builder, was sold.")
    assert not Targets("Stone plc")(page).relevant
    verdict = Targets("Stone plc", text=True)(page)
    assert verdict.reasons == ("has the target 'Stone plc' in its text",)
    assert not Targets("Acme").reads_texts
    assert Targets("Acme", text=True).reads_texts


def test_phrases_finds_what_a_search_for_each_phrase_finds():
    rng = np.random.default_rng(3)
    letters = ["aa", "bb", "cc", "dd", "Ee", "f."]

    def some(most):
        return " ".join(rng.choice(letters, rng.integers(1, most)))

    found = 0
    for _ in range(300):
        phrases = [some(4) for _ in range(5)]
        text = some(12)
        spaced = f" {' '.join(words(text))} "
        present = {phrase for phrase in phrases if f" {' '.join(words(phrase))} " in spaced}
        first = Phrases(phrases).first(text)
        found += bool(present)
        assert bool(first) is bool(present)
        assert not first or first in present
    assert 50 < found < 290


def test_every_reason_names_its_target():
    judge = Targets("stone.example,O'Neil & Sons", text=True)
    pages = [
        Page("http://stone.example/"),
        Page(HOST, "O'Neil & Sons"),
        Page(HOST, "", "o'neil sons"),
    ]
    assert [target_in(judge(page)) for page in pages] == [
        "stone.example",
        "O'Neil & Sons",
        "O'Neil & Sons",
    ]
    assert target_in(judge(Page(HOST))) == ""


def crawled(judge):
    """The pages of a short crawl, with the verdicts that counted."""
    plan = Plan(
        topic="geology",
        seeds=("20 random pages",),
        world="synthetic:pages=2000",
        judge=judge,
        agent="breadth_first",
        budget=60,
    )
    seen = []
    plan.open().simulate(lambda visit, step, now: seen.append((visit.link.url, step.verdict)))
    return seen


def test_with_once_a_crawl_finds_each_target_once(tmp_path):
    hosts = Counter(host(url) for url, _ in crawled("label:topic:geology"))
    (common, pages), (other, others) = hosts.most_common(2)
    domains = f"{common},{other}"
    assert min(pages, others) > 1
    (tmp_path / "list.txt").write_text(domains.replace(",", "\n"))
    every = [url for url, verdict in crawled(f"targets:{domains}") if verdict.relevant]
    seen = crawled(f"targets:domains={tmp_path}/list.txt,once=yes")
    first = [host(url) for url, verdict in seen if verdict.relevant]
    assert len(every) == pages + others
    assert sorted(first) == sorted([common, other])
    assert any(verdict.reasons == (f"'{common}' was found before",) for _, verdict in seen)


def test_a_page_that_is_visited_again_stays_the_one_that_counts():
    guard, memory = OncePerTarget(NoGuard(), target_in), Memory()
    hit = Verdict(1.0, True, ("is on the target domain 'a.example'",))
    visit = Visit(Link("http://a.example/"), Page("http://a.example/"), hit)
    assert guard.note(memory, 0, visit) is visit
    again = OncePerTarget(NoGuard(), target_in)
    again.load(guard.state())
    assert not again.note(memory, 1, visit).verdict.relevant
    assert again.note(memory, 0, visit) is visit
