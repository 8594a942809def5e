"""python -m experiments all: every experiment, stopped at any time and continued."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from experiments.harness.command import main
from experiments.harness.ledger import Ledger

from ..processes import end

ROOT = Path(__file__).parents[2]
# an experiment of one part, whose trials call the function below it
EXPERIMENT = """
import os
import time
from pathlib import Path

from experiments.harness.experiment import Entry, Experiment, Part, Task, Trial

TASK = Task(name="t", web="synthetic:pages=100", topic="wine", seeds=("wine",), budget=5)
ENTRY = Entry(name="e", agent="random")


def trials(quick):
    return [
        Trial(part=part, task=TASK, entry=ENTRY, number=number, function=f"{__name__}:measure")
        for part in PARTS
        for number in range(3)
    ]


def listed(part):
    return lambda quick: [trial for trial in trials(quick) if trial.part == part]


def measure(trial, world, random_seed):
    with Path(FOLDER, "calls").open("a") as calls:
        calls.write(f"{__name__} {trial.number} {os.getpid()}\\n")
    happen(trial)
    return {"relevant": random_seed + 7}


def report(results, page):
    page.text(f"Found: {[results.found(part, 't', 'e') for part in PARTS]}")
    return {}
"""
DEFINED = """
EXPERIMENT = Experiment(
    name=__name__.rpartition(".")[2], title="T", source="S", paper_found="P",
    we_found=lambda results: "", why="W", report=report,
    parts=tuple(Part(name=part, trials=listed(part)) for part in PARTS),
)
"""
NOTHING = "pass"


@pytest.fixture
def package(tmp_path):
    """A function that writes the experiments of a program: what happens in a trial, by name."""

    def write(parts=("p",), **happens):
        folder = tmp_path / "experiments"
        folder.mkdir()
        for name, happens_there in happens.items():
            said = f"PARTS, FOLDER = {parts!r}, {str(tmp_path)!r}\n"
            called = f"\ndef happen(trial):\n    {happens_there}\n"
            (folder / f"{name}.py").write_text(said + EXPERIMENT + called + DEFINED)
        program = tmp_path / "program.py"  # a file, since child processes begin by importing it
        program.write_text(f"""
import sys
import experiments
from experiments.harness import command

experiments.__path__[:] = [{str(folder)!r}]
if __name__ == "__main__":
    sys.exit(command.main(sys.argv[1:]))
""")
        return [sys.executable, str(program), "all", "--quick", "--out", str(tmp_path / "out")]

    return write


def started(command):
    return subprocess.Popen(
        command,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def calls(folder):
    path = folder / "calls"
    return [line.split() for line in path.read_text().splitlines()] if path.exists() else []


def wait_for_calls(folder, count):
    deadline = time.monotonic() + 60
    while len(calls(folder)) < count:
        assert time.monotonic() < deadline
        time.sleep(0.02)


def stuck(folder):
    """What happens in a trial that waits for a file."""
    return f"while trial.number and not Path({str(folder / 'go')!r}).exists(): time.sleep(0.1)"


def test_all_goes_on_where_it_was_killed(package, tmp_path):
    command = package(aa=NOTHING, bb=stuck(tmp_path))
    with started(command) as program:
        wait_for_calls(tmp_path, 5)
        program.kill()
    assert end([int(calls(tmp_path)[-1][2])])  # the process that ran the trial
    (tmp_path / "go").touch()
    with started(command) as program:
        told, errors = program.communicate(timeout=60)
    assert program.returncode == 0, errors
    assert [line.partition(",")[0] for line in told.splitlines()] == ["aa: done", "bb: done"]
    ran = [f"{name.rpartition('.')[2]} {number}" for name, number, _ in calls(tmp_path)]
    # only the trial under way was run again
    assert ran == ["aa 0", "aa 1", "aa 2", "bb 0", "bb 1", "bb 1", "bb 2"]
    for name in ("aa", "bb"):
        found = Ledger(tmp_path / "out" / name / "runs.jsonl").read()
        assert [run["relevant"] for run in found] == [7, 1007, 2007]
        assert "[[7.0, 1007.0, 2007.0]]" in (tmp_path / "out" / name / "report.md").read_text()


def test_an_interrupt_stops_all_and_says_how_to_go_on(package, tmp_path):
    with started(package(aa=stuck(tmp_path))) as program:
        wait_for_calls(tmp_path, 2)
        program.send_signal(signal.SIGINT)
        told, errors = program.communicate(timeout=60)
    assert (program.returncode, told) == (130, "")
    assert errors == "experiments: stopped: the same command continues\n"
    assert end([int(calls(tmp_path)[-1][2])])


def test_an_experiment_that_fails_does_not_stop_the_others(package, tmp_path):
    with started(package(aa="os._exit(3)", bb=NOTHING)) as program:
        told, errors = program.communicate(timeout=100)
    assert program.returncode == 1
    states = [line.partition(",")[0] for line in told.splitlines()]
    assert states == ["aa: failed", "bb: done"]
    assert errors == "experiments: failed: aa; the same command tries them again\n"
    assert told.rstrip().endswith(str(tmp_path / "out" / "bb" / "report.md"))


def test_a_part_that_lacks_an_extra_is_left_out_with_a_message(package, tmp_path):
    lacks = "if trial.part == 'deep': raise ModuleNotFoundError(name='torch.nn')"
    with started(package(parts=("plain", "deep"), aa=lacks)) as program:
        _, errors = program.communicate(timeout=60)
    assert program.returncode == 0
    assert errors == ("part deep is left out: torch.nn is needed: pip install 'honeyguide[deep]'\n")
    report = (tmp_path / "out" / "aa" / "report.md").read_text()
    assert "**Unfinished:** deep has 0 of 3 runs." in report
    assert "[[7.0, 1007.0, 2007.0], []]" in report


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["all", "--part", "p"], "all takes no --part"),
        (["all", "--renew"], "all takes no --renew"),
        (["all", "--data", "/nowhere"], "there is no folder /nowhere"),
        (["lim2016", "--report", "--renew"], "--report takes no --renew"),
        (["lim2016", "--report", "--quick"], "runs.jsonl has no run of lim2016\n"),
    ],
)
def test_options_that_do_not_go_together_are_refused(arguments, said, tmp_path, capsys):
    assert main([*arguments, "--out", str(tmp_path / "out")]) == 1
    assert said in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
