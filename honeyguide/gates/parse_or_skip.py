"""Parse or skip: the gate of Lim (2016), for any agent."""

from collections.abc import Sequence

import numpy as np

from honeyguide.columns import Columns
from honeyguide.contracts import (
    Encoder,
    GateRow,
    Ids,
    Link,
    MemoryView,
    Outlinks,
    State,
    Vector,
    Visit,
)
from honeyguide.errors import HoneyguideError
from honeyguide.gates.hindsight import Hindsight
from honeyguide.gates.mdp import PARSE, SKIP, first_policy
from honeyguide.gates.solvers import (
    STATES,
    EstimatedPolicy,
    Lim2016Policy,
    QLearning,
    Solver,
)
from honeyguide.gates.states import (
    CORRECTED,
    NAMES,
    PRINTED,
    Bounds,
    CorrectedStates,
    PrintedStates,
    States,
)
from honeyguide.gates.url_words import UrlWords
from honeyguide.learning.rates import check_rates
from honeyguide.registry import part

RECENT = 100  # pages over which the harvest rate is averaged
OPENS_AFTER = 100  # pages in a row without a relevant one, after which every link is fetched


class ParseOrSkip:
    """Decides by four binary features of a link (16 states), and learns in which states to parse.

    With `hindsight` it lets every link through while the agent ranks links as well as the gate.
    """

    def __init__(
        self,
        states: States,
        solver: Solver,
        explore: int = 500,
        hindsight: Hindsight | None = None,  # None: the gate always acts
    ) -> None:
        self._states = states
        self._solver = solver
        self._hindsight = hindsight
        self._explore = explore  # every so many skips in a state, the link is parsed nevertheless
        self._state_of = Columns(state=np.int8)  # by page: 1 + its state when it was parsed, or 0
        self._visits = np.zeros((STATES, 2), np.int64)  # states x actions: decisions
        self._relevant = np.zeros(STATES, np.int64)  # relevant pages by state
        self._skips = np.zeros(
            STATES, np.int64
        )  # decisions to skip, by state, explored ones included
        self._skipped: dict[int, int] = {}  # by page: its state when it was skipped last
        self._parses = self._decisions()
        self._since_relevant = 0  # pages since the last relevant one
        self._pages, self._harvest = 0, 1.0  # pages so far; recent relevant pages per fetch

    def see(self, found: Outlinks) -> None:
        """Compute what decisions need of these URLs."""
        self._states.prepare([link.url for link in found.links])

    def opens(self, memory: MemoryView, id: int, link: Link, foreseen: float | None) -> bool:
        """Whether to parse the page of a link."""
        state = self._states.state_of(memory, id, link)
        if self._is_open or self._solver.parses(state) or self._explores(state):
            self._remember(id, state)
            if self._hindsight:
                self._hindsight.expect(id, foreseen, float(self._solver.q_values()[state, PARSE]))
            return True
        self._skipped[id] = state
        self._visits[state, SKIP] += 1
        self._states.hosts.skip(memory.urls.host_of(id))
        return False

    @property
    def _is_open(self) -> bool:
        """Whether to let every link through: the agent ranks better, or nothing is found."""
        agent_is_better = self._hindsight is not None and not self._hindsight.gate_ranks_better
        return agent_is_better or self._since_relevant >= OPENS_AFTER

    def _explores(self, state: int) -> bool:
        """Whether to parse a link that would be skipped, to check that the decision still holds."""
        self._skips[state] += 1
        return bool(self._skips[state] % self._explore == 0)

    def worths(self, memory: MemoryView, ids: Ids) -> Vector:
        """The predicted relevance of pages, by their URLs."""
        predicted = [self._states.predict(memory.urls.url(id)) for id in ids.tolist()]
        return np.array(predicted, np.float32)

    def note(self, memory: MemoryView, id: int, visit: Visit) -> Ids:
        """Learn from a page; return skipped links that are worth another look.

        These are links whose host or state has become a good one, or all when the gate opens.
        """
        state, relevant = self._state_when_parsed(id), visit.verdict.relevant
        was_open = self._is_open
        if self._hindsight:
            self._hindsight.learn(id, relevant)
        if state < 0:  # a seed, or a skipped link that was taken since no other waits
            state = self._states.state_of(memory, id, visit.link)
            self._remember(id, state)
        self._relevant[state] += relevant
        self._since_relevant = 0 if relevant else self._since_relevant + 1
        host = memory.urls.host_of(id)
        improved = self._states.note(visit.link.url, host, visit.verdict)
        self._solver.learn(state, relevant, self._harvest)
        self._pages += 1
        self._harvest += (relevant - self._harvest) / min(1 + self._pages, RECENT)
        source = memory.last_parent(id)
        if source >= 0 and (found_in := self._state_when_parsed(source)) >= 0:
            self._solver.learn_child(found_in, state)
            if relevant:
                self._states.learn_parent(memory.urls.url(source))
        opened = self._is_open and not was_open
        return self._worth_another_look(memory, host if improved else -1, opened)

    def policy(self) -> list[GateRow]:
        """The 16 states: features, numbers of decisions, Q-values of parsing and skipping."""
        return [self._row(state) for state in range(STATES)]

    def state(self) -> State:
        """Everything that `load` restores."""
        return {
            "states": self._states.state(),
            "solver": self._solver.state(),
            "state_of": self._state_of.state(),
            "visits": self._visits.copy(),
            "relevant": self._relevant.copy(),
            "against": self._skips.copy(),
            "skipped": np.array(list(self._skipped.items()), np.int32).reshape(-1, 2),
            "parses": list(self._parses),
            "barren": self._since_relevant,
            "pages": self._pages,
            "harvest": self._harvest,
            "hindsight": self._hindsight.state() if self._hindsight else None,
        }

    def load(self, state: State) -> None:
        """Restore a saved state."""
        self._states.load(state["states"])
        self._solver.load(state["solver"])
        self._state_of.load(state["state_of"])
        self._visits, self._relevant = state["visits"].copy(), state["relevant"].copy()
        self._skips = state["against"].copy()
        self._skipped = dict(state["skipped"].tolist())
        self._parses = list(state["parses"])
        self._since_relevant = state["barren"]
        self._pages, self._harvest = state["pages"], state["harvest"]
        if self._hindsight:
            self._hindsight.load(state["hindsight"])

    def _worth_another_look(self, memory: MemoryView, host: int, opened: bool) -> Ids:
        """Skipped links of a host and of states that are parsed now; all of them if it `opened`."""
        before, self._parses = self._parses, self._decisions()
        now = {state for state in range(STATES) if self._parses[state] and not before[state]}
        if opened:
            now = set(range(STATES))
        if host < 0 and not now:
            return np.empty(0, np.int32)
        ids = [
            id
            for id, state in self._skipped.items()
            if state in now or (host >= 0 and memory.urls.host_of(id) == host)
        ]
        for id in ids:
            del self._skipped[id]
        return np.array(ids, np.int32)

    def _decisions(self) -> list[bool]:
        return [self._solver.parses(state) for state in range(STATES)]

    def _row(self, state: int) -> GateRow:
        places = (3, 2, 1, 0)
        features = {
            name: bool(state >> place & 1) for name, place in zip(NAMES, places, strict=True)
        }
        q_values = self._solver.q_values()[state]
        against = "stand aside" if self._is_open else "skip"
        return {
            **features,
            "parsed": int(self._visits[state, PARSE]),
            "relevant": int(self._relevant[state]),
            "skipped": int(self._visits[state, SKIP]),
            "worth of parsing": float(q_values[PARSE]),
            "of skipping": float(q_values[SKIP]),
            "decision": "parse" if self._solver.parses(state) else against,
        }

    def _remember(self, id: int, state: int) -> None:
        self._state_of.grow(id + 1)
        self._skipped.pop(id, None)
        self._state_of["state"][id] = 1 + state
        self._visits[state, PARSE] += 1

    def _state_when_parsed(self, id: int) -> int:
        return int(self._state_of["state"][id]) - 1 if id < len(self._state_of) else -1


@part("gate", "parse_or_skip")
def estimated(  # noqa: PLR0913 each is a setting of users
    *,
    search: Sequence[str],
    encoder: Encoder,
    rng: np.random.Generator | None = None,
    gamma: float = 0.3,
    price: float = 0.8,  # of a fetch, as a multiple of the recent harvest rate
    printed: bool = False,  # the features as Lim (2016) prints them
    ratio: float = 1.0,
    source_bound: float | None = None,  # 2/3 as printed, 1 as corrected
    host_bound: float | None = None,  # 2/3 as printed, 1 as corrected
    url_bound: float = 2 / 3,
    similarity: float = 2 / 3,  # of words of a URL: a lower one counts as 0
    first: str = "skip",  # the policy that policy iteration starts from: skip, parse or random
) -> ParseOrSkip:
    """Skips links whose expected reward is below the cost of a fetch, by a model of the crawl."""
    check_rates("parse_or_skip", gamma)
    solver = EstimatedPolicy(gamma, price, first=first_policy(first, STATES, rng))
    bounds = _bounds(printed, ratio, source_bound, host_bound, url_bound)
    states = _states(UrlWords(search, encoder, similarity), printed, bounds)
    return ParseOrSkip(states, solver, hindsight=Hindsight())


@part("gate", "parse_or_skip_q")
def q_learning(  # noqa: PLR0913 each is a setting of users
    *,
    search: Sequence[str],
    encoder: Encoder,
    gamma: float = 0.3,
    price: float = 0.9,  # of a fetch, as a multiple of the recent harvest rate
    printed: bool = False,  # the features as Lim (2016) prints them
    ratio: float = 1.0,
    source_bound: float | None = None,  # 2/3 as printed, 1 as corrected
    host_bound: float | None = None,  # 2/3 as printed, 1 as corrected
    url_bound: float = 2 / 3,
    similarity: float = 2 / 3,  # of words of a URL: a lower one counts as 0
) -> ParseOrSkip:
    """Skips links whose expected reward is below the cost of a fetch, by Q-learning."""
    check_rates("parse_or_skip_q", gamma)
    bounds = _bounds(printed, ratio, source_bound, host_bound, url_bound)
    states = _states(UrlWords(search, encoder, similarity), printed, bounds)
    return ParseOrSkip(states, QLearning(gamma, price), hindsight=Hindsight())


@part("gate", "parse_or_skip_document")
def lim2016(  # noqa: PLR0913 each is a setting of users
    *,
    search: Sequence[str],
    encoder: Encoder,
    rng: np.random.Generator | None = None,
    gamma: float = 0.9,  # 1 maximises the mean reward of a step
    printed: bool = True,
    penalty: float = 0.0,  # subtracted from the reward for skipping (§7.3.2)
    ratio: float = 1.0,
    source_bound: float | None = None,  # 2/3 as printed, 1 as corrected
    host_bound: float | None = None,  # 2/3 as printed, 1 as corrected
    url_bound: float = 2 / 3,
    similarity: float = 2 / 3,  # of words of a URL: a lower one counts as 0
    first: str = "skip",  # the policy that policy iteration starts from: skip, parse or random
) -> ParseOrSkip:
    """The policy of Lim (2016), which skips in every state: for comparison."""
    if not 0 <= gamma <= 1:
        raise HoneyguideError(f"parse_or_skip_document needs 0 <= gamma <= 1, not gamma={gamma:g}")
    solver = Lim2016Policy(gamma, penalty, first_policy(first, STATES, rng))
    bounds = _bounds(printed, ratio, source_bound, host_bound, url_bound)
    return ParseOrSkip(_states(UrlWords(search, encoder, similarity), printed, bounds), solver)


def _bounds(
    printed: bool, ratio: float, source: float | None, host: float | None, url: float
) -> Bounds:
    """The given bounds, and the usual ones of hosts where none is given."""
    usual = PRINTED if printed else CORRECTED
    return Bounds(
        ratio=ratio,
        source=usual.source if source is None else source,
        host=usual.host if host is None else host,
        url=url,
    )


def _states(words: UrlWords, printed: bool, bounds: Bounds) -> States:
    return PrintedStates(words, bounds) if printed else CorrectedStates(words, bounds)
