"""Fuzz flags, plans and TOML files: each gives a plan or a part, or an error of one sentence."""

from random import Random

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from typer.main import get_command

from honeyguide.cli import app, flags
from honeyguide.errors import HoneyguideError
from honeyguide.plan import Plan
from honeyguide.registry import make, parts
from honeyguide.web.connections import FixedAddresses
from tests.fuzz.harness import bounded, fuzz, fuzzed, mutated

TOML = b"""topic = "rocks"
seed = ["http://x.example/", "b"]
budget = 50
delay = 0.5
sitemaps = true
agent = {name = "guide", gamma = 0.9}
judge = "keywords:rocks"
max-waiting = 100
"""


CRAWL = get_command(app).commands["crawl"]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("settings")


@fuzzed(
    "toml",
    [TOML],
    [
        b"= ",
        b"[[",
        b"[a",
        b"{a=",
        b'"""',
        b"nan",
        b"-inf",
        b"1_0",
        b"1979-05-27",
        b"delay = ",
        b"\\u",
    ],
    few=150,
)
def test_any_toml_file_says_flags_or_is_refused(place, data):
    file = place / "plan.toml"
    file.write_bytes(data)
    context = typer.Context(CRAWL)
    flags._read_config(context, file)
    said = context.default_map or {}
    Plan(**{name: value for name, value in said.items() if name in Plan.__slots__})


WORDS = st.text(st.characters(), max_size=30)  # half surrogate pairs and NULs included
NUMBERS = st.integers() | st.floats()


@fuzz(150)
@given(
    st.fixed_dictionaries(
        {"seeds": st.lists(WORDS, max_size=2)},
        optional={
            **dict.fromkeys(("topic", "judge", "world", "contact", "resolve", "record"), WORDS),
            **dict.fromkeys(("budget", "delay", "patience", "price", "max_waiting"), NUMBERS),
            "like": st.lists(WORDS, max_size=2),
            "search": st.lists(WORDS, max_size=2),
        },
    )
)
def test_any_plan_is_made_or_refused(said):
    bounded(lambda: Plan(**said).limits, 100)


# those that take no file and ask nobody
CHEAP = {
    "encoder": ("ngrams",),
    "judge": ("keywords", "label", "keyphrases", "topic", "like", "tfidf"),
    "frontier": tuple(parts("frontier")),
    "gate": ("none",),
    "guard": ("none",),
}
SETTINGS = [
    b"width=64",
    b"cache_megabytes=1",
    b"threshold=0.5",
    b"rocks,sea",
    b"x=y",
    b"a:b:c",
    b"",
]


@fuzz(200)
@given(st.integers(0, 2**63))
def test_any_spec_makes_a_part_or_is_refused(seed):
    random = Random(seed)
    kind = random.choice(sorted(CHEAP))
    name = random.choice(CHEAP[kind])
    said = mutated(random, SETTINGS, [b"=", b",", b":", b"nan", b"inf", b"-1", b"1e9"])[:200]
    spec = f"{name}:{said.decode('utf-8', 'replace')}" if said else name
    offers = {"encoder": ENCODER, "topic": "rocks", "examples": ("rocks",), "search": ("sea",)}
    bounded(lambda: make(kind, spec, **offers), 100)


ENCODER = make("encoder", "ngrams:64")


@fuzzed(
    "resolve", [b"*=127.0.0.1:80", b"a.example=[::1]:8080,b=1.2.3.4:1"], [b"=", b":", b",", b"["]
)
def test_any_table_of_hosts_is_read_or_refused(place, data):
    FixedAddresses(data.decode("utf-8", "replace"))


def test_flags_that_are_no_text_are_refused(place):
    with pytest.raises(HoneyguideError):
        Plan(seeds=("a",), delay=float("nan"))


@pytest.mark.parametrize("width", ["7", "-1", "9" * 60])
def test_a_width_that_no_encoder_can_have_is_refused(width):
    with pytest.raises(HoneyguideError, match="width of 8 to"):
        make("encoder", f"ngrams:{width}")
