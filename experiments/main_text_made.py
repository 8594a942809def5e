"""Made pages for training: today's page furniture around marked texts, and documentation pages.

The marked pages end in 2012. Their texts are put between what pages have had since then: cookie
banners, newsletter boxes, cards of related articles, share buttons, comment sections, footers of
many columns, class names that say nothing. In documentation, code, tables and lists are content.
"""

from collections.abc import Callable
from html import escape
from random import Random

from experiments.main_text_pages import MarkedPage

_TOPICS = (
    "Business World Sports Politics Science Health Culture Opinion Travel Tech Video Podcasts Money"
    " Markets Climate Style Food Books Local Weather Jobs Careers Shop Pricing Docs Blog Community"
).split()
_SHORT = (
    "Ten ways to save on your energy bill this winter|What the new budget means for you"
    "|Inside the race to build a better battery|How a small town saved its library"
    "|The best headphones of the year, tested|Why scientists are worried about the ice"
    "|Mayor resigns after months of protest|A guide to the perfect sourdough"
    "|Five charts that explain the housing market|She walked across a continent. Here is why"
    "|Das müssen Sie jetzt wissen|Ce que change la nouvelle loi|Así fue la final de anoche"
    "|Team wins third title in a row|Review: a quiet film that stays with you"
).split("|")
_LONG = (
    "We use cookies and similar technologies to improve your experience, to personalise content and"
    " ads and to analyse our traffic. By clicking accept you agree to our use of cookies."
    "|Get the most important stories of the day, every weekday morning. You can unsubscribe at any"
    " time. By signing up you agree to our terms of service and privacy policy."
    "|This material may not be published, broadcast, rewritten or redistributed without permission."
    " Quotes are delayed by at least fifteen minutes."
    "|I really do not think that this is true, and I have worked in this field for years. The"
    " author should have asked somebody who knows."
    "|Great read, thank you! It reminded me of something my grandfather used to tell us at dinner."
    "|She is a staff writer who covers cities, transport and the people who plan them."
    "|Our journalism depends on readers like you. Support us with a small amount each month."
    "|You have read your last free article. Subscribe now for unlimited access on all your devices."
).split("|")
_NAMES = {
    "cookie": "cookie-banner CookieConsent gdpr-notice cmp-container",
    "letter": "newsletter-signup NewsletterBox subscribe-form inline-cta",
    "related": "related-articles RelatedStories recirc-list read-more recommended more-stories",
    "share": "share-bar SocialShare article-tools social-links",
    "comments": "comments comment-list Comments__thread discussion",
    "footer": "site-footer Footer page-footer footer__columns",
    "menu": "main-nav SiteNav navbar menu header__menu",
    "author": "author-bio AuthorCard byline-box contributor",
    "advert": "ad-slot advertisement sponsored promo",
    "body": "article-body ArticleBody post-content entry-content prose story__body",
}


class Maker:
    """Makes page furniture; class names are words, nonsense or none, in one page alike."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._naming = random.choice(["words", "words", "nonsense", "none"])
        self._semantic = random.random() < 0.7

    def open(self, kind: str, *tags: str) -> tuple[str, str]:
        """The start and end tag of an element of a kind; the first tag says what it is."""
        tag = tags[0] if self._semantic else tags[-1]
        name = self._random.choice(_NAMES[kind].split())
        if self._naming == "nonsense":
            name = "css-" + "".join(self._random.choices("abcdefghij0123456789", k=7))
        said = "" if self._naming == "none" else f' class="{name}"'
        return f"<{tag}{said}>", f"</{tag}>"

    def link(self, text: str) -> str:
        return f'<a href="/{self._random.randrange(10**6)}">{escape(text)}</a>'

    def menu(self) -> str:
        start, end = self.open("menu", "nav", "div")
        topics = self._random.sample(_TOPICS, self._random.randint(4, 14))
        return f"{start}<ul>{''.join(f'<li>{self.link(t)}</li>' for t in topics)}</ul>{end}"

    def cookie(self) -> str:
        start, end = self.open("cookie", "div")
        ways = "<button>Accept all</button>" + self.link("Cookie settings")
        return f"{start}<p>{_LONG[0]}</p>{ways}{end}"

    def letter(self) -> str:
        start, end = self.open("letter", "aside", "div")
        field = "<form><input type=email><button>Sign up</button></form>"
        text = self._random.choice([_LONG[1], _LONG[6], _LONG[7]])
        return f"{start}<h3>Sign up for our newsletter</h3><p>{text}</p>{field}{end}"

    def related(self) -> str:
        start, end = self.open("related", "aside", "section", "div")
        title = self._random.choice(["Related", "More stories", "You may also like", "Read next"])
        texts = self._random.sample(_SHORT, self._random.randint(2, 8))
        cards = "".join(self._card(text) for text in texts)
        return f"{start}<h2>{title}</h2>{cards}{end}"

    def _card(self, text: str) -> str:
        way = self._random.randrange(3)
        if way == 0:
            return f"<li>{self.link(text)}</li>"
        below = f"<p>{self._random.choice(_SHORT)}</p>" if way == 1 else "<time>3 hours ago</time>"
        return f"<div><span>World</span><h3>{self.link(text)}</h3>{below}</div>"

    def share(self) -> str:
        start, end = self.open("share", "div")
        names = ["Share", "Facebook", "X", "WhatsApp", "LinkedIn", "Email", "Copy link", "Print"]
        return f"{start}<ul>{''.join(f'<li>{self.link(n)}</li>' for n in names)}</ul>{end}"

    def author(self) -> str:
        start, end = self.open("author", "aside", "div")
        return f"{start}<h4>{self.link('Jo Example')}</h4><p>{_LONG[5]}</p>{end}"

    def advert(self) -> str:
        start, end = self.open("advert", "aside", "div")
        return f"{start}<div>Advertisement</div>{end}"

    def comments(self) -> str:
        start, end = self.open("comments", "section", "div")
        number = self._random.randint(1, 8)
        said = "".join(self._comment() for _ in range(number))
        return f"{start}<h2>{number} comments</h2>{said}<p>Log in to reply</p>{end}"

    def _comment(self) -> str:
        tag = self._random.choice(["article", "div", "li"]) if self._semantic else "div"
        text = self._random.choice(_LONG[3:5])
        return f"<{tag}><b>reader{self._random.randrange(99)}</b><p>{text}</p><a>Reply</a></{tag}>"

    def footer(self) -> str:
        start, end = self.open("footer", "footer", "div")
        columns = "".join(
            f"<div><h4>{self._random.choice(_TOPICS)}</h4><ul>"
            + "".join(f"<li>{self.link(t)}</li>" for t in self._random.sample(_TOPICS, 4))
            + "</ul></div>"
            for _ in range(self._random.randint(1, 5))
        )
        said = f"<p>{_LONG[2]}</p>" if self._random.random() < 0.5 else ""
        return f"{start}{columns}{said}<p>© 2021 Example Media. All rights reserved.</p>{end}"

    def around(self) -> tuple[str, str]:
        """What stands before and after the content."""
        before = [self.cookie, self.menu, self.advert, self.letter]
        after = [self.share, self.author, self.letter, self.related, self.comments, self.cookie]
        return self._some(before, 0.5), self._some(after, 0.5) + self.footer()

    def between(self) -> str:
        """What interrupts an article."""
        ways = [self.related, self.letter, self.advert, self.share]
        return self._random.choice(ways)()

    def _some(self, ways: list[Callable[[], str]], share: float) -> str:
        return "".join(way() for way in ways if self._random.random() < share)


def article(page: MarkedPage, random: Random) -> MarkedPage:
    """A page of today with the lines of a marked text as paragraphs."""
    maker = Maker(random)
    lines = [" ".join(line.split()) for line in page.text.splitlines()]
    lines = [line for line in lines if line][:80]
    title, rest = lines[0], lines[1:] or lines
    outer = ["article", "div"] if random.random() < 0.6 else ["main", "section"]
    (start, end), (inner, inner_end) = maker.open("body", *outer), maker.open("body", "div")
    tag = random.choice(["p", "p", "p", "div"])
    paragraphs = [_paragraph(line, tag, random) for line in rest]
    for _ in range(random.randint(0, 3)):
        paragraphs.insert(random.randint(0, len(paragraphs)), maker.between())
    before, after = maker.around()
    inside = f"<h1>{escape(title)}</h1>{inner}{''.join(paragraphs)}{inner_end}"
    body = f"{before}{start}{inside}{end}{after}"
    return MarkedPage(page.id, _document(title, body), "\n".join(lines))


def _paragraph(line: str, tag: str, random: Random) -> str:
    if len(line) < 60 and random.random() < 0.5:
        tag = random.choice(["h2", "h3", "li"])
    text = escape(line)
    if random.random() < 0.2 and " " in text:
        first, _, rest = text.partition(" ")
        text = f'<a href="/x">{first}</a> {rest}'
    return f"<ul><li>{text}</li></ul>" if tag == "li" else f"<{tag}>{text}</{tag}>"


def documentation(page: MarkedPage, random: Random) -> MarkedPage:
    """A page of documentation: sections with code, tables, lists and lists of links."""
    maker = Maker(random)
    lines = [" ".join(line.split()) for line in page.text.splitlines()]
    lines = [line for line in lines if line][:40]
    words = " ".join(lines).split()
    html, kept = [f"<h1>{escape(lines[0])}</h1>"], [lines[0]]
    for line in lines[1:]:
        way = random.choice([_text, _text, _text, _code, _table, _items, _see_also])
        made, said = way(line, words, maker, random)
        html.append(made)
        kept.append(said)
    start, end = maker.open("body", "main", "article", "div")
    sidebar, sidebar_end = maker.open("menu", "nav", "aside", "div")
    entries = random.sample(words, min(len(words), random.randint(5, 60)))
    tree = "".join(f"<li>{maker.link(word)}</li>" for word in entries)
    before = maker.menu() + f"{sidebar}<ul>{tree}</ul>{sidebar_end}"
    body = f"{before}{start}{''.join(html)}{end}{maker.footer()}"
    return MarkedPage(page.id, _document(lines[0], body), "\n".join(kept))


def _text(line: str, words: list[str], maker: Maker, random: Random) -> tuple[str, str]:
    del words, maker
    return _paragraph(line, "p", random), line


def _code(line: str, words: list[str], maker: Maker, random: Random) -> tuple[str, str]:
    del maker
    names = random.choices(words, k=random.randint(3, 20))
    code = "\n".join(f"{name.lower()} = call({random.randrange(99)}, {name!r});" for name in names)
    text = f"{line}\n{code}"
    return f"<p>{escape(line)}</p><pre><code>{escape(code)}</code></pre>", text


def _table(line: str, words: list[str], maker: Maker, random: Random) -> tuple[str, str]:
    del maker
    width, height = random.randint(2, 5), random.randint(2, 12)
    rows = [
        [" ".join(random.choices(words, k=random.randint(1, 6))) for _ in range(width)]
        for _ in range(height)
    ]
    html = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    text = "\n".join("\t".join(row) for row in rows)
    return f"<h2>{escape(line)}</h2><table><tbody>{html}</tbody></table>", f"{line}\n{text}"


def _items(line: str, words: list[str], maker: Maker, random: Random) -> tuple[str, str]:
    del maker
    items = [" ".join(random.choices(words, k=random.randint(2, 9))) for _ in range(4)]
    html = "".join(f"<li>{escape(item)}</li>" for item in items)
    return f"<p>{escape(line)}</p><ul>{html}</ul>", "\n".join([line, *items])


def _see_also(line: str, words: list[str], maker: Maker, random: Random) -> tuple[str, str]:
    items = [" ".join(random.choices(words, k=random.randint(1, 4))) for _ in range(5)]
    html = "".join(f"<li>{maker.link(item)}</li>" for item in items)
    return f"<h2>{escape(line)}</h2><ul>{html}</ul>", "\n".join([line, *items])


def _document(title: str, body: str) -> str:
    return (
        f"<!DOCTYPE html><html><head><title>{escape(title)} - Example</title></head>"
        f"<body>{body}</body></html>"
    )
