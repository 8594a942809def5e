import json

import pytest
from hypothesis import settings

from honeyguide.registry import make

settings.register_profile("same every time", derandomize=True, deadline=None)
settings.load_profile("same every time")


@pytest.fixture(scope="session")
def encoder():
    return make("encoder", "wordllama")


@pytest.fixture(scope="session")
def small_archive(tmp_path_factory):
    """A folder of WARC files with ten pages about geology."""
    from honeyguide.contracts import Link, Response
    from honeyguide.warc.writer import WarcWriter

    folder = tmp_path_factory.mktemp("warc")
    writer = WarcWriter(folder)
    for number in range(10):
        url = f"http://rocks.example/{number}"
        body = f"<title>Rock {number}</title><p>On geology. <a href=/{(number + 3) % 10}>more</a>"
        html = {"content-type": "text/html"}
        writer.write(Response(Link(url), url, 200, html, body.encode()), {}, 0.0)
    writer.close()
    return folder


@pytest.fixture(scope="session")
def small_graph(tmp_path_factory):
    """A recorded web of forty pages about rocks and ships."""
    from honeyguide.recorded.importers.jsonl import import_jsonl

    folder = tmp_path_factory.mktemp("graph")
    source = folder / "pages.jsonl"
    with source.open("w") as file:
        for number in range(40):
            about = "geology rocks minerals" if number % 4 == 0 else "ships harbours sailing"
            links = [(number * 2 + 1) % 40, (number * 3 + 2) % 40, (number + 4) % 40]
            page = {
                "id": f"Page_{number}",
                "title": f"Page {number}",
                "text": f"Page {number} is about {about}. See also page {links[0]}.",
                "links": [[f"Page_{to}", f"page {to}"] for to in links],
                "labels": ["topic:geology" if number % 4 == 0 else "topic:ships"],
            }
            file.write(json.dumps(page) + "\n")
    import_jsonl(source, folder / "graph")
    return folder / "graph"
