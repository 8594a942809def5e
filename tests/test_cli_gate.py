"""Searching with a gate and lists, as a person meets it: Lim (2016)."""

from .test_cli import SMALL, exported, honeyguide, refused

SEARCH = ("--judge", "keyphrases", "--search", "sedimentary rock", "--search", "geology")
WEB = ("--world", "synthetic:pages=3000", "--seed", "geology", "--budget", 60)


def test_a_crawl_with_a_gate_explains_its_matches_and_its_policy(tmp_path):
    out = tmp_path / "out"
    done = honeyguide("crawl", *WEB, *SEARCH, "--gate", "parse_or_skip", "--out", out)
    assert done.returncode == 0, done.stderr
    relevant = [page for page in exported(out) if page["relevant"]]
    assert relevant
    assert all("matches '" in reason for page in relevant for reason in page["reasons"])
    best = max(relevant, key=lambda page: page["relevance"])
    assert best["reasons"][0] in done.stdout
    shown = honeyguide("show", "policy", out)
    assert shown.returncode == 0, shown.stderr
    narrow = honeyguide("show", "policy", out, TTY_COMPATIBLE="1", COLUMNS="80", TERM="dumb")
    assert all(len(line) <= 80 for line in narrow.stdout.splitlines())
    assert "stand aside" in narrow.stdout or "parse" in narrow.stdout
    lines = shown.stdout.splitlines()
    assert len(lines) == 17
    assert all(line.split()[-1] in ("parse", "skip", "aside") for line in lines[1:])


def test_a_crawl_with_a_gate_goes_on_where_it_stopped(tmp_path):
    gate = ("--gate", "parse_or_skip", "--agent", "breadth_first", "--max-waiting", 40)
    honeyguide("crawl", *SMALL, *gate, "--budget", 60, "--out", tmp_path / "whole")
    honeyguide("crawl", *SMALL, *gate, "--budget", 25, "--out", tmp_path / "half")
    done = honeyguide("resume", tmp_path / "half", "--budget", 60)
    assert done.returncode == 0, done.stderr
    assert "dropped " in done.stdout
    whole, half = (
        [page["url"] for page in exported(tmp_path / name)] for name in ("whole", "half")
    )
    assert half == whole
    status = {name: honeyguide("status", tmp_path / name).stdout for name in ("whole", "half")}
    [dropped] = [line for line in status["whole"].splitlines() if line.startswith("dropped")]
    assert dropped in status["half"]


def test_a_crawl_without_a_gate_has_no_policy_to_show(tmp_path):
    honeyguide("crawl", *SMALL, "--budget", 5, "--out", tmp_path / "out")
    assert "has no policy to show" in refused("show", "policy", tmp_path / "out")


def test_lists_can_be_given_as_files(tmp_path):
    (tmp_path / "deny.txt").write_text("# all of it\n*\n")
    said = refused("crawl", *SMALL, "--deny", tmp_path / "deny.txt", "--out", tmp_path / "out")
    assert "is never fetched: denied" in said
