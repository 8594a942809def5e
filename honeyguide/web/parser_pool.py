"""Parse and judge pages in other processes, which end with this one, however it ends."""

import asyncio
import logging
import math
import os
import re
import signal
import struct
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import astuple, replace
from itertools import islice
from typing import Any, BinaryIO, NamedTuple, Protocol, cast

import msgspec

from honeyguide.contracts import Judge, Verdict
from honeyguide.errors import HoneyguideError
from honeyguide.features.link_words import LinkWordsSpec, Packed, WordsReader, unpacked
from honeyguide.web.html import MAX_BODY, Parsed, Raw, build, parse, read
from honeyguide.web.judge_spec import JudgeSpec

LONGEST = 30.0  # seconds for a page
# Pages that are parsed in this process, in less than 50 ms each: the time that the parser takes
# grows with the square of the number of tags (benchmarks/reading.py).
SMALL_BODY = 128 * 1024  # bytes
SMALL_TAGS = 3_000
# A parser compares each attribute of a tag with all others. A tag without either of these has
# few of them; UTF-16 and ISO-2022-JP could hide them.
_long_tag = re.compile(rb"<[a-zA-Z/][^>]{700}").search
_HIDING = (b"\x00", b"\x1b")
_quoted_ends = re.compile(rb"=\s*+(?:\"[^\">]*+>|'[^'>]*+>)").finditer  # <p title="a > b">
SMALL_QUOTED_ENDS = 3
# It also compares all attributes of formatting tags that are open with those of the next one.
_tags_of_many_parts = re.compile(rb"<[a-zA-Z/](?:[^\s/>\"'=]*+[\s/\"'=]++){40}").finditer
SMALL_TAGS_OF_MANY_PARTS = 30
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0  # seconds after a process could not be started
WINDOW = 1.0  # seconds over which a load is measured
HEAVY = 0.1  # share of that time: then other processes are started
MOST_OTHERS = 2  # they parse faster than one process can absorb
TRIES = 12  # to start a process while a page waits for it
_PROGRAM = "from honeyguide.web.parser_pool import work; work()"
_HEAD = struct.Struct("<I")  # bytes of the message that follows

_log = logging.getLogger(__name__)


class NoProcessError(HoneyguideError):
    """No parser process could be started: file descriptors or memory are lacking."""


class Opinion(NamedTuple):
    """A judge's verdict as plain texts and numbers."""

    relevance: float
    relevant: bool
    reasons: list[str]
    measures: list[float]


class Answer(NamedTuple):
    """A parser process's answer: the parsed page, and the verdict unless judging failed."""

    raw: Raw
    opinion: Opinion | None
    words: Packed | None = None  # of links


class Read(NamedTuple):
    """A parsed page."""

    parsed: Parsed
    verdict: Verdict | None = None  # None: not judged yet


class Reader(Protocol):
    """Parses pages, in this process or in others."""

    async def ready(self) -> None:
        """Wait until pages can be parsed; raises NoProcessError when no process starts."""
        ...

    async def read(self, body: bytes, url: str, content_type: str = "") -> Read | None:
        """Parse a page; None when that failed."""
        ...

    async def close(self) -> None:
        """Close everything that is open."""
        ...


class InProcess:
    """Parses pages in this process."""

    async def ready(self) -> None:
        """Do nothing: it is always ready."""

    async def read(self, body: bytes, url: str, content_type: str = "") -> Read | None:
        """Parse a page."""
        return Read(parse(body, url, content_type))

    async def close(self) -> None:
        """Do nothing: nothing is open."""


class SmallInProcess:
    """Parses small pages in this process, and large ones in another, so that none blocks the loop.

    The other process is started for the first large page. Where `others` are given, all pages are
    parsed in so many other processes as soon as parsing keeps this one busy.
    """

    def __init__(
        self,
        spec: JudgeSpec | None = None,
        others: int = 0,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._pool = ParserPool(others or 1, spec=spec)
        self._moves = others > 0
        self._load = Load(clock)

    async def ready(self) -> None:
        """Do nothing: it is always ready."""

    async def read(self, body: bytes, url: str, content_type: str = "") -> Read | None:
        """Parse a page."""
        if (self._moves and self._load.is_heavy) or not is_small(body):
            return await self._pool.read(body, url, content_type)
        with self._load:
            return Read(parse(body, url, content_type))

    async def close(self) -> None:
        """End the process, if there is one."""
        await self._pool.close()


class Load:
    """Whether some work has kept this process busy; once it has, that is remembered."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._begun = self._since = -math.inf
        self._seconds = 0.0  # of work since then
        self.is_heavy = False

    def __enter__(self) -> None:
        self._begun = self._clock()
        if self._begun - self._since > WINDOW:
            self._since, self._seconds = self._begun, 0.0

    def __exit__(self, *_: object) -> None:
        self._seconds += self._clock() - self._begun
        self.is_heavy |= self._seconds > HEAVY * WINDOW


def reader_of(parsers: int | None, spec: JudgeSpec | None) -> Reader:
    """A reader with so many processes; None: one for each core but one, started when they help."""
    if parsers:
        return ParserPool(parsers, spec=spec)
    others = min(len(os.sched_getaffinity(0)) - 1, MOST_OTHERS) if parsers is None else 0
    return SmallInProcess(spec, others)


def is_small(body: bytes) -> bool:
    """Whether a page is parsed fast, whatever it contains."""
    return (
        len(body) <= SMALL_BODY
        and body.count(b"<") <= SMALL_TAGS
        and not any(sign in body for sign in _HIDING)
        and _long_tag(body) is None
        and _has_few(_quoted_ends(body), SMALL_QUOTED_ENDS)
        and _has_few(_tags_of_many_parts(body), SMALL_TAGS_OF_MANY_PARTS)
    )


def _has_few(found: Iterator[object], most: int) -> bool:
    return next(islice(found, most, None), None) is None


class ParserPool:
    """Parses pages in other processes; None for a page that crashes its process."""

    def __init__(
        self,
        processes: int = 1,
        longest: float = LONGEST,
        spec: JudgeSpec | None = None,  # of the judge in each process
    ) -> None:
        self._processes = processes
        self._spec = spec
        self._longest = longest
        self._readers: list[_Process] = []
        self._opening: set[asyncio.Task[None]] = set()
        self._news = (
            asyncio.Event()
        )  # set when a process is ready or gone, or a start can be retried
        self._failed = 0  # starts that failed
        self._pause = FIRST_PAUSE
        self._pausing = False
        self._why = ""  # the last start failed

    async def ready(self) -> None:
        """Start the processes; where none can be started, wait until one can."""
        if self._least_busy() is None and self._pausing:
            await self._started()

    async def _started(self) -> None:
        """Wait until a process is ready."""
        give_up = self._failed + TRIES * self._processes
        while self._least_busy() is None:
            if self._failed >= give_up or not self._processes:
                raise NoProcessError(f"no process that reads pages can be started: {self._why}")
            self._news.clear()
            await self._news.wait()

    async def read(self, body: bytes, url: str, content_type: str = "") -> Read | None:
        """Parse a page in the least busy process; in this one if it is small and none is ready."""
        message = _packed(_encode((url, content_type, body[:MAX_BODY])))
        while (reader := await self._reader_for(body)) is not None:
            answer = await reader.ask(message)
            if answer:
                return self._understood(url, _decode(answer))
            if answer is not None and is_small(body):  # the page cannot be sent back
                break
            if answer is not None or reader.died_of is message:
                return None
        return Read(await asyncio.to_thread(parse, body, url, content_type))

    def _understood(self, url: str, answer: Answer) -> Read:
        parsed = build(url, answer.raw)
        if answer.words is not None and self._spec is not None and self._spec.links:
            words = unpacked(self._spec.links[0], answer.words)
            parsed = replace(parsed, page=replace(parsed.page, link_words=words))
        return Read(parsed, answer.opinion and _verdict(answer.opinion))

    async def _reader_for(self, body: bytes) -> "_Process | None":
        reader = self._least_busy()
        if reader is not None or is_small(body):
            return reader
        await self._started()
        return self._least_busy()

    async def close(self) -> None:
        """End all processes, and start no more."""
        self._processes, self._why = 0, "the crawl ends"
        self._news.set()
        await asyncio.gather(*self._opening, return_exceptions=True)
        readers, self._readers = self._readers, []
        await asyncio.gather(*(reader.close() for reader in readers))

    def _least_busy(self) -> "_Process | None":
        if any(reader.is_gone for reader in self._readers):
            if any(reader.is_gone and not reader.is_ready for reader in self._readers):
                raise HoneyguideError("the processes that read pages do not start")
            self._readers = [reader for reader in self._readers if not reader.is_gone]
        missing = self._processes - len(self._readers) - len(self._opening)
        for _ in range(0 if self._pausing else missing):
            task = asyncio.create_task(self._open())
            self._opening.add(task)
            task.add_done_callback(self._opening.discard)
        ready = [reader for reader in self._readers if reader.is_ready]
        return min(ready, key=lambda reader: len(reader.waiting), default=None)

    async def _open(self) -> None:
        try:
            self._readers.append(await self._start())
            self._pause = FIRST_PAUSE
        except OSError as error:
            self._failed += 1
            self._why = error.strerror or str(error)
            self._rest()

    async def _start(self) -> "_Process":
        loop = asyncio.get_running_loop()
        command = (sys.executable, "-c", _PROGRAM)
        spec = _packed(_encode(self._spec and astuple(self._spec)))
        _, reader = await loop.subprocess_exec(
            lambda: _Process(spec, self._longest, self._news),
            *command,
            stderr=None,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},  # one thread for each process
        )
        return reader

    def _rest(self) -> None:
        """Start no process for a while, longer each time."""
        if self._pausing:
            return
        if self._pause == FIRST_PAUSE:
            _log.warning("a process that reads pages cannot be started yet: %s", self._why)
        self._pausing = True
        asyncio.get_running_loop().call_later(self._pause, self._end_rest)
        self._pause = min(2 * self._pause, LONGEST_PAUSE)

    def _end_rest(self) -> None:
        self._pausing = False
        self._news.set()


class _Process(asyncio.SubprocessProtocol):
    """The near side of a parser process, which answers messages in their order."""

    def __init__(self, spec: bytes, longest: float, news: asyncio.Event) -> None:
        self._spec = spec
        self._news = news
        self.waiting: deque[tuple[bytes, asyncio.Future[bytes | None]]] = deque()
        self.is_ready = self.is_gone = False
        self.died_of: bytes | None = None  # the message that it was working on when it ended
        self._longest = longest
        self._loop = asyncio.get_running_loop()
        self._ended: asyncio.Future[None] = self._loop.create_future()
        self._pieces = bytearray()
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send the judge's spec to the new process."""
        self._process = cast(asyncio.SubprocessTransport, transport)
        self._questions = cast(asyncio.WriteTransport, self._process.get_pipe_transport(0))
        self._questions.write(self._spec)

    async def ask(self, message: bytes) -> bytes | None:
        """Send a message and wait for the answer; None when the process ended without one."""
        answer: asyncio.Future[bytes | None] = self._loop.create_future()
        self.waiting.append((message, answer))
        if len(self.waiting) == 1:
            self._watch()
        self._questions.write(message)
        return await answer

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Deliver the answers that are complete."""
        self._pieces += data
        while len(self._pieces) >= _HEAD.size:
            end = _HEAD.size + _HEAD.unpack_from(self._pieces)[0]
            if len(self._pieces) < end:
                break
            with memoryview(self._pieces) as view:
                answer = bytes(view[_HEAD.size : end])
            del self._pieces[:end]
            if self.is_ready:
                _give(self.waiting.popleft()[1], answer)
                self._watch()
            self.is_ready = True  # the first message only says that it is
            self._news.set()

    def connection_lost(self, error: Exception | None) -> None:
        """Fail what still waits: the process has ended."""
        self.is_gone = True
        self._news.set()
        if self.waiting:
            self.died_of = self.waiting[0][0]
        while self.waiting:
            _give(self.waiting.popleft()[1], None)
        self._watch()
        self._process.close()
        _give(self._ended, None)

    async def close(self) -> None:
        """Let the process end by itself, or kill it after two seconds."""
        self._questions.close()
        try:
            async with asyncio.timeout(2.0):
                await asyncio.shield(self._ended)
        except TimeoutError:
            self._process.kill()
            await self._ended

    def _watch(self) -> None:
        """Restart the timer after which the process is killed."""
        if self._deadline is not None:
            self._deadline.cancel()
        kill = self._process.kill
        self._deadline = self._loop.call_later(self._longest, kill) if self.waiting else None


def _verdict(opinion: Opinion) -> Verdict:
    relevance, relevant, reasons, measures = opinion
    return Verdict(relevance, relevant, tuple(reasons), tuple(measures))


def _give(future: "asyncio.Future[Any]", answer: bytes | None) -> None:
    if not future.done():  # the waiting task may have been cancelled
        future.set_result(answer)


# --------------------------------------------------------------------------- in the other process


def work() -> None:
    """Parse and judge pages from standard input until it closes; the first message is the spec."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the crawl decides when to end
    with suppress(BrokenPipeError):  # the crawl was killed
        _answer_all(sys.stdin.buffer, sys.stdout.buffer)
    os._exit(0)  # without clean-up: the crawl waits for the exit


def _answer_all(questions: BinaryIO, answers: BinaryIO) -> None:
    spec = _hear(questions)
    judge, words = _received(spec).make_all() if spec else (None, None)
    _say(answers, b"")
    while (question := _hear(questions)) is not None:
        _say(answers, _answer(judge, words, *question))


def _received(spec: list[Any]) -> JudgeSpec:
    *judge, links = spec
    return replace(JudgeSpec(*judge), links=[LinkWordsSpec(*asked) for asked in links])


def _answer(
    judge: Judge | None, words: WordsReader | None, url: str, content_type: str, body: bytes
) -> bytes:
    raw = read(body, url, content_type)
    try:
        page = build(url, raw).page
        opinion = judge and Opinion(*astuple(judge(replace(page, html=body))))
        return _encode((raw, opinion, words and words.of_page(page).packed()))
    except Exception:  # a bug of the judge: the crawl judges again and reports it
        return _unjudged(raw)


def _unjudged(raw: Raw) -> bytes:
    try:
        return _encode((raw, None))
    except UnicodeEncodeError:  # half a surrogate pair
        return b""


def _hear(questions: BinaryIO) -> Any:
    head = questions.read(_HEAD.size)
    if len(head) < _HEAD.size:
        return None
    [size] = _HEAD.unpack(head)
    question = questions.read(size)
    return msgspec.msgpack.decode(question) if len(question) == size else None


def _say(answers: BinaryIO, message: bytes) -> None:
    answers.write(_packed(message))
    answers.flush()


def _packed(message: bytes) -> bytes:
    return _HEAD.pack(len(message)) + message


_encode = msgspec.msgpack.Encoder().encode
_decode = msgspec.msgpack.Decoder(Answer).decode
