import bz2
import gzip
import json
import subprocess
import sys
from pathlib import Path
from xml.sax.saxutils import escape, quoteattr

import pytest
import zstandard

from honeyguide.errors import HoneyguideError
from honeyguide.recorded.graph import Graph
from honeyguide.recorded.importers.wikipedia import import_wikipedia

HEAD = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-{version}/" \
xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" \
xsi:schemaLocation="http://www.mediawiki.org/xml/export-{version}/ \
http://www.mediawiki.org/xml/export-{version}.xsd" version="{version}" xml:lang="en">
  <siteinfo>
    <sitename>Wikipedia</sitename>
    <dbname>simplewiki</dbname>
    <base>{base}</base>
    <generator>MediaWiki 1.36.0-wmf.10</generator>
    <case>first-letter</case>
    <namespaces>
      <namespace key="-2" case="first-letter">Media</namespace>
      <namespace key="-1" case="first-letter">Special</namespace>
      <namespace key="0" case="{case}" />
      <namespace key="1" case="first-letter">Talk</namespace>
      <namespace key="4" case="first-letter">Wikipedia</namespace>
      <namespace key="6" case="first-letter">File</namespace>
      <namespace key="14" case="first-letter">{category}</namespace>
    </namespaces>
  </siteinfo>
"""
PAGE = """  <page>
    <title>{title}</title>
    <ns>{ns}</ns>
    <id>{id}</id>
{redirect}{revisions}  </page>
"""
REVISION = """    <revision>
      <id>{revision}</id>
      <parentid>7141372</parentid>
      <timestamp>2020-10-24T05:14:25Z</timestamp>
      <contributor>
        <username>Example</username>
        <id>1000261</id>
      </contributor>
      <minor />
      <comment>see [[Nowhere]] &amp; elsewhere</comment>
      <origin>{revision}</origin>
      <model>{model}</model>
      <format>text/x-wiki</format>
      <text bytes="{size}" sha1="x" xml:space="preserve">{text}</text>
      <sha1>phoiac9h4m842xq45sp7s6u21eteeq1</sha1>
    </revision>
"""
BASE = "https://simple.wikipedia.org/wiki/Main_Page"


def page(title, *texts, id=None, ns=0, redirect="", model="wikitext"):
    page.count += 1
    revisions = [
        REVISION.format(revision=90 + n, model=model, size=len(text), text=escape(text))
        for n, text in enumerate(texts)
    ]
    return PAGE.format(
        title=escape(title),
        ns=ns,
        id=id or page.count,
        redirect=f"    <redirect title={quoteattr(redirect)} />\n" if redirect else "",
        revisions="".join(revisions),
    )


page.count = 5000


def redirect(title, target, **rest):
    return page(title, f"#REDIRECT [[{target}]]", redirect=target, **rest)


def export(*pages, version="0.10", base=BASE, case="first-letter", category="Category"):
    head = HEAD.format(version=version, base=base, case=case, category=category)
    return head + "".join(pages) + "</mediawiki>\n"


def imported(folder, text, **settings):
    source = folder / "pages-articles.xml"
    source.write_bytes(text if isinstance(text, bytes) else text.encode())
    counts = import_wikipedia(source, folder / "web", **settings)
    return Graph.open(folder / "web"), counts


def links(graph, name):
    found = graph.page(graph.find(name)).links
    return [(graph.id(graph.index(link.url)), link.anchor) for link in found]


SMALL = (
    page("Rock", "A '''rock''' is [[stone|hard]] and [[Granite]]. [[Category:Geology]]", id=1),
    page("Stone", "A [[rock (geology)|rock]] or [[Rock]]s{{navbox}}", id=2),
    page("Granite", "[[Granite]] is a [[Rock#Types|kind of rock]], not [[jazz]]", id=3),
    redirect("Rock (geology)", "Rock", id=4),
    page("Talk:Rock", "about [[Rock]]", ns=1, id=5),
)


def test_pages_links_redirects_and_categories_arrive(tmp_path):
    graph, counts = imported(tmp_path, export(*SMALL))
    assert counts == {
        "pages": 3,
        "links": 5,
        "outside": 1,
        "duplicates": 0,
        "labels": 1,
        "redirects": 1,
    }
    rock = graph.page(graph.find("Rock"))
    assert rock.text == "A rock is hard and Granite. "
    assert (rock.title, rock.labels) == ("Rock", ("category:Geology",))
    assert links(graph, "Rock") == [("Stone", "hard"), ("Granite", "Granite")]
    assert links(graph, "Stone") == [("Rock", "rock"), ("Rock", "Rocks")]
    assert links(graph, "Granite") == [("Rock", "kind of rock")]
    assert rock.links[0].context == "A rock is hard and Granite."


@pytest.mark.parametrize(
    ("name", "pack"),
    [
        ("a.xml", bytes),
        ("a.xml.bz2", bz2.compress),
        ("a.xml.bz2", lambda data: bz2.compress(data[:900]) + bz2.compress(data[900:])),
        ("a.xml.gz", gzip.compress),
        ("a.xml.zst", lambda data: zstandard.ZstdCompressor().compress(data)),
        ("unnamed", bz2.compress),
    ],
)
def test_any_packing_gives_the_same_web_and_tells_its_progress(tmp_path, name, pack):
    data = pack(export(*SMALL, version="0.11").encode())
    (tmp_path / name).write_bytes(data)
    steps = []
    counts = import_wikipedia(tmp_path / name, tmp_path / "web", lambda *step: steps.append(step))
    assert (counts["pages"], counts["links"]) == (3, 5)
    assert [done for done, _ in steps] == sorted(done for done, _ in steps)
    assert steps[-1] == (2 * len(data), 2 * len(data))


def test_pages_have_the_urls_of_the_real_wiki(tmp_path):
    names = ("Rock (geology)", 'What is "rock"?', "Café & Bar's", "50% + a/b: c, d!")
    graph, _ = imported(tmp_path, export(*(page(name, "x") for name in names)))
    assert [
        graph.url(number).removeprefix("https://simple.wikipedia.org/wiki/") for number in range(4)
    ] == [
        "Rock_(geology)",
        "What_is_%22rock%22%3F",
        "Caf%C3%A9_%26_Bar%27s",
        "50%25_%2B_a/b:_c,_d!",
    ]
    for number, name in enumerate(names):
        assert graph.find(name) == graph.find(name.replace(" ", "_")) == number


@pytest.mark.parametrize(
    ("base", "url"),
    [
        (
            "https://de.wikipedia.org/wiki/Wikipedia:Hauptseite",
            "https://de.wikipedia.org/wiki/Rock",
        ),
        ("http://wiki.example/index.php/Main_Page", "http://wiki.example/index.php/Rock"),
        ("http://wiki.example/w/index.php?title=A/B", "http://wiki.example/w/index.php?title=Rock"),
        ("", "http://web.example/Rock"),
    ],
)
def test_urls_follow_the_address_of_the_main_page(tmp_path, base, url):
    graph, _ = imported(tmp_path, export(page("Rock", "x"), base=base))
    assert graph.url(0) == url


@pytest.mark.parametrize(
    "name",
    [
        "Rock (geology)",
        "Rock_(geology)",
        "rock (GEOLOGY)",
        "https://simple.wikipedia.org/wiki/Rock_(geology)",
        "https://simple.wikipedia.org/wiki/Rock_(geology)#Types",
    ],
)
def test_a_page_is_found_by_the_titles_and_urls_of_redirects_to_it(tmp_path, name):
    graph, _ = imported(tmp_path, export(*SMALL))
    assert graph.id(graph.find(name)) == "Rock"


def test_the_name_of_a_page_goes_before_that_of_a_redirect_and_the_exact_before_any_case(tmp_path):
    pages = [page("AIDS", "x"), page("Aid", "y"), redirect("Aids", "Aid"), redirect("aID", "AIDS")]
    graph, _ = imported(tmp_path, export(*pages, case="case-sensitive"))
    found = {name: graph.id(graph.find(name)) for name in ("AIDS", "Aids", "Aid", "aID", "aids")}
    assert found == {"AIDS": "AIDS", "Aids": "Aid", "Aid": "Aid", "aID": "AIDS", "aids": "AIDS"}


def test_a_redirect_to_a_page_that_is_not_recorded_names_none(tmp_path):
    graph, _ = imported(tmp_path, export(*SMALL, redirect("Gone", "Nowhere")))
    with pytest.raises(HoneyguideError, match="Gone"):
        graph.find("Gone")


def test_a_web_without_redirects_has_no_aliases_and_one_with_damaged_aliases_says_so(tmp_path):
    imported(tmp_path, export(page("Rock", "x")))
    assert not (tmp_path / "web" / "aliases.npy").exists()
    (tmp_path / "more").mkdir()
    imported(tmp_path / "more", export(*SMALL))
    (tmp_path / "more" / "web" / "alias_rows.npy").unlink()
    with pytest.raises(HoneyguideError, match="recorded web"):
        Graph.open(tmp_path / "more" / "web")


def test_redirects_are_followed_through_chains_and_circles_are_left(tmp_path):
    graph, counts = imported(
        tmp_path,
        export(
            redirect("A", "B"),
            page("Start", "[[A]] [[b]] [[C]] [[X]] [[Y]] [[Self]] [[Gone]] [[Deep]] [[Abroad]]"),
            redirect("B", "C#Section"),
            redirect("C", "End of it"),
            redirect("X", "Y"),
            redirect("Y", "X"),
            redirect("Self", "Self"),
            redirect("Gone", "Nowhere"),
            redirect("Deep", "Talk:End"),
            redirect("Abroad", "wikt:End of it"),
            page("End of it", "the end, also known as [[A]]"),
            page("Talk:End", "x", ns=1),
        ),
    )
    assert links(graph, "Start") == [("End_of_it", "A"), ("End_of_it", "b"), ("End_of_it", "C")]
    assert links(graph, "End of it") == []
    assert (counts["redirects"], counts["outside"]) == (3, 6)


def test_a_page_does_not_link_to_itself(tmp_path):
    graph, _ = imported(
        tmp_path,
        export(page("Rock", "[[Rock]] [[#Types]] [[rock#a|b]] [[Stone]]"), page("Stone", "x")),
    )
    assert links(graph, "Rock") == [("Stone", "Stone")]


def test_other_namespaces_come_on_request(tmp_path):
    graph, counts = imported(
        tmp_path,
        export(
            page("Rock", "[[:Category:Geology]] [[Talk:Rock]] [[Category:Geology]]"),
            page("Category:Geology", "all of [[Rock]]", ns=14),
            page("Talk:Rock", "x", ns=1),
        ),
        namespaces=(0, 14),
    )
    assert counts["pages"] == 2
    assert links(graph, "Rock") == [("Category:Geology", "Category:Geology")]
    assert graph.url(1) == "https://simple.wikipedia.org/wiki/Category:Geology"


def test_the_last_revision_counts_and_other_content_is_left_out(tmp_path):
    slot = "      <content><role>mediainfo</role><model>json</model><text>{}</text></content>\n"
    graph, counts = imported(
        tmp_path,
        export(
            page("Rock", "old", "new"),
            page("Code", "{}", model="json"),
            page("Empty").replace(
                "</id>\n", '</id>\n<revision><text deleted="deleted" /></revision>\n'
            ),
            page("Slots", "main text").replace("      <sha1>", slot + "      <sha1>"),
        ),
    )
    assert counts["pages"] == 3
    assert [graph.page(number).text for number in range(3)] == ["new", "", "main text"]
    assert graph.title(2) == "Slots"


def test_a_wiki_says_itself_how_it_spells_titles(tmp_path):
    pages = (page("rock", "[[Kategorie:Steine]] [[Rock]]"), page("Rock", "[[rock]]"))
    graph, _ = imported(tmp_path, export(*pages, case="case-sensitive", category="Kategorie"))
    assert graph.page(0).labels == ("category:Steine",)
    assert [link.url.rpartition("/")[2] for link in graph.page(0).links] == ["Rock"]
    assert [link.url.rpartition("/")[2] for link in graph.page(1).links] == ["rock"]


def test_a_large_export_is_read_by_another_process_with_the_same_result(tmp_path, monkeypatch):
    monkeypatch.setattr("honeyguide.recorded.importers.wikireader.BATCH", 1000)
    pages = [
        page(f"Page {n}", f"{n} [[Page {n * 7 % 90}|to]] [[Kategorie:{n % 3}]]") for n in range(90)
    ]
    webs = []
    for few in (0, 10**6):
        monkeypatch.setattr("honeyguide.recorded.importers.wikireader.FEW", few)
        (tmp_path / str(few)).mkdir()
        graph, _ = imported(tmp_path / str(few), export(*pages, category="Kategorie"))
        webs.append([graph.page(number) for number in range(len(graph))])
    assert webs[0] == webs[1]
    assert webs[0][8].labels == ("category:2",)


def test_an_interrupted_import_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr("honeyguide.recorded.importers.wikireader.BATCH", 100)
    (tmp_path / "a.xml").write_text(export(*circle(100)))
    size = (tmp_path / "a.xml").stat().st_size

    def interrupt(done, total):
        if done > 1.5 * size:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        import_wikipedia(tmp_path / "a.xml", tmp_path / "web", interrupt)
    assert [path.name for path in tmp_path.iterdir()] == ["a.xml"]


def test_a_reading_process_that_ends_is_told(tmp_path, monkeypatch):
    monkeypatch.setattr("honeyguide.recorded.importers.wikireader.BATCH", 100)
    monkeypatch.setattr(
        "honeyguide.recorded.importers.wikireader._PROGRAM", "import sys; sys.exit(0)"
    )
    with pytest.raises(HoneyguideError, match="the process that parses wikitext has ended"):
        imported(tmp_path, export(*circle(100)))
    assert [path.name for path in tmp_path.iterdir()] == ["pages-articles.xml"]


# --------------------------------------------------------------------------- sample


def circle(count):
    return [
        page(f"Page {n}", f"[[Page {(n + 1) % count}|next]] [[Old {n // 2}]]") for n in range(count)
    ] + [redirect(f"Old {n}", f"Page {n}") for n in range(count)]


def test_a_sample_is_a_random_part_that_a_seed_repeats(tmp_path):
    text = export(*circle(2000))
    chosen = []
    for number, seed in enumerate((0, 0, 1)):
        (tmp_path / str(number)).mkdir()
        graph, counts = imported(tmp_path / str(number), text, sample=0.1, random_seed=seed)
        assert 140 < counts["pages"] < 260
        chosen.append([graph.id(page) for page in range(len(graph))])
        inside = set(chosen[-1])
        for page_number in range(len(graph)):
            name = int(graph.id(page_number).split("_")[1])
            wanted = [f"Page_{(name + 1) % 2000}", f"Page_{name // 2}"]
            assert [target for target, _ in links(graph, graph.id(page_number))] == [
                target for target in wanted if target in inside and target != f"Page_{name}"
            ]
    assert chosen[0] == chosen[1] != chosen[2]


def test_a_smaller_sample_is_part_of_a_larger_one(tmp_path):
    text = export(*circle(500))
    names = []
    for sample in (0.2, 0.5, 1.0):
        (tmp_path / str(sample)).mkdir()
        graph, _ = imported(tmp_path / str(sample), text, sample=sample)
        names.append({graph.id(page) for page in range(len(graph))})
    assert names[0] < names[1] < names[2]
    assert len(names[2]) == 500


# --------------------------------------------------------------------------- pagelinks

SQL_HEAD = """-- MySQL dump 10.16  Distrib 10.1.45-MariaDB, for debian-linux-gnu (x86_64)
--
-- Host: 10.64.48.13    Database: simplewiki
/*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */;

DROP TABLE IF EXISTS `{name}`;
/*!40101 SET character_set_client = utf8 */;
CREATE TABLE `{name}` (
{columns}  PRIMARY KEY (`x`,`y`),
  KEY `k` (`z`)
) ENGINE=InnoDB DEFAULT CHARSET=binary ROW_FORMAT=COMPRESSED;
/*!40101 SET character_set_client = @saved_cs_client */;

/*!40000 ALTER TABLE `{name}` DISABLE KEYS */;
"""
SQL_TAIL = (
    "/*!40000 ALTER TABLE `{name}` ENABLE KEYS */;\n-- Dump completed on 2020-10-01  9:55:34\n"
)


def sql(name, columns, *statements, between=",", start="VALUES "):
    declared = "".join(f"  `{column}` int(8) unsigned NOT NULL DEFAULT 0,\n" for column in columns)
    rows = "".join(
        f"INSERT INTO `{name}` {start}{between.join(rows)};\n" for rows in statements if rows
    )
    return SQL_HEAD.format(name=name, columns=declared) + rows + SQL_TAIL.format(name=name)


LISTED = (
    page("Rock", "A [[Stone|hard thing]] {{navbox}} [[Granite]]", id=11),
    page("Stone", "no links", id=12),
    page("Granite", "x", id=13),
    page("O'Brien \\ (x),(y)", "x", id=14),
    redirect("Pebble", "Stone", id=15),
)
OLD = ("pl_from", "pl_namespace", "pl_title", "pl_from_namespace")
NEW = ("pl_from", "pl_from_namespace", "pl_target_id")
ROWS = {
    "old": (
        OLD,
        [
            "(11,0,'Stone',0)",
            "(11,0,'O\\'Brien_\\\\_(x),(y)',0)",
            "(11,0,'Nowhere',0)",
            "(11,1,'Rock',0)",
        ],
        ["(12,0,'Pebble',0)", "(12,0,'Rock',0)", "(99,0,'Rock',0)", "(15,0,'Stone',0)"],
    ),
    "new": (
        NEW,
        ["(11,0,1)", "(11,0,2)", "(11,0,3)", "(11,0,4)"],
        ["(12,0,5)", "(12,0,6)", "(99,0,6)", "(15,0,1)", "(11,0,77)"],
    ),
}
TARGETS = [
    "(1,0,'Stone')",
    "(2,0,'O\\'Brien_\\\\_(x),(y)')",
    "(3,0,'Nowhere')",
    "(4,1,'Rock')",
    "(6,0,'Rock')",
    "(5,0,'Pebble')",
]


@pytest.mark.parametrize("form", ["old", "new"])
@pytest.mark.parametrize(
    "layout", [{}, {"between": ",\n", "start": "VALUES\n"}], ids=["one line", "a line a row"]
)
def test_pagelinks_say_which_links_there_are_and_the_text_how_they_look(tmp_path, form, layout):
    columns, *statements = ROWS[form]
    text = sql("pagelinks", columns, *statements, **layout).encode()
    (tmp_path / "simplewiki-pagelinks.sql.gz").write_bytes(gzip.compress(text))
    targets = sql("linktarget", ("lt_id", "lt_namespace", "lt_title"), TARGETS, **layout).encode()
    (tmp_path / "simplewiki-linktarget.sql.gz").write_bytes(gzip.compress(targets))
    steps = []
    graph, _ = imported(
        tmp_path,
        export(*LISTED),
        pagelinks=tmp_path / "simplewiki-pagelinks.sql.gz",
        progress=lambda *step: steps.append(step),
    )
    assert links(graph, "Rock") == [("Stone", "hard thing"), ("O'Brien_\\_(x),(y)", "")]
    assert graph.page(0).links[0].context.startswith("A hard thing")
    assert links(graph, "Stone") == [("Rock", "")]
    assert links(graph, "Granite") == []
    assert steps == sorted(steps)
    assert steps[-1][0] == steps[-1][1]


def test_pagelinks_know_pages_of_other_namespaces(tmp_path):
    rows = ["(1,3,'Some_one',0)", "(1,0,'Some_one',0)", "(1,7777,'Rock',0)"]
    (tmp_path / "pagelinks.sql").write_text(sql("pagelinks", OLD, rows))
    pages = (page("Rock", "x", id=1), page("User talk:Some one", "x", id=2, ns=3))
    settings = {"namespaces": (0, 3), "pagelinks": tmp_path / "pagelinks.sql"}
    graph, _ = imported(tmp_path, export(*pages), **settings)
    assert links(graph, "Rock") == [("User_talk:Some_one", "")]


def test_links_in_any_order_and_number_find_their_page(tmp_path, monkeypatch):
    monkeypatch.setattr("honeyguide.recorded.importers.pagelinks.BATCH", 7)
    count = 40
    pairs = [(n * 17 % count, n * 5 % count) for n in range(300)]
    rows = [f"({source + 1},0,'Page_{target}',0)" for source, target in pairs]
    (tmp_path / "pagelinks.sql").write_text(sql("pagelinks", OLD, rows[:100], rows[100:]))
    pages = [page(f"Page {n}", "x", id=n + 1) for n in range(count)]
    graph, _ = imported(tmp_path, export(*pages), pagelinks=tmp_path / "pagelinks.sql")
    for number in range(count):
        wanted = {f"Page_{target}" for source, target in pairs if source == number != target}
        assert {target for target, _ in links(graph, f"Page {number}")} == wanted


GOOD = sql("pagelinks", OLD, ["(11,0,'Stone',0)"] * 50)
FIRST = GOOD[: GOOD.index("INSERT")].count("\n") + 1  # line of the first row


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "is not an SQL dump of the table pagelinks"),
        (sql("categorylinks", OLD, ["(1,2,'a',3)"]).encode(), "not an SQL dump of the table"),
        (GOOD[: GOOD.index("(11") + 200].encode(), f"cut off in line {FIRST}"),
        (GOOD.replace("(11,0,'Stone',0);", "(11,0,'Stone;").encode(), f"broken in line {FIRST}"),
        (GOOD.replace("(11,0", "(NULL,0", 1).encode(), f"broken in line {FIRST}"),
        (sql("pagelinks", ("pl_from", "pl_title"), []).encode(), "has no column pl_namespace"),
        (GOOD.replace("(11,0", "(11,oops", 1).encode(), f"broken in line {FIRST}"),
        (
            sql("pagelinks", OLD, ["(1,0,'a',0)"] * 9, between=",\n").rsplit("(1,", 1)[0].encode(),
            f"cut off in line {FIRST + 7}",
        ),
        (gzip.compress(GOOD.encode())[:-20], "cut off"),
        (sql("pagelinks", NEW, ["(1,2,3)"]).encode(), "put linktarget.sql.gz .* as linktarget.sql"),
    ],
)
def test_bad_pagelinks_are_told_in_a_sentence_and_leave_nothing(tmp_path, data, sentence):
    (tmp_path / "pagelinks.sql").write_bytes(data)
    with pytest.raises(HoneyguideError, match=sentence) as caught:
        imported(tmp_path, export(*LISTED), pagelinks=tmp_path / "pagelinks.sql")
    assert "\n" not in str(caught.value)
    assert {path.name for path in tmp_path.iterdir()} == {"pagelinks.sql", "pages-articles.xml"}


# --------------------------------------------------------------------------- bad input

WHOLE = export(*SMALL).encode()
BROKEN = WHOLE[: WHOLE.index(b"</revision>")].count(b"\n") + 1


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (
            WHOLE[: WHOLE.index(b"kind of rock")],
            "cut off in line .*, in or after the page 'Granite'",
        ),
        (WHOLE[: WHOLE.index(b"</mediawiki>")], "cut off in line .* 'Talk:Rock'"),
        (
            WHOLE.replace(b"</revision>", b"</revolution>", 2),
            f"broken in line {BROKEN}, .* 'Rock': mismatched tag",
        ),
        (WHOLE.replace(b"Granite", b"Gra\x00nite"), "broken in line .*: not well-formed"),
        (WHOLE.replace(b"Granite", b"Gra\xffnite"), "broken in line .*: not well-formed"),
        (WHOLE.replace(b"<title>Stone</title>", b""), "broken in line .*: a page has no title"),
        (bz2.compress(WHOLE)[:-30], "is cut off"),
        (bz2.compress(WHOLE)[:200] + b"\xff" * 500, "is damaged"),
        (bz2.compress(WHOLE) + b"more", "is damaged"),
        (gzip.compress(WHOLE)[:-30], "is cut off"),
        (
            b"<html><body>Not found</body></html>",
            "is not a MediaWiki export: it begins with <html>",
        ),
        (b"<!DOCTYPE html><html></html>", "is not a MediaWiki export: it begins with html"),
        (b"<!DOCTYPE x [<!ENTITY a 'b'>]><mediawiki>&a;</mediawiki>", "is not a MediaWiki export"),
        (b'{"id": "a"}\n', "is not a MediaWiki export"),
        (b"", "is not a MediaWiki export"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "is not a MediaWiki export"),
        (export().encode(), "has no pages to record"),
        (export(redirect("A", "B"), page("Talk:A", "x", ns=1)).encode(), "has no pages to record"),
    ],
)
def test_bad_input_is_told_in_a_sentence_and_leaves_nothing(tmp_path, data, sentence):
    with pytest.raises(HoneyguideError, match=sentence) as caught:
        imported(tmp_path, data)
    assert "\n" not in str(caught.value)
    assert [path.name for path in tmp_path.iterdir()] == ["pages-articles.xml"]


def test_a_missing_file_and_a_senseless_sample_are_told(tmp_path):
    with pytest.raises(HoneyguideError, match="cannot read"):
        import_wikipedia(tmp_path / "none.xml", tmp_path / "web")
    with pytest.raises(HoneyguideError, match="the sample must be above 0 and at most 1, not 2"):
        imported(tmp_path, export(*SMALL), sample=2)
    with pytest.raises(HoneyguideError, match="cannot read"):
        imported(tmp_path, export(*SMALL), pagelinks=tmp_path / "none.sql")
    assert [path.name for path in tmp_path.iterdir()] == ["pages-articles.xml"]


def test_an_existing_graph_is_not_overwritten(tmp_path):
    imported(tmp_path, export(*SMALL))
    with pytest.raises(HoneyguideError, match="already exists"):
        imported(tmp_path, export(*SMALL))


# --------------------------------------------------------------------------- the command


def test_the_command_makes_a_web_that_can_be_crawled(tmp_path):
    (tmp_path / "dump.xml.bz2").write_bytes(bz2.compress(export(*circle(60)).encode()))
    program = Path(sys.executable).parent / "honeyguide"

    def run(*arguments):
        done = subprocess.run([program, *arguments], cwd=tmp_path, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout

    said = run(
        "import", "wikipedia", "dump.xml.bz2", "web", "--sample", "0.9", "--random-seed", "3"
    )
    assert "pages" in said
    counts = json.loads((tmp_path / "web" / "graph.json").read_text())["counts"]
    assert 40 < counts["pages"] < 60
    seed = Graph.open(tmp_path / "web").title(0).replace("Page", "Old")  # a redirect to it
    found = run(
        "crawl",
        "--world",
        "graph:web",
        "--topic",
        "next",
        "--seed",
        seed,
        "--budget",
        "5",
        "--out",
        "out",
    )
    assert "fetched" in found
