from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from honeyguide.columns import Columns
from honeyguide.guards.traps import REASONS, Traps


def test_a_column_asked_for_before_rows_were_added_does_not_take_their_values():
    table = Columns(4, code=np.uint8)
    with pytest.raises(IndexError):
        table["code"][table.add(3)] = 255  # the array is looked up before the rows are there
    with pytest.raises(IndexError):
        table["code"][table.append()] = 255


def test_a_column_asked_for_before_the_table_moved_cannot_be_written_to():
    table = Columns(4, code=np.uint8)
    table.add(3)
    before = table["code"]
    table.add(1000)
    with pytest.raises(ValueError, match="read-only"):
        before[0] = 1
    before = table["code"]
    table.load({"code": np.ones(5, np.uint8)})
    with pytest.raises(ValueError, match="read-only"):
        before[0] = 1


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(1, 200)), max_size=12))
def test_every_row_keeps_its_values_however_often_the_table_grows(steps):
    table, expected = Columns(2, code=np.uint8, vector=(np.float32, 3)), []
    for count, value in steps:
        added = table.add(count, code=value)
        assert list(added) == list(range(len(expected), len(expected) + count))
        expected += [value] * count
        table.grow(len(expected) + 2, code=7)
        expected += [7, 7]
        table.grow(len(expected), code=9)  # they are there already
    assert table["code"].tolist() == expected
    assert not table["vector"].any()
    other = Columns(code=np.uint8, vector=(np.float32, 3))
    other.load(table.state())
    assert other["code"].tolist() == expected


def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def test_a_large_table_grows_without_a_copy_of_itself():
    table = Columns(bytes=(np.uint8, 1024))
    table.add(1 << 16, bytes=1)  # 64 MB
    before = resident()
    table.reserve(1 << 16)
    assert resident() - before < 32 << 20
    table.add(1 << 16, bytes=2)
    assert table["bytes"][:, 0].tolist() == [1] * (1 << 16) + [2] * (1 << 16)


def test_a_large_column_in_use_keeps_its_values_when_the_table_moves():
    table = Columns(number=np.int64)
    table.add(1 << 20, number=np.arange(1 << 20))
    before, raw = table["number"], table.reserved("number")
    table.add(1 << 20, number=5)
    assert before[-1] == raw[(1 << 20) - 1] == table["number"][(1 << 20) - 1] == (1 << 20) - 1
    assert table["number"][-1] == 5


def test_a_row_that_was_removed_comes_back_as_zero():
    table = Columns(code=np.uint8)
    table.add(2, code=5)
    table.pop()
    table.add(1)
    assert table["code"].tolist() == [5, 0]


@pytest.mark.parametrize("count", [1, 1023, 1024, 1025, 5000])
def test_links_are_guarded_however_many_a_first_page_has(count):
    traps = Traps()
    urls = [f"http://x.example/{number}.jpg" for number in range(count)]
    codes = traps.check(np.arange(count, dtype=np.int32), np.zeros(count, np.int32), urls)
    assert {REASONS[code] for code in codes} == {"file type"}
