"""Words that are more frequent on relevant pages than on others, counted during the crawl."""

from collections import Counter

import numpy as np

from honeyguide.contracts import Page, State
from honeyguide.text.words import STOP_WORDS, terms, words

HEAD = 1000  # characters of a page whose words count
MOST_WORDS = 50_000  # that are counted; beyond, the rarer half is dropped
LEAST_PAGES = 3  # relevant pages on which a word must occur


class Categories:
    """Counts, for each word, the pages and the relevant pages on which it occurs."""

    def __init__(self, topic: str) -> None:
        self._topic = frozenset(terms(topic))
        self._relevant: Counter[str] = Counter()
        self._all: Counter[str] = Counter()
        self._pages = np.zeros(2, np.int64)  # counts of relevant pages and of all pages

    def note(self, page: Page, relevant: bool) -> None:
        """Count the words of a page."""
        found = set(words(f"{page.title} {page.text[:HEAD]}"))
        self._all.update(found)
        if relevant:
            self._relevant.update(found)
        self._pages += (int(relevant), 1)
        if len(self._all) > MOST_WORDS:
            self._all = Counter(dict(self._all.most_common(MOST_WORDS // 2)))
            self._relevant = Counter({w: n for w, n in self._relevant.items() if w in self._all})

    @property
    def relevant_pages(self) -> int:
        """How many relevant pages were counted."""
        return int(self._pages[0])

    def top(self, count: int = 10) -> list[str]:
        """The words that are most typical of relevant pages, by log-likelihood ratio."""
        candidates = [
            word for word, pages in self._relevant.items() if self._qualifies(word, pages)
        ]
        return sorted(candidates, key=lambda word: (-self._log_ratio(word), word))[:count]

    def state(self) -> State:
        """All word counts."""
        names = sorted(self._all)
        return {
            "words": names,
            "all": np.array([self._all[word] for word in names], np.int64),
            "relevant": np.array([self._relevant[word] for word in names], np.int64),
            "pages": self._pages.copy(),
        }

    def load(self, state: State) -> None:
        """Restore a saved state."""
        names = state["words"]
        self._all = Counter(dict(zip(names, state["all"].tolist(), strict=True)))
        relevant = zip(names, state["relevant"].tolist(), strict=True)
        self._relevant = Counter({word: pages for word, pages in relevant if pages})
        self._pages = state["pages"].copy()

    def _qualifies(self, word: str, pages: int) -> bool:
        plain = len(word) > 2 and not word.isdigit() and word not in STOP_WORDS
        return plain and pages >= LEAST_PAGES and word not in self._topic

    def _log_ratio(self, word: str) -> float:
        """In bits, summed over the relevant pages with the word."""
        relevant, pages = self._pages.tolist()
        here, elsewhere = self._relevant[word], self._all[word] - self._relevant[word]
        odds = ((here + 0.5) / (relevant + 1)) / ((elsewhere + 0.5) / (pages - relevant + 1))
        return here * float(np.log2(odds))
