"""Write a generated wiki in the format of MediaWiki's exports, such as pages-articles.xml.bz2.

    python -m experiments.wikipedia_export --pages 100000 --out generated.xml.bz2

Its articles have topics, among them those of Pertejo (2021), and about as many links as table 4.1
says of Simple English Wikipedia. Redirects, other namespaces, templates, tables, references and
links to missing pages are as in real exports. The same arguments give the same bytes.
"""

import argparse
import bz2
import gzip
import hashlib
import math
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from random import Random
from typing import BinaryIO, NamedTuple, cast
from xml.sax.saxutils import escape, quoteattr

import numpy as np
from numpy.typing import NDArray

from honeyguide.errors import HoneyguideError
from honeyguide.recorded.importers.wikitext import ENGLISH
from honeyguide.worlds.synthetic.words import FAMILY, vocabulary

LEAST_PAGES = 100
SITE = "https://generated.example/wiki/"
SCHEMA = "http://www.mediawiki.org/xml/export-0.10/"
# table 4.1: links between different articles, per article that has any; share that has any; what
# stands on pages besides, per article: links repeated, and links to no article
LINKS, LINKED, REPEATED, OUTSIDE = 21.41, 0.91, 5.5, 6.0
SPREAD = 1.5  # of the logarithm of links per article: about half keep a link in a tenth of the wiki
MOST_LINKS = 3000
TOPIC_LINKS = 150  # at least, of the articles about topics: crawls start there
POPULAR = 2.2  # an article's rank is drawn as share ** this: few articles get most links
OWN, KIN = 0.5, 0.15  # shares of links to articles of the same topic, of the same family
NAMED, NAMED_BY_KIN, NAMED_BY_OTHERS = 0.4, 0.06, 0.003  # articles that have a topic's own word
REDIRECTS = 0.3  # per article
VIA_REDIRECT = 0.1  # share of links
IN_TEXT = 90  # links that stand in sentences; more are listed
SYLLABLES = [c + v for c in "bdfgklmnprstvz" for v in "aeiou"]
TYPICAL = 0.55  # share of a topic's own words among the words of its articles
RELATED = 0.1  # share of words of its family


class Topic(NamedTuple):
    """What articles are about."""

    word: str  # the topic's own word
    title: str  # of the article about the topic itself
    family: str
    share: float  # of all articles
    words: tuple[str, ...]


# topics of Pertejo (2021) that the words of generated webs lack: title, family, share, words
PAPER = {
    "fiction": ("Fiction", "arts", 0.03, "novel story character plot author hero villain fantasy "
                "series magazine film adventure detective dragon magic robot alien kingdom quest "
                "chapter reader writer narrator saga trilogy comic fairy tale legend monster"),
    "poetry": ("Poetry", "arts", 0.01, "poem poet verse rhyme stanza sonnet metre ballad ode line "
               "haiku elegy lyric epic couplet rhythm metaphor anthology laureate syllable"),
    "cameras": ("Camera", "arts", 0.003, "camera film lens shutter photo flash tripod exposure "
                "viewfinder sensor focus zoom aperture negative photograph video recorder"),
    "cancer": ("Cancer", "medicine", 0.012, "tumour cell disease patient treatment chemotherapy "
               "radiation gene mutation lung breast blood leukaemia symptom diagnosis surgery "
               "doctor hospital oncology screening lymphoma survivor"),
    "medicine": ("Medicine", "medicine", 0.03, "doctor nurse drug disease health hospital patient "
                 "virus vaccine infection fever pain heart brain liver kidney bone blood surgery "
                 "therapy symptom clinic dose pharmacy treatment bacteria immune epidemic"),
    "olympics": ("Olympic Games", "sport", 0.004, "medal athlete games gold silver bronze race "
                 "sprint marathon team nation stadium torch host swimming gymnastics javelin relay "
                 "record winner qualifying ceremony"),
}  # fmt: skip
GEOLOGY_SHARE, USUAL_SHARE = 0.015, 0.016  # the other topics of generated webs; the rest has none
NOTHING = -1  # number of no topic


class Wiki:
    """All that pages are written from: topics, titles and numbers of articles by topic."""

    def __init__(self, pages: int, seed: int) -> None:
        self.topics = _topics()
        if pages < LEAST_PAGES:
            raise HoneyguideError(f"a generated wiki has at least {LEAST_PAGES} pages")
        self.pages, self.seed = pages, seed
        rng = np.random.default_rng(seed)
        shares = np.array([topic.share for topic in self.topics])
        drawn = rng.choice(len(shares) + 1, pages, p=[*shares, 1 - shares.sum()])
        drawn[drawn == len(shares)] = NOTHING
        drawn[: len(shares)] = np.arange(len(shares))  # the articles about topics come first
        self.topic: NDArray[np.int64] = drawn
        self.members = [np.flatnonzero(drawn == number) for number in range(len(shares))]
        self.kin = [
            np.flatnonzero(np.isin(drawn, [n for n, t in enumerate(self.topics) if t.family == f]))
            for f in (topic.family for topic in self.topics)
        ]
        self._tables = [self._table(number) for number in range(-1, len(shares))]

    def _table(self, number: int) -> tuple[str, ...]:
        """Words to draw from with equal chance, for articles of a topic."""
        common = vocabulary().common
        if number == NOTHING:
            return common
        topic = self.topics[number]
        kin = [w for t in self.topics if t.family == topic.family for w in t.words[:20]]
        parts = ((topic.words, TYPICAL), (kin, RELATED), (common, 1 - TYPICAL - RELATED))
        return tuple(
            words[at % len(words)] for words, share in parts for at in range(round(1000 * share))
        )

    def words(self, article: int) -> tuple[str, ...]:
        """The words that an article draws from."""
        return self._tables[int(self.topic[article]) + 1]

    def chance(self, purpose: int, number: int) -> Random:
        """Random numbers for one purpose of one page."""
        return Random((self.seed << 48) | (purpose << 40) | number)  # noqa: S311 no secret

    def title(self, article: int) -> str:
        """The title of an article; no two are equal."""
        if article < len(self.topics):
            return self.topics[article].title
        name = _name(article)
        if self.topic[article] == NOTHING:
            return name
        chance = self.chance(1, article)
        word = _pick(self.topics[int(self.topic[article])].words, chance)
        forms = (f"{word.capitalize()} of {name}", f"{name} {word}", f"{name} ({word})")
        return _pick(forms, chance)

    def redirect(self, article: int) -> str:
        """The title of a page that redirects to an article; empty if there is none."""
        if article < len(self.topics):
            topic = self.topics[article]
            return "" if topic.word.lower() == topic.title.lower() else topic.word.capitalize()
        has = self.chance(2, article).random() < REDIRECTS
        return f"{_name(article)} (other name)" if has else ""

    def targets(self, article: int) -> list[int]:
        """The articles that an article links to, each once, in the order of their links."""
        chance = self.chance(3, article)
        is_topic = article < len(self.topics)
        if chance.random() >= LINKED and not is_topic:
            return []
        mean = math.log(LINKS) - SPREAD**2 / 2
        wanted = round(math.exp(chance.gauss(mean, SPREAD)))
        wanted = max(wanted, TOPIC_LINKS if is_topic else 1)
        wanted = min(wanted, MOST_LINKS, self.pages // 4)
        found: dict[int, None] = {}
        for _ in range(4 * wanted):  # the most popular are drawn again and again
            if len(found) == wanted:
                break
            found[self._target(int(self.topic[article]), chance)] = None
        found.pop(article, None)
        return list(found)

    def _target(self, topic: int, chance: Random) -> int:
        where, rank = chance.random(), chance.random() ** POPULAR
        if topic == NOTHING or where >= OWN + KIN:
            first = len(self.topics)  # the articles about topics are no more popular than others
            return first + int((self.pages - first) * rank)
        among = self.members[topic] if where < OWN else self.kin[topic]
        return int(among[int(len(among) * rank)])

    def mentions(self, article: int) -> list[int]:
        """The topics whose own word an article has in its text."""
        chance, own = self.chance(4, article), int(self.topic[article])
        return [
            number
            for number, topic in enumerate(self.topics)
            if chance.random() < self._mention_share(own, number, topic) or number == article
        ]

    def _mention_share(self, own: int, number: int, topic: Topic) -> float:
        if own == number:
            return NAMED
        is_kin = own != NOTHING and self.topics[own].family == topic.family
        return NAMED_BY_KIN if is_kin else NAMED_BY_OTHERS

    @cached_property
    def sentences(self) -> tuple[str, ...]:
        """Forms of sentences with three words to fill in."""
        return vocabulary().phrases["sentences"]


def _topics() -> tuple[Topic, ...]:
    paper = [
        Topic(word, title, family, share, tuple(words.split()))
        for word, (title, family, share, words) in PAPER.items()
    ]
    known = vocabulary()
    others = [
        Topic(
            word,
            word.capitalize(),
            known.families[number // FAMILY],
            GEOLOGY_SHARE if word == "geology" else USUAL_SHARE,
            known.words[number],
        )
        for number, word in enumerate(known.topics)
    ]
    return (*paper, *others)


def _name(number: int) -> str:
    """A name that no other number has."""
    syllables = []
    number += len(SYLLABLES)  # at least two syllables
    while number:
        number, digit = divmod(number, len(SYLLABLES))
        syllables.append(SYLLABLES[digit])
    return "".join(syllables).capitalize()


def _pick(choices: Sequence[str], chance: Random) -> str:
    return choices[int(len(choices) * chance.random())]


# --------------------------------------------------------------------------- wikitext


class Article:
    """Writes the wikitext of one article."""

    def __init__(self, wiki: Wiki, number: int) -> None:
        self._wiki, self._number = wiki, number
        self._chance = wiki.chance(5, number)
        self._words = wiki.words(number)
        self.title = wiki.title(number)

    def text(self) -> str:
        """The whole article."""
        targets = self._wiki.targets(self._number)
        links = [self._link(target) for target in targets]
        links += [self._link(target) for target in self._again(targets)]
        links += [self._outside() for _ in range(self._count(OUTSIDE))]
        self._chance.shuffle(links)
        parts = [
            self._infobox(),
            self._prose(links[:IN_TEXT]),
            self._table(),
            self._listed(links[IN_TEXT:]),
            "== References ==\n{{reflist}}",
            self._categories(),
        ]
        return "\n\n".join(part for part in parts if part)

    def _word(self) -> str:
        return _pick(self._words, self._chance)

    def _count(self, mean: float) -> int:
        """A number of the given mean; small ones are the most frequent."""
        return int(-mean * math.log(1 - self._chance.random()) + 0.5)

    def _again(self, targets: list[int]) -> list[int]:
        if not targets:
            return []
        return [
            targets[int(len(targets) * self._chance.random())]
            for _ in range(self._count(REPEATED / LINKED))
        ]

    def _link(self, target: int) -> str:
        wiki, form = self._wiki, self._chance.random()
        title = wiki.title(target)
        if form < VIA_REDIRECT:
            title = wiki.redirect(target) or title
        if form < 0.4:
            return f"[[{title}]]"
        if form < 0.5:
            return f"[[{title.replace(' ', '_')}#History|{self._word()}]]"
        if form < 0.6:
            return f"[[{title}|{_pick(wiki.words(target), self._chance)}]]s"
        return f"[[{title}|{_pick(wiki.words(target), self._chance)}]]"

    def _outside(self) -> str:
        """A link to a page that is missing, of another namespace, or of another wiki."""
        missing, kind = self._wiki.pages + self._count(1000), self._chance.random()
        if kind < 0.7:
            return f"[[{_name(missing)}|{self._word()}]]"
        if kind < 0.8:
            return f"[[Wikipedia:About|{self._word()}]]"
        if kind < 0.9:
            return f"[[:Category:{self._word().capitalize()}|{self._word()}]]"
        return f"[[wikt:{self._word()}|{self._word()}]]"

    def _infobox(self) -> str:
        if self._chance.random() < 0.5:
            return ""
        fields = "".join(f"\n| {name} = {self._word()}" for name in ("kind", "place", "image_size"))
        return f"{{{{Infobox subject\n| name = {self.title}{fields}\n}}}}"

    def _prose(self, links: list[str]) -> str:
        chance = self._chance
        words = [self._wiki.topics[n].word for n in self._wiki.mentions(self._number)]
        waiting = [*links, *words]
        chance.shuffle(waiting)
        blocks = [f"'''{self.title}''' is a {self._word()} and a {self._word()}."]
        sentences = 6 + len(waiting) // 2 + self._count(4)
        for place in range(sentences):
            left = sentences - place
            share = len(waiting) / (3 * left)
            slots = tuple(
                waiting.pop() if waiting and chance.random() < share else self._word()
                for _ in range(3)
            )
            sentence = _pick(self._wiki.sentences, chance) % slots
            if chance.random() < 0.05:
                sentence += f'<ref name="r{place}">{{{{cite web|title={self._word()}}}}}</ref>'
            if chance.random() < 0.2:
                heading = f"== {self._word().capitalize()} ==\n" if chance.random() < 0.3 else ""
                blocks.append(heading + sentence)
            else:
                blocks[-1] += f" {sentence}"
        blocks[-1] += "".join(f" See {link}." for link in waiting)
        return "\n\n".join(blocks)

    def _table(self) -> str:
        if self._chance.random() < 0.8:
            return ""
        rows = "".join(f"|-\n| {self._word()} || {self._word()}\n" for _ in range(3))
        return f'{{| class="wikitable"\n! Name !! {self._word().capitalize()}\n{rows}|}}'

    def _listed(self, links: list[str]) -> str:
        lines = "".join(f"\n* {link}, {self._word()}" for link in links)
        return f"== Related pages =={lines}" if lines else ""

    def _categories(self) -> str:
        topic = int(self._wiki.topic[self._number])
        names = ["Stubs"] if topic == NOTHING else [self._wiki.topics[topic].word.capitalize()]
        return "\n".join(f"[[Category:{name}]]" for name in names)


# --------------------------------------------------------------------------- XML


class Exported(NamedTuple):
    """A page as an export has it."""

    title: str
    namespace: int
    text: str
    redirect: str = ""
    model: str = "wikitext"


def pages(wiki: Wiki) -> Iterator[Exported]:
    """Yield all pages of a wiki: articles with their redirects, then other namespaces."""
    for number in range(wiki.pages):
        article = Article(wiki, number)
        yield Exported(article.title, 0, article.text())
        if name := wiki.redirect(number):
            yield Exported(name, 0, f"#REDIRECT [[{article.title}]]", article.title)
    yield from _other_pages(wiki)


def _other_pages(wiki: Wiki) -> Iterator[Exported]:
    topics = [topic.word.capitalize() for topic in wiki.topics]
    yield Exported("Main Page", 0, f"'''Welcome''' to [[{topics[0]}]].{{{{main page}}}}")
    yield Exported("Wikipedia:About", 4, "This wiki is generated. [[Main Page]]")
    yield Exported("MediaWiki:Common.css", 8, ".infobox { float: right; }", model="css")
    yield Exported("Template:Reflist", 10, "<references /><noinclude>[[Category:Templates]]")
    yield Exported("Template:Infobox subject", 10, "{| class=infobox\n|-\n| {{{name|}}}\n|}")
    yield Exported("Help:Contents", 12, "[[Wikipedia:About]]")
    for name in topics:
        yield Exported(f"Category:{name}", 14, f"Articles on [[{name}]].\n[[Category:Stubs]]")
    yield Exported("Module:Citation", 828, "return {}", model="Scribunto")


def write_export(path: Path, wiki: Wiki, progress: Callable[[int], None] = lambda n: None) -> None:
    """Write all pages to a .xml, .xml.gz or .xml.bz2 file."""
    with _opened(path) as file:
        file.write(_head().encode())
        for number, page in enumerate(pages(wiki), start=1):
            file.write(_element(page, number).encode())
            progress(number)
        file.write(b"</mediawiki>\n")


def _opened(path: Path) -> BinaryIO:
    try:
        if path.suffix == ".bz2":
            return cast(BinaryIO, bz2.open(path, "wb"))
        if path.suffix == ".gz":
            return cast(BinaryIO, gzip.GzipFile(path, "wb", mtime=0))
        return path.open("wb")
    except OSError as error:
        raise HoneyguideError(f"cannot write {path}: {error.strerror}") from None


def _head() -> str:
    names = {**ENGLISH, 4: "Wikipedia", 5: "Wikipedia talk", 828: "Module", 829: "Module talk"}
    spaces = "".join(
        f'      <namespace key="{key}" case="first-letter"'
        + (f">{name}</namespace>\n" if name else " />\n")
        for key, name in sorted(names.items())
    )
    return (
        f'<mediawiki xmlns="{SCHEMA}" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
        f'xsi:schemaLocation="{SCHEMA} http://www.mediawiki.org/xml/export-0.10.xsd" '
        'version="0.10" xml:lang="en">\n'
        "  <siteinfo>\n"
        "    <sitename>Wikipedia</sitename>\n"
        "    <dbname>generatedwiki</dbname>\n"
        f"    <base>{SITE}Main_Page</base>\n"
        "    <generator>MediaWiki 1.36.0-wmf.10</generator>\n"
        "    <case>first-letter</case>\n"
        f"    <namespaces>\n{spaces}    </namespaces>\n"
        "  </siteinfo>\n"
    )


def _element(page: Exported, id: int) -> str:
    moved = f"    <redirect title={quoteattr(page.redirect)} />\n" if page.redirect else ""
    kind = "text/x-wiki" if page.model == "wikitext" else "text/plain"
    size = len(page.text.encode())
    return (
        f"  <page>\n    <title>{escape(page.title)}</title>\n    <ns>{page.namespace}</ns>\n"
        f"    <id>{id}</id>\n{moved}"
        f"    <revision>\n      <id>{7_000_000 + id}</id>\n"
        f"      <parentid>{6_000_000 + id}</parentid>\n"
        "      <timestamp>2020-10-01T00:00:00Z</timestamp>\n"
        "      <contributor>\n        <username>Generator</username>\n        <id>1</id>\n"
        "      </contributor>\n      <minor />\n      <comment>generated</comment>\n"
        f"      <model>{page.model}</model>\n      <format>{kind}</format>\n"
        f'      <text bytes="{size}" xml:space="preserve">{escape(page.text)}</text>\n'
        f"      <sha1>{_sha1(page.text)}</sha1>\n    </revision>\n  </page>\n"
    )


def _sha1(text: str) -> str:
    """SHA-1 in base 36 with 31 digits, as MediaWiki writes it."""
    number = int.from_bytes(hashlib.sha1(text.encode(), usedforsecurity=False).digest(), "big")
    digits = ""
    while number:
        number, digit = divmod(number, 36)
        digits = "0123456789abcdefghijklmnopqrstuvwxyz"[digit] + digits
    return digits.rjust(31, "0")


def main(arguments: Sequence[str]) -> int:
    """Write an export and return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.wikipedia_export", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("--pages", type=int, default=100_000, help="articles; 100,000 if not given")
    parser.add_argument("--seed", type=int, default=1, help="for chance; 1 if not given")
    parser.add_argument("--out", type=Path, required=True, help="a .xml, .xml.gz or .xml.bz2 file")
    given = parser.parse_args(arguments)
    try:
        write_export(given.out, Wiki(given.pages, given.seed))
    except HoneyguideError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    sys.stdout.write(f"{given.out}: {given.pages:,} generated articles\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
