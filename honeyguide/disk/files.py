"""Paths confined to a folder, and atomic writes that survive a power cut."""

import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import BufferedWriter, FileIO
from pathlib import Path
from typing import BinaryIO

from honeyguide.errors import HoneyguideError

UNFINISHED = ".unfinished"  # ending of a file's name until it is complete
_BUFFER = 1 << 20  # bytes
_SEPARATORS = frozenset("/\\\x00")
# symbolic links are not followed, and opening a pipe does not block
_CAREFUL = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_BINARY = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
_FLAGS = {
    "rb": os.O_RDONLY,
    "r+b": os.O_RDWR,
    "xb": os.O_WRONLY | os.O_CREAT | os.O_EXCL,
    "ab": os.O_WRONLY | os.O_CREAT | os.O_APPEND,
    "ab+": os.O_RDWR | os.O_CREAT | os.O_APPEND,
}


def inside(folder: Path, name: str) -> Path:
    """The path of `name` in a folder; a HoneyguideError if it is outside, a link or a device."""
    if not isinstance(name, str) or name in ("", ".", "..") or _SEPARATORS & set(name):
        raise HoneyguideError(f"{folder} refers to a file {name!r}, which cannot be inside it")
    path = folder / name
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return path
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise HoneyguideError(f"cannot read {path}: {reason}") from None
    if stat.S_ISLNK(mode):
        raise HoneyguideError(f"{path} is a symbolic link, which is not followed")
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise HoneyguideError(f"{path} is not a regular file")
    return path


def open_inside(folder: Path, name: str, mode: str = "rb") -> FileIO:
    """Open a file in a folder, unbuffered; symbolic links are refused, without a race."""
    path = inside(folder, name)
    handle = os.open(path, _FLAGS[mode] | _CAREFUL | _BINARY, 0o666)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        if path.is_dir():
            raise IsADirectoryError(21, "Is a directory", str(path))
        raise HoneyguideError(f"{path} is not a regular file")
    if hasattr(os, "set_blocking"):
        os.set_blocking(handle, True)
    return FileIO(handle, mode.replace("x", "w"))  # an open handle is not truncated


def make_folder(path: Path) -> None:
    """Create a folder and its parents, synced, so that they survive a power cut."""
    missing = []
    while not path.exists():
        missing.append(path)
        path = path.parent
    for each in reversed(missing):
        each.mkdir(exist_ok=True)
        sync_folder(each.parent)


def sync_folder(folder: Path) -> None:
    """Sync a folder: return when the names of its files are on the disk."""
    if os.name != "posix":  # other systems cannot open folders
        return
    with suppress(PermissionError):  # one may write into a folder that one may not read
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def write_all(file: FileIO, data: bytes | memoryview) -> None:
    """Write all bytes to an unbuffered file, which may take only some of them at a time."""
    rest = memoryview(data)
    while rest:
        rest = rest[file.write(rest) :]


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a file for writing that replaces `path` at the end, complete and synced."""
    with (
        replacing_path(path) as unfinished,
        BufferedWriter(open_inside(path.parent, unfinished.name, "xb"), _BUFFER) as file,
    ):
        yield file
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def replacing_path(path: Path) -> Iterator[Path]:
    """Give a path to write to; the file there then replaces `path`, or is removed on an error."""
    unfinished = path.with_name(f"{path.name}{UNFINISHED}")
    try:
        unfinished.unlink(missing_ok=True)
        yield unfinished
        unfinished.replace(path)  # a symbolic link there is replaced, not followed
        sync_folder(path.parent)
    except BaseException:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)
        raise


@contextmanager
def replacing_folder(path: Path) -> Iterator[Path]:
    """Give a new folder to write into; it then gets the name `path`, or is removed on an error."""
    unfinished = path.with_name(f"{path.name}{UNFINISHED}")
    try:
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir()
        yield unfinished
        unfinished.rename(path)
        sync_folder(path.parent)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise
