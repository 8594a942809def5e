import time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from honeyguide.recorded.importers.wikitext import CONTEXT, ENGLISH, Site, parse

PIECES = (
    "{{ }} {{{ }}} {| |} |- || ! [[ ]] [ ] [[a|b]] [[A#s|c]] [[File:x.jpg|thumb| [[Category:x]]"
    " [http://a.example b ''' '' == = * # : ; ---- <ref> </ref> <ref/> <!-- --> <nowiki> </nowiki>"
    " <pre> </pre> <br> <b> < > & &amp; &#65; &#xd800; &nbsp; __TOC__ | word Words é 漢字"
).split()
SPACES = ["\n", "\n\n", " ", "\t", "\xa0", "\r\n"]
wikitexts = st.lists(st.sampled_from(PIECES + SPACES) | st.text(max_size=5)).map("".join)


def anchors(article):
    return [(target, article.anchor(start, end)) for target, start, end in article.links]


@pytest.mark.parametrize(
    ("source", "target", "shown"),
    [
        ("[[Rock]]", "Rock", "Rock"),
        ("[[rock]]", "Rock", "rock"),
        ("[[rock|stone]]", "Rock", "stone"),
        ("[[rock]]s", "Rock", "rocks"),
        ("[[rock|stone]]s", "Rock", "stones"),
        ("[[Rock#Types]]", "Rock", "Rock#Types"),
        ("[[Rock#Types|types of rock]]", "Rock", "types of rock"),
        ("[[rock_music|x]]", "Rock_music", "x"),
        ("[[  rock   _music |x]]", "Rock_music", "x"),
        ("[[AT&amp;T|x]]", "AT&T", "x"),
        ("[[Caf%C3%A9|x]]", "Café", "x"),
        ("[[Caf&eacute;]]", "Café", "Café"),
        ("[[éclair]]", "Éclair", "éclair"),
        ("[[ß]]", "ß", "ß"),
        ("[[Rock (music)|]]", "Rock_(music)", "Rock"),
        ("[[Boston, Massachusetts|]]", "Boston,_Massachusetts", "Boston"),
        ("[[Star Wars: Episode IV]]", "Star_Wars:_Episode_IV", "Star Wars: Episode IV"),
        ("[[:Category:Rocks]]", "Category:Rocks", "Category:Rocks"),
        ("[[:category:rocks|all rocks]]", "Category:Rocks", "all rocks"),
        ("[[:File:Rock.jpg|the picture]]", "File:Rock.jpg", "the picture"),
        ("[[user talk:someone|x]]", "User_talk:Someone", "x"),
        ("[[rock|''hard'' stone]]", "Rock", "hard stone"),
        ("[[rock|<small>stone</small>]]s", "Rock", "stones"),
        ("[[rock|a [bracket] b]]", "Rock", "a [bracket] b"),
        ("[[rock|{{nobr|x}}stone]]", "Rock", "stone"),
        ("[[rock|a|b]]", "Rock", "a|b"),
        ("[[rock|two\nlines]]", "Rock", "two lines"),
        ("'''[[rock]]'''", "Rock", "rock"),
        ("[[東京]]は", "東京", "東京"),
    ],
)
def test_every_way_to_write_a_link_is_read(source, target, shown):
    assert anchors(parse(source)) == [(target, shown)]


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("[[wikt:rock|rock]]", "rock"),
        ("[[:fr:Roche|in French]]", "in French"),
        ("[[fr:Roche]]", ""),
        ("[[zh-min-nan:X]]", ""),
        ("[[File:Rock.jpg|thumb|A [[rock]] of [[granite|stone]]]]", ""),
        ("[[image:Rock.jpg]]", ""),
        ("[[Category:Rocks| ]]", ""),
        ("[[Special:Random|any page]]", "any page"),
        ("[[#Types|below]]", "below"),
        ("[http://a.example a site]", "a site"),
        ("[//a.example a ''site'']", "a site"),
        ("see [http://a.example].", "see ."),
        ("[[]]a [[|x]]", "a x"),
        ("[[" + "x" * 3000 + "|y]]", "y"),
        ("<nowiki>[[rock]] &amp; ''x''</nowiki>", "[[rock]] & ''x''"),
        ("<ref>[[rock]]</ref><ref name=a /><REF name='b'>[[rock]]</REF >", ""),
        ("{{main|[[rock]]}}\n{|\n|[[rock]]\n|}", ""),
        ("<!-- [[rock]] -->", ""),
        ("[[rock", "rock"),
    ],
)
def test_what_leads_to_no_page_of_the_wiki_is_no_link(source, text):
    article = parse(source)
    assert (article.links, article.text) == ([], text)


@pytest.mark.parametrize(
    ("source", "text"),
    [
        ("a {{b|{{c}}|d={{{e|f}}}}} g", "a g"),
        ("{{Infobox\n| a = {{b}}\n| c = <ref>{{d}}</ref>\n|}}\nText", "Text"),
        ("{{{{a}}|b}} c", "c"),
        ("a {{b c", "a {{b c"),
        ("a b}} c", "a b}} c"),
        ("{{a {{b}} c", "{{a c"),
        ("{{a|<nowiki>}}</nowiki>}} b", "b"),
        ("{{a|<!-- }} -->}} b", "b"),
        ("a\n{|\n! b\n|-\n| c\n{|\n| d\n|}\n|}\ne", "a\ne"),
        ("a\n:{| class=x\n| {{b|\n|}}\n|}\nc", "a\nc"),
        ("{{a|\n{|\n| b\n|}}} c", "c"),
        ("'''''a''''' ''b'' '''c''' d's e''''f", "a b c d's e'f"),
        ("== A ==\n=== ''B'' ===\ntext = x ==", "A\nB\ntext = x =="),
        ("==A==<!-- x -->\nb", "A\nb"),
        ("* a\n** b\n# c\n: d\n; e\n----\nf", "a\nb\nc\nd\ne\nf"),
        ("a<br>b<br />c<p>d</p>", "a\nb\nc\nd"),
        ("a<b class='x'>b</b>c <span>d</span>", "abc d"),
        ("a <math>x<y</math> <gallery>\nFile:a.jpg|b\n</gallery>c", "a c"),
        ("a&nbsp;&amp;&#233;&#xe9; &bogus; &#999999999; & b", "a &éé &bogus; &#999999999; & b"),
        ("__NOTOC__a __init__ b", "a __init__ b"),
        ("a<!-- never closed", "a"),
        ("<ref>never closed", "never closed"),
        ("1 < 2 and 3 > 2", "1 < 2 and 3 > 2"),
        ("\n\n a \n\n\n b \r\n", "a \nb "),
        ("", ""),
        ("==", "=="),
        ("=a=", "a"),
        ("===", "="),
    ],
)
def test_markup_is_gone_and_words_stay(source, text):
    assert parse(source).text.rstrip() == text.rstrip()


def test_categories_are_told_apart_from_links():
    article = parse("a [[Category:Rocks and stones|*]]\n[[category:geology]] [[Category:Geology]]")
    assert article.categories == ["Rocks and stones", "Geology"]
    assert article.links == []
    assert article.text.strip() == "a"


def test_inside_an_unclosed_template_links_still_count():
    article = parse("{{broken [[rock]] and [[stone|stones]]")
    assert anchors(article) == [("Rock", "rock"), ("Stone", "stones")]


def test_of_nested_links_the_inner_one_counts():
    assert anchors(parse("[[a|b [[c|d]] e]]")) == [("C", "d")]


def test_the_context_is_cut_from_around_this_very_link():
    words = " ".join(f"word{n}" for n in range(60))
    article = parse(f"[[rock]] {words} [[rock]]\n\n{words} '''bold''' [[rock]]")
    first, second, third = ((start, end) for _, start, end in article.links)
    assert article.context(*first).startswith("rock word0")
    assert (
        article.context(*second)
        == article.text.replace("\n", " ")[second[0] - CONTEXT : second[1] + CONTEXT].strip()
    )
    assert article.context(*third).endswith("word59 bold rock")
    assert len(article.context(*second)) >= 2 * CONTEXT


def test_a_wiki_in_another_language_names_its_namespaces_itself():
    site = Site(ENGLISH | {6: "Datei", 14: "Kategorie"})
    article = parse(
        "[[Datei:a.jpg|x]][[File:a.jpg]][[Kategorie:Steine]] [[:Kategorie:Felsen]]", site
    )
    assert article.categories == ["Steine"]
    assert [target for target, _, _ in article.links] == ["Kategorie:Felsen"]


def test_a_dictionary_keeps_small_first_letters():
    site = Site(as_written=frozenset([0]))
    assert [target for target, _, _ in parse("[[rock]] [[Rock]]", site).links] == ["rock", "Rock"]


@settings(max_examples=400, deadline=None)
@given(wikitexts)
@example("[[File:a|[[b|c\n]]]]")
@example("[[a|[http://b c]]]]]")
@example("{{{{{a}}}\n|}}}")
def test_any_text_is_read_and_every_link_lies_where_it_says(source):
    article = parse(source)
    end = 0
    for target, start, after in article.links:
        assert target
        assert end <= start < after <= len(article.text)
        assert article.anchor(start, after) == article.text[start:after].replace("\n", " ").strip()
        assert article.anchor(start, after) in article.context(start, after)
        end = after


@given(st.text(alphabet="abc \n", min_size=1))
def test_plain_words_are_left_alone(words):
    assert parse(words).text.split() == words.split()


@given(wikitexts, wikitexts)
def test_a_template_hides_whatever_is_in_it(before, inside):
    inside = inside.translate({ord(sign): None for sign in "{}|<"})
    before = before.translate({ord(sign): None for sign in "{}|<"})
    assert parse(before + "{{" + inside + "}}").links == parse(before).links


HOSTILE = [
    ("{{", ""),
    ("{{a", ""),
    ("{{a|", "}}"),
    ("{{{a", "}}"),
    ("\n{|", ""),
    ("\n{|", "\n|}"),
    ("{{\n|}", ""),
    ("[[", ""),
    ("[[a|", ""),
    ("[[a|", "]]"),
    ("[[File:a|", "]]"),
    ("[[a|[http://b ", "]]"),
    ("[http://a ", ""),
    ("]", ""),
    ("<ref>", ""),
    ("<ref>", "</nowiki>"),
    ("<nowiki>", ""),
    ("<!--", ""),
    ("<a", ""),
    ("'", ""),
    ("=", ""),
    ("\n=", ""),
    ("\n= =", ""),
    ("\n:", ""),
    (" ", ""),
    ("\u2003", ""),
    ("&#", ""),
    ("&a", ""),
    ("__AAAA", ""),
    ("(", "|]]"),
]


@pytest.mark.parametrize(("opening", "closing"), HOSTILE)
def test_a_hostile_page_takes_time_in_proportion(opening, closing):
    def seconds(size):
        count = size // len(opening + closing)
        page = "[[x" * (opening in "(\u2003") + opening * count + closing * count
        started = time.thread_time()
        parse(page)
        return time.thread_time() - started

    small = min(seconds(50_000) for _ in range(3))
    # eight times the page: sixty-four times the time if it were quadratic
    assert min(seconds(400_000) for _ in range(2)) < 24 * small + 0.2
