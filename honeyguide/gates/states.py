"""The four features of a link, each true or false: 16 states (Lim 2016, §5.2.1)."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

from honeyguide.columns import Columns
from honeyguide.contracts import Link, MemoryView, State, Verdict
from honeyguide.gates.url_record import UrlRecord, signs
from honeyguide.gates.url_words import UrlWords

NAMES = ("host little parsed", "source host", "this host", "its URL")
LEAD = 0.3  # what leading to a relevant page says of a URL, against being one
BOUND = 2 / 3  # what a mean relevance must reach


class States(Protocol):
    """Turns links into states, from the record of their hosts."""

    hosts: "Hosts"

    def see(self, found: Sequence[str]) -> None:
        """Make ready what these URLs will be asked for."""
        ...

    def of(self, memory: MemoryView, id: int, link: Link) -> int:
        """The state of a link whose turn has come; asked once each time."""
        ...

    def chance(self, url: str) -> float:
        """What the page at a URL is expected to bring; 0 when nothing is known of it."""
        ...

    def lead(self, url: str) -> None:
        """The page at this URL has led to a relevant one."""
        ...

    def note(self, url: str, host: int, verdict: Verdict) -> bool:
        """Take in a page that was parsed; whether its host's record has become a good one."""
        ...

    def state(self) -> State: ...

    def load(self, state: State) -> None: ...


class Hosts:
    """Pages parsed, links skipped and relevance, by host and in all."""

    def __init__(self) -> None:
        self._rows = Columns(64, parsed=np.int32, skipped=np.int32, relevance=np.float64)
        self.parsed, self.relevant = 0, 0
        self._look()

    def know(self, host: int) -> None:
        """Make room for a host."""
        if host >= len(self._rows):
            self._rows.grow(host + 1)
            self._look()

    def record(self, host: int) -> tuple[int, int, float]:
        """Parsed, skipped, and the sum of relevance."""
        self.know(host)
        return self._parsed[host], self._skipped[host], self._relevance[host]

    def skip(self, host: int) -> None:
        """One of its links was skipped."""
        self.know(host)
        self._skipped[host] += 1

    def parse(self, host: int, relevance: float, relevant: bool) -> None:
        """One of its pages was parsed."""
        self.know(host)
        self._parsed[host] += 1
        self._relevance[host] += relevance
        self.parsed += 1
        self.relevant += relevant

    @property
    def share(self) -> float:
        """Of relevant pages among those parsed; before the first, as if there had been one."""
        return (self.relevant + 1) / (self.parsed + 1)

    def state(self) -> State:
        """Everything that `load` restores."""
        return {"rows": self._rows.state(), "parsed": self.parsed, "relevant": self.relevant}

    def load(self, state: State) -> None:
        """Restore a saved state."""
        self._rows.load(state["rows"])
        self.parsed, self.relevant = state["parsed"], state["relevant"]
        self._look()

    def _look(self) -> None:
        """Views whose single items are quick to read and write."""
        self._parsed: Any = self._rows["parsed"].data
        self._skipped: Any = self._rows["skipped"].data
        self._relevance: Any = self._rows["relevance"].data


class Printed:
    """The features as the document prints them."""

    def __init__(self, words: UrlWords, ratio: float = 1.0) -> None:
        self.hosts = Hosts()
        self._words = words
        self._ratio = ratio
        self._before = -1  # the host that was processed before

    def see(self, found: Sequence[str]) -> None:
        """Their words."""
        self._words.see(found)

    def of(self, memory: MemoryView, id: int, link: Link) -> int:
        """Previous is the host of the link before in order of processing."""
        host = memory.urls.host_of(id)
        parsed, skipped, relevance = self.hosts.record(host)
        little = not parsed or (skipped > 0 and parsed / skipped < self._ratio)
        before = False
        if self._before >= 0:
            parsed_before, _, relevance_before = self.hosts.record(self._before)
            before = parsed_before > 0 and relevance_before / parsed_before >= BOUND
        # a host whose pages were all irrelevant passes for a promising one
        here = relevance == 0 or relevance / parsed >= BOUND
        self._before = host
        return 8 * little + 4 * before + 2 * here + (self._words.mean(link.url) >= BOUND)

    def chance(self, url: str) -> float:
        """By its words."""
        return self._words.mean(url)

    def lead(self, url: str) -> None:
        """Not among the features."""

    def note(self, url: str, host: int, verdict: Verdict) -> bool:
        """A record has become a good one when feature 3 turns true."""
        before = self._is_good(host)
        self.hosts.parse(host, verdict.relevance, verdict.relevant)
        return self._is_good(host) and not before

    def state(self) -> State:
        """The records."""
        return {"hosts": self.hosts.state(), "before": self._before}

    def load(self, state: State) -> None:
        """Restore a saved state."""
        self.hosts.load(state["hosts"])
        self._before = state["before"]

    def _is_good(self, host: int) -> bool:
        parsed, _, relevance = self.hosts.record(host)
        return relevance == 0 or relevance / parsed >= BOUND


class Corrected:
    """The features with what they are meant to say.

    A host, and what a URL looks like, are measured by the share of relevant pages against that
    of the whole crawl; a doubt of one page is given to each. Previous is the linking page's host.
    """

    def __init__(self, words: UrlWords, ratio: float = 1.0) -> None:
        self.hosts = Hosts()
        self.urls = UrlRecord()
        self._words = words
        self._ratio = ratio

    def see(self, found: Sequence[str]) -> None:
        """Their words and looks."""
        self._words.see(found)
        for url in found:
            signs(url)

    def of(self, memory: MemoryView, id: int, link: Link) -> int:
        """From the record of its host, of the linking host, and of URLs like its own."""
        host = memory.urls.host_of(id)
        source = memory.last_parent(id)
        parsed, skipped, _ = self.hosts.record(host)
        little = not parsed or (skipped > 0 and parsed / skipped < self._ratio)
        linking = source < 0 or self._is_good(memory.urls.host_of(source))
        promising = (
            self.urls.chance(link.url) >= self.hosts.share or self._words.best(link.url) >= BOUND
        )
        return 8 * little + 4 * linking + 2 * self._is_good(host) + promising

    def chance(self, url: str) -> float:
        """By URLs like it."""
        return self.urls.chance(url)

    def lead(self, url: str) -> None:
        """It speaks for URLs like it, though less than finding one would."""
        self.urls.learn(url, True, LEAD)

    def note(self, url: str, host: int, verdict: Verdict) -> bool:
        """A record has become a good one when feature 3 turns true."""
        before = self._is_good(host)
        self.hosts.parse(host, float(verdict.relevant), verdict.relevant)
        self.urls.learn(url, verdict.relevant)
        return self._is_good(host) and not before

    def state(self) -> State:
        """The records."""
        return {"hosts": self.hosts.state(), "urls": self.urls.state()}

    def load(self, state: State) -> None:
        """Restore a saved state."""
        self.hosts.load(state["hosts"])
        self.urls.load(state["urls"])

    def _is_good(self, host: int) -> bool:
        parsed, _, relevant = self.hosts.record(host)
        return (relevant + 1) / (parsed + 1) >= self.hosts.share
