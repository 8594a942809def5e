"""The four features of a link, each true or false: 16 states (Lim 2016, §5.2.1)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from honeyguide.columns import Columns
from honeyguide.contracts import Link, MemoryView, State, Verdict
from honeyguide.errors import HoneyguideError
from honeyguide.gates.url_record import UrlRecord, url_features
from honeyguide.gates.url_words import UrlWords

NAMES = ("host little parsed", "source host", "this host", "its URL")
PARENT_WEIGHT = 0.3  # of a page that led to a relevant one, against a relevant page itself


@dataclass(frozen=True, slots=True)
class Bounds:
    """From where on the four features are true."""

    ratio: float  # feature 1: pages parsed for each link skipped, below which it is true
    source: float  # feature 2: least mean relevance; as corrected, in shares of the whole crawl
    host: float  # feature 3: the same, of the link's own host
    url: float  # feature 4: least similarity to the search words

    def __post_init__(self) -> None:
        ranges = (
            ("1 <= ratio", "ratio", self.ratio, 1 <= self.ratio < math.inf),
            ("0 < source_bound", "source_bound", self.source, 0 < self.source < math.inf),
            ("0 < host_bound", "host_bound", self.host, 0 < self.host < math.inf),
            ("0 < url_bound <= 1", "url_bound", self.url, 0 < self.url <= 1),
        )
        for allowed, name, value, fits in ranges:
            if not fits:
                raise HoneyguideError(f"a gate needs {allowed}, not {name}={value:g}")


PRINTED = Bounds(ratio=1.0, source=2 / 3, host=2 / 3, url=2 / 3)  # those of Lim (2016)
CORRECTED = Bounds(ratio=1.0, source=1.0, host=1.0, url=2 / 3)


class States(Protocol):
    """Maps links to states 0 to 15, from the outcomes of earlier pages."""

    hosts: "Hosts"

    def prepare(self, found: Sequence[str]) -> None:
        """Compute what decisions on these URLs need."""
        ...

    def state_of(self, memory: MemoryView, id: int, link: Link) -> int:
        """The state of a link; called once each time that its turn has come."""
        ...

    def predict(self, url: str) -> float:
        """The predicted relevance of the page at a URL."""
        ...

    def learn_parent(self, url: str) -> None:
        """Learn that the page at this URL has led to a relevant one."""
        ...

    def note(self, url: str, host: int, verdict: Verdict) -> bool:
        """Learn from a parsed page; return whether its host has become a good one."""
        ...

    def state(self) -> State: ...

    def load(self, state: State) -> None: ...


class Hosts:
    """Counts of pages parsed and links skipped, and sums of relevance, by host."""

    def __init__(self) -> None:
        self._rows = Columns(64, parsed=np.int32, skipped=np.int32, relevance=np.float64)
        self.parsed, self.relevant = 0, 0
        self._make_views()

    def grow(self, host: int) -> None:
        """Add an empty record for a host that has none."""
        if host >= len(self._rows):
            self._rows.grow(host + 1)
            self._make_views()

    def record(self, host: int) -> tuple[int, int, float]:
        """Pages parsed, links skipped, and the sum of relevance of a host."""
        self.grow(host)
        return self._parsed[host], self._skipped[host], self._relevance[host]

    def skip(self, host: int) -> None:
        """Count a skipped link of a host."""
        self.grow(host)
        self._skipped[host] += 1

    def parse(self, host: int, relevance: float, relevant: bool) -> None:
        """Count a parsed page of a host."""
        self.grow(host)
        self._parsed[host] += 1
        self._relevance[host] += relevance
        self.parsed += 1
        self.relevant += relevant

    @property
    def relevant_share(self) -> float:
        """The share of relevant pages among those parsed, with one relevant page added."""
        return (self.relevant + 1) / (self.parsed + 1)

    def state(self) -> State:
        """Everything that `load` restores."""
        return {"rows": self._rows.state(), "parsed": self.parsed, "relevant": self.relevant}

    def load(self, state: State) -> None:
        """Restore a saved state."""
        self._rows.load(state["rows"])
        self.parsed, self.relevant = state["parsed"], state["relevant"]
        self._make_views()

    def _make_views(self) -> None:
        """Make memory views, whose items are faster to read and write than those of arrays."""
        self._parsed: Any = self._rows["parsed"].data
        self._skipped: Any = self._rows["skipped"].data
        self._relevance: Any = self._rows["relevance"].data


class PrintedStates:
    """The four features as Lim (2016) prints them."""

    def __init__(self, words: UrlWords, bounds: Bounds = PRINTED) -> None:
        self.hosts = Hosts()
        self._words = words
        self._bounds = bounds
        self._before = -1  # host of the link processed before

    def prepare(self, found: Sequence[str]) -> None:
        """Encode the words of these URLs."""
        self._words.prepare(found)

    def state_of(self, memory: MemoryView, id: int, link: Link) -> int:
        """Features 1 to 4 as bits 8, 4, 2 and 1; the previous host is that of the link before."""
        host = memory.urls.host_of(id)
        parsed, skipped, relevance = self.hosts.record(host)
        little = not parsed or (skipped > 0 and parsed / skipped < self._bounds.ratio)
        before = False
        if self._before >= 0:
            parsed_before, _, relevance_before = self.hosts.record(self._before)
            before = parsed_before > 0 and relevance_before / parsed_before >= self._bounds.source
        # as printed, a host whose pages were all irrelevant counts as promising
        here = relevance == 0 or relevance / parsed >= self._bounds.host
        self._before = host
        promising = self._words.mean(link.url) >= self._bounds.url
        return 8 * little + 4 * before + 2 * here + promising

    def predict(self, url: str) -> float:
        """The mean similarity of its words to the search words."""
        return self._words.mean(url)

    def learn_parent(self, url: str) -> None:
        """Do nothing: no feature depends on it."""

    def note(self, url: str, host: int, verdict: Verdict) -> bool:
        """Learn from a parsed page; return whether feature 3 of its host turns true."""
        before = self._is_good(host)
        self.hosts.parse(host, verdict.relevance, verdict.relevant)
        return self._is_good(host) and not before

    def state(self) -> State:
        """The records of hosts and URLs."""
        return {"hosts": self.hosts.state(), "before": self._before}

    def load(self, state: State) -> None:
        """Restore a saved state."""
        self.hosts.load(state["hosts"])
        self._before = state["before"]

    def _is_good(self, host: int) -> bool:
        parsed, _, relevance = self.hosts.record(host)
        return relevance == 0 or relevance / parsed >= self._bounds.host


class CorrectedStates:
    """The four features with corrected definitions.

    A host is good if its share of relevant pages, with one relevant page added, reaches that of
    the whole crawl times its bound; a URL is promising if the share predicted for URLs like it
    reaches that of the crawl. The previous host is that of the linking page.
    """

    def __init__(self, words: UrlWords, bounds: Bounds = CORRECTED) -> None:
        self.hosts = Hosts()
        self.urls = UrlRecord()
        self._words = words
        self._bounds = bounds

    def prepare(self, found: Sequence[str]) -> None:
        """Encode the words of these URLs and compute their features."""
        self._words.prepare(found)
        for url in found:
            url_features(url)

    def state_of(self, memory: MemoryView, id: int, link: Link) -> int:
        """Features 1 to 4 as bits 8, 4, 2 and 1."""
        host = memory.urls.host_of(id)
        source = memory.last_parent(id)
        parsed, skipped, _ = self.hosts.record(host)
        little = not parsed or (skipped > 0 and parsed / skipped < self._bounds.ratio)
        linking = source < 0 or self._is_good(memory.urls.host_of(source), self._bounds.source)
        promising = (
            self.urls.predict(link.url) >= self.hosts.relevant_share
            or self._words.best(link.url) >= self._bounds.url
        )
        good = self._is_good(host, self._bounds.host)
        return 8 * little + 4 * linking + 2 * good + promising

    def predict(self, url: str) -> float:
        """The probability of a relevant page, learnt from URLs like it."""
        return self.urls.predict(url)

    def learn_parent(self, url: str) -> None:
        """Count the URL as that of a relevant page, with a smaller weight."""
        self.urls.learn(url, True, PARENT_WEIGHT)

    def note(self, url: str, host: int, verdict: Verdict) -> bool:
        """Learn from a parsed page; return whether feature 3 of its host turns true."""
        before = self._is_good(host, self._bounds.host)
        self.hosts.parse(host, float(verdict.relevant), verdict.relevant)
        self.urls.learn(url, verdict.relevant)
        return self._is_good(host, self._bounds.host) and not before

    def state(self) -> State:
        """The records of hosts and URLs."""
        return {"hosts": self.hosts.state(), "urls": self.urls.state()}

    def load(self, state: State) -> None:
        """Restore a saved state."""
        self.hosts.load(state["hosts"])
        self.urls.load(state["urls"])

    def _is_good(self, host: int, bound: float) -> bool:
        parsed, _, relevant = self.hosts.record(host)
        return (relevant + 1) / (parsed + 1) >= bound * self.hosts.relevant_share
