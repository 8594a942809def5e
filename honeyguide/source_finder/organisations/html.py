"""Render the pages of a generated site as HTML."""

from html import escape

from honeyguide.source_finder.organisations.megamenus import MegaMenu, Section
from honeyguide.source_finder.organisations.sites import Draft, Entry, Site

ICON_EVERY = 4  # every fourth menu link is an icon on sites with icons


def render(site: Site, draft: Draft) -> bytes:
    """Return a page as HTML."""
    look, title = site.template, escape(draft.title)
    more = site.wording.more[len(draft.path) % len(site.wording.more)]
    rows = [_entry(entry, more) for entry in draft.entries]
    around = look.teaser if "page:home" in draft.labels else look.list
    body = (
        "".join(f"<p>{escape(text)}</p>\n" for text in draft.texts)
        + draft.extra
        + around.fill(rows)
        + "".join(f"<p>{_link(path, text)}</p>\n" for text, path in draft.leads)
    )
    content = look.frame.format(
        brand=_link("/", site.name),
        menu=_mega(site, site.mega) if site.mega else _menu(site),
        heading=title,
        body=body,
        foot=look.foot.fill([{"a": _link(path, text)} for text, path in site.foot]),
    )
    style = look.style + (site.mega.style if site.mega else "")
    name = title if draft.path == "/" else f"{title} - {escape(site.name)}"
    return (
        f'<!DOCTYPE html>\n<html lang="{site.wording.language}"><head><meta charset="utf-8">'
        f"<title>{name}</title><style>{style}</style>{draft.head}</head>\n<body>{content}</body></html>\n"
    ).encode()


def _menu(site: Site) -> str:
    links = [
        _icon(path) if site.icons and place % ICON_EVERY == 0 else _link(path, text)
        for place, (text, path) in enumerate(site.menu)
    ]
    return site.template.menu.fill([{"a": link} for link in links])


def _mega(site: Site, look: MegaMenu) -> str:
    return look.sections.fill(
        [
            {
                "name": _top(section, look, site.icons),
                "columns": look.columns.fill(
                    [
                        {
                            "heading": escape(column.heading),
                            "links": look.links.fill([{"a": _link(p, t)} for t, p in column.links]),
                        }
                        for column in section.columns
                    ]
                ),
            }
            for section in site.sections
        ]
    )


def _top(section: Section, look: MegaMenu, icons: bool) -> str:
    """Return the name of a section as an icon, a link or plain text."""
    if not section.path:
        return look.plain.format(escape(section.name))
    return _icon(section.path) if icons else _link(section.path, section.name)


def _entry(entry: Entry, more: str) -> dict[str, str]:
    return {
        "a": _link(entry.path, entry.title),
        "date": escape(entry.date),
        "blurb": escape(entry.blurb),
        "more": _link(entry.path, more),
    }


def _link(path: str, text: str) -> str:
    return f'<a href="{escape(path)}">{escape(text)}</a>'


def _icon(path: str) -> str:
    return f'<a href="{escape(path)}"><img src="/i.png" alt="" width="24" height="24"></a>'
