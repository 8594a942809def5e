"""Which files one link of a live crawl passes, from its choice until it is stored.

    python benchmarks/walk.py

A crawl of a small site on loopback, by default settings. Every function of the package that is
called for its second page is noted, from the end of the visit before it to the end of its own,
in all threads. Printed as JSON: the files, each with the functions called, and their number.
"""

import json
import sys
import tempfile
import threading
from pathlib import Path
from types import FrameType
from typing import Any

import honeyguide
from honeyguide.plan import Plan
from honeyguide.storage import crawl_folder

sys.path.insert(0, str(Path(__file__).parents[1]))
from tests.web.servers import page, served

PACKAGE = f"{Path(honeyguide.__file__).parent}/"
RULES = b"User-agent: *\nDisallow: /private\n"
TRACED = 2  # the visit that is watched


class Walk:
    """Notes the functions of the package that are called while it is on."""

    def __init__(self) -> None:
        self.files: dict[str, set[str]] = {}
        self.visits = 0

    def called(self, frame: FrameType, event: str, argument: Any) -> None:
        """Note a call."""
        file = frame.f_code.co_filename
        if event == "call" and self.visits == TRACED - 1 and file.startswith(PACKAGE):
            names = self.files.setdefault(file.removeprefix(PACKAGE), set())
            names.add(frame.f_code.co_qualname)

    def visited(self, *told: Any) -> None:
        """A visit was absorbed."""
        self.visits += 1


def site() -> dict[str, bytes]:
    """A few pages about rocks."""
    links = b'<a href="/a">geology</a> <a href="/b">x</a> <a href="http://other.test/">more</a>'
    texts = (b"rocks and minerals", b"the geology of stones", b"plants and animals")
    pages = [page(b"<title>%s</title><p>%s</p>%s" % (text, text * 40, links)) for text in texts]
    robots = page(RULES, content_type="text/plain")
    return dict(zip(("/", "/a", "/b"), pages, strict=True)) | {"/robots.txt": robots}


def main() -> None:
    """Crawl, and print what was passed."""
    walk = Walk()
    with served(site()) as server, tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "crawl"
        plan = Plan(
            topic="geology rocks",
            seeds=("http://a.test/",),
            world="web",
            resolve=f"*=127.0.0.1:{server.port}",
            allow_private=True,
            delay=0.0,
            in_flight=1,
            budget=4,
        )
        crawl_folder.create_crawl(folder, plan)
        threading.setprofile(walk.called)
        sys.setprofile(walk.called)
        crawl_folder.run_crawl(folder, walk.visited)
        sys.setprofile(None)
        threading.setprofile(None)
    files = {name: sorted(called) for name, called in sorted(walk.files.items())}
    print(json.dumps({"files": files, "count": len(files)}, indent=1))


if __name__ == "__main__":
    main()
