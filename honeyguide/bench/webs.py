"""The recorded webs that suites need: found among the data, imported once."""

from dataclasses import dataclass
from pathlib import Path

from honeyguide.errors import HoneyguideError
from honeyguide.recorded.importers.html import import_html
from honeyguide.recorded.importers.jsonl import import_jsonl
from honeyguide.worlds.synthetic.links import Recording, record_links

# pages first: they have labels that files have not
SOURCES = {
    "pages.jsonl.zst": import_jsonl,
    "pages.jsonl": import_jsonl,
    "html.tar.zst": import_html,
}
GENERATED = "synthetic"
LINKS_OF = "links of synthetic:"  # a generated web without its texts, recorded once
MANY_OF = "many links of synthetic:"  # the same, with as many links a page as in document 004
TAGS_OF = "markup of "  # a web from its HTML files, with tag paths
FILES_OF = "files of "  # the archive of a web's HTML files as it is
ARCHIVE = "html.tar.zst"


@dataclass(frozen=True, slots=True)
class Webs:
    """Where recorded webs come from, and where they are kept once imported."""

    data: Path | None
    kept: Path

    def has(self, web: str) -> bool:
        """Whether a web is there."""
        if web.startswith((TAGS_OF, FILES_OF)):
            return self.data is not None and self._archive(web).exists()
        made = web.startswith((GENERATED, LINKS_OF, MANY_OF))
        return made or self._recorded(web) or self._source(web) is not None

    def world(self, web: str) -> str:
        """The world to crawl; a web that is there as pages only is imported first."""
        if web.startswith(GENERATED):
            return web
        if web.startswith((LINKS_OF, MANY_OF)):
            return f"graph:{self._links(web)}"
        if web.startswith((TAGS_OF, FILES_OF)):
            return self._html(web)
        if self._recorded(web):
            return f"graph:{self._folder(web)}"
        source = self._source(web)
        if source is None:
            raise self.lack(web)
        out = self.kept / web
        if not out.exists():
            self.kept.mkdir(parents=True, exist_ok=True)
            SOURCES[source.name](source, out)
        return f"graph:{out}"

    def _links(self, web: str) -> Path:
        kind, _, said = web.partition(":")
        settings = {name: int(value) for name, value in (p.split("=") for p in said.split(","))}
        recording = Recording(**settings, many=web.startswith(MANY_OF))
        out = self.kept / f"{kind.replace(' ', '-')}-{recording.pages}-{recording.seed}"
        if not out.exists():
            self.kept.mkdir(parents=True, exist_ok=True)
            record_links(recording, out)
        return out

    def _html(self, web: str) -> str:
        if not self.has(web):
            raise self.lack(web)
        if web.startswith(FILES_OF):
            return str(self._archive(web))
        out = self.kept / web.replace(" ", "-")
        if not out.exists():
            self.kept.mkdir(parents=True, exist_ok=True)
            import_html(self._archive(web), out)
        return f"graph:{out}"

    def _archive(self, web: str) -> Path:
        name = web.removeprefix(TAGS_OF).removeprefix(FILES_OF)
        return (self.data or Path()) / name / ARCHIVE

    def lack(self, web: str) -> HoneyguideError:
        """Say which web is not there."""
        if self.data is None:
            return HoneyguideError(
                f"where is the web {web!r}? say --data with the folder that has it"
            )
        if web.startswith((TAGS_OF, FILES_OF)):
            return HoneyguideError(f"there is no {self._archive(web)}")
        return HoneyguideError(
            f"no web named {web!r} in {self.data}: it should be a folder with pages.jsonl.zst "
            "or html.tar.zst, or one made by honeyguide import"
        )

    def _folder(self, web: str) -> Path:
        return (self.data or Path()) / web

    def _recorded(self, web: str) -> bool:
        return self.data is not None and (self._folder(web) / "graph.json").exists()

    def _source(self, web: str) -> Path | None:
        if self.data is None:
            return None
        found = (self._folder(web) / name for name in SOURCES)
        return next((path for path in found if path.exists()), None)
