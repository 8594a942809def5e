"""Text files with one thing a line, such as a host, a URL or a site."""

import sys
from pathlib import Path

from honeyguide.errors import HoneyguideError

STANDARD_INPUT = Path("-")


def read_lines(path: Path) -> list[str]:
    """The lines of a file that are not empty, without spaces around them; - is standard input."""
    found = [line.strip() for line in read_text(path).splitlines() if line.strip()]
    if not found:
        raise HoneyguideError(f"{path} is empty")
    return found


def read_text(path: Path) -> str:
    """The text of a file in UTF-8; - is standard input."""
    try:
        data = sys.stdin.buffer.read() if path == STANDARD_INPUT else path.read_bytes()
        text = data.decode("utf-8-sig")
    except OSError as error:
        raise HoneyguideError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise HoneyguideError(f"{path} is not text in UTF-8")
    return text
