"""Mega-menus: a row of sections, each with a panel of link columns that opens on hover."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from honeyguide.source_finder.organisations.templates import RowTemplate

SHARE = 0.35  # of sites that have a mega-menu
SECTIONS = (3, 6)  # from, to (excluded)
COLUMNS = (2, 4)  # per panel: from, to (excluded)

Named = tuple[str, str]  # a link's text and path


@dataclass(frozen=True, slots=True)
class Column:
    """A heading and the links below it."""

    heading: str
    links: tuple[Named, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """A name in the top row and its panel."""

    name: str
    path: str  # "" if the name is not a link
    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class MegaMenu:
    """The HTML template of a mega-menu."""

    sections: RowTemplate  # fields {name}, {columns}
    columns: RowTemplate  # fields {heading}, {links}
    links: RowTemplate
    plain: str  # template of a name that is not a link
    style: str


def grouped(
    links: Sequence[Named],
    hubs: Mapping[Named, Sequence[Named]],  # sections with a page of their own, and their links
    names: Sequence[str],  # for other sections and for columns; more than there are sections
    rng: np.random.Generator,
) -> tuple[Section, ...]:
    """Distribute the links, each once, over sections and columns."""
    words = [names[place] for place in rng.permutation(len(names)).tolist()]
    count = max(int(rng.integers(*SECTIONS)), len(hubs) + 1)
    shares = np.array_split(rng.permutation(len(links)), count)
    tops = [*hubs, *((words.pop(), "") for _ in range(count - len(hubs)))]
    sections = []
    for top, share in zip(tops, shares, strict=True):
        own = [*hubs.get(top, ()), *(links[place] for place in share.tolist())]
        name, path = top
        if path and rng.random() < 0.4:  # the section's page is linked from its panel instead
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
    MegaMenu(
        RowTemplate(
            "<nav><ul>", "<li>{name}<div class='panel'>{columns}</div></li>", "</ul></nav>"
        ),
        RowTemplate("", "<div class='col'><h3>{heading}</h3>{links}</div>", ""),
        RowTemplate("<ul>", "<li>{a}</li>", "</ul>"),
        "<span>{}</span>",
        "nav .panel{display:none;position:absolute}nav li:hover .panel{display:flex}",
    ),
    MegaMenu(
        RowTemplate(
            "<div id='mega'>",
            "<div class='sec'><b>{name}</b><table><tr>{columns}</tr></table></div>",
            "</div>",
        ),
        RowTemplate("", "<td><h4>{heading}</h4>{links}</td>", ""),
        RowTemplate("", "<div>{a}</div>", ""),
        "{}",
        "#mega .sec{display:inline-block;vertical-align:top;width:300px}",
    ),
)
MORE = (
    MegaMenu(
        RowTemplate(
            "<header><nav class='mega'><ul>",
            "<li><h2>{name}</h2><section>{columns}</section></li>",
            "</ul></nav></header>",
        ),
        RowTemplate("", "<dl><dt>{heading}</dt>{links}</dl>", ""),
        RowTemplate("", "<dd>{a}</dd>", ""),
        "<a href='#'>{}</a>",
        ".mega section{position:absolute;left:-999em}.mega li:hover section{left:0}"
        ".mega li{display:inline-block}.mega dl{float:left;width:200px}",
    ),
    MegaMenu(
        RowTemplate(
            "<div class='drops'>", "<details><summary>{name}</summary>{columns}</details>", "</div>"
        ),
        RowTemplate("<div class='cols'>", "<div><p><em>{heading}</em></p>{links}</div>", "</div>"),
        RowTemplate("<ul>", "<li>{a}</li>", "</ul>"),
        "{}",
        ".drops details{float:left;width:150px}.cols{display:flex}",
    ),
)
TEST = (
    MegaMenu(
        RowTemplate(
            "<nav><ol>",
            "<li>{name}<div class='fly'><div class='in'>{columns}</div></div></li>",
            "</ol></nav>",
        ),
        RowTemplate("", "<section><h5>{heading}</h5>{links}</section>", ""),
        RowTemplate("", "<p>{a}</p>", ""),
        "<button>{}</button>",
        "nav ol li{display:inline-block}.fly{visibility:hidden;position:absolute;opacity:0}"
        "li:hover .fly{visibility:visible;opacity:1}.in{display:grid;grid-auto-flow:column}",
    ),
    MegaMenu(
        RowTemplate(
            "<header><ul class='tabs'>",
            "<li>{name}<ul class='cols'>{columns}</ul></li>",
            "</ul></header>",
        ),
        RowTemplate("", "<li><strong>{heading}</strong>{links}</li>", ""),
        RowTemplate("<ul>", "<li>{a}</li>", "</ul>"),
        "<a href='#'>{}</a>",
        ".tabs>li{float:left;width:160px}.cols{display:none}.tabs>li:hover .cols{display:block}",
    ),
    MegaMenu(
        RowTemplate(
            "<div role='menubar'>",
            "<div class='item'>{name}</div><div class='sheet'>{columns}</div>",
            "</div>",
        ),
        RowTemplate("", "<div><h6>{heading}</h6>{links}</div>", ""),
        RowTemplate("", "<span>{a}</span><br>", ""),
        "<span>{}</span>",
        ".sheet{display:flex;border-bottom:1px solid}.sheet div{width:220px}",
    ),
)
MEGAS = {"train": TRAIN, "more": MORE, "test": TEST}
