"""Depth-first search with a limit on pages of one host in a row (Lim 2016, §5.1)."""

from collections.abc import Sequence

from honeyguide.contracts import Agent, Candidates, Page, State, Step, Vector
from honeyguide.errors import HoneyguideError
from honeyguide.features.recency import Recency
from honeyguide.registry import part
from honeyguide.urls.spelling import host


@part("agent", "host_limited_depth_first", argument="limit")
class HostLimitedDepthFirst(Agent):
    """Depth-first, but ignores the links of a page when the 3 pages before were of its host."""

    foresees = False

    def __init__(self, limit: int = 3) -> None:
        if limit < 1:
            raise HoneyguideError("host_limited_depth_first needs a limit of at least 1 page")
        self.features: Recency = Recency()
        self.limit = limit
        self._host, self._in_a_row = "", 0  # host of the last page, and pages of it in a row

    def score(self, links: Candidates) -> Vector:
        """The number of links found before; exact for the first 16 million."""
        return links.x[:, 0]

    def learn(self, steps: Sequence[Step]) -> None:
        """Do nothing: this agent does not learn."""

    def follows(self, page: Page) -> bool:
        """Whether fewer than `limit` pages in a row before this one were of its host (step 7)."""
        here = host(page.url)
        before = self._in_a_row if here == self._host else 0
        self._host, self._in_a_row = here, before + 1
        return before < self.limit

    def state(self) -> State:
        """The number of links found, and the host of the last pages."""
        return {
            "features": self.features.state(),
            "host": self._host,
            "in_a_row": self._in_a_row,
        }

    def load(self, state: State) -> None:
        """Restore a saved state."""
        self.features.load(state["features"])
        self._host, self._in_a_row = state["host"], state["in_a_row"]
