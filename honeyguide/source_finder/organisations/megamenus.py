"""Mega-menus: a row of sections, each with a panel of columns, often hidden until it is hovered."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from honeyguide.source_finder.organisations.templates import Around

SHARE = 0.35  # of all sites that have one
SECTIONS = (3, 6)  # the most is left out
COLUMNS = (2, 4)  # of a panel, likewise

Named = tuple[str, str]  # a link's text and path


@dataclass(frozen=True, slots=True)
class Column:
    """Links under a heading."""

    heading: str
    links: tuple[Named, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """A name in the top row, and its panel."""

    name: str
    path: str  # "" where the name is no link
    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class Mega:
    """How a mega-menu is written."""

    sections: Around  # each: {name}, {columns}
    columns: Around  # each: {heading}, {links}
    links: Around
    plain: str  # a name that is no link
    style: str


def grouped(
    links: Sequence[Named],
    hubs: Mapping[Named, Sequence[Named]],  # sections that have a page, and links of theirs
    names: Sequence[str],  # of other sections and of columns; more than there are sections
    rng: np.random.Generator,
) -> tuple[Section, ...]:
    """The links, each once, in columns of sections."""
    words = [names[place] for place in rng.permutation(len(names)).tolist()]
    count = max(int(rng.integers(*SECTIONS)), len(hubs) + 1)
    shares = np.array_split(rng.permutation(len(links)), count)
    tops = [*hubs, *((words.pop(), "") for _ in range(count - len(hubs)))]
    sections = []
    for top, share in zip(tops, shares, strict=True):
        own = [*hubs.get(top, ()), *(links[place] for place in share.tolist())]
        name, path = top
        if path and rng.random() < 0.4:  # the page of the section is in its panel
            own, path = [top, *own], ""
        sections.append(Section(name, path, _columns(own, words, rng)))
    return tuple(sections)


def _columns(
    links: Sequence[Named], words: Sequence[str], rng: np.random.Generator
) -> tuple[Column, ...]:
    some = np.array_split(rng.permutation(len(links)), int(rng.integers(*COLUMNS)))
    headings = rng.permutation(len(words)).tolist()
    return tuple(
        Column(words[heading], tuple(links[place] for place in places.tolist()))
        for heading, places in zip(headings, some, strict=False)
        if len(places)
    )


TRAIN = (
    Mega(
        Around("<nav><ul>", "<li>{name}<div class='panel'>{columns}</div></li>", "</ul></nav>"),
        Around("", "<div class='col'><h3>{heading}</h3>{links}</div>", ""),
        Around("<ul>", "<li>{a}</li>", "</ul>"),
        "<span>{}</span>",
        "nav .panel{display:none;position:absolute}nav li:hover .panel{display:flex}",
    ),
    Mega(
        Around(
            "<div id='mega'>",
            "<div class='sec'><b>{name}</b><table><tr>{columns}</tr></table></div>",
            "</div>",
        ),
        Around("", "<td><h4>{heading}</h4>{links}</td>", ""),
        Around("", "<div>{a}</div>", ""),
        "{}",
        "#mega .sec{display:inline-block;vertical-align:top;width:300px}",
    ),
)
MORE = (
    Mega(
        Around(
            "<header><nav class='mega'><ul>",
            "<li><h2>{name}</h2><section>{columns}</section></li>",
            "</ul></nav></header>",
        ),
        Around("", "<dl><dt>{heading}</dt>{links}</dl>", ""),
        Around("", "<dd>{a}</dd>", ""),
        "<a href='#'>{}</a>",
        ".mega section{position:absolute;left:-999em}.mega li:hover section{left:0}"
        ".mega li{display:inline-block}.mega dl{float:left;width:200px}",
    ),
    Mega(
        Around(
            "<div class='drops'>", "<details><summary>{name}</summary>{columns}</details>", "</div>"
        ),
        Around("<div class='cols'>", "<div><p><em>{heading}</em></p>{links}</div>", "</div>"),
        Around("<ul>", "<li>{a}</li>", "</ul>"),
        "{}",
        ".drops details{float:left;width:150px}.cols{display:flex}",
    ),
)
TEST = (
    Mega(
        Around(
            "<nav><ol>",
            "<li>{name}<div class='fly'><div class='in'>{columns}</div></div></li>",
            "</ol></nav>",
        ),
        Around("", "<section><h5>{heading}</h5>{links}</section>", ""),
        Around("", "<p>{a}</p>", ""),
        "<button>{}</button>",
        "nav ol li{display:inline-block}.fly{visibility:hidden;position:absolute;opacity:0}"
        "li:hover .fly{visibility:visible;opacity:1}.in{display:grid;grid-auto-flow:column}",
    ),
    Mega(
        Around(
            "<header><ul class='tabs'>",
            "<li>{name}<ul class='cols'>{columns}</ul></li>",
            "</ul></header>",
        ),
        Around("", "<li><strong>{heading}</strong>{links}</li>", ""),
        Around("<ul>", "<li>{a}</li>", "</ul>"),
        "<a href='#'>{}</a>",
        ".tabs>li{float:left;width:160px}.cols{display:none}.tabs>li:hover .cols{display:block}",
    ),
    Mega(
        Around(
            "<div role='menubar'>",
            "<div class='item'>{name}</div><div class='sheet'>{columns}</div>",
            "</div>",
        ),
        Around("", "<div><h6>{heading}</h6>{links}</div>", ""),
        Around("", "<span>{a}</span><br>", ""),
        "<span>{}</span>",
        ".sheet{display:flex;border-bottom:1px solid}.sheet div{width:220px}",
    ),
)
MEGAS = {"train": TRAIN, "more": MORE, "test": TEST}
