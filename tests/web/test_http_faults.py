"""Whatever a server does, a fetch ends in time with a response that says what happened."""

import asyncio
import contextlib
import gzip
import socket
import struct
import time
import zlib
from collections.abc import Iterator

import pytest

from honeyguide.contracts import Link
from honeyguide.web.connections import MAX_INTERIM
from honeyguide.web.fetch_limits import Terms, Timeouts
from honeyguide.web.host_schedule import HostSchedule
from honeyguide.web.http import HttpFetcher, Redirects
from tests.web.servers import (
    PATIENT,
    QUICK,
    Answer,
    Server,
    ask,
    fetcher,
    page,
    redirect,
    unhurried,
)

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"


@pytest.fixture(autouse=True, params=["asyncio", "uvloop"])
def _nothing_hangs(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    monkeypatch.setattr(asyncio, "run", pytest.importorskip(request.param).run)
    started = time.monotonic()
    yield
    assert time.monotonic() - started < 10.0


def then_reset(data: bytes) -> Answer:
    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        await writer.drain()
        await asyncio.sleep(0.05)
        connection = writer.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        writer.transport.abort()

    return answer


def then_close(data: bytes) -> Answer:
    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(data)
        await writer.drain()

    return answer


def forever(head: bytes, piece: bytes, pause: float) -> Answer:
    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(head)
        for _ in range(100_000):
            writer.write(piece)
            await writer.drain()
            await asyncio.sleep(pause)

    return answer


def test_a_refused_connection_is_a_failure():
    async def run():
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))  # bound and never listening
            hosts = {"site.test": closed.getsockname()}
            http = HttpFetcher("h/0", allow_private=True, hosts=hosts, timeouts=PATIENT)
            response = await http.fetch(Link("http://site.test/"))
            await http.close()
            return response

    response = asyncio.run(run())
    assert (response.status, response.failure) == (0, "connection refused")


def test_a_server_that_takes_no_connection_is_left_in_time():
    async def run():
        with socket.socket() as full, contextlib.ExitStack() as waiting:
            full.bind(("127.0.0.1", 0))
            full.listen(0)
            for _ in range(4):  # more than its queue has room for
                client = waiting.enter_context(socket.socket())
                client.setblocking(False)
                client.connect_ex(full.getsockname())
            hosts = {"site.test": full.getsockname()}
            times = Timeouts(connect=0.5, read=60.0, total=60.0)
            http = HttpFetcher("h/0", allow_private=True, hosts=hosts, timeouts=times)
            async with asyncio.timeout(8.0):
                response = await http.fetch(Link("http://site.test/"))
            await http.close()
            return response

    assert asyncio.run(run()).failure == "timeout"


def test_a_reset_before_the_response_is_a_failure():
    assert ask({"/": then_reset(b"")}).failure == "connection reset"


def test_a_reset_in_the_middle_of_a_body_is_a_failure():
    response = ask({"/": then_reset(HEAD + b"Content-Length: 1000\r\n\r\nhalf")})
    assert (response.status, response.failure, response.body) == (200, "connection reset", b"")


def test_a_reset_in_the_middle_of_a_chunked_body_is_a_failure():
    head = HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"
    assert ask({"/": then_reset(head)}).failure == "connection reset"


def test_a_body_shorter_than_its_length_is_truncated():
    response = ask({"/": then_close(page(b"short", length=100))})
    assert (response.failure, response.body) == ("truncated", b"")


def test_a_chunked_body_without_an_end_is_truncated():
    head = HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"
    assert ask({"/": then_close(head)}).failure in ("truncated", "bad response")


def test_a_server_that_stops_before_its_length_is_left_in_time():
    assert ask({"/": page(b"short", length=100)}, timeouts=QUICK).failure == "timeout"


def test_a_body_longer_than_its_length_spoils_nothing():
    async def run():
        async with Server({"/": page(b"hello", length=3), "/next": page(b"fine")}) as server:
            http = fetcher(server)
            first = await http.fetch(Link("http://site.test/"))
            second = await http.fetch(Link("http://site.test/next"))
            await http.close()
            return first, second

    first, second = asyncio.run(run())
    assert first.failure == "bad response"
    assert second.body == b"fine"


def test_an_endless_body_is_cut_off_at_the_limit():
    answer = forever(HEAD + b"\r\n", b"x" * 65536, 0.0)
    response = ask({"/": answer}, terms=Terms(max_bytes=300_000))
    assert (response.failure, response.body) == ("too large", b"")


def test_an_endless_chunked_body_is_cut_off_at_the_limit():
    answer = forever(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"4\r\nabcd\r\n" * 5000, 0.0)
    assert ask({"/": answer}, terms=Terms(max_bytes=300_000)).failure == "too large"


def test_a_body_that_says_it_is_too_large_is_not_read():
    answer = page(b"x", length=10**12)
    assert ask({"/": answer}).failure == "too large"


def test_a_body_that_trickles_is_left_in_time():
    answer = forever(HEAD + b"Content-Length: 100000\r\n\r\n", b"x", 0.1)
    assert ask({"/": answer}, timeouts=QUICK).failure == "timeout"


def test_headers_that_trickle_are_left_in_time():
    answer = forever(b"HTTP/1.1 200 OK\r\n", b"a: b\r\n", 0.1)
    assert ask({"/": answer}, timeouts=QUICK).failure == "timeout"


def test_endless_interim_responses_are_left_in_time():
    answer = forever(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n", 0.1)
    assert ask({"/": answer}, timeouts=QUICK).failure == "timeout"


@pytest.mark.parametrize("line", [b"100 Continue", b"103 Early Hints\r\nLink: </style.css>"])
def test_interim_responses_are_counted_and_no_flood_of_them_is_read(line: bytes):
    flood = forever(b"", (b"HTTP/1.1 " + line + b"\r\n\r\n") * 20_000, 0.0)
    before = time.thread_time()
    assert ask({"/": flood}).failure == "bad response"
    assert time.thread_time() - before < 1.0  # it was 11 s


def test_a_few_interim_responses_come_before_the_page():
    interim = b"HTTP/1.1 103 Early Hints\r\n\r\n" * MAX_INTERIM
    assert ask({"/": interim + page(b"fine")}).body == b"fine"


def test_a_head_is_bounded_as_a_whole():
    lines = b"".join(b"A%d: %s\r\n" % (n, b"a" * 30_000) for n in range(12))
    answer = then_close(HEAD + lines + b"\r\nfine")
    assert ask({"/": answer}).failure == "bad response"


def test_a_body_of_more_framing_than_content_is_left():
    for piece in (b"1\r\na\r\n" * 10_000, b"1;" + b"a" * 30_000 + b"\r\na\r\n"):
        answer = forever(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", piece, 0.0)
        assert ask({"/": answer}).failure == "bad response"


def test_responses_that_nobody_asked_for_are_not_read():
    async def run():
        async with Server({"/": page() * 5_000, "/next": page(b"fine")}) as server:
            http = fetcher(server)
            bodies = [
                (await http.fetch(Link(f"http://site.test{path}"))).body for path in ("/", "/next")
            ]
            await http.close()
            return bodies

    assert asyncio.run(run()) == [b"<p>hello</p>", b"fine"]


def test_a_reset_in_a_body_that_ends_with_the_connection_is_a_failure():
    response = ask({"/": then_reset(HEAD + b"\r\nhalf a page")})
    assert (response.failure, response.body) == ("connection reset", b"")


def test_a_body_that_ends_with_the_connection_is_whole():
    assert ask({"/": then_close(HEAD + b"\r\na page")}).body == b"a page"


def chunked(body: bytes) -> bytes:
    return b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)


@pytest.mark.parametrize(
    ("encodings", "body"),
    [
        (b"Transfer-Encoding: gzip", gzip.compress(b"hello", mtime=0)),
        (b"Transfer-Encoding: gzip, chunked", chunked(gzip.compress(b"hello", mtime=0))),
        (
            b"Transfer-Encoding: x-gzip\r\nTransfer-Encoding: chunked",
            chunked(gzip.compress(b"hello", mtime=0)),
        ),
        (b"Transfer-Encoding: deflate, chunked", chunked(zlib.compress(b"hello"))),
        (
            b"Content-Encoding: gzip\r\nTransfer-Encoding: deflate, chunked",
            chunked(zlib.compress(gzip.compress(b"hello", mtime=0))),
        ),
    ],
)
def test_a_transfer_encoding_is_undone_like_a_content_encoding(encodings: bytes, body: bytes):
    response = ask({"/": then_close(HEAD + encodings + b"\r\n\r\n" + body)})
    assert (response.failure, response.body) == ("", b"hello")


def test_a_bomb_in_a_transfer_encoding_is_too_large():
    bomb = chunked(gzip.compress(b"0" * 30_000_000, mtime=0))
    head = HEAD + b"Transfer-Encoding: gzip, chunked\r\n\r\n"
    assert ask({"/": then_close(head + bomb)}).failure == "too large"


def test_a_server_that_says_nothing_is_left_in_time():
    assert ask({"/": forever(b"", b"", 0.1)}, timeouts=QUICK).failure == "timeout"


@pytest.mark.parametrize(
    "lines",
    [
        b"X: " + b"a" * 10_000_000 + b"\r\n",
        b"".join(b"X-%d: " % i + b"a" * 1000 + b"\r\n" for i in range(10_000)),
        b"a" * 10_000_000 + b": b\r\n",
    ],
    ids=["one line", "many lines", "a long name"],
)
def test_ten_megabytes_of_headers_are_a_failure(lines: bytes):
    response = ask({"/": HEAD + lines + b"Content-Length: 2\r\n\r\nok"})
    assert response.failure == "bad response"


@pytest.mark.parametrize(
    "answer",
    [
        HEAD + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nhello\r\n0\r\n\r\n",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n-5\r\nhello\r\n0\r\n\r\n",
        HEAD + b"Transfer-Encoding: chunked\r\n\r\n2\r\nhello\r\n0\r\n\r\n",
        HEAD + b"Content-Length: five\r\n\r\nhello",
        HEAD + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"HTTP/1.1 abc\r\n\r\n",
        b"\x00\xff\xfe" * 100 + b"\r\n\r\n",
        b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: upgrade\r\n\r\n",
    ],
)
def test_what_is_not_http_is_a_bad_response(answer: bytes):
    assert ask({"/": then_close(answer)}).failure == "bad response"


@pytest.mark.parametrize(
    ("answer", "failure"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "plain http"),
        (b"\x15\x03\x01\x00\x02\x02\x28", "tls"),  # an alert: the handshake failed
    ],
)
def test_a_server_that_does_not_speak_tls_is_a_failure(answer: bytes, failure: str):
    async def plain(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(100)
        writer.write(answer)
        writer.close()

    async def run():
        async with await asyncio.start_server(plain, "127.0.0.1", 0) as server:
            hosts = {"site.test": server.sockets[0].getsockname()}
            http = HttpFetcher("h/0", allow_private=True, hosts=hosts, timeouts=PATIENT)
            response = await http.fetch(Link("https://site.test/"))
            await http.close()
            return response

    assert asyncio.run(run()).failure == failure


def test_a_decompression_bomb_is_a_failure():
    bomb = gzip.compress(bytes(50_000_000), 9)
    answer = page(bomb, content_encoding="gzip")
    response = ask({"/": answer}, terms=Terms(max_decoded_bytes=1_000_000))
    assert (response.failure, response.body) == ("too large", b"")


def test_a_host_that_asks_for_patience_gets_it():
    answer = page(b"", "429 Too Many Requests", retry_after="77")
    response = ask({"/": answer})
    assert (response.status, response.failure) == (429, "")
    assert HostSchedule().after(response.url, response, 0.1) == 77.0


def test_invalid_utf8_arrives_as_it_was_sent():
    body = b"<p>\xff\xfe\xc3(</p>\x00"
    assert ask({"/": page(body)}).body == body


def test_invalid_utf8_in_headers_is_made_storable():
    response = ask({"/": HEAD + b"X-Name: gr\xfcn\r\nContent-Length: 2\r\n\r\nok"})
    assert response.body == b"ok"
    response.headers["x-name"].encode("utf-8")


def test_a_host_without_an_address_is_a_failure():
    async def run():
        http = HttpFetcher("h/0", timeouts=PATIENT)
        responses = [
            await http.fetch(Link(f"http://{host}/"))
            for host in ("nothing.invalid", "a" * 64 + ".invalid")
        ]
        await http.close()
        return [response.failure for response in responses]

    assert asyncio.run(run()) == ["dns", "dns"]


def follow(answers: dict[str, Answer], **settings: object):
    async def run():
        async with Server(answers) as server:
            redirects = Redirects(fetcher(server, **settings))
            response = await redirects.fetch(Link("http://site.test/", anchor="start"))
            await redirects.close()
            return response, server.asked

    return asyncio.run(run())


def test_a_redirect_loop_ends():
    response, asked = follow({"/": redirect("/a"), "/a": redirect("/b"), "/b": redirect("/a")})
    assert response.failure == "too many redirects"
    assert asked == ["site.test /", "site.test /a", "site.test /b"]


def test_ten_redirects_are_followed_and_no_more():
    chain: dict[str, Answer] = {f"/{i}": redirect(f"/{i + 1}") for i in range(1, 100)}
    response, asked = follow({"/": redirect("/1"), **chain})
    assert response.failure == "too many redirects"
    assert len(asked) == 11
    response, _ = follow({"/": redirect("/1"), **chain, "/10": page(b"there")})
    assert (response.failure, response.body) == ("", b"there")


def test_slow_redirects_are_not_followed_forever():
    async def run():
        async with Server({"/": redirect("/1"), "/1": redirect("/2")}) as server:
            redirects = Redirects(fetcher(server), patience=0.0)
            response = await redirects.fetch(Link("http://site.test/"))
            await redirects.close()
            return response

    assert asyncio.run(run()).failure == "timeout"


def test_a_redirect_keeps_the_link_and_tells_the_last_url():
    response, _ = follow({"/": redirect("/caf\u00e9?q=1#part"), "/caf%C3%A9?q=1": page(b"there")})
    assert response.link == Link("http://site.test/", anchor="start")
    assert response.url == "http://site.test/caf%C3%A9?q=1"
    assert response.body == b"there"


@pytest.mark.parametrize(
    ("location", "failure"),
    [
        ("file:///etc/passwd", "scheme"),
        ("ftp://site.test/", "scheme"),
        ("javascript:alert(1)", "scheme"),
        ("data:text/html,hello", "scheme"),
        ("http://site.test:25/", "port"),
        ("http://[::1", "bad url"),
        ("http://a b/", "bad url"),
        ("", "too many redirects"),  # to itself
    ],
)
def test_a_redirect_to_what_is_no_web_page_is_refused(location: str, failure: str):
    response, asked = follow({"/": redirect(location)})
    assert (response.failure, response.body) == (failure, b"")
    assert asked == ["site.test /"]


def test_a_redirect_without_a_location_is_a_response():
    response, _ = follow({"/": page(b"choose", "300 Multiple Choices")})
    assert (response.status, response.failure, response.body) == (300, "", b"choose")


def test_the_body_of_a_redirect_is_not_waited_for():
    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 302 Found\r\nLocation: /next\r\nContent-Length: 100\r\n\r\n")
        await writer.drain()
        await asyncio.sleep(10)

    response, _ = follow({"/": answer, "/next": page(b"there")}, timeouts=QUICK)
    assert response.body == b"there"


def test_a_cancelled_fetch_leaves_its_turn_to_the_next():
    async def run():
        async with Server({"/": forever(b"", b"", 0.1), "/next": page(b"fine")}) as server:
            http = fetcher(server)
            slow = asyncio.create_task(http.fetch(Link("http://site.test/")))
            waiting = asyncio.create_task(http.fetch(Link("http://site.test/never")))
            await asyncio.sleep(0.1)
            slow.cancel()
            waiting.cancel()
            await asyncio.gather(slow, waiting, return_exceptions=True)
            response = await http.fetch(Link("http://site.test/next"))
            await http.close()
            return response

    assert asyncio.run(run()).body == b"fine"


def test_every_cut_of_a_response_ends_as_a_response():
    whole = page(gzip.compress(b"<p>hello</p>", mtime=0), content_encoding="gzip")

    async def run():
        cuts = range(0, len(whole), 7)
        async with Server({f"/{cut}": then_close(whole[:cut]) for cut in cuts}) as server:
            http = fetcher(server, schedule=unhurried(per_host=8, per_address=8))
            links = [Link(f"http://site.test/{cut}") for cut in cuts]
            responses = await asyncio.gather(*map(http.fetch, links))
            await http.close()
            return responses

    for response in asyncio.run(run()):
        assert response.failure in ("connection reset", "bad response", "truncated")
        assert response.body == b""


def test_a_redirect_to_an_endless_address_is_not_followed():
    async def run() -> tuple[str, list[str]]:
        async with Server({"/": redirect("http://site.test/" + "{" * 12_000)}) as server:
            web = Redirects(fetcher(server))
            response = await web.fetch(Link("http://site.test/"))
            await web.close()
            return response.failure, server.asked

    assert asyncio.run(run()) == ("bad url", ["site.test /"])
