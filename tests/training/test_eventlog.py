"""Logs that TensorBoard reads."""

import struct

import pytest

from honeyguide.errors import HoneyguideError
from honeyguide.training.tensorboard import EventLog, _masked, crc32c


def records(data):
    while data:
        (length,) = struct.unpack("<Q", data[:8])
        assert data[8:12] == _masked(data[:8])
        body, check = data[12 : 12 + length], data[12 + length : 16 + length]
        assert check == _masked(body)
        yield body
        data = data[16 + length :]


def test_the_checksum_is_castagnolis():
    assert crc32c(b"123456789") == 0xE3069283


def test_logs_that_cannot_be_written_get_one_sentence(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(HoneyguideError, match=r"cannot write logs to .*file: File exists"):
        EventLog(tmp_path / "file", 1000.0)


def test_a_full_disk_gets_one_sentence(tmp_path):
    (tmp_path / "events.out.tfevents.1000.honeyguide").symlink_to("/dev/full")
    with pytest.raises(HoneyguideError, match=r"cannot write .*: No space left on device"):
        EventLog(tmp_path, 1000.0)


def test_figures_are_records_with_their_names_and_steps(tmp_path):
    with EventLog(tmp_path / "logs", 1000.0) as log:
        log.write(300, {"loss": 0.5, "epsilon": 0.25}, 1001.0)
    version, figures = records(log.path.read_bytes())
    assert b"brain.Event:2" in version
    assert struct.unpack("<d", figures[1:9]) == (1001.0,)
    assert figures[9:12] == b"\x10\xac\x02"  # step 300
    place = figures.index(b"loss") + 4
    assert struct.unpack("<f", figures[place + 1 : place + 5])[0] == pytest.approx(0.5)
    assert b"epsilon" in figures
