"""No page can make the crawler connect to a machine that is not on the public internet."""

import asyncio
import socket
import threading
from ipaddress import IPv4Address, IPv6Address

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from honeyguide.contracts import Link, Response
from honeyguide.web import connections
from honeyguide.web.connections import PrivateAddressError, Resolver, is_public
from honeyguide.web.http import HttpFetcher, Redirects
from tests.web.servers import PATIENT, Server, fetcher, page, redirect, unhurried

PRIVATE = """127.0.0.1 127.255.255.254 0.0.0.0 0.1.2.3 10.0.0.1 100.64.0.1 100.100.100.200
169.254.169.254 172.16.0.1 172.31.255.255 192.0.0.192 192.0.2.1 192.168.1.1 198.18.0.1 198.51.100.7
203.0.113.9 224.0.0.1 239.1.2.3 240.0.0.1 255.255.255.255 168.63.129.16""".split()
PRIVATE_6 = """:: ::1 ::127.0.0.1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 fe80::1 fe80::1%eth0 fec0::1
fc00::1 fd00:ec2::254 ff02::1 64:ff9b::127.0.0.1 64:ff9b::a9fe:a9fe 64:ff9b:1::808:808 2002:7f00:1::
2002:c0a8:101::1 2001::1 2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:db8::1 100::1 3fff::1
5f00::1""".split()
PUBLIC = """8.8.8.8 1.1.1.1 100.63.255.255 100.128.0.1 172.15.0.1 172.32.0.1 192.0.1.1 198.17.0.1
223.255.255.255 2606:4700:4700::1111 2a00:1450:4001:80b::200e ::ffff:8.8.8.8 64:ff9b::808:808
2002:808:808::1 2001:4860:4860::8888""".split()


@pytest.mark.parametrize("address", PRIVATE + PRIVATE_6)
def test_an_address_that_is_not_globally_routable_is_known(address: str):
    assert not is_public(address)


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_address_is_known(address: str):
    assert is_public(address)


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_an_ipv4_address_is_judged_the_same_in_every_disguise(number: int):
    plain = is_public(str(IPv4Address(number)))
    assert is_public(str(IPv6Address(0xFFFF << 32 | number))) == plain
    assert is_public(str(IPv6Address(0x64FF9B << 96 | number))) == plain
    assert is_public(str(IPv6Address(0x2002 << 112 | number << 80 | 1))) == plain


@settings(deadline=None)
@given(st.integers(0, 2**32 - 1).map(IPv4Address))
def test_what_the_standard_library_calls_private_is_refused(address: IPv4Address):
    if not address.is_global or address.is_multicast:
        assert not is_public(str(address))


def failures(urls: list[str], **settings: object) -> list[str]:
    async def run() -> list[str]:
        http = HttpFetcher("h/0", timeouts=PATIENT, **settings)
        responses = [await http.fetch(Link(url)) for url in urls]
        await http.close()
        return [response.failure for response in responses]

    return asyncio.run(run())


def test_private_literals_are_refused_in_every_spelling():
    spellings = """127.0.0.1 127.1 2130706433 0x7f000001 0177.0.0.1 0x7f.1 [::1] [::ffff:127.0.0.1]
    [::ffff:7f00:1] [0:0:0:0:0:0:0:1] 169.254.169.254 [64:ff9b::7f00:1] [2002:7f00:1::] 0.0.0.0 0
    ①②⑦.0.0.1 127。0。0。1 127.0.0.1.""".split()
    found = failures([f"http://{host}/" for host in spellings])
    assert found == ["private address"] * len(spellings)


def test_a_name_that_resolves_to_loopback_is_refused():
    found = failures(["http://localhost/", "http://localhost.:8080/"])
    assert set(found) <= {"private address", "dns"}
    assert found[0] == "private address"


def test_a_mapped_name_does_not_get_around_the_check():
    async def run() -> tuple[str, list[str]]:
        async with Server({"/": page()}) as server:
            http = fetcher(server, allow_private=False)
            response = await http.fetch(Link("http://site.test/"))
            await http.close()
            return response.failure, server.asked

    assert asyncio.run(run()) == ("private address", [])


class OnlyOutside(Resolver):
    """Takes 127.0.0.2 for the public internet, and everything else for private."""

    def _may_reach(self, address: str) -> bool:
        return address == "127.0.0.2"


def redirecting(location: str):
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(redirect(location))
        await writer.drain()
        writer.close()

    return serve


@pytest.mark.parametrize(
    "host", ["127.0.0.1:{port}", "[::1]:{port}", "inside.test", "2130706433:{port}", "127.1:{port}"]
)
def test_a_redirect_to_a_private_address_is_refused(host: str):
    async def run() -> tuple[Response, list[str]]:
        async with Server({"/secret": page(b"secret")}) as inside:
            hosts = inside.hosts("inside.test")
            location = f"http://{host.format(port=inside.port)}/secret"
            async with await asyncio.start_server(redirecting(location), "127.0.0.2") as outside:
                hosts["outside.test"] = outside.sockets[0].getsockname()
                http = HttpFetcher("h/0", timeouts=PATIENT)
                http._resolver = OnlyOutside(hosts=hosts)
                redirects = Redirects(http)
                response = await redirects.fetch(Link("http://outside.test/"))
                await redirects.close()
                return response, inside.asked

    response, asked = asyncio.run(run())
    assert response.url.endswith("/secret")  # the first hop was taken
    assert (response.failure, response.body, asked) == ("private address", b"", [])


def test_the_last_look_is_at_the_very_address_that_is_connected():
    resolver = Resolver()
    info = (socket.AF_INET, socket.SOCK_STREAM, 0, "", ("127.0.0.1", 80))
    with pytest.raises(PrivateAddressError):
        resolver.open_socket(info)


def test_an_answer_that_changes_between_two_lookups_gains_nothing(monkeypatch: pytest.MonkeyPatch):
    """DNS rebinding: public for the check, private for the connection."""
    answers = iter([["8.8.8.8"]] + [["127.0.0.1"]] * 9)
    monkeypatch.setattr(connections, "_ask_system", lambda host: next(answers))
    monkeypatch.setattr(connections, "_LIFETIME", 0.0)

    async def run() -> tuple[str, list[str]]:
        async with Server({"/": page()}) as server:
            http = HttpFetcher("h/0", timeouts=PATIENT)
            response = await http.fetch(Link(f"http://rebinding.test:{server.port}/"))
            await http.close()
            return response.failure, server.asked

    assert asyncio.run(run()) == ("private address", [])


def test_only_the_public_addresses_of_a_name_are_used(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(connections, "_ask_system", lambda host: ["10.0.0.1", "8.8.8.8", "::1"])

    async def run():
        resolver = Resolver()
        found = await resolver.resolve("mixed.test", 80)
        await resolver.close()
        return found

    assert [each["host"] for each in asyncio.run(run())] == ["8.8.8.8"]


def test_many_who_ask_at_once_share_one_lookup(monkeypatch: pytest.MonkeyPatch):
    asked: list[str] = []
    monkeypatch.setattr(connections, "_ask_system", lambda host: asked.append(host) or ["8.8.8.8"])

    async def run() -> None:
        resolver = Resolver()
        await asyncio.gather(*(resolver.find("busy.test") for _ in range(50)))
        await resolver.find("busy.test")
        await resolver.close()

    asyncio.run(run())
    assert asked == ["busy.test"]


def test_names_that_share_an_address_share_its_turns_whichever_is_connected_to(monkeypatch):
    own = {f"name{number}.test": f"127.0.1.{number + 1}" for number in range(4)}
    monkeypatch.setattr(connections, "_ask_system", lambda host: [own[host], "127.0.0.1"])
    together, most = 0, 0

    async def slow(writer: asyncio.StreamWriter) -> None:
        nonlocal together, most
        together, most = together + 1, max(most, together + 1)
        await asyncio.sleep(0.05)
        together -= 1
        writer.write(page(b"slow"))

    async def run() -> list[str]:
        async with Server({"/": slow}) as server:  # listens at the shared address alone
            http = HttpFetcher("h/0", timeouts=PATIENT, allow_private=True, schedule=unhurried())
            urls = [f"http://{name}:{server.port}/" for name in own]
            found = await asyncio.gather(*(http.fetch(Link(url)) for url in urls))
            await http.close()
            return [response.failure for response in found]

    assert asyncio.run(run()) == [""] * 4
    assert most == 2


def test_waiting_for_a_thread_is_not_held_against_a_name(monkeypatch):
    dead = threading.Event()

    def ask(host: str) -> list[str]:
        if host.startswith("dead"):
            dead.wait(5.0)
            raise socket.gaierror
        return ["8.8.8.8"]

    monkeypatch.setattr(connections, "_ask_system", ask)
    monkeypatch.setattr(connections, "_THREADS", 2)

    async def run() -> list[str]:
        resolver = Resolver(timeout=0.1)
        lost = [asyncio.create_task(resolver.find(f"dead{number}.test")) for number in range(2)]
        await asyncio.sleep(0)
        good = asyncio.create_task(resolver.find("good.test"))
        failures = [(await each).failure for each in lost]
        dead.set()
        failures.append((await good).failure)
        await resolver.close()
        return failures

    assert asyncio.run(run()) == ["dns", "dns", ""]
