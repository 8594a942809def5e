"""Secrets go to the hosts they were given for, and nowhere else."""

import asyncio
import base64
import ssl

import pytest
import trustme
from hypothesis import given
from hypothesis import strategies as st

from honeyguide.contracts import Link
from honeyguide.errors import HoneyguideError
from honeyguide.urls.spelling import target
from honeyguide.web.access import Cookie, access
from honeyguide.web.http import HttpFetcher, Redirects, robots_name, user_agent
from tests.web.servers import PATIENT, Server, fetcher, page, redirect, unhurried

COOKIES = (
    "# Netscape HTTP Cookie File\n"
    "site.test\tFALSE\t/\tFALSE\t0\tplain\t1\n"
    "#HttpOnly_.site.test\tTRUE\t/\tFALSE\t0\twide\t2\n"
    "site.test\tFALSE\t/inner\tFALSE\t0\tinner\t3\n"
    "site.test\tFALSE\t/\tTRUE\t0\tsecure\t4\n"
    "site.test\tFALSE\t/\tFALSE\t1\told\t5\n"
    "other.test\tFALSE\t/\tFALSE\t0\tother\t6\n"
)


def sent(url, **settings):
    """The headers with secrets that a request for a URL carries."""
    settings = {"seeds": ["https://site.test/"], **settings}
    return access(**settings).secrets_for(target(url))


def test_a_header_goes_to_the_hosts_of_the_seeds_alone():
    given = {"header": ["X-Token: abc"]}
    assert sent("https://site.test/deep?x", **given) == {"X-Token": "abc"}
    for other in ("https://sub.site.test/", "https://other.test/", "https://site.test.evil.test/"):
        assert sent(other, **given) == {}


def test_a_header_may_name_another_host():
    given = {"header": ["api.test Authorization: Bearer a: b"]}
    assert sent("https://api.test/", **given) == {"Authorization": "Bearer a: b"}
    assert sent("https://site.test/", **given) == {}


def test_a_secret_is_sent_without_tls_only_where_the_user_said_http():
    given = {"header": ["X-Token: abc"], "cookie": ["a=1"]}
    assert sent("http://site.test/", **given) == {}
    plain = sent("http://site.test/", seeds=["http://site.test/start"], **given)
    assert plain == {"X-Token": "abc", "Cookie": "a=1"}
    named = {"header": ["http://api.test X-Token: abc"]}
    assert sent("http://api.test/", **named) == {"X-Token": "abc"}


def test_harmless_headers_go_to_all_hosts():
    told = access(["https://site.test/"], ["Accept-Language: de", "X-Token: abc"])
    assert told.headers_for(target("https://other.test/")) == {"Accept-Language": "de"}


def test_a_cookie_file_says_where_each_cookie_goes(tmp_path):
    file = tmp_path / "cookies.txt"
    file.write_text(COOKIES)
    given = {"cookie": [str(file)]}
    assert sent("http://site.test/", **given) == {"Cookie": "plain=1; wide=2"}
    assert sent("https://site.test/inner/x", **given) == {
        "Cookie": "plain=1; wide=2; inner=3; secure=4"
    }
    assert sent("https://www.site.test/", **given) == {"Cookie": "wide=2"}
    assert sent("https://other.test/", **given) == {"Cookie": "other=6"}
    assert sent("https://another.test/", **given) == {}


@given(st.sampled_from(["/", "/a", "/a/"]), st.text("/ab", max_size=5))
def test_a_cookie_of_a_path_goes_to_that_path_and_below_only(folder, rest):
    url = f"https://site.test/{rest}".replace("//", "/").replace(":/", "://")
    place = target(url)
    fits = Cookie("a", "1", path=folder).fits(place, ["site.test"], 0.0)
    below = folder.rstrip("/") + "/"
    assert fits == (place.path == folder or place.path.startswith(below))


def test_a_login_goes_to_its_machine(tmp_path):
    file = tmp_path / "netrc"
    file.write_text("machine site.test login me password geheim\n")
    basic = base64.b64encode(b"me:geheim").decode()
    assert sent("https://site.test/", auth_file=str(file)) == {"Authorization": f"Basic {basic}"}
    assert sent("https://other.test/", auth_file=str(file)) == {}
    assert sent("http://site.test/", auth_file=str(file)) == {}


def test_redirects_carry_secrets_to_no_other_host():
    told = access(["http://site.test/"], ["X-Token: abc"], ["session=1"])

    async def run():
        answers = {
            "/": redirect("http://other.test/gone"),
            "/gone": redirect("http://site.test/end"),
            "/end": page(b"end", set_cookie="session=2"),
        }
        async with Server(answers) as server:
            http = Redirects(fetcher(server, "site.test", "other.test", access=told))
            response = await http.fetch(Link("http://site.test/"))
            await http.close()
            return response, server

    response, server = asyncio.run(run())
    assert server.asked == ["site.test /", "other.test /gone", "site.test /end"]
    assert [each.get("x-token") for each in server.requests] == ["abc", None, "abc"]
    assert [each.get("cookie") for each in server.requests] == ["session=1", None, "session=1"]
    assert response.body == b"end"
    assert "set-cookie" not in response.headers, "a renewed session is not stored"


def test_a_client_certificate_is_shown_to_the_hosts_of_the_seeds_alone(tmp_path):
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    authority.issue_cert("me@example.org").private_key_and_cert_chain_pem.write_to_path(
        tmp_path / "me.pem"
    )
    told = access(
        ["https://site.test/"],
        client_cert=str(tmp_path / "me.pem"),
        ca_file=str(tmp_path / "ca.pem"),
    )
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.verify_mode = ssl.CERT_OPTIONAL
    authority.configure_trust(tls)
    authority.issue_cert("site.test", "other.test").configure_cert(tls)
    shown = []

    async def answer(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        shown.append(bool(writer.get_extra_info("peercert")))
        writer.write(page(b"hello"))
        await writer.drain()
        writer.close()

    async def run():
        server = await asyncio.start_server(answer, "127.0.0.1", 0, ssl=tls)
        place = "127.0.0.1", server.sockets[0].getsockname()[1]
        http = HttpFetcher(
            "honeyguide/0",
            timeouts=PATIENT,
            allow_private=True,
            hosts=dict.fromkeys(("site.test", "other.test"), place),
            schedule=unhurried(),
            access=told,
        )
        async with server:
            for host in ("site.test", "other.test"):
                assert (await http.fetch(Link(f"https://{host}/"))).body == b"hello"
            await http.close()

    asyncio.run(run())
    assert shown == [True, False]


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"header": ["no colon secret"]}, "is no header: say 'NAME: VALUE'"),
        ({"header": ["Cookie: a=secret"]}, "has a flag of its own: --cookie"),
        ({"header": ["Host: secret"]}, "is set by honeyguide itself"),
        ({"header": ["X-A: secret\x07"]}, "is no header"),
        ({"cookie": ["na me=secret"]}, "'na me' is no cookie: say NAME=VALUE"),
        ({"cookie": ["missing.txt"]}, "cannot read the cookie file missing.txt"),
        ({"auth_file": "missing"}, "cannot read the auth file missing"),
        ({"client_key": "key.pem"}, "--client-key needs the certificate"),
    ],
)
def test_bad_settings_get_one_sentence_without_the_secret(settings, sentence):
    with pytest.raises(HoneyguideError, match=sentence) as refused:
        access(["https://site.test/"], **settings)
    assert "secret" not in str(refused.value).replace("no colon secret", "")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("site.test\tFALSE\t/\n", "line 1 of .* is no cookie"),
        ("<html>not cookies</html>\n", "line 1 of .* is no cookie"),
        ("site.test\tFALSE\t/\tFALSE\tsoon\ta\tb\n", "line 1 of .* is no cookie"),
    ],
)
def test_a_cookie_file_that_is_none_is_refused(tmp_path, text, sentence):
    file = tmp_path / "cookies.txt"
    file.write_text(text)
    with pytest.raises(HoneyguideError, match=sentence):
        access(["https://site.test/"], cookie=[str(file)])


def test_a_login_for_every_host_is_refused(tmp_path):
    file = tmp_path / "netrc"
    file.write_text("default login me password geheim\n")
    with pytest.raises(HoneyguideError, match="would be sent to every host"):
        access(auth_file=str(file))
    file.write_text("machine site.test login me password geheim nonsense\n")
    with pytest.raises(HoneyguideError, match="no auth file in netrc form") as refused:
        access(auth_file=str(file))
    assert "geheim" not in str(refused.value)


@pytest.mark.parametrize("name", ["client_cert", "ca_file"])
def test_a_file_that_is_no_certificate_is_refused(tmp_path, name):
    file = tmp_path / "nothing.pem"
    file.write_text("nothing")
    with pytest.raises(HoneyguideError, match=r"nothing\.pem cannot be used"):
        access(["https://site.test/"], **{name: str(file)}).check()


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("mybot/1.0 (+https://example.org)", "mybot"),
        ("Mozilla/5.0 (compatible; my-bot/2; +https://example.org)", "my-bot"),
        ("Mozilla/5.0 (X11; Linux) Gecko", "Mozilla"),
    ],
)
def test_rules_for_crawlers_are_matched_with_the_name_in_the_user_agent(said, name):
    assert robots_name(user_agent(said=said)) == name


@pytest.mark.parametrize("said", ["bot\nX: y", "ботъ", "///"])
def test_a_user_agent_that_no_header_can_carry_is_refused(said):
    with pytest.raises(HoneyguideError, match="is no User-Agent"):
        user_agent(said=said)
