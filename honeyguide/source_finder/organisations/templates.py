"""HTML templates of generated sites; test sites have templates of their own."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class RowTemplate:
    """A template for a row of items: the text before, the text of each item, the text after."""

    before: str
    each: str
    after: str

    def fill(self, items: Sequence[dict[str, str]]) -> str:
        """Return the row as HTML; empty without items."""
        if not items:
            return ""
        return self.before + "\n".join(self.each.format(**item) for item in items) + self.after


@dataclass(frozen=True, slots=True)
class Template:
    """The templates of one site."""

    menu: RowTemplate
    list: RowTemplate
    teaser: RowTemplate
    foot: RowTemplate
    frame: str
    style: str


@dataclass(frozen=True, slots=True)
class _Parts:
    menus: tuple[RowTemplate, ...]
    lists: tuple[RowTemplate, ...]
    teasers: tuple[RowTemplate, ...]
    feet: tuple[RowTemplate, ...]
    frames: tuple[str, ...]
    styles: tuple[str, ...]

    def pick(self, rng: np.random.Generator) -> Template:
        """Return a random combination of templates."""
        rows = (self.menus, self.lists, self.teasers, self.feet, self.frames, self.styles)
        return Template(*(row[int(rng.integers(len(row)))] for row in rows))  # type: ignore[arg-type]


TRAIN = _Parts(
    menus=(
        RowTemplate("<nav><ul>", "<li>{a}</li>", "</ul></nav>"),
        RowTemplate("<div id='menu'>", "<span>{a}</span>", "</div>"),
        RowTemplate("<table class='nav'><tr>", "<td>{a}</td>", "</tr></table>"),
    ),
    lists=(
        RowTemplate("<ul class='list'>", "<li>{a} <span>{date}</span><p>{blurb}</p></li>", "</ul>"),
        RowTemplate(
            "<div class='cards'>",
            "<article><h3>{a}</h3><time>{date}</time><p>{blurb}</p></article>",
            "</div>",
        ),
        RowTemplate("<table>", "<tr><td>{date}</td><td>{a}</td><td>{blurb}</td></tr>", "</table>"),
    ),
    teasers=(
        RowTemplate("<aside><ul>", "<li>{a}<br><small>{date}</small></li>", "</ul></aside>"),
        RowTemplate("<div class='row'>", "<div><h4>{a}</h4><p>{blurb}</p></div>", "</div>"),
    ),
    feet=(
        RowTemplate("<footer><p>", "{a} | ", "</p></footer>"),
        RowTemplate("<div id='footer'><ul>", "<li>{a}</li>", "</ul></div>"),
    ),
    frames=(
        "<header>{brand}</header>{menu}<main><h1>{heading}</h1>{body}</main>{foot}",
        "<div id='page'><div id='head'>{brand}{menu}</div><div id='content'><h2>{heading}</h2>"
        "{body}</div>{foot}</div>",
    ),
    styles=(
        "nav li{display:inline-block;padding:8px}main{width:700px;margin:auto}",
        "#menu span{padding:6px}#content{margin-left:160px}.cards article{float:left;width:30%}",
    ),
)
MORE = _Parts(
    menus=(
        RowTemplate(
            "<header><nav><div class='mega'><ul>",
            "<li><div>{a}</div></li>",
            "</ul></div></nav></header>",
        ),
        RowTemplate("<div class='side'><dl>", "<dt>{a}</dt>", "</dl></div>"),
    ),
    lists=(
        RowTemplate("<dl class='items'>", "<dt><b>{date}</b> {a}</dt><dd>{blurb}</dd>", "</dl>"),
        RowTemplate(
            "<section>",
            "<div class='item'><img src='/i.png' alt=''><h4>{a}</h4>"
            "<p>{blurb} <em>{date}</em></p></div>",
            "</section>",
        ),
    ),
    teasers=(
        RowTemplate("<div class='news'>", "<p><em>{date}</em> {a}</p>", "</div>"),
        RowTemplate("<section class='hot'>", "<article><h2>{a}</h2></article>", "</section>"),
    ),
    feet=(
        RowTemplate("<footer><div><dl>", "<dd>{a}</dd>", "</dl></div></footer>"),
        RowTemplate("<table class='foot'><tr>", "<td>{a}</td>", "</tr></table>"),
    ),
    frames=(
        "<div class='top'>{brand}</div><div class='body'>{menu}<article><h1>{heading}</h1>{body}"
        "</article></div>{foot}",
        "<section class='wrap'>{brand}{menu}<div><h3>{heading}</h3>{body}</div></section>{foot}",
    ),
    styles=(
        ".side{float:left;width:180px}.mega li{display:inline-block;width:120px}",
        ".wrap{width:900px;margin:auto}.item{clear:both}",
    ),
)
TEST = _Parts(
    menus=(
        RowTemplate(
            "<header><div class='bar'><ol>", "<li><span>{a}</span></li>", "</ol></div></header>"
        ),
        RowTemplate("<div role='navigation'>", "<div class='m'>{a}</div>", "</div>"),
        RowTemplate("<nav class='mega'><section>", "<p>{a}</p>", "</section></nav>"),
    ),
    lists=(
        RowTemplate(
            "<ol>", "<li><strong>{date}</strong><h3>{a}</h3><div>{blurb}</div></li>", "</ol>"
        ),
        RowTemplate(
            "<div class='grid'>",
            "<div class='cell'><div class='when'>{date}</div><h2>{a}</h2><p>{blurb}</p>"
            "{more}</div>",
            "</div>",
        ),
        RowTemplate(
            "<table class='t'><tbody>",
            "<tr><th>{a}</th><td><small>{date}</small></td><td><p>{blurb}</p></td></tr>",
            "</tbody></table>",
        ),
    ),
    teasers=(
        RowTemplate("<ul class='latest'>", "<li><h5>{a}</h5><span>{date}</span></li>", "</ul>"),
        RowTemplate(
            "<div class='tiles'>", "<section><h3>{a}</h3><p>{blurb}</p></section>", "</div>"
        ),
    ),
    feet=(
        RowTemplate("<footer><nav><ol>", "<li>{a}</li>", "</ol></nav></footer>"),
        RowTemplate("<div class='bottom'>", "<span>{a}</span> ", "</div>"),
    ),
    frames=(
        "<div id='app'><div class='logo'>{brand}</div>{menu}<section id='main'><h1>{heading}</h1>"
        "{body}</section>{foot}</div>",
        "{menu}<div class='hero'>{brand}</div><main><div class='inner'><h2>{heading}</h2>{body}"
        "</div></main>{foot}",
    ),
    styles=(
        ".m{float:left;width:110px}.cell{display:inline-block;width:32%}#main{clear:both}",
        ".bar li{display:inline}.inner{width:640px;margin:0 auto}",
    ),
)
TEMPLATES = {"train": TRAIN, "more": MORE, "test": TEST}
