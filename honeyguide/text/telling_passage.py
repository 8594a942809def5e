"""The passage of a page that says most about a topic."""

import re
import textwrap

from honeyguide.contracts import Encoder, Page
from honeyguide.text.words import Term, fold, forms, terms

LENGTH = 280  # characters of a passage, about
MOST = 200  # passages of a page that are compared
WORD = 0.15  # cosine that a word of the topic is worth

_ENDS = re.compile(r"(?<=[.!?。！？])\s+|\n\s*\n")  # of sentences and paragraphs


def telling_passage(page: Page, topic: str, encoder: Encoder) -> str:
    """The passage closest to a topic by words and meaning, on one line; empty without a text."""
    passages = passages_of(page.text)
    if not passages:
        return ""
    sought = [Term(word, forms(word)) for word in terms(topic)]
    closeness = encoder(passages) @ encoder([topic])[0]
    folded = [fold(passage, topic) for passage in passages]
    found = [sum(term.count(each) > 0 for term in sought) for each in folded]
    scores = [float(close) + WORD * n for close, n in zip(closeness, found, strict=True)]
    return passages[scores.index(max(scores))]


def passages_of(text: str) -> list[str]:
    """The sentences of a text, joined to passages of about the same length."""
    passages: list[str] = []
    for sentence in _ENDS.split(text[: MOST * LENGTH]):
        plain = " ".join(sentence.split())
        if passages and len(passages[-1]) + len(plain) < LENGTH:
            passages[-1] = f"{passages[-1]} {plain}".strip()
        elif plain:
            passages += textwrap.wrap(plain, LENGTH, break_on_hyphens=False)
    return passages
