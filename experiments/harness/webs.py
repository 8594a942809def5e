"""Find the webs that experiments need among the data; import or generate them once."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from experiments.field_v1_webs import split_by_host
from experiments.friar2017_web import Recording, record_links
from honeyguide.errors import HoneyguideError
from honeyguide.recorded.importers.html import import_html
from honeyguide.recorded.importers.jsonl import import_jsonl

# in order of preference: pages.jsonl has labels, HTML files have none
SOURCES = {
    "pages.jsonl.zst": import_jsonl,
    "pages.jsonl": import_jsonl,
    "html.tar.zst": import_html,
}
GENERATED = ("synthetic", "readable")
LINKS_OF = "links of synthetic:"  # URLs and links of a generated web, without texts
MANY_OF = "many links of synthetic:"  # the same with as many links per page as Friar (2017)
TAGS_OF = "markup of "  # a web imported from HTML files, with tag paths
FILES_OF = "files of "  # the archive of HTML files itself
HOSTS_OF = "hosts of "  # a web of one host, imported and split into many
ARCHIVE = "html.tar.zst"


@dataclass(frozen=True, slots=True)
class Webs:
    """The folder of the data, and the folder for webs imported from it."""

    data: Path | None
    kept: Path
    say: Callable[[str], object] = lambda sentence: None  # told before a web is made

    def has(self, web: str) -> bool:
        """Return whether a web exists or can be made."""
        if web.startswith((TAGS_OF, FILES_OF)):
            return self.data is not None and self._archive(web).exists()
        if web.startswith(HOSTS_OF):
            return self.has(web.removeprefix(HOSTS_OF))
        made = web.startswith((*GENERATED, LINKS_OF, MANY_OF))
        return made or self._recorded(web) or self._source(web) is not None

    def world(self, web: str) -> str:
        """Return the world to crawl; import or generate its web first if need be."""
        if web.startswith(GENERATED):
            return web
        if web.startswith((LINKS_OF, MANY_OF)):
            return f"graph:{self._links(web)}"
        if web.startswith((TAGS_OF, FILES_OF)):
            return self._html(web)
        if web.startswith(HOSTS_OF):
            whole = Path(self.world(web.removeprefix(HOSTS_OF)).removeprefix("graph:"))
            name = web.replace(" ", "-")
            return f"graph:{self._made_once(name, partial(split_by_host, whole))}"
        if self._recorded(web):
            return f"graph:{self._folder(web)}"
        source = self._source(web)
        if source is None:
            raise self.lack(web)
        return f"graph:{self._made_once(web, partial(SOURCES[source.name], source))}"

    def _made_once(self, name: str, make: Callable[[Path], object]) -> Path:
        """Make a web if it is not there yet; it appears when it is complete."""
        out = self.kept / name
        if not out.exists():
            self.say(f"making {out}, once")
            self.kept.mkdir(parents=True, exist_ok=True)
            make(out)
        return out

    def _links(self, web: str) -> Path:
        kind, _, said = web.partition(":")
        settings = {name: int(value) for name, value in (p.split("=") for p in said.split(","))}
        recording = Recording(**settings, many=web.startswith(MANY_OF))
        name = f"{kind.replace(' ', '-')}-{recording.pages}-{recording.seed}"
        return self._made_once(name, partial(record_links, recording))

    def _html(self, web: str) -> str:
        if not self.has(web):
            raise self.lack(web)
        if web.startswith(FILES_OF):
            return str(self._archive(web))
        name = web.replace(" ", "-")
        return f"graph:{self._made_once(name, partial(import_html, self._archive(web)))}"

    def _archive(self, web: str) -> Path:
        name = web.removeprefix(TAGS_OF).removeprefix(FILES_OF)
        return (self.data or Path()) / name / ARCHIVE

    def lack(self, web: str) -> HoneyguideError:
        """Return the error that says which web is missing."""
        if self.data is None:
            return HoneyguideError(
                f"the web {web!r} is needed: name the folder that has it with --data"
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
