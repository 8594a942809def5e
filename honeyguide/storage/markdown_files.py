"""Markdown files of exported pages: their names, and their front matter with provenance."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from honeyguide.storage.database import about, reading

MAX_NAME = 80  # characters of a URL in a file's name
_FIELDS = (  # of the front matter, in this order
    "url title canonical language author published fetched relevance relevant reasons depth"
    " parent requested_url status headings"
).split()
_not_in_names = re.compile(r"[^a-z0-9.]+").sub
# what JSON leaves as it is, and YAML does not allow or takes for an end of line
_not_in_yaml = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]").sub


def source(folder: Path) -> dict[str, Any]:
    """Which crawl the pages of a folder come from: its name, topic, judge and version."""
    with reading(folder) as database:
        known = about(database)
        settings = json.loads(known["settings"])
    named = settings if isinstance(settings, dict) else {}
    judge = named.get("judge") or "topic"
    return {
        "crawl": folder.resolve().name,
        "topic": str(named.get("topic", "")),
        "judge": str(judge),
        "honeyguide": str(known["version"]),
    }


def file_name(number: int, url: str) -> str:
    """The name of a page's file: its number, and what file systems allow of its URL."""
    words = _not_in_names("-", url.partition("://")[2].lower())[:MAX_NAME].strip("-.")
    return f"{number:05d}-{words}.md" if words else f"{number:05d}.md"


def markdown_file(page: Mapping[str, Any], crawl: Mapping[str, Any]) -> str:
    """A page's Markdown after its front matter: a YAML block whose values are JSON."""
    known = {name: page[name] for name in _FIELDS if page.get(name) not in (None, "", [])}
    lines = [f"{name}: {_value(value)}" for name, value in {**known, **crawl}.items()]
    return "\n".join(["---", *lines, "---", "", page["markdown"], ""])


def _value(value: Any) -> str:
    written = json.dumps(value, ensure_ascii=False)
    return _not_in_yaml(lambda sign: f"\\u{ord(sign[0]):04x}", written)
