"""Requests through real proxies on loopback."""

import asyncio

import pytest
import trustme

from honeyguide.contracts import Link
from honeyguide.errors import HoneyguideError
from honeyguide.web.access import Access, access
from honeyguide.web.http import HttpFetcher
from honeyguide.web.proxies import parse_proxy
from tests.web.proxies import HttpProxy, SocksProxy
from tests.web.servers import PATIENT, Server, page, unhurried

KINDS = {"http": HttpProxy, "socks5": SocksProxy}


async def fetched(url, said, **settings):
    http = HttpFetcher(
        "honeyguide/0",
        timeouts=PATIENT,
        schedule=unhurried(),
        access=access(proxy=said),
        **settings,
    )
    try:
        return await http.fetch(Link(url))
    finally:
        await http.close()


def through(kind, url="http://site.test/", login="", said_login="", **settings):
    """The response to a request through a proxy, and what the proxy was asked for."""

    async def run():
        async with (
            Server({"/": page(b"<p>found</p>")}) as server,
            KINDS[kind](server.hosts("site.test"), login) as proxy,
        ):
            said = f"{kind}://{said_login}127.0.0.1:{proxy.port}"
            return await fetched(url, said, **settings), proxy.asked

    return asyncio.run(run())


@pytest.mark.parametrize("kind", KINDS)
def test_requests_go_through_the_proxy_which_looks_the_name_up(kind):
    response, asked = through(kind)
    assert (response.status, response.body) == (200, b"<p>found</p>")
    assert asked == ["site.test:80"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_proxy_may_want_a_login(kind):
    assert through(kind, login="me:s:cret", said_login="me:s%3Acret@")[0].status == 200
    for wrong in ("", "me:wrong@"):
        response, asked = through(kind, login="me:s:cret", said_login=wrong)
        assert response.failure == "proxy login" or response.status == 407
        assert asked == []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "url", ["http://127.0.0.1/", "http://10.0.0.1/", "http://router/", "http://nas.local/"]
)
def test_a_private_address_is_not_asked_for_through_a_proxy_either(kind, url):
    response, asked = through(kind, url)
    assert (response.failure, asked) == ("private address", [])


@pytest.mark.parametrize("kind", KINDS)
def test_a_proxy_that_is_not_there_has_a_failure_of_its_own(kind):
    response = asyncio.run(fetched("http://site.test/", f"{kind}://127.0.0.1:9"))
    assert response.failure == "proxy unreachable"


def test_a_host_that_the_proxy_does_not_reach_fails():
    assert through("socks5", "http://other.test/")[0].failure == "proxy"
    assert through("http", "https://other.test/")[0].failure == "proxy"


@pytest.mark.parametrize("kind", KINDS)
def test_tls_goes_through_the_proxy_to_the_host_itself(kind, tmp_path):
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    tls = _server_context(authority, "site.test")

    async def run():
        async def answer(reader, writer):
            await reader.readuntil(b"\r\n\r\n")
            writer.write(page(b"<p>secret</p>"))
            await writer.drain()
            writer.close()

        server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=tls)
        place = server.sockets[0].getsockname()[:2]
        async with server, KINDS[kind]({"site.test": place}) as proxy:
            trusted = Access(
                proxy=parse_proxy(f"{kind}://127.0.0.1:{proxy.port}"),
                ca_file=str(tmp_path / "ca.pem"),
            )
            http = HttpFetcher(
                "honeyguide/0", timeouts=PATIENT, schedule=unhurried(), access=trusted
            )
            try:
                return await http.fetch(Link("https://site.test/")), proxy.asked
            finally:
                await http.close()

    response, asked = asyncio.run(run())
    assert (response.failure, response.body) == ("", b"<p>secret</p>")
    assert asked == ["site.test:443"]


def _server_context(authority, *names):
    import ssl

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*names).configure_cert(context)
    return context


@pytest.mark.parametrize(
    "said", ["ftp://host:1", "http://", "host:port", "socks4://host:1", "http://a:b@host:99999"]
)
def test_what_is_no_proxy_is_refused_without_its_password(said):
    with pytest.raises(HoneyguideError) as refused:
        parse_proxy(said)
    assert "is no proxy: say http://HOST:PORT" in str(refused.value)
    assert "a:b" not in str(refused.value)


def test_a_proxy_without_scheme_or_port_is_an_http_proxy():
    assert str(parse_proxy("proxy.test")) == "http://proxy.test:80"
    assert str(parse_proxy("proxy.test:3128")) == "http://proxy.test:3128"
    assert str(parse_proxy("socks5://[::1]")) == "socks5://[::1]:1080"
