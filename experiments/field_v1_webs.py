"""The web of schools-wiki as many hosts: one for each letter, the indexes and groups of images."""

import re
from pathlib import Path

from honeyguide.recorded.graph import Graph
from honeyguide.recorded.writer import GraphWriter

IMAGE_FOLDERS = 25  # folders of images that share a host
_folder = re.compile(r"https?://[^/]+/(wp/[^/]+|images/\d+)/").match
_subject = re.compile(r"/wp/index/subject\.([\w.]+)\.htm$").search


def split_by_host(source: Path, out: Path) -> dict[str, int]:
    """Write a recorded web again with a host for each folder, and subjects as labels."""
    graph = Graph.open(source)
    urls = [graph.url(page) for page in range(len(graph))]
    subjects = _subjects(graph, urls)
    with GraphWriter(out) as writer:
        for page, url in enumerate(urls):
            read = graph.page(page)
            links = [(link.url, link.anchor, link.context, link.tag_path) for link in read.links]
            writer.add(url, _on_own_host(url), read.title, read.text, links, subjects[page])
    return writer.counts


def _on_own_host(url: str) -> str:
    """http://site/wp/a/Ant.htm -> http://a.site/wp/a/Ant.htm."""
    found = _folder(url)
    if found is None:
        return url
    kind, _, name = found[1].partition("/")
    host = name if kind == "wp" else f"images{int(name) // IMAGE_FOLDERS}"
    return url.replace("://", f"://{host}.", 1)


def _subjects(graph: Graph, urls: list[str]) -> list[list[str]]:
    """The subjects of each page: those whose index lists it, and the subjects above them."""
    labels: list[set[str]] = [set() for _ in urls]
    for page, url in enumerate(urls):
        found = _subject(url)
        if found is None:
            continue
        above = found[1].split(".")
        names = {f"subject:{name}" for name in above}
        for link in graph.page(page).links:
            if "/wp/index/" not in link.url and "/images/" not in link.url:
                labels[graph.index(link.url)] |= names
    return [sorted(each) for each in labels]
