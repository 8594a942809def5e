import pytest

from honeyguide.contracts import Page
from honeyguide.errors import HoneyguideError
from honeyguide.registry import make


@pytest.mark.parametrize(
    ("label", "fits"),
    [
        ("Birds", True),
        ("subject.Science.Biology.Birds", True),
        ("topic:birds", True),
        ("a.b:BIRDS", True),
        ("Birds.Owls", False),
        ("songbirds", False),
        ("", False),
    ],
)
def test_a_label_fits_as_a_whole_or_by_its_last_part(label, fits):
    page = Page("http://x.example/", labels=("other", label))
    assert make("judge", "label:Birds")(page).relevant is fits


def test_a_whole_label_may_be_named():
    page = Page("http://x.example/", labels=("subject.Science.Biology.Birds",))
    judge = make("judge", "label:subject.Science.Biology.birds")
    assert judge(page).relevance == 1
    assert judge(page).reasons == ("is labelled 'subject.Science.Biology.Birds'",)


@pytest.mark.parametrize(
    ("url", "on_target"),
    [
        ("http://example.com/a", True),
        ("https://www.Example.com:8080/", True),
        ("http://shop.example.com./", True),
        ("http://notexample.com/", False),
        ("http://example.com.evil.org/", False),
        ("http://com/", False),
        ("http://other.co.uk/example.com", False),
        ("http://xn--mnchen-3ya.de/", True),
        ("http://[broken", False),
        ("", False),
    ],
)
def test_a_domain_covers_its_subdomains_and_nothing_else(url, on_target):
    judge = make("judge", "targets:https://www.example.com/start,münchen.de")
    assert judge(Page(url)).relevant is on_target


def test_a_name_is_looked_for_in_titles():
    judge = make("judge", "targets:Acme")
    assert judge(Page("http://x.example/", "ACME: home")).relevant
    assert not judge(Page("http://x.example/", "Acmeist poetry", "Acme")).relevant


def test_targets_are_read_from_a_file(tmp_path):
    path = tmp_path / "targets.csv"
    path.write_text('# companies\n"www.one.example"\n\ntwo.example  # second\n', encoding="utf-8")
    judge = make("judge", f"targets:{path}")
    assert judge(Page("http://a.one.example/")).reasons == (
        "is on the target domain 'one.example'",
    )
    assert judge(Page("http://two.example/")).relevant
    assert not judge(Page("http://three.example/")).relevant


def test_no_targets_are_refused(tmp_path):
    empty = tmp_path / "empty.txt"
    empty.write_text("# nothing\n")
    for spec in (f"targets:{empty}", "targets:,"):
        with pytest.raises(HoneyguideError, match="no target domains"):
            make("judge", spec)
