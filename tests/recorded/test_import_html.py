import io
import tarfile

import pytest
import zstandard

from honeyguide.errors import HoneyguideError
from honeyguide.recorded.graph import Graph
from honeyguide.recorded.importers.html import import_html

SITE = {
    "raw/site/index.htm": "<title>Start</title><ul><li>all <a href='wp/index/'>subjects</a></ul>",
    "raw/site/wp/index/index.htm": "<a href='../l/Lead%2528II%2529_nitrate.htm'>Lead nitrate</a>",
    "raw/site/wp/l/Lead%28II%29_nitrate.htm": "<p>of <a href='../../wp/l/Lead.htm#x'>lead</a>",
    "raw/site/wp/l/Lead.htm": "<a href='../../gone.htm'>gone</a> <a href='http://else.example/'>e</a>",
    "raw/site/images/1/1.jpg.htm": "<a href='/wp/l/Lead.htm'><img alt='a lump'></a>",
    "raw/site/style.css": "p { }",
    "raw/site/images/1/1.jpg": "\x00",
}
HEAD = "Date: Thu, 07 Nov 1996 19:10:16 GMT\r\nContent-type: text/html; charset=latin-1\r\n\r\n"
UNIVERSITIES = {
    "kb/course/texas/http^^www.cs.edu^c1^": HEAD + "<a href='../~Bob'>Bob</a> teaches größe",
    "kb/faculty/texas/http\uf03a^^www.cs.edu^~Bob^": HEAD
    + "<a href='http://www.cs.edu:80/c1/'>c</a>",
    "kb/other/misc/ftp^^x.edu^readme.txt": "Server: x\n\n<a href='http://www.cs.edu/c1'>c1</a>",
}


def folder(tmp_path, files):
    for name, text in files.items():
        path = tmp_path / "files" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("latin-1"))
    return tmp_path / "files"


def tar(tmp_path, files, mode="w"):
    with tarfile.open(tmp_path / "files.tar", mode) as archive:
        for name, text in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(text.encode("latin-1"))
            archive.addfile(member, io.BytesIO(text.encode("latin-1")))
    return tmp_path / "files.tar"


def zipped(tmp_path, files):
    path = tmp_path / "files.tar.zst"
    path.write_bytes(zstandard.compress(tar(tmp_path, files).read_bytes()))
    return path


def gzipped(tmp_path, files):
    return tar(tmp_path, files, "w:gz")


every_form = pytest.mark.parametrize("form", [folder, tar, zipped, gzipped])


def edges(graph):
    return {
        graph.id(page): [(graph.id(graph.index(link.url)), link.anchor) for link in links]
        for page in range(len(graph))
        if (links := graph.page(page).links)
    }


@every_form
def test_a_site_is_linked_by_its_file_paths(tmp_path, form):
    seen = []
    source = form(tmp_path, SITE)
    counts = import_html(source, tmp_path / "web", lambda *step: seen.append(step))
    graph = Graph.open(tmp_path / "web")
    assert counts == {"pages": 5, "links": 4, "outside": 2, "duplicates": 0, "labels": 2}
    assert seen[-1][0] == seen[-1][1]
    assert edges(graph) == {
        "index.htm": [("wp/index/index.htm", "subjects")],
        "wp/index/index.htm": [("wp/l/Lead%28II%29_nitrate.htm", "Lead nitrate")],
        "wp/l/Lead%28II%29_nitrate.htm": [("wp/l/Lead.htm", "lead")],
        "images/1/1.jpg.htm": [("wp/l/Lead.htm", "a lump")],
    }
    page = graph.page(graph.find("start"))
    assert page.url == "http://web.example/index.htm"
    assert (page.links[0].context, page.links[0].tag_path) == ("all subjects", "html/body/ul/li/a")
    assert graph.labels() == {"folder:wp": 3, "folder:images": 1}


@every_form
def test_files_named_for_their_urls_are_linked_by_them(tmp_path, form):
    files = {name.replace("\uf03a", ":"): text for name, text in UNIVERSITIES.items()}
    import_html(form(tmp_path, files), tmp_path / "web")
    graph = Graph.open(tmp_path / "web")
    assert edges(graph) == {
        "http://www.cs.edu/c1/": [("http://www.cs.edu/~Bob/", "Bob")],
        "http://www.cs.edu/~Bob/": [("http://www.cs.edu/c1/", "c")],
        "ftp://x.edu/readme.txt": [("http://www.cs.edu/c1/", "c1")],
    }
    page = graph.page(graph.find("http://www.cs.edu/c1/"))
    assert page.labels == ("class:course", "univ:texas")
    assert page.text == "Bob teaches größe"


def test_links_find_their_page_however_servers_spell_it(tmp_path):
    pages = {
        "http^^www.cs.edu^staff^^": "<title>s</title><a href=ann.html>Ann</a>",
        "http^^www.cs.edu^staff^ann.html": "<title>a</title><a href=../c%2B%2B/Welcome.html>C</a>",
        "http^^www.cs.edu^c++^": "<title>c</title><a href=http://cs.edu/staff/>all</a>",
        "http^^www.cs.edu^c++^home.html": "<title>h</title><a href=http://cs.edu/C++/>other</a>",
    }
    files = {f"raw/course/texas/{name}": text for name, text in pages.items()}
    import_html(folder(tmp_path, files), tmp_path / "web")
    assert edges(Graph.open(tmp_path / "web")) == {
        "http://www.cs.edu/staff//": [("http://www.cs.edu/staff/ann.html", "Ann")],
        "http://www.cs.edu/staff/ann.html": [("http://www.cs.edu/c++/", "C")],
        "http://www.cs.edu/c++/": [("http://www.cs.edu/staff//", "all")],
    }


def test_a_colon_moved_to_a_private_character_is_understood(tmp_path):
    source = folder(tmp_path, UNIVERSITIES)
    import_html(source, tmp_path / "web")
    assert Graph.open(tmp_path / "web").index("http://www.cs.edu/~Bob/") >= 0


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda path: path.mkdir(), "no HTML files"),
        (lambda path: path.write_bytes(b"hello" * 1000), "valid tar file"),
        (lambda path: None, "cannot read"),
    ],
)
def test_bad_input_is_told_in_a_sentence_and_leaves_nothing(tmp_path, make, sentence):
    make(tmp_path / "source")
    before = list(tmp_path.iterdir())
    with pytest.raises(HoneyguideError, match=sentence):
        import_html(tmp_path / "source", tmp_path / "web")
    assert list(tmp_path.iterdir()) == before


@pytest.mark.parametrize("form", [tar, zipped, gzipped])
def test_a_cut_off_archive_leaves_nothing(tmp_path, form):
    files = {f"a/{n}.html": f"<p>{n} " + "é" * 997 for n in range(40)}
    source = form(tmp_path, files)
    source.write_bytes(source.read_bytes()[: source.stat().st_size // 2 - 100])
    with pytest.raises(HoneyguideError, match=r"cut off|no tar"):
        import_html(source, tmp_path / "web")
    assert not any("web" in path.name for path in tmp_path.iterdir())
