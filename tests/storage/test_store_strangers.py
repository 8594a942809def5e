"""Folders from strangers: nothing outside them is read or written, and nothing takes all memory."""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import zlib
from contextlib import closing
from pathlib import Path

import msgspec
import numpy as np
import pytest
from msgspec.msgpack import Ext

from honeyguide.disk import serialise
from honeyguide.disk.files import inside, make_folder, open_inside, replacing
from honeyguide.disk.serialise import DamagedError, read_state, write_state
from honeyguide.errors import HoneyguideError
from honeyguide.learning.policies import load_policy
from honeyguide.plan import Plan
from honeyguide.storage import database, exports, snapshots
from honeyguide.storage.check import Check
from honeyguide.storage.crawl_folder import create_crawl, run_crawl
from honeyguide.storage.repair import repair
from honeyguide.storage.store import Store

from .test_store_flips import finished, resumed

SECRET = b"do not touch: " + b"x" * 5000


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    folder = finished(tmp_path_factory.mktemp("made") / "crawl", 50)
    write_policy(folder / "learnt.policy")
    return folder


def write_policy(path):
    with path.open("wb") as file:
        write_state(file, {"agent": "linear", "policy": {"w": np.zeros(3)}})


@pytest.fixture
def folder(made, tmp_path):
    (tmp_path / "victim.txt").write_bytes(SECRET)
    return shutil.copytree(made, tmp_path / "a" / "crawl")


def everything(folder, out):
    """Every reader and every writer; what each of them says if it does not like the folder."""
    uses = {
        "status": lambda: exports.status(folder),
        "best": lambda: exports.best_pages(folder, 3),
        "policy": lambda: exports.policy(folder),
        **{
            format: lambda format=format: exports.export(folder, format, out / f"out.{format}")
            for format in exports.FORMATS
        },
        "check": lambda: Check(folder).run(),
        "load policy": lambda: load_policy(inside(folder, "learnt.policy"), "linear", NOBODY),
        "resume": lambda: Store(folder).close(),
        "repair": lambda: repair(folder),
    }
    said = {}
    for name, use in uses.items():
        try:
            said[name] = use()
        except HoneyguideError as error:
            assert "\n" not in str(error)
            said[name] = str(error)
    return said


class NOBODY:
    """An agent that would take any policy."""

    learner = None


def alter(folder, sql, *values):
    """Change a row, and its checksum with it: a stranger can do that too."""
    with closing(sqlite3.connect(folder / "crawl.sqlite")) as connection, connection:
        connection.create_function("checked", -1, lambda *row: database.checksum(row))
        connection.execute(sql, values)


def set_about(folder, key, value):
    row = database.with_checksum(key, value)
    alter(folder, "REPLACE INTO about VALUES (?, ?, ?)", *row)


OUTSIDE = ["../../victim.txt", "/etc/passwd", "..", ".", "a/b", "a\\b", "pages\x00", "", "x" * 300]


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_name_cannot_lead_out_of_its_folder(tmp_path, name):
    with pytest.raises(HoneyguideError):
        inside(tmp_path, name)


@pytest.mark.parametrize("name", ["../../victim.txt", "../crawl.sqlite", "{}/victim.txt"])
@pytest.mark.parametrize("where", ["about", "pages"])
def test_names_in_a_database_reach_nothing_outside(folder, tmp_path, name, where):
    name = name.format(tmp_path)
    if where == "about":
        set_about(folder, "warc", name)
        set_about(folder, "warc_size", 3)
    else:
        columns = ", ".join(row[1] for row in columns_of(folder, "pages")[:-1])
        alter(folder, "UPDATE pages SET warc = ?, warc_offset = 0, warc_length = 9", name)
        alter(folder, f"UPDATE pages SET checksum = checked({columns})")
    said = everything(folder, tmp_path)
    assert (tmp_path / "victim.txt").read_bytes() == SECRET
    written = [*tmp_path.glob("out*"), *tmp_path.glob("out.markdown/*")]
    assert not any(b"do not" in path.read_bytes() for path in written if path.is_file())
    if where == "about":
        assert "its name was changed" in said["resume"]
    else:
        assert "cannot be inside it" in said["warc"]
        assert any(finding.kind == "warc" for finding in said["check"])


def columns_of(folder, table):
    with closing(sqlite3.connect(folder / "crawl.sqlite")) as connection:
        return connection.execute(f"PRAGMA table_info({table})").fetchall()


LINKS = ["lock", "crawl.sqlite", "crawl.sqlite-wal", "warc", "warc/pages-00001.warc.gz"]
LINKS += ["warc/pages-00001.cdxj", "learnt.policy"]


@pytest.mark.parametrize("name", LINKS)
def test_links_are_not_followed(folder, tmp_path, name):
    path, elsewhere = folder / name, tmp_path / "elsewhere"
    if path.exists():
        path.rename(elsewhere)
    else:
        elsewhere.write_bytes(SECRET)
    path.symlink_to(elsewhere)
    files = [elsewhere] if elsewhere.is_file() else sorted(elsewhere.iterdir())
    before = [file.read_bytes() for file in files]
    said = everything(folder, tmp_path)
    assert before == [file.read_bytes() for file in files]
    assert sorted(elsewhere.parent.glob("elsewhere*")) == [elsewhere]
    told = [str(outcome) for outcome in said.values() if "symbolic link" in str(outcome)]
    assert told, said


@pytest.mark.parametrize("name", ["lock", "crawl.sqlite", "learnt.policy", "crawl.sqlite-wal"])
def test_a_pipe_in_place_of_a_file_holds_nobody_up(folder, tmp_path, name):
    (folder / name).unlink(missing_ok=True)
    os.mkfifo(folder / name)
    said = everything(folder, tmp_path)
    assert any("not a regular file" in str(outcome) for outcome in said.values())


ACTS = {
    "view": "CREATE VIEW news AS SELECT 1",
    "trigger": "CREATE TRIGGER t AFTER INSERT ON about BEGIN DELETE FROM pages; END",
    "column": "ALTER TABLE about ADD COLUMN more GENERATED ALWAYS AS (hex(value)) VIRTUAL",
    "table": "CREATE TABLE more (a)",
    "index": "CREATE INDEX i ON pages (lower(url))",
    "endless": "CREATE VIEW hosts AS"
    " WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT i, i, i, i FROM n",
}


@pytest.mark.parametrize("what", ACTS)
def test_a_database_that_acts_by_itself_is_refused(folder, tmp_path, what):
    if what == "endless":
        alter(folder, "DROP TABLE hosts")
    alter(folder, ACTS[what])
    for name, outcome in everything(folder, tmp_path).items():
        if name not in ("load policy", "repair"):
            assert "honeyguide did not make" in str(outcome), name
    found = Check(folder).run()  # after the repair, which copies rows of plain tables only
    assert bool(found) == (what in ("column", "endless"))


def test_rows_of_the_wrong_kind_are_told_in_a_sentence(folder, tmp_path):
    for column in ("text", "reasons", "warc_offset"):
        copy = shutil.copytree(folder, tmp_path / column)
        alter(copy, f"UPDATE pages SET {column} = 'nonsense'")
        said = everything(copy, tmp_path / column)
        assert any(finding.kind == "page" for finding in said["check"])


@pytest.mark.parametrize(
    ("key", "value"),
    [("settings", "[]"), ("settings", '{"budget": "x"}'), ("started", "x"), ("last", 1e300)],
)
def test_what_a_crawl_says_of_itself_may_be_nonsense(folder, key, value):
    set_about(folder, key, value)
    with pytest.raises(HoneyguideError, match="cannot read"):
        exports.status(folder)


def test_a_crawl_with_settings_nobody_knows_is_told_so(tmp_path):
    database.create(tmp_path, {"topic": "birds", "unheard": "of"})
    with pytest.raises(HoneyguideError, match="does not know all of its settings"):
        run_crawl(tmp_path, lambda *_: None)


def test_a_policy_that_settings_name_is_in_the_folder(tmp_path):
    plan = Plan(world="synthetic:pages=3000", topic="geology", seeds=("geology",), budget=3)
    create_crawl(tmp_path / "crawl", plan)
    (tmp_path / "other.policy").write_bytes(SECRET)
    settings = database.settings(tmp_path / "crawl") | {"policy": "../other.policy"}
    set_about(tmp_path / "crawl", "settings", json.dumps(settings))
    with pytest.raises(HoneyguideError, match="cannot be inside it"):
        run_crawl(tmp_path / "crawl", lambda *_: None)


# ----------------------------------------------------------------------- states


def array(dtype="<f8", shape=(3,), turned=False):
    return Ext(4, msgspec.msgpack.encode((dtype, shape, turned)))


def nested(depth):
    value = 1
    for _ in range(depth):
        value = [value]
    return value


def pairs(depth):
    value = Ext(5, msgspec.msgpack.encode((["a"], [1])))
    for _ in range(depth):
        value = Ext(5, msgspec.msgpack.encode((["a"], [value])))
    return value


STATES = {
    "objects": array("|O"),
    "texts": array("<U4"),
    "fields": array("f4,f4"),
    "times": array("<M8[s]"),
    "a million million rows": array(shape=(10**12,)),
    "more rows than numbers": array(shape=((1 << 64) - 1,)),
    "rows below zero": array(shape=(-1,)),
    "rows in words": array(shape=("many",)),
    "a shape that is a number": array(shape=7),
    "many sides": array(shape=(1,) * 100),
    "too large to multiply": array(shape=(0, 1 << 40, 1 << 40)),
    "nested": nested(500),
    "nested too deeply for anyone": nested(900),
    "nested pairs": pairs(100),
    "a scalar of objects": Ext(3, msgspec.msgpack.encode(("|O", b"12345678"))),
    "an empty scalar": Ext(3, msgspec.msgpack.encode(("<f8", b""))),
    "a number of a million digits": Ext(2, b"9" * 1_000_000),
    "lists as names": Ext(5, msgspec.msgpack.encode(([[1]], [1]))),
    "something else": Ext(77, b"abc"),
    "texts that are none": Ext(6, msgspec.msgpack.encode((3, 8 * 3))),
}


def write_raw(path, skeleton, rest=bytes(24)):
    data = msgspec.msgpack.encode({"agent": "linear", "policy": skeleton})
    head = serialise.MAGIC + serialise._HEAD.pack(len(data), zlib.crc32(data)) + data
    path.write_bytes(head + rest + serialise._TAIL.pack(zlib.crc32(rest)))


@pytest.mark.parametrize("what", STATES)
def test_a_state_that_cannot_be_is_refused_before_it_takes_memory(tmp_path, what):
    path = tmp_path / "learnt.policy"
    write_raw(path, STATES[what])
    with pytest.raises(DamagedError):
        read_state(path)


def test_a_state_of_the_right_size_is_read(tmp_path):
    write_raw(tmp_path / "p", array())
    assert read_state(tmp_path / "p")["policy"].tolist() == [0, 0, 0]


def test_policies_of_strangers_are_read_within_little_memory(tmp_path):
    """In a process that may not take more: a traceback or a MemoryError would show."""
    for number, what in enumerate(STATES):
        write_raw(tmp_path / f"{number}.policy", STATES[what])
    database.create(tmp_path, {})
    limited = (
        "import resource, sys; from honeyguide.cli import main;"
        "resource.setrlimit(resource.RLIMIT_DATA, (1 << 29, 1 << 29));"
        f"sys.argv = ['honeyguide', 'check', {str(tmp_path)!r}]; main()"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", limited], cwd=root, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, "")
    assert len(done.stdout.splitlines()) == len(STATES) + 1


def test_a_snapshot_that_claims_more_than_there_is_is_refused(folder):
    skeleton = snapshots._shrink(msgspec.msgpack.encode({"a": array(shape=(1 << 40,))}))
    row = database.with_checksum(10**6, 1.0, "", skeleton, bytes(16))
    alter(folder, "INSERT INTO snapshots VALUES (?, ?, ?, ?, ?, ?)", *row)
    bomb = snapshots._shrink(bytes(1 << 29))
    row = database.with_checksum(10**6 + 1, 1.0, "", bomb, bytes(16))
    alter(folder, "INSERT INTO snapshots VALUES (?, ?, ?, ?, ?, ?)", *row)
    damaged = [found.where for found in Check(folder).run() if found.kind == "snapshot"]
    assert damaged == [10**6 + 1, 10**6]


@pytest.mark.parametrize("row", [b"\xc1", b"\x90", b"\x93\x00\x00\x00"])
def test_a_visit_that_is_none_is_told_in_a_sentence(folder, row):
    alter(folder, "DELETE FROM snapshots WHERE n = (SELECT max(n) FROM snapshots)")
    alter(
        folder,
        "UPDATE journal SET data = ?1, checksum = checked(n, kind, now, url, ?1)"
        " WHERE kind = 'visit'",
        snapshots._shrink(row),
    )
    with pytest.raises(HoneyguideError, match="cannot be resumed"):
        resumed(folder)


# ----------------------------------------------------------------------- files


def test_a_file_is_replaced_whole_or_not_at_all(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"before")
    with pytest.raises(ZeroDivisionError), replacing(path) as file:
        file.write(b"half")
        raise ZeroDivisionError
    assert path.read_bytes() == b"before"
    with replacing(path) as file:
        file.write(b"after")
    assert path.read_bytes() == b"after"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_that_is_replaced_is_not_written_through(tmp_path):
    (tmp_path / "victim").write_bytes(SECRET)
    for name in ("file", "file.unfinished"):
        (tmp_path / name).symlink_to(tmp_path / "victim")
    with replacing(tmp_path / "file") as file:
        file.write(b"after")
    assert (tmp_path / "victim").read_bytes() == SECRET
    assert (tmp_path / "file").read_bytes() == b"after"


def test_a_folder_is_made_with_those_above_it(tmp_path):
    make_folder(tmp_path / "a" / "b")
    make_folder(tmp_path / "a" / "b")
    assert (tmp_path / "a" / "b").is_dir()
    with pytest.raises(IsADirectoryError):
        open_inside(tmp_path, "a", "rb")
