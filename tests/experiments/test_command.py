"""python -m experiments, as a person uses it."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from experiments.harness.command import main
from experiments.harness.experiment import all_experiments, find_experiment
from experiments.harness.ledger import Ledger

from ..test_docs import blocks

ROOT = Path(__file__).parents[2]
README = ROOT / "experiments" / "README.md"


def python(*arguments, folder=ROOT):
    return subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=110,
    )


@pytest.fixture
def refused(capsys):
    """A function that runs something wrong and gives the sentence it gets."""

    def run(*arguments):
        assert main(list(map(str, arguments))) == 1
        told = capsys.readouterr().err
        assert told.count("\n") == 1, told
        return told.removeprefix("experiments: ").strip()

    return run


def test_a_quick_part_runs_in_workers_and_is_reported(tmp_path):
    part = ("lim2016", "--quick", "--part", "lists", "--agents", "queue", "--workers", 2)
    done = python("-m", "experiments", *part, "--out", tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == f"results: {tmp_path / 'report.md'}, {tmp_path / 'results.json'}\n"
    records = Ledger(tmp_path / "runs.jsonl").read()
    assert {(record["entry"], record["pages"]) for record in records} == {
        ("queue", 5),
        ("queue", 50),
    }
    assert "## Waiting links as the paper counts them" in (tmp_path / "report.md").read_text()
    about = json.loads((tmp_path / "results.json").read_text())["about"]
    assert about["experiment"] == "lim2016"
    assert about["command"].startswith("python -m experiments lim2016 --quick --part lists")


def test_the_list_names_every_experiment_with_its_parts(capsys):
    assert main(["--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert {line.partition(":")[0] for line in lines} == set(all_experiments())
    [line] = [line for line in lines if line.startswith("lim2016:")]
    names = ", ".join(part.name for part in find_experiment("lim2016").parts)
    assert line.endswith(f"(parts: {names})")


def test_what_is_missing_or_wrong_is_said_in_one_sentence(refused, tmp_path):
    assert refused().startswith("which experiment?")
    assert refused("han2018") == "where should results go? name a folder with --out"
    out = ("--out", tmp_path / "out")
    assert "did you mean 'han2018'" in refused("han2108", *out)
    assert "did you mean 'generated'" in refused("han2018", "--part", "generate", *out)
    assert "name the agents with --agents" in refused("han2018", "--agents", "", *out)
    (tmp_path / "file").touch()
    told = refused("han2018", "--out", tmp_path / "file")
    assert told == f"{tmp_path / 'file'} is a file, not a folder"
    assert not (tmp_path / "out").exists()


def test_published_runs_are_still_recognised():
    """A digest that changed would run five hours of walks again."""
    trials = [t for part in find_experiment("friar2017").parts for t in part.trials(False)]
    wanted = {(trial.digest, trial.number) for trial in trials}
    published = Ledger(ROOT / "experiments/results/friar2017/runs.jsonl").read()
    assert {(record["digest"], record["trial"]) for record in published} == wanted


def git(*arguments):
    return subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, text=True)


def in_history(commit):
    return git("merge-base", "--is-ancestor", commit, "HEAD").returncode == 0


def named_commits(results):
    """List the commits in a results.json; older ones have them for all parts together."""
    old = results["about"].get("commits", [])
    return {*old, *(c for part in results["parts"].values() for c in part.get("commits", []))}


RESULTS = sorted((ROOT / "experiments" / "results").rglob("results.json"))


@pytest.mark.parametrize("path", RESULTS, ids=lambda path: path.parent.name)
def test_every_commit_that_a_report_names_is_in_the_history_or_the_readme_says_it_is_not(path):
    if git("rev-parse", "--is-shallow-repository").stdout.strip() != "false":
        pytest.skip("this is no git clone with its history")
    commits = named_commits(json.loads(path.read_text()))
    assert commits
    gone = {
        c for c in commits if git("merge-base", "--is-ancestor", c.rstrip("+"), "HEAD").returncode
    }
    named = re.findall(r"names ([0-9a-f]{12}), which was rewritten", README.read_text())
    assert gone <= set(named)


def test_the_readme_names_every_experiment_and_leads_to_its_results():
    named = set(re.findall(r"^\| `([\w-]+)` \|", README.read_text(), re.MULTILINE))
    assert named == set(all_experiments())
    for name in named:
        assert f"(results/{name}/report.md)" in README.read_text()


@pytest.mark.parametrize("code", blocks(README, "python"))
def test_the_python_of_the_readme_is_an_experiment_that_runs(code, tmp_path):
    run = """
from pathlib import Path
from experiments.harness.run import RunOptions, run_experiment
options = RunOptions(experiment=EXPERIMENT, data=None, out=Path("out"), agents=("best_first",))
run_experiment(options, lambda trial, of: None, print)
"""
    done = python("-c", code + run, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "## Table 2" in (tmp_path / "out" / "report.md").read_text()
