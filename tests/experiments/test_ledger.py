import json
from concurrent.futures import ThreadPoolExecutor

from experiments.harness.ledger import Ledger


def run(number, **more):
    return {"digest": "d", "trial": number, "repeat": 0} | more


def test_what_was_appended_is_read_in_order(tmp_path):
    ledger = Ledger(tmp_path / "deep" / "runs.jsonl")
    assert ledger.read() == []
    for number in range(3):
        ledger.append(run(number, curve=[1, 2]))
    assert [record["trial"] for record in ledger.read()] == [0, 1, 2]


def test_half_a_line_is_ignored_and_spoils_nothing_after_it(tmp_path):
    ledger = Ledger(tmp_path / "runs.jsonl")
    ledger.append(run(0))
    whole = ledger.path.read_bytes()
    for cut in range(1, len(whole)):
        ledger.path.write_bytes(whole + whole[:cut].replace(b'"trial":0', b'"trial":1'))
        ledger.append(run(2))
        assert {0, 2} <= {record["trial"] for record in ledger.read()} <= {0, 1, 2}


def test_lines_of_several_writers_stay_whole(tmp_path):
    ledger = Ledger(tmp_path / "runs.jsonl")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: ledger.append(run(number, pad="x" * 9000)), range(64)))
    assert len([json.loads(line) for line in ledger.path.read_text().splitlines()]) == 64
    assert sorted(record["trial"] for record in ledger.read()) == list(range(64))


def test_a_run_that_is_there_twice_counts_once(tmp_path):
    ledger = Ledger(tmp_path / "runs.jsonl")
    ledger.append(run(0, relevant=1))
    ledger.append(run(0, relevant=2))
    assert [record["relevant"] for record in ledger.read()] == [1]
