"""Texts of labelled pages without their labels."""

import re

# Wikipedia for Schools lists a page's subjects at the top of its text, on one line or several:
# with them, every judge would look too good
_SUBJECTS = re.compile(r"\A.{0,400}?Related subjects:.*?(?:\n[ \t]*\n|\Z)", re.DOTALL)


def without_labels(text: str) -> str:
    """The text without the list of the page's subjects."""
    return _SUBJECTS.sub("", text)
