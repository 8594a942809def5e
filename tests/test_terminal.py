"""Whatever the web, a file or a name says, a terminal shows it and obeys none of it."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.main import get_command

from honeyguide.cli import app
from honeyguide.recorded.importers.jsonl import import_jsonl
from honeyguide.text.words import printable
from tests.terminals import shown
from tests.web.servers import page, served

TITLE = "\x1b]0;owned\x07"  # sets a window's title
COLOUR = "\x1b[38;5;213m"  # a colour that honeyguide itself never uses
EVIL = (
    f"{TITLE}{COLOUR}\x1b[2Jred \x9b31m \x07\x08\x7f \u202eevil\u2066 \u200f \u061c \u2028 \ufeff"
    " [bold red]loud[bold] [link=http:x]a[link] \r over"
)
NAME = EVIL + "\udc80"  # of a file: a byte that is no UTF-8
HIDDEN = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]"
)
OWN = re.compile(r"\x1b\[[0-9;]*m|\x1b\[\?25[lh]|\x1b\[[0-9]*[AK]|\r")  # rich's colours and bars


def commands(group=None, before=()):
    """The names of all commands that are registered."""
    for name, command in (group or get_command(app)).commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*before, name))
        else:
            yield " ".join((*before, name))


@pytest.fixture(scope="module")
def place(tmp_path_factory, small_archive):
    """A folder of hostile files and a server of hostile pages."""
    folder = tmp_path_factory.mktemp("hostile")
    rows = [
        {
            "id": f"{number}{EVIL}",
            "title": f"geology {EVIL}",
            "text": f"geology rocks {EVIL}",
            "links": [[f"{(number + 1) % 9}{EVIL}", EVIL]],
            "labels": [EVIL],
        }
        for number in range(9)
    ]
    pages = folder / "pages.jsonl"
    pages.write_text("".join(json.dumps(row) + "\n" for row in rows))
    import_jsonl(pages, folder / "graph")
    (folder / NAME).write_bytes(b"{ " + EVIL.encode())
    (folder / "robots.txt").write_text(
        f"user-agent: *\ndisallow: /{EVIL}*\ndisallow: /*\nsitemap: http://a.example/{EVIL}\n"
    )
    items = "".join(
        f"<li><b>News {n}</b> <a href='/{n}'>{EVIL} read number {n}</a> of a day</li>"
        for n in range(9)
    )
    body = f"<title>{EVIL}</title><ul>{items}</ul>".encode()
    (folder / "list.html").write_bytes(body)
    (folder / "sources.txt").write_text("http://site.example/\n")
    answers = {"/": page(body), "/robots.txt": page(b"user-agent: *\n", content_type="text/plain")}
    answers |= {f"/{number}": page(body) for number in range(3)}
    with served(answers) as server:
        yield folder, server.port, str(small_archive)


def asked(folder, port, archive, turn="first"):
    """What each command is asked, with hostile words wherever it takes some."""
    graph, bad, out = f"graph:{folder / 'graph'}", str(folder / NAME), str(folder / f"{turn}{NAME}")
    live = ("--resolve", f"*=127.0.0.1:{port}", "--allow-private", "--delay", "0")
    crawl = ("--topic", f"geology {EVIL}", "--encoder", "ngrams:64", "--judge", "keywords:geology")
    crawled = str(folder / f"{turn}-crawl")
    small = ("--world", graph, "--seed", f"0{EVIL}", "--budget", "5", "--runs", "1")
    export = ["export", crawled, "--out", "-", "--format"]
    return {
        "crawl": [
            [
                "crawl",
                *crawl,
                "--world",
                graph,
                "--seed",
                f"0{EVIL}",
                "--budget",
                "5",
                "--out",
                crawled,
            ],
            [
                "crawl",
                *crawl,
                "--seed",
                "http://site.example/",
                "--budget",
                "3",
                "--out",
                out,
                *live,
            ],
            ["crawl", *crawl, "--world", graph, "--seed", f"no{EVIL}", "--out", f"{crawled}2"],
            ["crawl", "--config", bad, "--out", f"{crawled}3"],
            ["crawl", f"--{EVIL}"],
        ],
        "resume": [["resume", out, "--budget", "4"], ["resume", bad]],
        "status": [["status", crawled], ["status", crawled, "--json"], ["status", bad]],
        "control": [
            ["control", crawled, "deny", EVIL],
            ["control", crawled, EVIL],
            ["control", bad, "budget", EVIL],
        ],
        "dashboard": [["dashboard", bad], ["dashboard", crawled, "--host", EVIL]],
        "why": [["why", crawled, EVIL], ["why", bad, EVIL]],
        "frontier": [["frontier", crawled], ["frontier", bad]],
        "hosts": [["hosts", crawled], ["hosts", bad]],
        "check": [["check", crawled], ["check", crawled, "--json"], ["check", bad]],
        "report": [["report", out], ["report", out, "--json"], ["report", bad]],
        "export": [[*export, "csv"], [*export, "jsonl"], [*export, EVIL]],
        "robots": [
            ["robots", "http://a.example/x", "--file", str(folder / "robots.txt")],
            ["robots", EVIL, "--user-agent", EVIL],
        ],
        "regions": [
            ["regions", str(folder / "list.html")],
            ["regions", str(folder / "list.html"), "--json"],
            ["regions", "http://site.example/", *live[:-2]],
            ["regions", bad],
        ],
        "teach": [["teach", bad], ["teach", crawled, "--answers", bad]],
        "find": [["find", EVIL, "--world", "organisations:tesw"]],
        "watch": [
            ["watch", str(folder / "sources.txt"), "--once", "--out", f"{out}.items", *live],
            ["watch", bad, "--once", "--out", f"{out}.items2", *live],
        ],
        "serve": [["serve", "--sites", EVIL, "--port", "0"]],
        "bench": [
            ["bench", *crawl, *small, "--agents", "breadth_first", "--out", f"{out}.bench"],
            ["bench", "--suite", EVIL, "--out", f"{out}.suite"],
        ],
        "demo": [["demo", "--out", bad]],
        "list": [["list", "labels", "--world", graph], ["list", EVIL]],
        "import jsonl": [
            ["import", "jsonl", bad, f"{out}.1"],
            ["import", "jsonl", str(folder / "pages.jsonl"), f"{out}.2"],
        ],
        "import html": [["import", "html", bad, f"{out}.3"]],
        "import warc": [
            ["import", "warc", bad, f"{out}.4"],
            ["import", "warc", archive, f"{out}.5"],
        ],
        "import wikipedia": [["import", "wikipedia", bad, f"{out}.6"]],
        "import subgraph": [
            ["import", "subgraph", str(folder / "graph"), f"{out}.7", "--label", EVIL],
            ["import", "subgraph", str(folder / "graph"), f"{out}.8", "--label", f"no{EVIL}"],
        ],
        "show links": [["show", "links", str(folder / "graph")], ["show", "links", bad]],
        "show policy": [["show", "policy", crawled], ["show", "policy", bad]],
        "train judge": [
            [
                "train",
                "judge",
                "--positive",
                str(folder / "pages.jsonl"),
                "--negative",
                bad,
                "--out",
                f"{out}.judge",
                "--encoder",
                "ngrams:64",
            ],
        ],
        "train source_finder": [
            ["train", "source_finder", "--sites", bad, "--out", f"{out}.model"]
        ],
        "train dqn": [["train", "dqn", "--world", EVIL, "--topic", EVIL, "--out", f"{out}.policy"]],
    }


def test_every_command_is_asked_something_hostile_here(place):
    missing = set(commands()) - set(asked(*place))
    assert not missing, f"add it to asked(): {missing}"


@pytest.mark.parametrize("colours", [False, True])
def test_no_command_lets_a_control_character_reach_a_terminal(place, colours):
    cases = asked(*place, f"turn-{colours}").values()
    # with colours, once for each command: what is said is the same
    told = [argv for argvs in cases for argv in (argvs[:1] if colours else argvs)]
    terminal = {"TERM": "xterm-256color", "COLORTERM": "truecolor"} if colours else {"TERM": "dumb"}
    literal = 0
    for argv, heard in zip(told, shown([{"argv": argv} for argv in told], **terminal), strict=True):
        text = heard.decode()
        assert text, argv
        assert "Traceback" not in text, text
        assert TITLE not in text and COLOUR not in text, argv
        assert not HIDDEN.findall(OWN.sub("", text) if colours else text), (argv, text)
        literal += "[bold red]loud" in text.replace("\n", "")
    assert literal > len(told) / 2  # what brackets say is shown, not obeyed


BAR = """
import typer
from honeyguide.cli.progress import progress_bar
from honeyguide.cli.terminal import guard_streams
guard_streams()
with progress_bar() as bar:
    task = bar.add_task(EVIL, total=3, news=EVIL)
    typer.echo(EVIL)
    typer.echo(EVIL, err=True)
    bar.update(task, advance=1, news=EVIL, description=EVIL)
"""
BUG = """
import logging, warnings
from honeyguide.cli.terminal import guard_streams
guard_streams()
logging.getLogger("honeyguide").warning(EVIL)
warnings.warn(EVIL)
raise RuntimeError(EVIL)
"""


@pytest.mark.parametrize("code", [BAR, BUG])
@pytest.mark.parametrize("terminal", ["dumb", "xterm-256color"])
def test_progress_logs_and_tracebacks_are_escaped_too(code, terminal):
    script = {"code": code.replace("EVIL", repr(EVIL))}
    text = shown([script], TERM=terminal)[0].decode()
    assert "loud" in text
    assert TITLE not in text and COLOUR not in text
    assert not HIDDEN.findall(OWN.sub("", text))


@given(st.text())
def test_what_is_printable_stays_so_and_json_keeps_its_meaning(text):
    said = printable(json.dumps([text], ensure_ascii=False))
    assert not HIDDEN.search(said)
    assert json.loads(said) == [text]
    assert printable(said) == said
    said.encode()


def test_a_pipe_gets_an_export_exactly_as_it_is(place):
    from tests.test_cli import honeyguide

    folder, *_ = place
    argv = ("--world", f"graph:{folder / 'graph'}", "--seed", f"0{EVIL}", "--topic", "geology")
    honeyguide("crawl", *argv, "--budget", 2, "--encoder", "ngrams:64", "--out", folder / "piped")
    done = honeyguide("export", folder / "piped", "--out", "-", "--format", "jsonl")
    rows = [json.loads(line) for line in done.stdout.split("\n") if line]
    assert rows[0]["title"] == f"geology {EVIL}"
