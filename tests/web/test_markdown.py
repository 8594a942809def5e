"""HTML becomes Markdown that shows the same text, links, lists, tables and code, and no HTML."""

import html as entities

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from selectolax.lexbor import LexborHTMLParser

from honeyguide.web.html import tree
from honeyguide.web.markdown import MAX_DEPTH, convert, text_to_markdown, to_markdown

URL = "http://site.example/a/b"
reader = MarkdownIt("commonmark").enable("table").enable("strikethrough")


def converted(body):
    """A whole page, whatever its main content is."""
    return convert(tree(f"<body>{body}</body>".encode("utf-8", "replace")), URL)


def shown(tokens):
    """All text that Markdown shows, code and alternative texts of images included."""
    found = []
    for token in tokens:
        assert token.type not in ("html_block", "html_inline"), token.content
        if token.children:
            found.append("".join(_text(child) for child in token.children))
        elif token.type in ("fence", "code_block", "code_inline", "text"):
            found.append(token.content)
    return " ".join(" ".join(found).split())


def _text(token):
    assert token.type != "html_inline", token.content
    if token.type in ("softbreak", "hardbreak"):
        return " "
    return "".join(map(_text, token.children)) if token.children else token.content


def read(markdown):
    return shown(reader.parse(markdown))


SIGNS = "\\`*_{}[]()<>#+-.!|~&=:;$^\"' \n\tab1é字\U0001f41d\u2028\xa0"
texts = st.text(st.sampled_from(SIGNS), max_size=30) | st.text(
    st.characters(codec="utf-8", exclude_characters="\x00\r"), max_size=30
)


def visible(text):
    """A text as it is shown: control characters replaced, whitespace collapsed."""
    kept = "".join(
        "\ufffd" if not sign.isspace() and not _is_printed(ord(sign)) else sign for sign in text
    )
    return " ".join(kept.split())


def _is_printed(code):
    return not (code < 32 or 0x7F <= code <= 0x9F or code in (0xFEFF, 0xFFFE, 0xFFFF))


@given(texts)
def test_any_text_is_shown_as_it_was(text):
    assert read(text_to_markdown(text)) == visible(text)


@given(texts)
def test_any_text_of_a_page_is_shown_as_it_was(text):
    assert read(converted(f"<p>{entities.escape(text)}</p>")) == visible(text)


INLINE = ["b", "i", "strong", "em", "span", "code", "a href='x'", "u", "a"]
BLOCKS = ["p", "div", "h1", "h3", "blockquote", "ul", "ol", "li", "section", "pre", "td", "table"]


def element(children):
    return st.tuples(st.sampled_from(INLINE + BLOCKS), st.lists(children, max_size=4)).map(
        lambda made: f"<{made[0]}>{''.join(made[1])}</{made[0].split()[0]}>"
    )


pages = st.recursive(texts.map(entities.escape), element, max_leaves=12)


@given(st.lists(pages, max_size=4))
def test_no_letter_is_lost_and_nothing_becomes_html(parts):
    body = "".join(parts)
    text = LexborHTMLParser(f"<body>{body}</body>").body.text()
    letters = [sign for sign in text if sign.isalnum()]
    found = [sign for sign in read(converted(body)) if sign.isalnum()]
    assert found == letters


def test_links_are_absolute():
    body = "<a href='c?x=1&amp;y=(2)#z'>here</a> <a href='//o.example/ü'>there</a>"
    assert converted(body) == (
        "[here](http://site.example/a/c?x=1&y=%282%29#z) [there](http://o.example/%C3%BC)"
    )
    assert to_markdown(b"<base href='/d/'><a href=e>x</a>", URL) == ("[x](http://site.example/d/e)")


@pytest.mark.parametrize(
    "href", ["javascript:alert(1)", "data:text/html,x", "vbscript:x", "", "http://[", "x" * 3000]
)
def test_an_address_that_nobody_should_follow_leaves_its_text(href):
    assert converted(f"<a href='{href}'>text</a>") == "text"


def test_a_link_around_blocks_stays_on_each_of_them():
    body = "<a href='/c'><h3>Title</h3><p>One</p></a>"
    assert converted(body) == ("### [Title](http://site.example/c)\n\n[One](http://site.example/c)")


def test_lists_keep_their_nesting_and_numbers():
    body = (
        "<ul><li>one<ul><li>inner</li></ul></li><li>two</li></ul>"
        "<ol start=3><li>three</li><li><p>four</p><p>more</p></li></ol>"
    )
    assert converted(body) == ("- one\n  - inner\n- two\n\n3. three\n\n4. four\n\n   more")


def test_a_table_keeps_rows_and_cells():
    body = (
        "<table><caption>C</caption><tr><th>a<th>b</tr><tr><td>1|2<td>x<br>y</tr>"
        "<tr><td colspan=2><code>p|q</code></tr></table>"
    )
    made = converted(body)
    assert made == "C\n\n| a | b |\n| --- | --- |\n| 1\\|2 | x y |\n| `p\\|q` |  |"
    assert "<td>1|2</td>" in reader.render(made)


def test_a_table_that_arranges_a_page_is_no_table():
    body = "<table><tr><td><h1>Title</h1><p>One</p></td><td><p>Two</p></td></tr></table>"
    assert converted(body) == "# Title\n\nOne\n\nTwo"


def test_code_stays_as_it_was():
    code = "if a < b:\n    print('```')  # <b>\n\n\tend"
    made = converted(f"<pre><code class='language-py'>{entities.escape(code)}</code></pre>")
    assert made == f"````py\n{code}\n````"
    assert converted("<p>a <code>x`y</code></p>") == "a ``x`y``"


def test_headings_emphasis_and_quotations_stay():
    body = "<h2>Two #</h2><p><b>Note:</b> <i>a</i>b</p><blockquote><p>q</p></blockquote><hr>"
    assert converted(body) == "## Two \\#\n\n**Note**: *a*b\n\n> q\n\n***"


def test_the_frame_of_a_page_is_left_out():
    body = (
        "<header>Logo</header><nav>Menu</nav><main><h1>T</h1><p>Text</p></main>"
        "<aside>More</aside><form><input><label>Name</label></form><footer>Imprint</footer>"
        "<div hidden>h</div><div style='display: none'>d</div><script>x</script>"
    )
    assert converted(body) == "# T\n\nText"
    assert converted(body.replace("main>", "div>")) == "# T\n\nText"


def test_a_form_that_holds_the_whole_page_is_read():
    assert converted("<form><h1>T</h1><p>Text</p><input></form>") == "# T\n\nText"


def test_a_page_nested_too_deeply_is_still_read():
    body = "<div>" * (3 * MAX_DEPTH) + "deep <b>text</b>" + "</div>" * (3 * MAX_DEPTH)
    assert read(converted(body)) == "deep text"
    spans = "<span>" * (3 * MAX_DEPTH) + "deep" + "</span>" * (3 * MAX_DEPTH)
    assert converted(f"<p>{spans}</p>") == "deep"


def test_the_encoding_of_a_page_is_obeyed():
    assert to_markdown("<p>grün".encode("latin-1"), URL, "text/html; charset=latin-1") == "grün"


PARAGRAPH = (
    "Geysers are springs that throw hot water and steam into the air, from time to time, because"
    " the water below is heated by rocks that lie near magma; there are about a thousand of them."
)


def test_the_content_of_a_page_is_that_of_its_main_text():
    body = f"""<body><div class=menu><ul><li><a href=/1>Home</a><li><a href=/2>Shop</a></ul></div>
    <div class=content><h1>Geysers</h1><p>{PARAGRAPH}</p><p>{PARAGRAPH.replace("hot", "warm")}
    <a href=/more>More</a> of it is known now, and it is much.</p>
    <ul><li>Old Faithful is the best known of all, in the park of Yellowstone.
    <li>The Great Geysir in Iceland gave them their name, long ago, as books say.</ul>
    <dl><dt>Hot springs</dt><dd>They do not throw their water into the air, but let it flow.</dl>
    <table><tr><th>name<th>height</tr><tr><td>Steamboat<td>90 m</tr></table></div>
    <div class=footer>Copyright 2020 | <a href=/imprint>Imprint</a></div></body>"""
    made = to_markdown(body.encode(), URL)
    assert made.startswith(f"# Geysers\n\n{PARAGRAPH}\n\n")
    assert "[More](http://site.example/more)" in made
    assert "\n- Old Faithful is" in made
    assert "\n\nHot springs\n\nThey do not" in made
    assert "Imprint" not in made
    assert "Shop" not in made
