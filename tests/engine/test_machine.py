import mmap

import pytest

from honeyguide.engine.machine import (
    MOST_MEMORY,
    check_limit,
    format_size,
    memory_size,
    parse_size,
    resident_size,
)
from honeyguide.errors import HoneyguideError


@pytest.mark.parametrize(
    ("said", "size"),
    [("512M", 512 << 20), ("2G", 2 << 30), ("1.5 GB", 3 << 29), ("64k", 1 << 16), ("700", 700)],
)
def test_a_size_is_said_as_people_say_it(said, size):
    assert parse_size(said) == size


@pytest.mark.parametrize("said", ["", "much", "-1G", "2X", "1e9", "G"])
def test_what_is_no_size_is_refused_in_one_sentence(said):
    with pytest.raises(HoneyguideError, match="as 512M or 2G"):
        parse_size(said)


@pytest.mark.parametrize("said", ["99999999T", "9" * 400, "9" * 400 + "T"])
def test_a_size_beyond_any_machine_is_what_a_machine_can_address_and_no_limit_to_set(said):
    assert parse_size(said) == MOST_MEMORY < 1 << 63
    with pytest.raises(HoneyguideError, match="more memory than any machine has"):
        check_limit(said)


def test_a_limit_below_what_a_crawl_needs_is_refused_with_the_least():
    check_limit("512M")
    with pytest.raises(HoneyguideError, match=r"511M is too little .* at least 512M is needed"):
        check_limit("511M")


def test_sizes_are_shown_in_the_largest_unit_that_fits():
    sizes = [0, 1023, 400 << 20, 3 << 29, 5 << 40]
    assert [format_size(size) for size in sizes] == ["0 B", "1023 B", "400 MB", "1.5 GB", "5 TB"]


@pytest.mark.parametrize(
    ("group", "file", "limit"),
    [
        ("0::/a/b\n", "sys/fs/cgroup/a/memory.max", "1048576"),
        ("4:memory:/a\n0::/\n", "sys/fs/cgroup/memory/a/memory.limit_in_bytes", "1048576"),
        ("0::/elsewhere\n", "sys/fs/cgroup/memory.max", "1048576"),
    ],
)
def test_the_limit_of_a_control_group_counts(tmp_path, group, file, limit):
    whole = memory_size(tmp_path)
    for name, text in {"proc/self/cgroup": group, file: limit}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert memory_size(tmp_path) == 1 << 20 < whole
    (tmp_path / file).write_text("max\n")
    assert memory_size(tmp_path) == whole


def test_what_a_process_holds_is_measured():
    before = resident_size()
    held = mmap.mmap(-1, 64 << 20)
    held.write(b"x" * (64 << 20))
    assert (32 << 20) < resident_size() - before < (200 << 20)


def test_where_the_system_does_not_say_it_nothing_is_known(tmp_path):
    assert resident_size(tmp_path) is None
