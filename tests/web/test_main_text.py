"""The main text of pages: what is content stays, what surrounds it goes."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from honeyguide.web import html
from honeyguide.web.blocks import read_blocks
from honeyguide.web.main_text import features, main_blocks, network

URL = "http://site.example/dir/page.html"
SENTENCES = (
    "The greater honeyguide leads people to the nests of wild bees, and eats the wax they leave. "
    "Hunters call it with a trill, which differs from one valley to the next. "
    "The bird answers, flies from tree to tree, and waits until the people have caught up. "
)
ARTICLE = "".join(f"<p>{SENTENCES}Paragraph {i} ends here.</p>" for i in range(6))
MENU = "<ul>" + "".join(f"<li><a href='/{w}'>Menu {w}</a></li>" for w in "abcdefgh") + "</ul>"
COOKIES = (
    "<p>We use cookies and similar technologies to improve your experience and to show you"
    " advertising. By clicking accept you agree to our use of cookies.</p><button>Accept</button>"
)
RELATED = "<h2>You may also like</h2>" + "".join(
    f"<div><h3><a href='/r{i}'>Another story about thing number {i}</a></h3></div>" for i in "123"
)
COMMENTS = "<h2>2 comments</h2>" + "".join(
    f"<div><b>reader{i}</b><p>Thank you, a lovely read before breakfast!</p><a>Reply</a></div>"
    for i in "12"
)
COLUMNS = "<div><ul><li><a href=/t>Terms of use</a></li><li><a href=/p>Privacy</a></li></ul></div>"


def text(body: str) -> str:
    return html.parse(body.encode(), URL).page.text


def page(inside: str, named: bool = True) -> str:
    """A page with today's furniture around its content."""
    names = ["cookie-banner", "main-nav", "related", "comments", "site-footer"]
    cookie, nav, related, comments, footer = (f" class={n}" if named else "" for n in names)
    return (
        "<!DOCTYPE html><title>Honeyguides - Example</title><body>"
        f"<div{cookie}>{COOKIES}</div><header><nav{nav}>{MENU}</nav></header>"
        f"<main><article><h1>Honeyguides</h1>{inside}</article></main>"
        f"<aside{related}>{RELATED}</aside><section{comments}>{COMMENTS}</section>"
        f"<footer{footer}>{COLUMNS}<p>© 2024 Example Media. All rights reserved.</p></footer>"
    )


# ----------------------------------------------------------------------- what stays


def test_paragraphs_and_headings_are_kept_each_on_a_line():
    lines = text(page(f"<h2>How they call</h2>{ARTICLE}")).splitlines()
    assert "How they call" in lines
    assert sum(line.startswith("The greater honeyguide") for line in lines) == 6


@pytest.mark.parametrize("tag", ["ul", "ol"])
def test_list_items_are_kept_each_on_a_line(tag):
    items = "".join(f"<li>The {word} honeyguide" for word in ("lesser", "dwarf", "pallid"))
    lines = text(page(f"{ARTICLE}<h2>Species</h2><{tag}>{items}</{tag}>{ARTICLE}")).splitlines()
    for word in ("lesser", "dwarf", "pallid"):
        assert f"The {word} honeyguide" in lines


def test_lists_of_links_in_an_article_are_kept():
    items = "".join(f"<li><a href='/{w}'>{w} honeyguide</a>" for w in ("Lesser", "Dwarf", "Pallid"))
    found = text(page(f"{ARTICLE}<h2>Species</h2><ul>{items}</ul><p>{SENTENCES}</p>"))
    assert "Lesser honeyguide\nDwarf honeyguide\nPallid honeyguide" in found


def test_table_cells_are_never_glued_and_rows_are_lines():
    rows = "<tr><th>Length</th><td>20 cm</td></tr><tr><th>Weight</th><td>50 g</td></tr>"
    found = text(page(f"{ARTICLE}<table>{rows}</table>{ARTICLE}"))
    assert "Length\t20 cm\nWeight\t50 g" in found


def test_definitions_are_kept():
    terms = "<dl><dt>Trill<dd>A call of hunters.<dt>Chatter<dd>The answer of the bird.</dl>"
    found = text(page(f"{ARTICLE}{terms}{ARTICLE}"))
    assert "Trill\nA call of hunters.\nChatter\nThe answer of the bird." in found


def test_code_keeps_its_lines_and_indents():
    code = "<pre><code>for bird in birds:\n    if bird.calls:\n        follow(bird)</code></pre>"
    found = text(page(f"<p>{SENTENCES}</p>{code}<p>{SENTENCES}</p>"))
    assert "for bird in birds:\n    if bird.calls:\n        follow(bird)" in found


def test_code_in_colours_keeps_its_lines():
    lines = "\n".join(f"<span>follow</span>(<i>bird{i}</i>)" for i in range(3))
    found = text(page(f"<p>{SENTENCES}</p><pre>{lines}</pre><p>{SENTENCES}</p>"))
    assert "follow(bird0)\nfollow(bird1)\nfollow(bird2)" in found


def test_words_of_inline_tags_are_not_torn_apart():
    found = text(page(f"{ARTICLE}<p>{SENTENCES}<b>H</b>oney <i>bad</i><!-- x -->ger eats wax.</p>"))
    assert "Honey badger eats wax." in found


def test_two_links_side_by_side_are_two_words():
    found = text("<p><a href=/a>north</a><a href=/b>south</a>")
    assert found == "north south"


def test_lines_within_a_paragraph_and_paragraphs_made_of_line_breaks_are_lines():
    found = text("<body>first line<br>second line<br><br>third line")
    assert found.splitlines() == ["first line", "second line", "third line"]


# ----------------------------------------------------------------------- what goes


@pytest.mark.parametrize("named", [True, False])
def test_what_surrounds_an_article_goes(named):
    found = text(page(ARTICLE, named))
    assert found.count("wild bees") == 6
    for other in ("cookies", "Menu", "Another story", "lovely read", "Terms", "All rights"):
        assert other not in found, other


def test_boxes_between_the_paragraphs_of_an_article_go():
    box = f"<aside class='related-articles'>{RELATED}</aside>"
    found = text(page(ARTICLE + box + ARTICLE))
    assert found.count("wild bees") >= 6
    assert "Another story" not in found


def test_a_menu_without_a_name_goes():
    found = text(f"<body><div>{MENU}</div><div><h1>Honeyguides</h1>{ARTICLE}</div></body>")
    assert "Menu" not in found
    assert "wild bees" in found


def test_navigation_and_footer_go_from_the_smallest_page():
    assert text("<nav>Home</nav><p>Bees.</p><footer>since 1990</footer>") == "Bees."


def test_forms_and_scripts_are_no_text():
    inside = "<select><option>Kenya</select><textarea>type</textarea><script>x()</script>"
    found = text(page(f"{ARTICLE}{inside}<noscript>Turn scripts on</noscript>"))
    for other in ("Kenya", "type", "x()", "Turn scripts on"):
        assert other not in found


def test_a_paragraph_said_again_is_kept_once():
    found = text(page(f"<p>{SENTENCES}</p>" * 3 + ARTICLE))
    assert found.count(SENTENCES.strip() + "\n") == 1


# ----------------------------------------------------------------------- unusual pages


def test_a_page_without_paragraphs_has_text():
    found = text(f"<body><div>{SENTENCES}<br><br>{SENTENCES}More.</div></body>")
    assert found.count("wild bees") == 2


def test_a_page_of_only_links_keeps_something():
    entries = "".join(f"<p><a href='/{i}'>entry {i}</a></p>" for i in range(50))
    assert "entry 7" in text(f"<body>{entries}</body>")


def test_a_home_page_of_lists_keeps_its_lists():
    inside = (
        "<h1>Ada Example</h1><hr><h2>Courses</h2><ul><li><a href=c1>CS 101 Programming</a>"
        "<li><a href=c2>CS 240 Graphs</a></ul><h2>Papers</h2><ul><li><a href=p>On walks</a></ul>"
    )
    found = text(f"<html><head><title>Ada Example</title></head><body>{inside}</body></html>")
    for word in ("Ada Example", "CS 101 Programming", "CS 240 Graphs", "On walks"):
        assert word in found


@pytest.mark.parametrize(
    "sentence",
    [
        "يقود طائر دليل العسل الناس إلى أعشاش النحل البري، ثم يأكل الشمع الذي يتركونه وراءهم. ",
        "מדריך הדבש מוביל אנשים אל קיני דבורים ואוכל את השעווה שהם משאירים אחריהם. ",
        "大响蜜䴕带领人们找到野蜂的巢，然后吃掉他们留下的蜂蜡。这种鸟生活在撒哈拉以南的非洲。",
        "Der Große Honiganzeiger führt Menschen zu den Nestern wilder Bienen und frisst Wachs. ",
    ],
)
def test_text_of_other_scripts_is_kept(sentence):
    article = "".join(f"<p>{sentence * 4}{i}</p>" for i in range(4))
    body = f"<body dir=rtl><nav>{MENU}</nav><article>{article}</article></body>"
    found = html.parse(body.encode(), URL, "text/html; charset=utf-8").page.text
    assert found.count(sentence.strip()) >= 4
    assert "Menu" not in found


def test_frames_and_pages_with_nothing_have_no_text_and_do_no_harm():
    assert text("<frameset><frame src='list.htm'></frameset>") == ""
    assert text("") == ""
    assert text("<body>   <p> </p></body>") == ""


def test_text_that_is_shown_nowhere_else_is_found_by_the_fallback():
    assert "wild bees" in text(f"<body><button>{SENTENCES}</button></body>")


# ----------------------------------------------------------------------- laws


def test_main_blocks_name_their_nodes():
    tree = html.tree(page(ARTICLE).encode())
    nodes = {node.mem_id: node for node in tree.body.traverse()}
    blocks = main_blocks(read_blocks(tree), "Honeyguides")
    assert [nodes[block.id].tag for block in blocks] == [block.tag for block in blocks]
    assert {"h1", "p"} == {block.tag for block in blocks}


def test_every_visible_word_is_in_one_block():
    tree = html.tree(b"<div>a<p>b<i>c</i></p>d<ul><li>e<ul><li>f</ul>g</ul><td>h")
    assert " ".join(read_blocks(tree).texts).split() == ["a", "bc", "d", "e", "f", "g", "h"]


def test_the_network_gives_one_probability_to_each_block_however_many():
    for count in (1, 2, 31, 32, 33, 200):
        tree = html.tree("".join(f"<p>{SENTENCES}{i}" for i in range(count)).encode())
        blocks = read_blocks(tree)
        sure = network().probabilities(features(blocks, ""))
        assert sure.shape == (count,)
        assert ((sure >= 0) & (sure <= 1)).all()


TAGS = st.sampled_from(
    "div p b a ul li table tr td pre br h1 nav footer section dl dd span".split()
)
WORDS = st.text("ab \n\x02\x01|é", max_size=8)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(TAGS, st.booleans(), WORDS), max_size=40))
def test_any_order_of_tags_gives_text_of_the_page(parts):
    body = "".join(f"<{'/' if ends else ''}{tag}>{word}" for tag, ends, word in parts)
    shown = "".join(word for _, _, word in parts)
    found = text(f"<body>{body}")
    assert set(found) - set("\n\t ") <= set(shown)


HOSTILE = {
    "lines": "<br>" * 20_000,
    "spaced lines": "x<i> </i><br>" * 6_000,
    "items": "<ul>" + "<li>x" * 19_000,
    "nested items": "<ul><li>x" * 9_000,
    "rows": "<table>" + "<tr><td>x" * 9_000,
    "nested rows": "<table><tr><td>x" * 6_000,
    "names": "".join(f"<div class='n{i} comment sidebar'>x" for i in range(9_000)),
    "one long name": "<div class='" + "comment " * 200_000 + "'>x",
    "styles": "<div style='" + "display " * 200_000 + "'>x",
    "one long text": "word " * 390_000,
    "comments": "<!--x-->y" * 19_000,
}


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_pages_end_in_bounded_time(body):
    start = time.process_time()
    found = html.read(body.encode(), URL).text
    assert time.process_time() - start < 5  # seconds; a quadratic walk takes minutes
    assert len(found) <= html.MAX_TEXT
