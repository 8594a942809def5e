"""What a crawl brings home: one line a visit, and how it ended."""

import json
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from honeyguide.contracts import Step, Visit
from honeyguide.crawl import Outcome
from honeyguide.errors import HoneyguideError

VISITS, SUMMARY = "visits.jsonl", "summary.json"


class Results:
    """A folder with visits.jsonl, written as the crawl goes, and summary.json at its end."""

    def __init__(self, folder: Path) -> None:
        if (folder / VISITS).exists():
            raise HoneyguideError(f"{folder} already holds a crawl; name another folder")
        if folder.exists() and not folder.is_dir():
            raise HoneyguideError(f"{folder} is a file, not a folder")
        self.folder = folder

    def __enter__(self) -> Self:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._file = (self.folder / VISITS).open("x", encoding="utf-8", errors="backslashreplace")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()

    def note(self, visit: Visit, step: Step, now: float) -> None:
        """Write one visit."""
        self._file.write(json.dumps(_row(visit, now), ensure_ascii=False) + "\n")

    def finish(self, outcome: Outcome, plan: dict[str, Any]) -> None:
        """Write how it ended."""
        summary = asdict(outcome) | {"plan": plan}
        (self.folder / SUMMARY).write_text(json.dumps(summary, indent=1) + "\n")


def _row(visit: Visit, now: float) -> dict[str, Any]:
    return {
        "url": visit.link.url,
        "title": visit.page.title if visit.page else "",
        "relevance": round(visit.verdict.relevance, 4),
        "relevant": visit.verdict.relevant,
        "reasons": visit.verdict.reasons,
        "failure": visit.failure,
        "depth": visit.link.depth,
        "source": visit.link.source,
        "second": round(now, 3),
    }
