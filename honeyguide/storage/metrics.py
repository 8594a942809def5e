"""Figures of crawls as Prometheus metrics (text exposition format 0.0.4): a file, or an answer."""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from honeyguide.disk.files import replacing_path
from honeyguide.errors import HoneyguideError
from honeyguide.storage.figures import Figures

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
EVERY = 5.0  # seconds between two writes of the file

# name -> kind, help, value
_METRICS: dict[str, tuple[str, str, Callable[[Figures], float]]] = {
    "pages_total": ("counter", "Pages fetched, failures included.", lambda each: each.pages),
    "relevant_pages": ("gauge", "Distinct relevant pages.", lambda each: each.relevant),
    "bytes_total": ("counter", "Bytes of bodies fetched.", lambda each: each.bytes),
    "hosts": ("gauge", "Hosts that this run fetched pages from.", lambda each: each.hosts),
    "waiting_links": ("gauge", "Links that wait to be fetched.", lambda each: each.waiting),
    "visits_in_flight": ("gauge", "Visits that run now.", lambda each: each.in_flight),
    "budget_pages": ("gauge", "Pages after which the crawl stops.", lambda each: each.budget),
    "pages_per_second": ("gauge", "Pages a second, lately.", lambda each: each.rate),
    "harvest_ratio": (
        "gauge",
        "Share of relevant pages among the latest hundred.",
        lambda each: each.harvest,
    ),
    "resident_memory_bytes": ("gauge", "Memory of the process.", lambda each: each.memory),
    "running": ("gauge", "1 while a process runs the crawl.", lambda each: each.is_running),
    "paused": ("gauge", "1 while an order pauses the crawl.", lambda each: each.is_paused),
}


def exposition(crawls: Mapping[str, Figures]) -> str:
    """The metrics of crawls, by their names, which become the label `crawl`."""
    return "".join(f"{line}\n" for line in _lines(crawls))


def _lines(crawls: Mapping[str, Figures]) -> Iterator[str]:
    for name, (kind, about, value) in _METRICS.items():
        yield from _head(name, kind, about)
        for crawl, figures in crawls.items():
            yield f'honeyguide_{name}{{crawl="{_escaped(crawl)}"}} {_number(value(figures))}'
    yield from _head("failures_total", "counter", "Visits that failed, by kind.")
    for crawl, figures in crawls.items():
        for kind, count in sorted(figures.failures.items()):
            labels = f'crawl="{_escaped(crawl)}",kind="{_escaped(kind)}"'
            yield f"honeyguide_failures_total{{{labels}}} {count}"


def _head(name: str, kind: str, about: str) -> Iterator[str]:
    yield f"# HELP honeyguide_{name} {about}"
    yield f"# TYPE honeyguide_{name} {kind}"


def write_metrics(path: Path, crawls: Mapping[str, Figures]) -> None:
    """Replace a file by the metrics of crawls; a reader sees the old file or the new one, whole."""
    try:
        with replacing_path(path) as unfinished:
            unfinished.write_text(exposition(crawls), "utf-8", "backslashreplace")
    except OSError as error:
        raise HoneyguideError(f"cannot write {path}: {error.strerror}") from None


def _number(value: float) -> str:
    return f"{float(value):.6g}" if isinstance(value, float) else str(int(value))


def _escaped(label: str) -> str:
    return label.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
