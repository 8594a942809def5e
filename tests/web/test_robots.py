"""Nothing is fetched that robots.txt forbids, and no site is asked for it too often."""

import asyncio
import tracemalloc
from collections.abc import Mapping

import pytest

from honeyguide.contracts import Link, OfHost, Response
from honeyguide.web import robots as robots_module
from honeyguide.web.host_schedule import HostSchedule
from honeyguide.web.http import HttpFetcher, Redirects
from honeyguide.web.robots import MAX_BYTES, Record, Robots, compress, to_learnt
from honeyguide.web.robots_txt import RobotsTxt
from tests.web.servers import PATIENT, Answer, Server, fetcher, page, redirect

RULES = b"User-agent: *\nDisallow: /private\nCrawl-delay: 3\n"
HOUR = 3600.0


def text(body: bytes, status: str = "200 OK", **headers: str) -> bytes:
    return page(body, status, content_type="text/plain", **headers)


class Site:
    """A server, a clock that stands still, and a crawler that obeys."""

    def __init__(self, answers: Mapping[str, Answer], *names: str, wall_clock: float = 1e9) -> None:
        self.server = Server({"/": page(b"home"), "/private": page(b"secret"), **answers})
        self.names = names
        self.now = 0.0
        self.wall_clock = wall_clock

    async def __aenter__(self) -> "Site":
        await self.server.__aenter__()
        http = fetcher(self.server, *self.names)
        self.schedule = HostSchedule()
        clocks = {"clock": lambda: self.now, "wall_clock": lambda: self.wall_clock}
        self.robots = Robots(http, "honeyguide/0", self.schedule, **clocks)
        self.fetcher = Redirects(self.robots)
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.fetcher.close()
        await self.server.__aexit__()

    async def ask(self, path: str = "/", host: str = "site.test") -> Response:
        return await self.fetcher.fetch(Link(f"http://{host}{path}"))

    def robots_asked(self) -> int:
        return sum(line.endswith("/robots.txt") for line in self.server.asked)


def responses(answers: Mapping[str, Answer], *paths: str) -> tuple[list[str], list[str]]:
    """What each path brings (its failure or its body), and what the server was asked."""

    async def run() -> tuple[list[str], list[str]]:
        async with Site(answers) as site:
            found = [await site.ask(path) for path in paths]
            return [each.failure or each.body.decode() for each in found], site.server.asked

    return asyncio.run(run())


def test_what_robots_txt_forbids_is_not_asked_for():
    found, asked = responses({"/robots.txt": text(RULES)}, "/", "/private", "/x/../private", "/")
    assert found == ["home", "robots", "robots", "home"]
    assert asked == ["site.test /robots.txt", "site.test /", "site.test /"]


def test_a_redirect_into_what_is_forbidden_is_not_followed():
    answers = {"/robots.txt": text(RULES), "/door": redirect("/private")}
    found, asked = responses(answers, "/door")
    assert found == ["robots"]
    assert "site.test /private" not in asked


def test_a_redirect_to_another_host_obeys_that_hosts_rules():
    async def run() -> tuple[Response, list[str]]:
        closed = text(b"User-agent: *\nDisallow: /")
        async with (
            Server({"/robots.txt": closed, "/": page(b"closed")}) as other,
            Server({"/": redirect("http://other.test/")}) as server,
        ):
            hosts = server.hosts() | other.hosts("other.test")
            stack = Redirects(Robots(fetcher(server, hosts=hosts), "honeyguide"))
            response = await stack.fetch(Link("http://site.test/"))
            await stack.close()
            return response, other.asked

    response, asked = asyncio.run(run())
    assert (response.failure, response.url) == ("robots", "http://other.test/")
    assert asked == ["other.test /robots.txt"]


@pytest.mark.parametrize("status", ["400 Bad Request", "401 No", "403 No", "404 No", "410 Gone"])
def test_no_robots_txt_allows_everything(status: str):
    found, _ = responses({"/robots.txt": text(RULES, status)}, "/private")
    assert found == ["secret"]


@pytest.mark.parametrize("status", ["500 Oh", "502 Oh", "503 Oh", "429 Too Many Requests"])
def test_a_robots_txt_that_does_not_answer_forbids_everything(status: str):
    found, asked = responses({"/robots.txt": text(b"", status)}, "/", "/private")
    assert found == ["robots unreachable"] * 2
    assert asked == ["site.test /robots.txt"]


def test_a_dead_host_is_named_as_what_it_is():
    async def run() -> list[str]:
        http = HttpFetcher("h/0", timeouts=PATIENT)
        robots = Robots(http, "honeyguide")
        urls = ["http://nothing.invalid/", "http://127.0.0.1/", "ftp://a.test/", "http://a b"]
        failures = [(await robots.fetch(Link(url))).failure for url in urls]
        await robots.close()
        return failures

    assert asyncio.run(run()) == ["dns", "private address", "scheme", "bad url"]


def test_an_unreachable_robots_txt_is_asked_for_again_later():
    async def run() -> list[object]:
        async with Site({"/robots.txt": text(b"", "500 Oh")}) as site:
            seen: list[object] = [(await site.ask()).failure]
            site.now = 59.0
            seen.append(((await site.ask()).failure, site.robots_asked()))
            site.now = 61.0
            seen.append(((await site.ask()).failure, site.robots_asked()))
            site.now = 61.0 + 119.0
            seen.append(((await site.ask()).failure, site.robots_asked()))
            site.server.answers["/robots.txt"] = text(RULES)
            site.now = 61.0 + 121.0
            seen.append(((await site.ask()).failure, site.robots_asked()))
            seen.append((await site.ask("/private")).failure)
            return seen

    down = "robots unreachable"
    assert asyncio.run(run()) == [down, (down, 1), (down, 2), (down, 2), ("", 3), "robots"]


def test_rules_are_kept_for_a_day_and_no_longer():
    async def run() -> list[object]:
        async with Site({"/robots.txt": text(b"")}) as site:
            seen: list[object] = [(await site.ask("/private")).body]
            site.server.answers["/robots.txt"] = text(RULES)
            site.now = 23.9 * HOUR
            seen.append((await site.ask("/private")).body)
            site.now = 24.1 * HOUR
            seen.append((await site.ask("/private")).failure)
            return [*seen, site.robots_asked()]

    assert asyncio.run(run()) == [b"secret", b"secret", "robots", 2]


def test_old_rules_hold_while_new_ones_cannot_be_had():
    async def run() -> list[str]:
        async with Site({"/robots.txt": text(RULES)}) as site:
            await site.ask()
            site.server.answers["/robots.txt"] = text(b"", "503 Oh")
            site.now = 25 * HOUR
            return [(await site.ask(path)).failure for path in ("/", "/private")]

    assert asyncio.run(run()) == ["", "robots"]


def test_many_pages_at_once_share_one_robots_txt():
    async def run() -> int:
        async with Site({"/robots.txt": text(RULES)}) as site:
            await asyncio.gather(*(site.ask() for _ in range(20)))
            return site.robots_asked()

    assert asyncio.run(run()) == 1


def test_a_cancelled_fetch_does_not_take_robots_txt_from_the_others():
    async def slow(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.2)
        writer.write(text(RULES))
        await writer.drain()

    async def run() -> str:
        async with Site({"/robots.txt": slow}) as site:
            first = asyncio.create_task(site.ask())
            second = asyncio.create_task(site.ask("/private"))
            await asyncio.sleep(0.05)
            first.cancel()
            return (await second).failure

    assert asyncio.run(run()) == "robots"


def test_every_origin_has_its_own_robots_txt():
    async def run() -> list[str]:
        async with Site({"/robots.txt": text(RULES)}, "a.test", "b.test") as site:
            for host in ("a.test", "b.test", "a.test:8080"):
                await site.ask("/", host)
            return [line for line in site.server.asked if "robots" in line]

    assert asyncio.run(run()) == ["a.test /robots.txt", "b.test /robots.txt", "a.test /robots.txt"]


def test_robots_txt_may_be_five_redirects_away_and_no_more():
    hops: dict[str, Answer] = {f"/{i}": redirect(f"/{i + 1}") for i in range(1, 9)}
    five = {"/robots.txt": redirect("/1"), **hops, "/5": text(RULES)}
    assert responses(five, "/private")[0] == ["robots"]
    six = {"/robots.txt": redirect("/1"), **hops, "/6": text(RULES)}
    found, asked = responses(six, "/private")
    assert found == ["secret"]
    assert "site.test /6" not in asked


def test_the_first_half_megabyte_of_an_endless_robots_txt_counts():
    async def endless(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\n\r\nUser-agent: *\n" + b"# padding\n" * 51_000)
        writer.write(b"Disallow: /private\n")
        for _ in range(100):
            writer.write(b"# padding\n" * 1000)
            await writer.drain()

    assert responses({"/robots.txt": endless}, "/private")[0] == ["robots"]


def test_a_page_in_place_of_robots_txt_forbids_nothing():
    html = page(b"<html><body>Disallow: / everything you like</body></html>")
    assert responses({"/robots.txt": html}, "/private")[0] == ["secret"]


def test_a_decision_says_what_decides():
    async def run() -> list[object]:
        async with Site({"/robots.txt": text(RULES)}) as site:
            known = site.schedule.crawl_delay("http://site.test/")
            no = await site.robots.decide("http://site.test/private/1")
            return [known, no, site.schedule.crawl_delay("http://site.test/x")]

    before, decision, delay = asyncio.run(run())
    assert before is None
    assert decision == (False, "Disallow: /private", 2, 3.0, ())
    assert delay == 3.0


@pytest.mark.parametrize(
    ("status", "allowed", "rule"),
    [
        ("404 No", True, "robots.txt: 404"),
        ("503 Oh", False, "robots.txt is unreachable: 503"),
    ],
)
def test_a_decision_without_a_file_says_why(status: str, allowed: bool, rule: str):
    async def run() -> tuple[bool, str]:
        async with Site({"/robots.txt": text(b"", status)}) as site:
            return (await site.robots.decide("http://site.test/"))[:2]

    assert asyncio.run(run()) == (allowed, rule)


def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(robots_module, "_CAPACITY", 3)
    names = [f"host{i}.test" for i in range(8)]

    async def run() -> tuple[int, int]:
        async with Site({"/robots.txt": text(RULES)}, *names) as site:
            for name in names:
                await site.ask("/", name)
            return len(site.robots._known), site.robots._weight

    weight = RobotsTxt(RULES, "honeyguide/0").weight + len(compress(RULES))
    assert asyncio.run(run()) == (3, 3 * weight)


def test_a_refusal_says_when_robots_txt_is_asked_for_again():
    async def run() -> list[tuple[str, str]]:
        async with Site({"/robots.txt": text(b"", "503 Oh")}) as site:
            first = await site.ask()
            site.now = 40.0
            second = await site.ask()
            site.server.answers["/robots.txt"] = text(b"", "404 Gone")
            site.now = 60.0
            third = await site.ask()
        return [
            (each.failure, each.headers.get("retry-after", "")) for each in (first, second, third)
        ]

    assert asyncio.run(run()) == [
        ("robots unreachable", "60"),
        ("robots unreachable", "20"),
        ("", ""),
    ]


def test_robots_txt_is_left_alone_for_as_long_as_it_asks():
    async def run() -> tuple[str, int]:
        async with Site({"/robots.txt": text(b"", "503 Oh", retry_after="7200")}) as site:
            first = await site.ask()
            for site.now in (61.0, 500.0, 7199.0):
                await site.ask()
            return first.headers["retry-after"], site.robots_asked()

    assert asyncio.run(run()) == ("7200", 1)


def test_what_files_weigh_in_memory_is_bounded_whatever_their_lines_are(monkeypatch):
    monkeypatch.setattr(robots_module, "_MAX_WEIGHT", 10_000_000)
    names = [f"host{i}.test" for i in range(6)]
    odd = b"User-agent: *\n" + b"".join(
        b"Disallow: /%d" % n + b"*%c0%c1" * 2_000 + b"\n" for n in range(40)
    )

    async def run() -> tuple[int, int]:
        async with Site({"/robots.txt": text(odd)}, *names) as site:
            for name in names:
                await site.ask("/", name)
            return len(site.robots._known), site.robots._weight

    files, weight = asyncio.run(run())
    assert files == 1
    assert 5_000_000 < weight < 10_000_000


async def learn(site: Site, *paths: str) -> list[OfHost]:
    for path in paths:
        await site.ask(path)
    return list(site.robots.news())


def after_a_resume(
    learnt: list[OfHost], answers: Mapping[str, Answer], path: str, wall_clock: float = 1e9
) -> tuple[str, int]:
    """How a fetch ends in a crawl that knows this, and how often it asked for robots.txt."""

    async def run() -> tuple[str, int]:
        async with Site(answers, wall_clock=wall_clock) as site:
            site.robots.recall(learnt)
            return (await site.ask(path)).failure, site.robots_asked()

    return asyncio.run(run())


def learnt_from(answers: Mapping[str, Answer], wall_clock: float = 1e9) -> list[OfHost]:
    async def run() -> list[OfHost]:
        async with Site(answers, wall_clock=wall_clock) as site:
            return await learn(site, "/")

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("answer", "failure"),
    [
        (text(RULES), "robots"),
        (text(b"", "404 No"), ""),
        (text(b"", "503 Oh"), "robots unreachable"),
        (text(b"# long\n" * 50_000 + RULES), "robots"),
    ],
    ids=["rules", "absent", "unreachable", "large"],
)
def test_what_a_file_said_is_known_again_without_asking(answer: Answer, failure: str):
    learnt = learnt_from({"/robots.txt": answer})
    assert [of.host for of in learnt] == ["site.test"]
    assert len(learnt[0].value) < 2_000
    assert after_a_resume(learnt, {"/robots.txt": answer}, "/private") == (failure, 0)


def test_news_are_told_once():
    async def run() -> list[int]:
        async with Site({"/robots.txt": text(RULES)}) as site:
            return [len(await learn(site, "/")) for _ in range(2)]

    assert asyncio.run(run()) == [1, 0]


def test_a_resume_does_not_make_a_file_valid_for_longer():
    answers = {"/robots.txt": text(RULES)}
    learnt = learnt_from(answers)

    async def run(hours: float) -> list[int]:
        async with Site(answers, wall_clock=1e9 + 20 * HOUR) as site:
            site.robots.recall(learnt)
            await site.ask()
            asked = [site.robots_asked()]
            site.now = hours * HOUR
            await site.ask()
            return [*asked, site.robots_asked()]

    assert asyncio.run(run(3.9)) == [0, 0]
    assert asyncio.run(run(4.1)) == [0, 1]


@pytest.mark.parametrize("hours", [-1000.0, -0.1, 24.1, 1e6])
def test_no_clock_that_jumps_keeps_a_file_for_longer_than_a_day(hours: float):
    answers = {"/robots.txt": text(RULES)}
    learnt = learnt_from(answers)
    found = after_a_resume(learnt, answers, "/private", 1e9 + hours * HOUR)
    assert found == ("robots", 1)


def test_a_file_is_asked_for_again_after_a_day_of_sleep():
    async def run() -> int:
        async with Site({"/robots.txt": text(RULES)}) as site:
            await site.ask()
            site.wall_clock += 24.1 * HOUR  # the other clock stood still
            await site.ask()
            return site.robots_asked()

    assert asyncio.run(run()) == 2


def test_old_rules_hold_after_a_resume_while_new_ones_cannot_be_had():
    learnt = learnt_from({"/robots.txt": text(RULES)})
    down = {"/robots.txt": text(b"", "503 Oh")}
    assert after_a_resume(learnt, down, "/private", 1e9 + 25 * HOUR) == ("robots", 1)
    assert after_a_resume(learnt, down, "/", 1e9 + 25 * HOUR) == ("", 1)


@pytest.mark.parametrize("value", [b"", b"\xc1", b"\x93\x01\x02\x03", 1.0])
def test_what_cannot_be_read_again_is_asked_for(value: float | bytes):
    (host, what, _), *_ = learnt_from({"/robots.txt": text(RULES)})
    broken = [OfHost(host, what, value)]
    assert after_a_resume(broken, {"/robots.txt": text(RULES)}, "/private") == ("robots", 1)


def test_a_bomb_in_a_record_is_bounded():
    bomb = Record(1e9, 1e9 + HOUR, compress(b"# zeros\n" * 10_000_000))
    assert len(bomb.file()) == MAX_BYTES


def test_what_is_recalled_is_bounded(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(robots_module, "_CAPACITY", 3)
    records = [
        to_learnt(f"http://host{n}.test", Record(1e9 - n, 1e9 + HOUR, b"")) for n in range(8)
    ]
    robots = Robots(HttpFetcher("h/0"), "honeyguide", wall_clock=lambda: 1e9)
    robots.recall(records)
    assert list(robots._recalled) == [f"http://host{n}.test" for n in range(3)]
    monkeypatch.setattr(robots_module, "_MAX_RECALLED", 50)
    large = Record(1e9, 1e9 + HOUR, b"x" * 30)
    robots = Robots(HttpFetcher("h/0"), "honeyguide", wall_clock=lambda: 1e9)
    robots.recall([to_learnt(f"http://host{n}.test", large) for n in range(8)])
    assert len(robots._recalled) == 1


def test_what_a_file_said_is_told_with_a_visit_of_its_own_host():
    async def run() -> list[int]:
        async with Site({"/robots.txt": text(RULES)}) as site:
            await site.ask()
            told = [site.robots.news({host}) for host in ("other.test", "site.test", "site.test")]
            return list(map(len, told))

    assert asyncio.run(run()) == [0, 1, 0]


def test_records_beyond_the_bound_are_never_in_memory_together(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(robots_module, "_MAX_RECALLED", 1_000_000)
    robots = Robots(HttpFetcher("h/0"), "honeyguide", wall_clock=lambda: 1e9)
    records = (
        to_learnt(f"http://host{n}.test", Record(1e9 - 200 + n, 1e9 + HOUR, bytes(100_000)))
        for n in range(200)
    )
    tracemalloc.start()
    try:
        robots.recall(records)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert list(robots._recalled) == [f"http://host{n}.test" for n in range(199, 189, -1)]
    assert peak < 3_000_000
