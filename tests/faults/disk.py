"""Simulate what a disk may hold after a loss of power, when unsynced changes may be lost."""

import struct
from dataclasses import dataclass, field
from os import O_CREAT, O_TRUNC
from pathlib import PurePath

OPEN, WRITE, SYNC, TRUNCATE, RENAME, UNLINK, MKDIR, CLOSED, MARK = range(9)  # as in faults.c
_HEAD = struct.Struct("<iiqII")
SECTOR = 512  # bytes that a disk writes atomically
# which unsynced writes survive: none, all, only the last, all but a part of the last
NONE, ALL, LAST, TORN = "none", "all", "last", "torn"
# which unsynced names survive: none, all, not even the folder of the crawl
UNDONE, DONE, GONE = "undone", "done", "folder undone"
LOSSES = [(names, data) for names in (UNDONE, DONE) for data in (NONE, ALL, LAST, TORN)]
LOSSES.append((GONE, NONE))


@dataclass(slots=True)
class File:
    """The synced bytes of a file, and the changes since."""

    safe: bytes = b""
    since: list[tuple[int, bytes | None]] = field(default_factory=list)  # None: truncated there
    contents: dict[str, bytes] = field(default_factory=dict)  # cache, by loss

    def change(self, offset, data):
        self.since.append((offset, data))
        self.contents.clear()

    def sync(self):
        self.safe, self.since = self.content(ALL), []
        self.contents.clear()

    def content(self, data):
        if data not in self.contents:
            self.contents[data] = _changed(self.safe, self._surviving(data))
        return self.contents[data]

    def _surviving(self, data):
        if data == NONE or not self.since:
            return []
        if data != TORN:
            return self.since[-1:] if data == LAST else self.since
        offset, last = self.since[-1]
        half = last and last[: max(len(last) // 2 // SECTOR, 1) * SECTOR]
        return [*self.since[:-1], *([(offset, half)] if half else [])]


@dataclass(slots=True)
class Folder:
    """The synced names of a folder, and those that programs see."""

    safe: dict[str, "File | Folder"] = field(default_factory=dict)
    now: dict[str, "File | Folder"] = field(default_factory=dict)

    def sync(self):
        self.safe = dict(self.now)


def _changed(content, changes):
    if not changes:
        return content
    bytes_ = bytearray(content)
    for offset, data in changes:
        if data is None and offset <= len(bytes_):
            del bytes_[offset:]
            continue
        bytes_.extend(bytes(max(0, offset - len(bytes_))))
        bytes_[offset : offset + len(data or b"")] = data or b""
    return bytes(bytes_)


class Disk:
    """The files of a process, updated by each of its logged system calls."""

    def __init__(self, root):
        self.root = PurePath(root)
        self.top = Folder()
        self.safe_visits = 0  # that the process was told are safe
        self._open = {}

    def follow(self, op, fd, number, first, second):
        if op == MARK:
            self.safe_visits = int(first.split()[1])
        elif op == OPEN:
            self._open[fd] = self._opened(first, number)
        elif op == WRITE:
            self._open[fd].change(number, first)
        elif op == TRUNCATE:
            self._open[fd].change(number, None)
        elif op == SYNC:
            self._open[fd].sync()
        elif op == CLOSED:
            self._open.pop(fd)
        elif op == MKDIR:
            folder, name = self._place(first)
            folder.now[name] = Folder()
        else:
            self._rename(first, second) if op == RENAME else self._unlink(first)

    def after(self, names, data):
        """Return all files by path, None for folders, after a loss of power."""
        top = self.top.safe if names == GONE else self.top.now
        return dict(_walk(top, PurePath(), names, data))

    def _opened(self, path, flags):
        folder, name = self._place(path)
        if not name:
            return self.top
        if name not in folder.now and flags & O_CREAT:
            folder.now[name] = File()
        found = folder.now[name]
        if flags & O_TRUNC:
            found.change(0, None)
        return found

    def _rename(self, source, target):
        folder, name = self._place(source)
        other, new = self._place(target)
        other.now[new] = folder.now.pop(name)

    def _unlink(self, path):
        folder, name = self._place(path)
        del folder.now[name]

    def _place(self, path):
        *above, name = PurePath(path.decode()).relative_to(self.root).parts or ("",)
        folder = self.top
        for part in above:
            folder = folder.now[part]
        return folder, name


def _walk(entries, place, names, data):
    for name, found in entries.items():
        path = place / name
        if isinstance(found, Folder):
            yield str(path), None
            yield from _walk(found.now if names == DONE else found.safe, path, names, data)
        elif not name.endswith("-shm"):  # rebuilt from the log
            yield str(path), found.content(data)


def calls(log):
    """Yield the logged calls of a process in order."""
    data, at = log.read_bytes(), 0
    while at < len(data):
        op, fd, number, first, second = _HEAD.unpack_from(data, at)
        begin = at + _HEAD.size
        at = begin + first + second
        yield op, fd, number, data[begin : begin + first], data[begin + first : at]


def states(log, root, losses=LOSSES):
    """Yield every distinct state that a loss of power may leave, with the visits it must hold."""
    disk, seen = Disk(root), set()
    for number, call in enumerate(calls(log)):
        disk.follow(*call)
        for loss in losses:
            files = disk.after(*loss)
            key = hash((tuple(sorted(files.items())), disk.safe_visits))
            if key not in seen:
                seen.add(key)
                yield number, loss, disk.safe_visits, files
