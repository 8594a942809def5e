"""honeyguide teach, as a person meets it: on a terminal, by file, on a running crawl, killed."""

import json
import os
import pty
import select
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

import honeyguide
from honeyguide.errors import HoneyguideError
from honeyguide.plan import Plan
from honeyguide.storage.answers import read_answers
from honeyguide.storage.check import Check
from honeyguide.storage.crawl_folder import create_crawl, run_crawl
from honeyguide.storage.orders import waiting_orders
from honeyguide.storage.replay import Journal
from honeyguide.storage.stored_plan import stored_plan
from tests.test_live import flags, served, wait_for_pages

PROGRAM = Path(sys.executable).parent / "honeyguide"
PLAN = Plan(topic="geology", seeds=("geology",), world="synthetic:pages=800", budget=60)
ROWS = "SELECT url, page_url, relevance, relevant, reasons FROM pages ORDER BY n"


def crawl(folder, budget=60, plan=PLAN):
    if not folder.exists():
        create_crawl(folder, plan)
    run_crawl(folder, lambda *_: None, budget=budget)
    return folder


def rows(folder, what=ROWS):
    with closing(sqlite3.connect(folder / "crawl.sqlite", timeout=30)) as database:
        return database.execute(what).fetchall()


def verdicts(folder):
    return {url: bool(relevant) for _, url, _, relevant, _ in rows(folder) if url}


def teach(folder, *arguments, said=""):
    return subprocess.run(
        [PROGRAM, "teach", str(folder), *map(str, arguments)],
        input=said,
        capture_output=True,
        text=True,
        timeout=100,
    )


def answers_of(folder):
    """Answers to some of the pages, by what their URLs say."""
    pages = [url for _, url, _, _, _ in rows(folder) if url]
    return {url: "geology" in url for url in pages[::5]}


def write(path, answers):
    lines = [json.dumps({"url": url, "relevant": said}) for url, said in answers.items()]
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


@pytest.fixture
def folder(tmp_path):
    return crawl(tmp_path / "crawl")


# --------------------------------------------------------------------------- a person


def test_answers_are_asked_for_kept_and_learnt_from(folder):
    done = teach(folder, said="y\nn\ny\nn\nq\n")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("relevant? ") == 5
    assert "pages judged again: " in done.stdout.splitlines()[-1]
    answers, found = read_answers(folder), verdicts(folder)
    assert sorted(answers.values()) == [False, False, True, True]
    assert {url: found[url] for url in answers} == answers
    assert stored_plan(folder).judge == "taught:taught-1.model"
    assert not Check(folder).run()


def test_the_journal_has_the_answers_and_the_verdicts(folder):
    teach(folder, said="y\nn\nq\n")
    with closing(sqlite3.connect(folder / "crawl.sqlite")) as database:
        _, change = Journal(database, folder).last_judge()
    assert change.answers == read_answers(folder)
    assert len(change.verdicts) == len(rows(folder)) - sum(not row[1] for row in rows(folder))


def test_an_answer_can_be_skipped_and_undone(folder):
    done = teach(folder, said="s\ny\nu\nmaybe\nn\nu\nu\nu\nq\n")
    assert done.stdout.count("undone: ") == 3  # the yes, the no and what was skipped
    assert "there is nothing to undo" in done.stdout
    assert read_answers(folder) == {}
    assert done.stdout.splitlines()[-1] == "no answer is left: nothing has changed"
    assert stored_plan(folder).judge == "topic"


def test_teaching_goes_on_where_it_was_left(folder):
    teach(folder, said="y\nn\nq\n")
    done = teach(folder, said="n\nq\n")
    assert "2 answers from before" in done.stdout
    assert len(read_answers(folder)) == 3
    assert stored_plan(folder).judge == "taught:taught-2.model"


def test_it_says_how_sure_it_has_become(folder):
    done = teach(folder, said="n\n" * 10 + "q\n")
    assert "\n5 answers: " in done.stdout
    assert "all answers are no: the judge learns little before the first yes" in done.stdout


def test_without_an_answer_nothing_changes(folder):
    before = rows(folder)
    done = teach(folder)
    assert done.returncode == 0
    assert done.stdout.splitlines()[-1] == "no new answer: nothing has changed"
    assert rows(folder) == before


def typed(folder, *keys):
    """The output of a session on a real terminal, in which each key is typed at a prompt."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(PROGRAM, [str(PROGRAM), "teach", str(folder)])
    waiting, output, prompts = list(keys), b"", 0
    while select.select([terminal], [], [], 60)[0]:
        try:
            output += os.read(terminal, 1 << 16)
        except OSError:  # it has ended
            break
        if output.count(b"relevant? ") > prompts and waiting:
            prompts = output.count(b"relevant? ")
            os.write(terminal, waiting.pop(0))
    os.close(terminal)
    return output.decode(), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_a_person_teaches_on_a_terminal(folder):
    output, code = typed(folder, b"y\n", b"n\n", b"q\n")
    assert code == 0
    assert "judged again" in output
    assert len(read_answers(folder)) == 2


def test_ctrl_c_keeps_the_answers(folder):
    output, code = typed(folder, b"y\n", b"n\n", b"\x03")
    assert code == 130
    assert "2 answers kept: go on with honeyguide teach" in output
    assert "Traceback" not in output
    assert len(read_answers(folder)) == 2
    assert stored_plan(folder).judge == "topic"


# --------------------------------------------------------------------------- by file, in Python


def test_answers_come_from_a_file(folder, tmp_path):
    answers = answers_of(folder)
    done = teach(folder, "--answers", write(tmp_path / "answers.jsonl", answers))
    assert done.returncode == 0, done.stderr
    assert f"{len(answers)} answers taken from" in done.stdout
    found = verdicts(folder)
    assert {url: found[url] for url in answers} == answers


def test_lines_that_cannot_be_used_are_named_and_the_others_are_used(folder, tmp_path):
    [url, other, *_] = answers_of(folder)
    file = tmp_path / "answers.jsonl"
    file.write_text(
        f'{{"url": "{url}", "relevant": true}}\n'
        '{"url": "http://nowhere.example/", "relevant": true}\n'
        '{"url": "http://cut.off\n'
        f'{{"url": "{other}", "relevant": true}}\n'
        f'{{"url": "{other}", "relevant": false}}\n'
    )
    done = teach(folder, "--answers", file)
    assert done.returncode == 0
    assert done.stderr.splitlines() == [
        f"honeyguide: line 2 of {file}: http://nowhere.example/ is no page of {folder}",
        f'honeyguide: line 3 of {file}: is no object with "url" and "relevant"',
        f"honeyguide: line 5 of {file}: contradicts an earlier line about {other}; the later one"
        " counts",
    ]
    assert read_answers(folder) == {url: True, other: False}


def test_python_teaches_the_same(folder, tmp_path):
    answers = answers_of(folder)
    other = crawl(tmp_path / "other")
    changed = honeyguide.teach(folder, answers)
    teach(other, "--answers", write(tmp_path / "answers.jsonl", answers))
    assert changed.now == sum(row[3] for row in rows(folder))
    # processes may add up in another order: the last digit of a relevance may differ
    ours, theirs = (
        [(*row[:2], round(row[2], 9), *row[3:]) for row in rows(f)] for f in (folder, other)
    )
    assert ours == theirs


def test_a_session_in_python_asks_the_same_questions(folder):
    teaching = honeyguide.Teaching(folder)
    question = teaching.question()
    assert question.url in teach(folder, said="q\n").stdout
    teaching.answer(question.url, True)
    assert teaching.question().url != question.url
    assert teaching.undo() == question.url
    assert teaching.answers == {}
    with pytest.raises(HoneyguideError, match="no answer to learn from"):
        teaching.apply()
    with pytest.raises(HoneyguideError, match="is no page of"):
        teaching.answer("http://nowhere.example/", True)


# --------------------------------------------------------------------------- bad input


def refused(folder, *arguments):
    done = teach(folder, *arguments)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr.removeprefix("honeyguide: ").strip()


def test_what_cannot_be_taught_is_said_in_one_sentence(tmp_path):
    empty, unread = tmp_path / "empty", tmp_path / "unread"
    empty.mkdir()
    create_crawl(unread, PLAN)
    labelled = crawl(
        tmp_path / "labelled",
        plan=Plan(seeds=("geology",), world="synthetic:pages=800", judge="label:topic:geology"),
    )
    assert "does not exist" in refused(tmp_path / "nothing")
    assert "holds no crawl" in refused(empty)
    assert refused(unread) == f"{unread} has no page to ask about yet"
    assert "the judge 'label' cannot be taught" in refused(labelled)


def test_a_file_of_answers_that_is_of_no_use_changes_nothing(folder, tmp_path):
    before = rows(folder)
    missing, useless = tmp_path / "missing", tmp_path / "useless"
    useless.write_text("")
    assert refused(folder, "--answers", missing) == f"there is no file {missing}"
    assert "has no answer about a page of" in refused(folder, "--answers", useless)
    assert rows(folder) == before
    assert read_answers(folder) == {}


# --------------------------------------------------------------------------- killed


KILLED = """
import os, signal, sys
from honeyguide.storage import crawl_folder
from honeyguide.storage.ledger import Ledger
from honeyguide.training import crawl_teaching
def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)
revise, count = Ledger._revise, 0
def die_soon(self, *row):
    global count
    count += 1
    revise(self, *row) if count < 20 else die()
moment = sys.argv[3]
if moment == "when the order is sent":
    crawl_teaching.obey_waiting = die
elif moment == "while pages are judged":
    Ledger._revise = die_soon
else:
    crawl_folder.remove_order = die
import honeyguide, json
honeyguide.teach(sys.argv[1], json.loads(sys.argv[2]))
"""


@pytest.mark.parametrize(
    "moment", ["when the order is sent", "while pages are judged", "when it is stored"]
)
def test_a_kill_changes_nothing_in_the_end(tmp_path, moment):
    whole, killed = crawl(tmp_path / "whole"), crawl(tmp_path / "killed")
    answers = answers_of(whole)
    honeyguide.teach(whole, answers)
    command = [sys.executable, "-c", KILLED, str(killed), json.dumps(answers), moment]
    assert subprocess.run(command, env=os.environ).returncode == -signal.SIGKILL
    assert any(waiting_orders(killed))
    assert read_answers(killed) == answers
    for folder in (whole, killed):
        crawl(folder, budget=120)
    assert rows(whole) == rows(killed)
    assert len(rows(whole)) == 120
    assert not any(waiting_orders(killed))


def test_a_taught_crawl_resumes_to_the_same_decisions(tmp_path):
    whole, parts = crawl(tmp_path / "whole"), crawl(tmp_path / "parts")
    answers = answers_of(whole)
    for folder in (whole, parts):
        honeyguide.teach(folder, answers)
    crawl(whole, budget=120)
    for budget in (61, 90, 120):
        crawl(parts, budget=budget)
    assert rows(whole) == rows(parts)


def test_a_folder_that_was_moved_goes_on_with_its_taught_judge(folder, tmp_path):
    honeyguide.teach(folder, answers_of(folder))
    moved = folder.rename(tmp_path / "moved")
    crawl(moved, budget=80)
    assert len(rows(moved)) == 80


# --------------------------------------------------------------------------- a running crawl


def wait_until(is_so):
    deadline = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.05)


def judges(folder):
    return rows(folder, "SELECT n FROM journal WHERE kind = 'judge'")


def test_a_running_crawl_is_taught_goes_on_and_survives_a_kill(tmp_path):
    out, file = tmp_path / "out", tmp_path / "answers.jsonl"
    with served() as server:
        running = subprocess.Popen(flags(server, out, 100_000), stdout=subprocess.DEVNULL)
        try:
            wait_for_pages(out, 60)
            answers = answers_of(out)
            done = teach(out, "--answers", write(file, answers))
            assert done.returncode == 0, done.stderr
            assert "the running crawl judges its pages again ..." in done.stdout
            assert "judged again: " in done.stdout.splitlines()[-1]
            assert running.poll() is None
            found = verdicts(out)
            assert {url: found[url] for url in answers if answers[url]}.items() <= answers.items()
            wait_for_pages(out, len(rows(out)) + 20)
        finally:
            running.kill()
            running.wait()
        assert len(judges(out)) == 1
        budget = len(rows(out)) + 30
        resumed = [PROGRAM, "resume", str(out), "--budget", str(budget)]
        subprocess.run(resumed, check=True, capture_output=True, timeout=100)
    assert len(rows(out)) == budget
    assert stored_plan(out).judge == "taught:taught-1.model"
    assert not Check(out).run()
