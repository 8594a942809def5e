"""Crawls of sites that want something, in processes of their own, against real servers."""

import asyncio
import json
import threading
from contextlib import contextmanager

import pytest

from tests.test_cli import honeyguide, refused
from tests.web.proxies import SocksProxy
from tests.web.servers import page, served

SECRETS = ("geheim-header", "geheim-cookie", "geheim-proxy")


def site(pages=12):
    """A site whose pages each link to the next one."""
    answers = {"/robots.txt": page(b"User-agent: mybot\nDisallow: /3\n", content_type="text/plain")}
    for number in range(pages):
        links = "".join(f"<a href=/{n}>rock {n}</a>" for n in (number + 1, number + 2))
        text = f"<title>Rock {number}</title><p>Granite rock number {number}.</p>{links}"
        answers[f"/{number}"] = page(text.encode())
    return answers


def crawl(server, out, *more, budget=3):
    where = "--resolve", f"*=127.0.0.1:{server.port}", "--allow-private", "--delay", "0"
    task = "--topic", "rocks", "--seed", "http://site.test/0", "--budget", budget, "--out", out
    return "crawl", *where, *task, *more


def stored(folder):
    """All bytes of a crawl folder, WARC files decompressed."""
    import gzip

    files = [path for path in folder.rglob("*") if path.is_file()]
    return b"".join(
        gzip.decompress(path.read_bytes()) if path.name.endswith(".gz") else path.read_bytes()
        for path in files
    )


def test_secrets_are_sent_asked_for_again_and_never_stored(tmp_path):
    out = tmp_path / "out"
    secrets = "--header", f"X-Token: {SECRETS[0]}", "--cookie", f"session={SECRETS[1]}"
    with served(site()) as server:
        done = honeyguide(*crawl(server, out, *secrets))
        assert done.returncode == 0, done.stderr
        told = refused("resume", out, "--budget", 5)
        assert "needs what its folder does not hold: say --header 'X-Token: ...'" in told
        assert "--cookie session=... again" in told
        before = len(server.requests)
        done = honeyguide("resume", out, "--budget", 5, *secrets)
        assert done.returncode == 0, done.stderr
        assert len(server.requests) > before
        assert {each.get("x-token") for each in server.requests} == {SECRETS[0]}
        assert {each.get("cookie") for each in server.requests} == {f"session={SECRETS[1]}"}
    for secret in SECRETS:
        assert secret.encode() not in stored(out)
        assert secret not in told
        assert secret not in done.stdout + done.stderr


def test_the_user_agent_is_sent_stored_and_matched_with_robots_txt(tmp_path):
    out = tmp_path / "out"
    with served(site()) as server:
        named = "mybot/2 (+https://example.org/bot)"
        done = honeyguide(*crawl(server, out, "--user-agent", named, budget=8))
        assert done.returncode == 0, done.stderr
        assert {each["user-agent"] for each in server.requests} == {named}
        assert "site.test /3" not in server.asked
        assert f"User-Agent: {named}".encode() in stored(out)


def test_what_is_stored_of_a_secret_has_no_value_in_it():
    from honeyguide.storage.secrets import without_secrets

    given = {
        "header": ["X-A: geheim", "http://h.test X-B: geheim", "h.test X-C: geheim", "DNT: 1"],
        "cookie": ["a=geheim", "jar.txt"],
        "proxy": "http://me:geheim@proxy.test:1",
        "auth_file": "netrc",
    }
    stored = without_secrets(given)
    assert "geheim" not in str(stored)
    assert stored["header"] == ["DNT: 1"]
    assert stored["cookie"] == [] and stored["proxy"] == stored["auth_file"] == ""
    assert stored["secrets"][:4] == [
        "--header 'X-A: ...'",
        "--header 'http://h.test X-B: ...'",
        "--header 'h.test X-C: ...'",
        "--cookie a=...",
    ]
    assert stored["secrets"][-1] == "--proxy http://proxy.test:1"


@contextmanager
def socks(server, login):
    """A SOCKS proxy in a thread."""
    loop, ready, done = asyncio.new_event_loop(), threading.Event(), asyncio.Event()
    proxy = SocksProxy(server.hosts("site.test"), login)

    async def run():
        async with proxy:
            ready.set()
            await done.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(run()))
    thread.start()
    ready.wait()
    try:
        yield proxy
    finally:
        loop.call_soon_threadsafe(done.set)
        thread.join()
        loop.close()


def test_a_crawl_goes_through_a_proxy_whose_login_is_not_stored(tmp_path):
    out = tmp_path / "out"
    task = "--topic", "rocks", "--seed", "http://site.test/0", "--budget", 3, "--delay", "0"
    with served(site()) as server, socks(server, f"me:{SECRETS[2]}") as proxy:
        place = f"socks5://me:{SECRETS[2]}@127.0.0.1:{proxy.port}"
        done = honeyguide("crawl", *task, "--proxy", place, "--out", out)
        assert done.returncode == 0, done.stderr
        assert "among 3 fetched" in done.stdout
        assert set(proxy.asked) == {"site.test:80"}
        told = refused("resume", out, "--budget", 5)
        assert f"say --proxy socks5://127.0.0.1:{proxy.port} again" in told
    assert SECRETS[2].encode() not in stored(out)


def test_a_proxy_that_is_not_there_is_said_in_one_sentence(tmp_path):
    out = tmp_path / "out"
    task = "--topic", "rocks", "--seed", "http://site.test/0", "--budget", 1, "--delay", "0"
    done = honeyguide("crawl", *task, "--proxy", "http://127.0.0.1:9", "--out", out)
    assert done.returncode == 4
    assert "proxy unreachable, there is no proxy at that address" in done.stderr


def test_bounds_are_kept(tmp_path):
    out = tmp_path / "out"
    with served(site(40)) as server:
        done = honeyguide(*crawl(server, out, "--max-depth", 2, budget=30))
        assert done.returncode == 0, done.stderr
        asked = {path for path in server.asked if "robots" not in path}
        assert asked == {f"site.test /{number}" for number in range(5)}
        before = len(server.asked)
        done = honeyguide(*crawl(server, tmp_path / "few", "--max-per-host", 4, budget=30))
        assert done.returncode == 0, done.stderr
        asked = [path for path in server.asked[before:] if "robots" not in path]
        assert len(asked) == len(set(asked)) == 4
        assert "beyond --max-per-host" in done.stdout


def test_only_pages_in_the_languages_are_relevant(tmp_path):
    texts = {
        "/0": "<a href=/1>rock</a><a href=/2>rock</a><a href=/3 hreflang=fr-CA>rock</a>"
        "<p>The rock is hard and it is granite that"
        " they have seen, with the other rocks of the mountain.",
        "/1": "<p>Der Granit ist ein Gestein, das aus der Tiefe kommt, und es ist nicht weich;"
        " rocks sind auf der Erde sehr alt. Rocks, rocks.",
        "/2": "<p>The granite is a rock that they have found with the other rocks of this place.",
    }
    answers = {path: page(f"<title>Rocks</title>{text}".encode()) for path, text in texts.items()}
    answers["/3"] = answers["/2"]
    with served(answers) as server:
        out = tmp_path / "out"
        more = "--languages", "en", "--judge", "keywords:rocks"
        done = honeyguide(*crawl(server, out, *more, budget=9))
        assert done.returncode == 0, done.stderr
        honeyguide("export", out, "--out", tmp_path / "pages.jsonl")
        assert "site.test /3" not in server.asked
    rows = map(json.loads, (tmp_path / "pages.jsonl").read_text().splitlines())
    relevant = {row["url"][-1]: row["relevant"] for row in rows}
    assert relevant == {"0": True, "1": False, "2": True}


@pytest.mark.parametrize("ending", ["csv", "jsonl", "opml", "txt"])
def test_seeds_come_from_tables(tmp_path, ending):
    texts = {
        "csv": "name;Website\nrocks;http://site.test/5\nmore;http://site.test/9\n",
        "jsonl": '{"url": "http://site.test/5"}\n"http://site.test/9"\n',
        "opml": '<opml><outline text="a" htmlUrl="http://site.test/5"/>'
        "<outline xmlUrl='http://site.test/feed?a=1&amp;b=2'/></opml>",
        "txt": "http://site.test/5\nhttp://site.test/9 # a comment\n",
    }
    file = tmp_path / f"seeds.{ending}"
    file.write_text(texts[ending])
    with served({**site(), "/": page(b"<p>start")}) as server:
        where = "--resolve", f"*=127.0.0.1:{server.port}", "--allow-private", "--delay", "0"
        task = "--topic", "rocks", "--seed", file, "--budget", 2, "--out", tmp_path / "out"
        done = honeyguide("crawl", *where, *task)
        assert done.returncode == 0, done.stderr
        asked = {path for path in server.asked if "robots" not in path}
    second = "/" if ending == "opml" else "/9"
    assert asked == {"site.test /5", f"site.test {second}"}


def test_a_sitemap_can_be_a_seed(tmp_path):
    entries = "".join(f"<url><loc>http://site.test/{n}</loc></url>" for n in (7, 8, 9))
    sitemap = page(f"<urlset>{entries}</urlset>".encode(), content_type="text/xml")
    with served({**site(), "/map.xml": sitemap}) as server:
        where = "--resolve", f"*=127.0.0.1:{server.port}", "--allow-private", "--delay", "0"
        task = "--topic", "rocks", "--seed", "http://site.test/map.xml", "--budget", 4
        done = honeyguide("crawl", *where, *task, "--max-depth", 1, "--out", tmp_path / "out")
        assert done.returncode == 0, done.stderr
        asked = {path for path in server.asked if "robots" not in path}
        assert asked == {f"site.test /{name}" for name in ("map.xml", 7, 8, 9)}


@pytest.mark.parametrize(
    ("flags", "sentence"),
    [
        (("--languages", "english"), "'english' is no language: say two letters"),
        (("--header", "nonsense"), "'nonsense' is no header: say 'NAME: VALUE'"),
        (("--cookie", "nowhere.txt"), "cannot read the cookie file nowhere.txt"),
        (("--proxy", "ftp://x"), "is no proxy: say http://HOST:PORT"),
        (("--header", "X-Token:"), "the header 'X-Token' has no value"),
        (("--seed", "nowhere.csv"), "there is no file nowhere.csv"),
    ],
)
def test_bad_input_gets_one_sentence_and_no_folder(tmp_path, flags, sentence):
    task = "--topic", "rocks", "--seed", "http://site.test/0", "--out", tmp_path / "out"
    assert sentence in refused("crawl", *task, *flags)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("seeds.csv:site", "name,web\na,b.example\n", "has no column 'site'; it has name, web"),
        ("seeds.jsonl", '{"url": "a.example"}\nnot json\n', "line 2 of"),
        ("seeds.jsonl", "[1, 2]\n", "where a page or an object should be"),
        ("seeds.opml", "<opml></opml>", "names no page to start from"),
        ("seeds.csv", "\n", "names no page to start from"),
    ],
)
def test_a_table_without_seeds_is_refused(tmp_path, name, text, sentence):
    file = tmp_path / name.partition(":")[0]
    file.write_text(text)
    told = refused("crawl", "--topic", "x", "--seed", tmp_path / name, "--out", tmp_path / "out")
    assert sentence in told
