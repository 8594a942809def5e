"""What a healthy exchange looks like, and what is never asked."""

import asyncio
import gzip
import zlib

import brotli
import pytest
import zstandard
from ada_url import URL
from hypothesis import given, settings
from hypothesis import strategies as st

from honeyguide import __version__
from honeyguide.contracts import Link, Response
from honeyguide.errors import HoneyguideError
from honeyguide.urls.spelling import target
from honeyguide.web import http as http_module
from honeyguide.web.fetch_limits import ANYTHING, Terms, Timeouts
from honeyguide.web.http import HttpFetcher, Redirects, user_agent
from tests.web.servers import Server, ask, fetcher, page, redirect, unhurried

TEXT = b"<p>" + b"hello, honey " * 400 + b"</p>"


def raw_deflate(data: bytes) -> bytes:
    engine = zlib.compressobj(wbits=-15)
    return engine.compress(data) + engine.flush()


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("identity", TEXT),
        ("gzip", gzip.compress(TEXT)),
        ("x-gzip", gzip.compress(TEXT[:99]) + gzip.compress(TEXT[99:])),
        ("GZIP", gzip.compress(TEXT) + bytes(64)),
        ("deflate", zlib.compress(TEXT)),
        ("deflate", raw_deflate(TEXT)),
        ("br", brotli.compress(TEXT)),
        ("zstd", zstandard.compress(TEXT)),
        ("gzip, br", brotli.compress(gzip.compress(TEXT))),
        ("utf-8", TEXT),
    ],
    ids=range(10),  # the bodies have times in them
)
def test_every_encoding_that_is_asked_for_is_understood(encoding: str, body: bytes):
    response = ask({"/": page(body, content_encoding=encoding)})
    assert (response.status, response.failure, response.body) == (200, "", TEXT)


def test_a_response_says_when_it_was_asked_for():
    async def run() -> tuple[Response, list[float]]:
        told: list[float] = []
        async with Server({"/old": redirect("/"), "/": page(TEXT)}) as server:
            http = HttpFetcher("h/0", allow_private=True, hosts=server.hosts())
            http.observe(lambda request: told.append(request.sent))
            response = await Redirects(http).fetch(Link("http://site.test/old"))
            await http.close()
            return response, told

    response, told = asyncio.run(run())
    assert len(told) == 2 and told[0] < told[1]
    assert response.sent == told[1]  # of what is kept, not of what led there


def test_a_request_says_who_asks_and_carries_nothing_else_of_ours():
    async def run() -> list[dict[str, str]]:
        async with Server({"/": page(set_cookie="id=1; Path=/")}) as server:
            http = HttpFetcher(
                user_agent("me@example.org"), allow_private=True, hosts=server.hosts()
            )
            for _ in range(2):
                await http.fetch(Link("http://name:secret@site.test/#part"))
            await http.close()
            return server.requests

    for headers in asyncio.run(run()):
        assert headers["user-agent"] == f"honeyguide/{__version__} (+me@example.org)"
        assert headers["accept-encoding"] == "gzip, deflate, br, zstd"
        assert not {"cookie", "authorization", "referer"} & set(headers)


@pytest.mark.parametrize("contact", ["me", " ", "me@example.org\r\nX: y", "a@b (c)", "ü@b.org"])
def test_a_contact_is_an_address_that_a_header_can_carry(contact: str):
    with pytest.raises(HoneyguideError, match="contact"):
        user_agent(contact)


def test_a_crawler_whose_operator_gave_no_contact_shows_nobody_elses():
    assert user_agent() == user_agent("") == f"honeyguide/{__version__}"


def test_the_proxy_of_the_environment_is_not_used(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    assert ask({"/": page()}).body == b"<p>hello</p>"


def test_a_response_tells_how_long_the_server_took():
    async def slowly(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.2)
        writer.write(page())

    quick, slow = ask({"/": page()}), ask({"/": slowly})
    assert quick.seconds is not None
    assert slow.seconds is not None
    assert slow.seconds >= 0.2
    assert ask({}, ":22/").seconds is None


def test_a_content_type_is_refused_before_the_body_is_read():
    async def endless(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\n\r\n")
        await asyncio.sleep(10)

    response = ask({"/": endless})
    assert (response.status, response.failure, response.body) == (200, "content type", b"")


@pytest.mark.parametrize(
    ("kind", "terms", "failure"),
    [
        ("text/html; charset=utf-8", Terms(), ""),
        ("TEXT/HTML", Terms(), ""),
        ("application/xhtml+xml", Terms(), ""),
        ("", Terms(), ""),
        ("application/json", Terms(), "content type"),
        ("text/html5", Terms(), "content type"),
        ("application/json", Terms(ANYTHING), ""),
    ],
)
def test_only_wanted_content_types_are_brought(kind: str, terms: Terms, failure: str):
    response = ask({"/": page(content_type=kind)}, terms=terms)
    assert response.failure == failure
    assert bool(response.body) == (not failure)


def test_an_error_of_the_server_is_a_response_whatever_its_type():
    answers = {
        "/": page(b"gone", "410 Gone"),
        "/json": page(b"{}", "503 Service Unavailable", content_type="application/json"),
    }
    gone, busy = ask(answers), ask(answers, "/json")
    assert (gone.status, gone.failure, gone.body) == (410, "", b"gone")
    assert (busy.status, busy.failure, busy.body) == (503, "", b"")


def test_headers_are_plain_text_by_lower_case_names():
    head = b"HTTP/1.1 200 OK\r\nX-Twice: a\r\nx-twice: b\r\nX-Robots-Tag: other: noindex\r\n"
    response = ask({"/": head + b"X-Robots-Tag: nofollow\r\nContent-Length: 2\r\n\r\nok"})
    assert type(response.headers) is dict
    assert response.headers["x-twice"] == "a, b"
    assert response.headers["x-robots-tag"] == "other: noindex, , nofollow"


def test_an_unchanged_page_is_not_sent_again():
    answers = {"/": page(b"", "304 Not Modified", etag='"1"'), "/new": page(b"new")}

    async def run() -> tuple[Response, Response, list[dict[str, str]]]:
        async with Server(answers) as server:
            http = fetcher(server)
            terms = Terms(etag='"1"', last_modified="Mon, 01 Jan 2024 00:00:00 GMT")
            same = await http.fetch(Link("http://site.test/"), terms)
            new = await http.fetch(Link("http://site.test/new"), terms)
            await http.close()
            return same, new, server.requests

    same, new, requests = asyncio.run(run())
    assert (same.status, same.failure, same.body) == (304, "not modified", b"")
    assert (new.status, new.failure, new.body) == (200, "", b"new")
    assert requests[0]["if-none-match"] == '"1"'
    assert requests[0]["if-modified-since"] == "Mon, 01 Jan 2024 00:00:00 GMT"


def test_a_larger_body_is_cut_where_the_terms_say_so():
    terms = Terms(max_bytes=10, max_decoded_bytes=7, cut=True)
    assert ask({"/": page(b"x" * 100)}, terms=terms).body == b"x" * 10
    packed = page(gzip.compress(b"x" * 100)[:-4], content_encoding="gzip")
    response = ask({"/": packed}, terms=Terms(max_decoded_bytes=7, cut=True))
    assert (response.failure, response.body) == ("", b"x" * 7)


def test_connections_are_used_again():
    async def run() -> int:
        answers = {"/": page(), "/moved": redirect("/"), "/none": page(b"", "404 Not Found")}
        async with Server(answers) as server:
            redirects = Redirects(fetcher(server))
            for path in ("/", "/moved", "/none", "/") * 5:
                await redirects.fetch(Link(f"http://site.test{path}"))
            await redirects.close()
            return server.connections

    assert asyncio.run(run()) == 1


def test_idle_connections_do_not_use_up_the_machine(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(http_module, "_MAX_CONNECTIONS", 3)
    names = [f"host{i}.test" for i in range(10)]

    async def run() -> tuple[list[str], int]:
        async with Server({"/": page()}) as server:  # it closes no connection by itself
            http = fetcher(server, *names)
            for name in names:
                await http.fetch(Link(f"http://{name}/"))
            await asyncio.sleep(0.05)
            opened = http._open_connections()
            await http.close()
            said = [headers.get("connection", "keep-alive") for headers in server.requests]
            return said, opened

    kept, opened = asyncio.run(run())
    assert kept == ["keep-alive"] * 3 + ["close"] * 7
    assert opened == 3


def test_many_host_names_can_live_on_one_server():
    names = [f"host{i}.test" for i in range(20)]

    async def run() -> list[str]:
        async with Server({"/": page()}) as server:
            http = fetcher(server, *names)
            await asyncio.gather(*(http.fetch(Link(f"http://{name}/")) for name in names))
            await http.close()
            return server.asked

    assert sorted(asyncio.run(run())) == sorted(f"{name} /" for name in names)


class Counting:
    """Answers slowly, and counts how many it is serving at once."""

    def __init__(self) -> None:
        self.now = self.most = 0
        self.started = 0.0
        self.times: list[float] = []

    async def __call__(self, writer: asyncio.StreamWriter) -> None:
        self.now += 1
        self.most = max(self.most, self.now)
        self.times.append(asyncio.get_running_loop().time())
        await asyncio.sleep(0.02)
        writer.write(page().replace(b"\r\n", b"\r\nConnection: close\r\n", 1))
        await writer.drain()
        self.now -= 1


def at_once(names: list[str], **limits: object) -> Counting:
    counting = Counting()

    async def run() -> None:
        async with Server({"/": counting}) as server:
            http = fetcher(server, *names, schedule=unhurried(**limits))
            counting.started = asyncio.get_running_loop().time()
            responses = await asyncio.gather(
                *(http.fetch(Link(f"http://{name}/")) for name in names)
            )
            await http.close()
            assert not any(response.failure for response in responses)

    asyncio.run(run())
    assert len(counting.times) == len(names)
    return counting


def test_a_host_is_never_asked_twice_at_once():
    assert at_once(["site.test"] * 8, per_address=None).most == 1


def test_many_names_on_one_address_are_not_many_crawlers():
    names = [f"host{i}.test" for i in range(16)]
    assert at_once(names, per_address=2).most == 2
    assert at_once(names, per_address=None).most > 2


def test_requests_to_one_address_are_a_moment_apart():
    names = [f"host{i}.test" for i in range(6)]
    counting = at_once(names, address_interval=0.05)
    for place, entered in enumerate(sorted(counting.times)):
        assert entered - counting.started >= 0.05 * place - 0.005


def test_a_turn_that_does_not_come_is_a_failure():
    async def never(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(10)

    async def run() -> list[str]:
        async with Server({"/": never}) as server:
            timeouts = Timeouts(read=1.0, turn=0.1)
            http = fetcher(server, timeouts=timeouts)
            links = [Link("http://site.test/")] * 2
            responses = await asyncio.gather(*map(http.fetch, links))
            await http.close()
            return [response.failure for response in responses]

    assert asyncio.run(run()) == ["timeout", "busy"]


fragments = st.lists(st.sampled_from([*"ab1./:@?#%-[]'\\$* é", "..", "%2e", "xn--"]), max_size=12)


@settings(deadline=None)
@given(fragments.map("".join))
def test_a_url_is_taken_apart_as_browsers_do(text: str):
    for url in (f"http://{text}", f"http://site.test/{text}", f"https://{text}.test/?{text}"):
        place = target(url)
        if isinstance(place, str):
            continue
        whole = URL(place.url)
        assert whole.href == place.url
        assert place.host == whole.hostname.strip("[]")
        assert place.url == place.origin + place.path
        assert place.path == whole.pathname + (whole.search or place.path[len(whole.pathname) :])
        original = URL(url)
        assert (original.host, original.pathname) == (whole.host, whole.pathname)


@pytest.mark.parametrize(
    "url", ["file:///etc/passwd", "ftp://site.test/", "about:blank", "site.test", ""]
)
def test_only_http_is_spoken(url: str):
    async def run() -> Response:
        http = HttpFetcher("h/0", allow_private=True)
        response = await http.fetch(Link(url))
        await http.close()
        return response

    response = asyncio.run(run())
    assert response.failure in ("scheme", "bad url")
    assert (response.status, response.body) == (0, b"")
