import numpy as np
import pytest

from honeyguide.contracts import Link, Page, Verdict, Visit
from honeyguide.engine.memory import Memory
from honeyguide.guards.domains import MANY_HOSTS, MANY_LINKS, MANY_NEW, OPEN, STALE, Domains
from honeyguide.urls.domains import registrable
from honeyguide.urls.spelling import host as host_of


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("www.cs.cornell.edu", "cornell.edu"),
        ("a.b.example.co.uk", "example.co.uk"),
        ("somebody.github.io", "somebody.github.io"),
        ("x.somebody.github.io", "somebody.github.io"),
        ("github.io", "github.io"),
        ("localhost", "localhost"),
        ("127.0.0.1", "127.0.0.1"),
        ("[2001:db8::1]", "[2001:db8::1]"),
        ("www.xn--bcher-kva.example", "xn--bcher-kva.example"),
    ],
)
def test_a_domain_is_what_somebody_registered(host, domain):
    assert registrable(host) == domain


class Crawl:
    """Pages that are read one after the other, as a navigator would."""

    def __init__(self, **limits):
        self.memory, self.domains = Memory(), Domains(**limits)

    def read(self, url, links=(), new=True, relevant=False):
        """Visit a page; why each of its links was not noted."""
        memory, link, codes = self.memory, Link(url), {}
        [id] = memory.seed([link]).ids.tolist()
        self.domains.visit(memory, id)
        self.domains.note(memory, id, new, relevant)

        def screen(urls):
            told = self.domains.screen(memory, list(map(host_of, urls))).tolist()
            codes.update(zip(urls, told, strict=True))
            return np.array([codes[one] == OPEN for one in urls])

        page = Page(url, links=tuple(map(Link, links)))
        end = memory.visit(id, Visit(link, page, Verdict(float(relevant), relevant)))
        memory.link(end, page, screen)
        return [codes.get(one, OPEN) for one in links]


def hosts(count, domain="big.example", first=0):
    return [f"http://h{number}.{domain}/" for number in range(first, first + count)]


def test_a_domain_has_so_many_hosts_and_more_with_each_relevant_page():
    crawl = Crawl(hosts=5, growth=3)
    assert crawl.read("http://a.example/", hosts(8)) == [OPEN] * 5 + [MANY_HOSTS] * 3
    assert crawl.memory.urls.host_count == 6
    assert crawl.read("http://h0.big.example/", hosts(9)) == [OPEN] * 5 + [MANY_HOSTS] * 4
    assert crawl.read("http://h1.big.example/", hosts(9), relevant=True) == [OPEN] * 8 + [
        MANY_HOSTS
    ]


def test_hosts_of_a_public_suffix_are_domains_of_their_own():
    crawl = Crawl(hosts=5)
    assert crawl.read("http://a.example/", hosts(8, "github.io")) == [OPEN] * 8


def test_a_domain_has_so_many_unvisited_links_and_the_visited_ones_make_room():
    crawl = Crawl(links=4, page_growth=0)
    links = [f"http://big.example/{name}" for name in "abcdefg"]
    assert crawl.read("http://a.example/", links) == [OPEN] * 4 + [MANY_LINKS] * 3
    assert crawl.read("http://big.example/a", links) == [OPEN] * 5 + [MANY_LINKS] * 2


def test_the_links_of_a_relevant_page_always_have_room():
    crawl = Crawl(links=4, link_growth=100, page_growth=0)
    crawl.read("http://a.example/", [f"http://big.example/{name}" for name in "abcdefg"])
    links = [f"http://big.example/good/{number}" for number in range(90)]
    assert crawl.read("http://big.example/a", links, relevant=True) == [OPEN] * 90


def test_new_pages_make_room_for_links_of_a_site_where_relevant_ones_are_rare():
    crawl = Crawl(links=4, page_growth=5)
    links = [f"http://big.example/{number}" for number in range(12)]
    assert crawl.read("http://big.example/0", links).count(OPEN) == 9 + 1


def test_any_page_may_name_some_new_hosts_and_all_together_a_few_more():
    crawl = Crawl(page_hosts=3, spare_hosts=4, growth=2)
    new = [f"http://{name}.example/" for name in "abcdefghij"]
    assert crawl.read("http://x.example/", new) == [OPEN] * 7 + [MANY_NEW] * 3
    assert crawl.read("http://y.example/", hosts(5)) == [OPEN] * 3 + [MANY_NEW] * 2
    more = [f"http://{name}.test/" for name in "abcdefg"]
    assert crawl.read("http://z.example/", more, relevant=True) == [OPEN] * 5 + [MANY_NEW] * 2


def test_a_domain_whose_new_hosts_bring_nothing_new_is_closed_until_one_does():
    crawl = Crawl(patience=3)
    for url in hosts(2):
        crawl.read(url, new=False)
    for path in "abcdefgh":  # pages of one bad host count once
        crawl.read(f"http://h0.big.example/{path}", new=False)
    assert crawl.read("http://a.example/", ["http://big.example/"]) == [OPEN]
    crawl.read("http://h3.big.example/", new=False)
    assert crawl.domains.closed(crawl.memory, crawl.memory.urls.find_host("h3.big.example"))
    assert crawl.read("http://a.example/2", ["http://big.example/new"]) == [STALE]
    crawl.read("http://h0.big.example/new")
    assert crawl.read("http://a.example/3", ["http://big.example/new"]) == [OPEN]


def test_saved_limits_go_on_as_they_were():
    limits = {"hosts": 5, "links": 8, "page_hosts": 2, "spare_hosts": 3, "patience": 2}
    one = Crawl(**limits)
    one.read("http://a.example/", hosts(7))
    one.read("http://h0.big.example/", new=False)
    other = Crawl(**limits)
    other.memory.load(one.memory.state())
    other.domains.load(one.domains.state())
    for url in ("http://h1.big.example/", "http://b.example/", "http://h2.big.example/"):
        links = [*hosts(3, first=4), *hosts(2, "third.example"), f"{url}x"]
        told = [crawl.read(url, links, new=False) for crawl in (one, other)]
        assert told[0] == told[1]
    assert one.domains.nbytes == other.domains.nbytes
