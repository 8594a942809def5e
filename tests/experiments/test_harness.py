"""Running experiments: stored runs, workers, reports, and what can go wrong."""

import itertools
import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from experiments.harness.commit import commit, short
from experiments.harness.experiment import (
    DETERMINISTIC,
    ORACLE,
    Entry,
    Experiment,
    Part,
    Task,
    Trial,
    all_experiments,
    find_experiment,
    runs_of,
)
from experiments.harness.ledger import Ledger
from experiments.harness.run import RunOptions, report_experiment, run_experiment
from experiments.harness.sentences import times, told
from honeyguide.contracts import Page
from honeyguide.errors import HoneyguideError
from honeyguide.registry import make, parts
from honeyguide.version import VERSION
from honeyguide.worlds.synthetic import SyntheticWorld

from ..processes import end

ROOT = Path(__file__).parents[2]
WEB = "synthetic:pages=2000,seed=1"
TASK = Task(name="geology", web=WEB, topic="geology", seeds=("geology",), budget=60)
LINEAR = Entry(name="linear", agent="linear_sync", cosine=True)
ENTRIES = [Entry(name="best_first", agent="best_first"), Entry(name="random", agent="random")]
MEASURED = ("seconds", "processor_seconds", "commit")  # differs from run to run


def small_trials(quick):
    return [
        *runs_of("small", [TASK], [*ENTRIES, ORACLE], runs=2),
        *runs_of("small", [TASK], [LINEAR], runs=2, repeats=3),
    ]


def report(results, page):
    page.table(
        ["task", "found"], [[t, results.mean("small", t, "random")] for t in results.tasks("small")]
    )
    return {"ratio": results.interval("small", "linear", "random")}


SMALL = Experiment(
    name="small",
    title="A small experiment",
    source="Nothing.",
    paper_found="No paper.",
    we_found=lambda results: told(
        "Times random: {}.", times(results, "small", ["linear"], "random")
    ),
    why="There is no paper.",
    parts=(Part(name="small", trials=small_trials),),
    report=report,
)


def experiment_of(part, trials, version=1):
    made = Part(name=part, trials=lambda quick: trials, version=version)
    return Experiment(
        name="s",
        title="",
        source="",
        paper_found="",
        we_found=lambda results: "",
        why="",
        parts=(made,),
        report=lambda results, page: {},
    )


def options(out, **more):
    return RunOptions(experiment=SMALL, data=None, out=out, **more)


def run(out, **more):
    return run_experiment(options(out, **more), lambda trial, of: None, lambda sentence: None)


def records(out):
    found = Ledger(out / "runs.jsonl").read()
    plain = [{k: v for k, v in record.items() if k not in MEASURED} for record in found]
    return sorted(plain, key=lambda record: (record["entry"], record["trial"], record["repeat"]))


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    out = tmp_path_factory.mktemp("experiment")
    run(out)
    return out


@pytest.fixture
def rocks(tmp_path):
    """A folder with a web of nine pages in a row, every second about geology."""
    folder = tmp_path / "data" / "rocks"
    folder.mkdir(parents=True)
    pages = [
        {"id": f"p{i}", "text": "geology" * (i % 2), "links": [[f"p{i + 1}", "next"]]}
        for i in range(9)
    ]
    (folder / "pages.jsonl").write_text("\n".join(map(json.dumps, pages)))
    return tmp_path / "data"


def test_every_run_is_written_down_once(whole):
    found = records(whole)
    assert len(found) == 1 + 2 + 1 + 2 * 3
    assert all(len(record["curve"]) <= 100 and record["pages"] <= 60 for record in found)
    run(whole)
    assert records(whole) == found


def test_results_are_the_same_after_a_kill_at_any_run(whole, tmp_path):
    lines = (whole / "runs.jsonl").read_bytes().splitlines(keepends=True)
    chain = [line for line in lines if json.loads(line)["entry"] == "linear"]
    assert len(chain) == 6
    command = f"""
import os
from tests.experiments.test_harness import run
import experiments.harness.ledger as ledger
from pathlib import Path
append, left = ledger.Ledger.append, [7]
def dying(self, record):
    left[0] -= 1
    if not left[0]:
        os._exit(9)
    append(self, record)
ledger.Ledger.append = dying
run(Path({str(tmp_path / "out")!r}))
"""
    for _ in range(2):  # killed in the middle of a chain of tasks, gone on with, killed again
        died = subprocess.run([sys.executable, "-c", command], cwd=ROOT, capture_output=True)
        if died.returncode == 0:
            break
        assert died.returncode == 9, died.stderr
    run(tmp_path / "out")
    assert records(tmp_path / "out") == records(whole)


def test_results_are_the_same_with_two_processes(whole, tmp_path):
    run(tmp_path, workers=2)
    assert records(tmp_path) == records(whole)


def endless(trial, world, random_seed):
    """A trial that says who runs it and never ends."""
    Path(trial.entry.agent).write_text(str(os.getpid()))
    time.sleep(600)


def test_workers_end_when_their_parent_is_killed(tmp_path):
    told = [tmp_path / "first", tmp_path / "second"]
    program = tmp_path / "program.py"  # a file, since workers begin by importing it
    program.write_text(f"""
from pathlib import Path
from experiments.harness.run import RunOptions, run_experiment
from tests.experiments.test_harness import TASK, Entry, Trial, experiment_of

if __name__ == "__main__":
    where = "tests.experiments.test_harness:endless"
    trials = [
        Trial(part="p", task=TASK, entry=Entry(name=name, agent=name), function=where)
        for name in {list(map(str, told))!r}
    ]
    out = Path({str(tmp_path)!r})
    experiment = experiment_of("p", trials)
    run_experiment(RunOptions(experiment=experiment, data=None, out=out, workers=2), print, print)
""")
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen([sys.executable, str(program)], env=environment) as parent:
        deadline = time.monotonic() + 110
        while not all(path.exists() and path.read_text() for path in told):
            assert time.monotonic() < deadline
            time.sleep(0.02)
        parent.kill()
    assert end([int(path.read_text()) for path in told])


def test_what_is_learnt_is_kept_from_repeat_to_repeat_only(whole, tmp_path):
    found = [r["curve"] for r in records(whole) if r["entry"] == "linear" and r["trial"] == 0]
    alone = Trial(part="small", task=TASK, entry=LINEAR)
    one = experiment_of("small", [alone])
    run_experiment(
        RunOptions(experiment=one, data=None, out=tmp_path),
        lambda trial, of: None,
        lambda sentence: None,
    )
    assert records(tmp_path)[0]["curve"] == found[0]
    assert found[0] != found[1]


def test_the_report_says_what_was_measured_and_how(whole):
    text = (whole / "report.md").read_text()
    assert "| geology |" in text and "Unfinished" not in text
    results = json.loads((whole / "results.json").read_text())
    oracle = results["figures"]["small"]["geology"]["oracle"]
    assert oracle["oracle_share"] == 1.0 and oracle["web"]["reachable"] <= 2000
    assert results["figures"]["small"]["geology"]["random"]["random_seeds"] == [0, 1000]
    low, high = results["headline"]["ratio"][1:]
    assert low <= results["headline"]["ratio"][0] <= high


def test_only_the_agents_asked_for_run_and_the_rest_can_follow(whole, tmp_path):
    run(tmp_path, agents=("best_first", "oracle"))
    assert {record["entry"] for record in records(tmp_path)} == {"best_first", "oracle"}
    assert "**Unfinished:** small has 2 of 10 runs." in (tmp_path / "report.md").read_text()
    run(tmp_path)
    assert records(tmp_path) == records(whole)


def test_stopping_early_leaves_the_count_as_it_was(rocks, tmp_path):
    task = Task(name="all", web="rocks", topic="geology", seeds=("p0",), budget=5000)
    experiment = experiment_of("p", [Trial(part="p", task=task, entry=ENTRIES[1])])
    run_experiment(
        RunOptions(experiment=experiment, data=rocks, out=tmp_path),
        lambda t, of: None,
        lambda s: None,
    )
    (record,) = records(tmp_path)
    assert record["pages"] == 9 and record["ended"] == "no link left"
    assert record["curve"][0] == 0 and set(record["curve"][1:]) == {record["relevant"]} == {4}


def test_agents_that_run_once_would_find_the_same_again(tmp_path):
    entries = [Entry(name=name, agent=name) for name in DETERMINISTIC]
    trials = [
        Trial(part="p", task=TASK, entry=e, number=n, repeats=2) for e in entries for n in range(2)
    ]
    asked = RunOptions(experiment=experiment_of("p", trials), data=None, out=tmp_path)
    run_experiment(asked, lambda trial, of: None, lambda sentence: None)
    for asked_for in itertools.product(
        DETERMINISTIC, range(2)
    ):  # a learner goes on from the last task
        runs = [r for r in records(tmp_path) if (r["entry"], r["repeat"]) == asked_for]
        assert len(runs) == 2 and runs[0]["curve"] == runs[1]["curve"]


# ------------------------------------------------------------------- one part, one version

WINE = Task(name="wine", web=WEB, topic="wine", seeds=("wine",), budget=20)


def two_parts(version=1):
    """An experiment of two parts, the second with a version of its own."""
    first, second = (
        Part(
            name=name,
            trials=lambda quick, name=name: runs_of(name, [WINE], ENTRIES, runs=2),
            version=its_version,
        )
        for name, its_version in (("first", 1), ("second", version))
    )
    return replace(SMALL, parts=(first, second), report=lambda results, page: {})


def run_two(out, version=1, **more):
    asked = RunOptions(experiment=two_parts(version), data=None, out=out, **more)
    return run_experiment(asked, lambda trial, of: None, lambda sentence: None)


def lines(out, part):
    return [r for r in Ledger(out / "runs.jsonl").read() if r["part"] == part]


def told_of_parts(out):
    return json.loads((out / "results.json").read_text())["parts"]


def test_runs_of_an_older_version_of_a_part_are_not_used_again(tmp_path):
    run_two(tmp_path)
    kept = lines(tmp_path, "first")
    run_two(tmp_path, version=2)
    assert lines(tmp_path, "first") == kept
    versions = [record["part_version"] for record in lines(tmp_path, "second")]
    assert versions == [1, 1, 1, 2, 2, 2]
    parts_told = told_of_parts(tmp_path)
    assert [(p["version"], p["runs"]) for p in parts_told.values()] == [(1, 3), (2, 3)]
    digests = {trial.digest for trial in two_parts(3).trials(False)}
    assert len(digests - {trial.digest for trial in two_parts(2).trials(False)}) == 2


def test_a_trial_has_the_version_of_its_part_from_wherever_it_is_listed():
    part = two_parts(7).parts[1]
    assert {trial.version for trial in part.trials(True)} == {7}
    assert {trial.version for trial in replace(part, version=8).trials(False)} == {8}


def test_renewing_one_part_leaves_the_others_as_they_were(tmp_path):
    run_two(tmp_path)
    ledger = tmp_path / "runs.jsonl"
    ledger.write_text(ledger.read_text().replace(VERSION, "0.0.1"))
    run_two(tmp_path, parts=("second",), renew=True)
    versions = {name: p["honeyguide"] for name, p in told_of_parts(tmp_path).items()}
    assert versions == {"first": ["0.0.1"], "second": [VERSION]}
    assert len(lines(tmp_path, "first")) == len(lines(tmp_path, "second")) == 3
    run_two(tmp_path, parts=("first",), agents=("random",), renew=True)
    assert told_of_parts(tmp_path)["first"]["honeyguide"] == ["0.0.1", VERSION]
    with pytest.raises(HoneyguideError, match="name the parts to renew with --part"):
        run_two(tmp_path, renew=True)


def test_a_report_is_written_from_stored_runs_alone(tmp_path):
    run_two(tmp_path, parts=("first",))
    run_two(tmp_path, parts=("second",))
    before = (tmp_path / "runs.jsonl").read_bytes(), told_of_parts(tmp_path)
    (tmp_path / "report.md").unlink()
    asked = RunOptions(experiment=two_parts(), data=None, out=tmp_path)
    assert report_experiment(asked).exists()
    assert ((tmp_path / "runs.jsonl").read_bytes(), told_of_parts(tmp_path)) == before
    other = RunOptions(experiment=two_parts(2), data=None, out=tmp_path / "none")
    with pytest.raises(HoneyguideError, match=r"runs.jsonl has no run of small; .* --quick"):
        report_experiment(other)


def test_a_run_holds_the_code_that_made_it_and_what_it_cost(whole):
    for record in Ledger(whole / "runs.jsonl").read():
        assert record["honeyguide"] == VERSION and record["part_version"] == 1
        assert record["processor_seconds"] > 0 and record["seconds"] > 0
    made = told_of_parts(whole)["small"]
    assert made["commits"] == [commit()] and made["runs"] == made["asked"] == 10
    table = (whole / "report.md").read_text().partition("## How this was made")[2]
    assert f"| small | 1 | {short(commit())} | {VERSION} | 10 | 10 |" in table


def test_runs_stored_without_their_origin_are_said_to_be_of_unknown_code(tmp_path):
    run_two(tmp_path)
    ledger = Ledger(tmp_path / "runs.jsonl")
    stored = ledger.read()
    ledger.path.unlink()
    for record in stored:
        for field in ("honeyguide", "part_version", "processor_seconds"):
            del record[field]
        ledger.append(record)
    run_two(tmp_path)
    told_now = told_of_parts(tmp_path)["first"]
    assert told_now["honeyguide"] == ["unknown"] and told_now["processor_seconds"] is None
    row = next(x for x in (tmp_path / "report.md").read_text().splitlines() if "| first |" in x)
    assert row.count("unknown") == 2


def test_a_page_opens_with_what_was_found_and_why_it_differs(whole, tmp_path):
    text = (whole / "report.md").read_text()
    opening = text[: text.index("| task | found |")]
    ratio = json.loads((whole / "results.json").read_text())["headline"]["ratio"][0]
    assert "**The paper found:** No paper." in opening
    assert f"**We found:** Times random: linear {ratio:.2f} (" in opening
    assert "**Why they differ:** There is no paper." in opening
    run(tmp_path, agents=("random",))
    opening = (tmp_path / "report.md").read_text()
    assert "**We found:** nothing yet" in opening and "Why they differ" not in opening


# ------------------------------------------------------------------- what can go wrong


def test_an_unknown_experiment_part_or_agent_is_named_with_its_nearest(tmp_path):
    with pytest.raises(HoneyguideError, match="did you mean 'han2018'"):
        find_experiment("han2108")
    with pytest.raises(HoneyguideError, match="did you mean 'small'"):
        options(tmp_path, parts=("smal",))
    with pytest.raises(HoneyguideError, match="did you mean 'random'"):
        run(tmp_path, agents=("randon",))


def test_missing_data_is_said_in_one_sentence(tmp_path):
    han = find_experiment("han2018")
    with pytest.raises(HoneyguideError, match="there is no folder"):
        RunOptions(experiment=han, data=tmp_path / "none", out=tmp_path)
    lacking = RunOptions(experiment=han, data=tmp_path, out=tmp_path / "out", parts=("glove",))
    with pytest.raises(HoneyguideError, match="no web named 'wikispeedia' in"):
        run_experiment(lacking, lambda trial, of: None, lambda sentence: None)
    unsaid = RunOptions(experiment=han, data=None, out=tmp_path / "out", parts=("glove",))
    with pytest.raises(HoneyguideError, match="with --data"):
        run_experiment(unsaid, lambda trial, of: None, lambda sentence: None)
    (tmp_path / "file").write_text("")
    with pytest.raises(HoneyguideError, match="is a file, not a folder"):
        options(tmp_path / "file")


def test_a_web_given_as_pages_is_imported_once(rocks, tmp_path):
    tasks = [
        Task(name=f"{seed}", web="rocks", topic="geology", seeds=(seed,), budget=5)
        for seed in ("p0", "random page 4")
    ]
    experiment = experiment_of("p", runs_of("p", tasks, [ORACLE], 1))
    asked = RunOptions(experiment=experiment, data=rocks, out=tmp_path / "out")
    run_experiment(asked, lambda trial, of: None, lambda sentence: None)
    assert (tmp_path / "out" / "webs" / "rocks" / "graph.json").exists()
    again = RunOptions(
        experiment=experiment, data=tmp_path / "out" / "webs", out=tmp_path / "other"
    )
    run_experiment(again, lambda trial, of: None, lambda sentence: None)
    assert records(tmp_path / "other") == records(tmp_path / "out")


# ------------------------------------------------------------------- the experiments


@pytest.mark.parametrize("name", sorted(all_experiments()))
@pytest.mark.parametrize("quick", [False, True])
def test_an_experiment_asks_each_question_once_and_of_agents_that_exist(name, quick):
    experiment = find_experiment(name)
    trials = [trial for part in experiment.parts for trial in part.trials(quick)]
    runs = [(t.digest, t.number) for t in trials]
    assert len(set(runs)) == len(runs)
    places = {(t.part, t.task.name, t.entry.name): t.digest for t in trials}
    assert len(set(places.values())) == len(places) == len({t.digest for t in trials})
    assert {t.part for t in trials} == {part.name for part in experiment.parts}
    known = parts("agent")
    assert all(t.function or t.entry.agent.partition(":")[0] in known for t in trials)
    for _, same in itertools.groupby(sorted(trials, key=_question), key=_question):
        assert len({(t.task.budget, t.task.judge, t.task.seeds) for t in same}) == 1


def _question(trial):
    return trial.part, trial.task.name


def test_settings_are_not_chosen_on_what_is_reported():
    experiment = find_experiment("honeyguide-v1")
    tasks = {part.name: {t.task.name for t in part.trials(False)} for part in experiment.parts}
    for name, reported in tasks.items():
        assert name == "search" or not tasks["search"] & reported


@pytest.mark.parametrize("judge", ["keywords", "label:geology"])
def test_showing_cosines_changes_no_verdict(judge, encoder):
    entry = Entry(name="x", agent="random", cosine=True)
    task = Task(name="t", web=WEB, topic="geology", judge=judge, seeds=("geology",), budget=1)
    shown = make("judge", entry.judge(task), topic="geology", encoder=encoder)
    plain = make("judge", judge, topic="geology", encoder=encoder)
    seen = []
    SyntheticWorld(lambda page: seen.append(page) or plain(page), pages=300, seed=2).truth()
    odd = [Page("http://a/", "Geology", ""), Page("http://b/", "", "biogeology"), Page("http://c/")]
    for page in [*seen, *odd]:
        assert shown(page).relevant == plain(page).relevant
    assert sum(plain(page).relevant for page in seen) > 3
