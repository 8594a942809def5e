"""Depth-first that turns away from a host after a few of its pages in a row (Lim 2016, §5.1)."""

from collections.abc import Sequence

from honeyguide.contracts import Agent, Candidates, Page, State, Step, Vector
from honeyguide.errors import HoneyguideError
from honeyguide.features.recency import Recency
from honeyguide.registry import part
from honeyguide.urls.spelling import host


@part("agent", "host_limited_depth_first", argument="limit")
class HostLimitedDepthFirst(Agent):
    """Depth-first, but leaves a page's links when the last 3 pages were of its host."""

    foresees = False

    def __init__(self, limit: int = 3) -> None:
        if limit < 1:
            raise HoneyguideError("a host needs at least one page whose links are followed")
        self.features: Recency = Recency()
        self.limit = limit
        self._host, self._in_a_row = "", 0  # of the last page, and how many pages it lasted

    def score(self, links: Candidates) -> Vector:
        """The later the better; exact for the first 16 million links found."""
        return links.x[:, 0]

    def learn(self, steps: Sequence[Step]) -> None:
        """Do nothing: this agent does not learn."""

    def follows(self, page: Page) -> bool:
        """Step 7: not when the 3 pages before this one were of the same host."""
        here = host(page.url)
        before = self._in_a_row if here == self._host else 0
        self._host, self._in_a_row = here, before + 1
        return before < self.limit

    def state(self) -> State:
        """How many links were found, and where the last pages were."""
        return {
            "features": self.features.state(),
            "host": self._host,
            "in_a_row": self._in_a_row,
        }

    def load(self, state: State) -> None:
        """Restore a saved state."""
        self.features.load(state["features"])
        self._host, self._in_a_row = state["host"], state["in_a_row"]
