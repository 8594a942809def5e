"""How sites look: parts of pages that are put together; those of test sites are others."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Around:
    """What stands before, around each and after a row of things."""

    before: str
    each: str
    after: str

    def fill(self, things: Sequence[dict[str, str]]) -> str:
        """The row; nothing when there are no things."""
        if not things:
            return ""
        return self.before + "\n".join(self.each.format(**thing) for thing in things) + self.after


@dataclass(frozen=True, slots=True)
class Template:
    """The looks of one site."""

    menu: Around
    list: Around
    teaser: Around
    foot: Around
    frame: str
    style: str


@dataclass(frozen=True, slots=True)
class _Parts:
    menus: tuple[Around, ...]
    lists: tuple[Around, ...]
    teasers: tuple[Around, ...]
    feet: tuple[Around, ...]
    frames: tuple[str, ...]
    styles: tuple[str, ...]

    def pick(self, rng: np.random.Generator) -> Template:
        """One of each."""
        rows = (self.menus, self.lists, self.teasers, self.feet, self.frames, self.styles)
        return Template(*(row[int(rng.integers(len(row)))] for row in rows))  # type: ignore[arg-type]


TRAIN = _Parts(
    menus=(
        Around("<nav><ul>", "<li>{a}</li>", "</ul></nav>"),
        Around("<div id='menu'>", "<span>{a}</span>", "</div>"),
        Around("<table class='nav'><tr>", "<td>{a}</td>", "</tr></table>"),
    ),
    lists=(
        Around("<ul class='list'>", "<li>{a} <span>{date}</span><p>{blurb}</p></li>", "</ul>"),
        Around(
            "<div class='cards'>",
            "<article><h3>{a}</h3><time>{date}</time><p>{blurb}</p></article>",
            "</div>",
        ),
        Around("<table>", "<tr><td>{date}</td><td>{a}</td><td>{blurb}</td></tr>", "</table>"),
    ),
    teasers=(
        Around("<aside><ul>", "<li>{a}<br><small>{date}</small></li>", "</ul></aside>"),
        Around("<div class='row'>", "<div><h4>{a}</h4><p>{blurb}</p></div>", "</div>"),
    ),
    feet=(
        Around("<footer><p>", "{a} | ", "</p></footer>"),
        Around("<div id='footer'><ul>", "<li>{a}</li>", "</ul></div>"),
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
        Around(
            "<header><nav><div class='mega'><ul>",
            "<li><div>{a}</div></li>",
            "</ul></div></nav></header>",
        ),
        Around("<div class='side'><dl>", "<dt>{a}</dt>", "</dl></div>"),
    ),
    lists=(
        Around("<dl class='items'>", "<dt><b>{date}</b> {a}</dt><dd>{blurb}</dd>", "</dl>"),
        Around(
            "<section>",
            "<div class='item'><img src='/i.png' alt=''><h4>{a}</h4>"
            "<p>{blurb} <em>{date}</em></p></div>",
            "</section>",
        ),
    ),
    teasers=(
        Around("<div class='news'>", "<p><em>{date}</em> {a}</p>", "</div>"),
        Around("<section class='hot'>", "<article><h2>{a}</h2></article>", "</section>"),
    ),
    feet=(
        Around("<footer><div><dl>", "<dd>{a}</dd>", "</dl></div></footer>"),
        Around("<table class='foot'><tr>", "<td>{a}</td>", "</tr></table>"),
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
        Around(
            "<header><div class='bar'><ol>", "<li><span>{a}</span></li>", "</ol></div></header>"
        ),
        Around("<div role='navigation'>", "<div class='m'>{a}</div>", "</div>"),
        Around("<nav class='mega'><section>", "<p>{a}</p>", "</section></nav>"),
    ),
    lists=(
        Around("<ol>", "<li><strong>{date}</strong><h3>{a}</h3><div>{blurb}</div></li>", "</ol>"),
        Around(
            "<div class='grid'>",
            "<div class='cell'><div class='when'>{date}</div><h2>{a}</h2><p>{blurb}</p>"
            "{more}</div>",
            "</div>",
        ),
        Around(
            "<table class='t'><tbody>",
            "<tr><th>{a}</th><td><small>{date}</small></td><td><p>{blurb}</p></td></tr>",
            "</tbody></table>",
        ),
    ),
    teasers=(
        Around("<ul class='latest'>", "<li><h5>{a}</h5><span>{date}</span></li>", "</ul>"),
        Around("<div class='tiles'>", "<section><h3>{a}</h3><p>{blurb}</p></section>", "</div>"),
    ),
    feet=(
        Around("<footer><nav><ol>", "<li>{a}</li>", "</ol></nav></footer>"),
        Around("<div class='bottom'>", "<span>{a}</span> ", "</div>"),
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
