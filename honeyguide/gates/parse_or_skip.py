"""Parse or skip: Lim's (2016) gate, which any agent can wear."""

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
from honeyguide.gates.hindsight import Hindsight
from honeyguide.gates.mdp import PARSE, SKIP
from honeyguide.gates.solvers import (
    STATES,
    DocumentPolicy,
    EstimatedPolicy,
    QLearning,
    Solver,
)
from honeyguide.gates.states import NAMES, Corrected, Printed, States
from honeyguide.gates.url_words import UrlWords
from honeyguide.registry import part

RECENT = 100  # pages, or so, by which the harvest of the crawl is known
BARREN = 100  # pages without a relevant one after which the gate, at its wits' end, stands open


class ParseOrSkip:
    """Decides by four features of a link, in 16 states, and learns in which to parse.

    With `hindsight` it stands aside while the agent's own order is as good as its decisions.
    """

    def __init__(
        self,
        states: States,
        solver: Solver,
        explore: int = 500,
        hindsight: Hindsight | None = None,  # None: it always acts
    ) -> None:
        self._states = states
        self._solver = solver
        self._hindsight = hindsight
        self._explore = explore  # of so many links skipped in a state, one is parsed nevertheless
        self._state_of = Columns(state=np.int8)  # by page: 1 + its state when it was taken, or 0
        self._visits = np.zeros((STATES, 2), np.int64)
        self._relevant = np.zeros(STATES, np.int64)
        self._against = np.zeros(STATES, np.int64)  # decisions against a link, by state
        self._skipped: dict[int, int] = {}  # by page: in which state it was skipped last
        self._parses = self._decisions()
        self._barren = 0  # pages since the last relevant one
        self._pages, self._harvest = 0, 1.0  # relevant pages a fetch, lately

    def see(self, found: Outlinks) -> None:
        """Read their URLs."""
        self._states.see([link.url for link in found.links])

    def opens(self, memory: MemoryView, id: int, link: Link, foreseen: float | None) -> bool:
        """Parse or skip."""
        state = self._states.of(memory, id, link)
        if self._stands_open or self._solver.parses(state) or self._tries(state):
            self._remember(id, state)
            if self._hindsight:
                self._hindsight.expect(id, foreseen, float(self._solver.worths()[state, PARSE]))
            return True
        self._skipped[id] = state
        self._visits[state, SKIP] += 1
        self._states.hosts.skip(memory.urls.host_of(id))
        return False

    @property
    def _stands_open(self) -> bool:
        """Nothing that it skips seems to be worth less, or the agent knows better."""
        aside = self._hindsight is not None and not self._hindsight.gate_knows_more
        return aside or self._barren >= BARREN

    def _tries(self, state: int) -> bool:
        """Whether to parse what would be skipped, to see whether that is still right."""
        self._against[state] += 1
        return bool(self._against[state] % self._explore == 0)

    def worths(self, memory: MemoryView, ids: Ids) -> Vector:
        """What became of pages with URLs like these."""
        chances = [self._states.chance(memory.urls.url(id)) for id in ids.tolist()]
        return np.array(chances, np.float32)

    def note(self, memory: MemoryView, id: int, visit: Visit) -> Ids:
        """Learn from a page; links come back when their host or state has become a good one."""
        state, relevant = self._recall(id), visit.verdict.relevant
        stood_open = self._stands_open
        if self._hindsight:
            self._hindsight.learn(id, relevant)
        if state < 0:  # a seed, or taken for want of better ones: there is much to learn
            state = self._states.of(memory, id, visit.link)
            self._remember(id, state)
        self._relevant[state] += relevant
        self._barren = 0 if relevant else self._barren + 1
        host = memory.urls.host_of(id)
        improved = self._states.note(visit.link.url, host, visit.verdict)
        self._solver.learn(state, relevant, self._harvest)
        self._pages += 1
        self._harvest += (relevant - self._harvest) / min(1 + self._pages, RECENT)
        source = memory.last_parent(id)
        if source >= 0 and (found_in := self._recall(source)) >= 0:
            self._solver.follow(found_in, state)
            if relevant:
                self._states.lead(memory.urls.url(source))
        opened = self._stands_open and not stood_open
        return self._again(memory, host if improved else -1, opened)

    def policy(self) -> list[GateRow]:
        """The 16 states: features, how often each decision was made, and what it is worth."""
        return [self._row(state) for state in range(STATES)]

    def state(self) -> State:
        """Everything that `load` restores."""
        return {
            "states": self._states.state(),
            "solver": self._solver.state(),
            "state_of": self._state_of.state(),
            "visits": self._visits.copy(),
            "relevant": self._relevant.copy(),
            "against": self._against.copy(),
            "skipped": np.array(list(self._skipped.items()), np.int32).reshape(-1, 2),
            "parses": list(self._parses),
            "barren": self._barren,
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
        self._against = state["against"].copy()
        self._skipped = dict(state["skipped"].tolist())
        self._parses = list(state["parses"])
        self._barren = state["barren"]
        self._pages, self._harvest = state["pages"], state["harvest"]
        if self._hindsight:
            self._hindsight.load(state["hindsight"])

    def _again(self, memory: MemoryView, host: int, opened: bool) -> Ids:
        """Links skipped on a host, or in states that are parsed by now, or all of them."""
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
        worths = self._solver.worths()[state]
        against = "stand aside" if self._stands_open else "skip"
        return {
            **features,
            "parsed": int(self._visits[state, PARSE]),
            "relevant": int(self._relevant[state]),
            "skipped": int(self._visits[state, SKIP]),
            "worth of parsing": float(worths[PARSE]),
            "of skipping": float(worths[SKIP]),
            "decision": "parse" if self._solver.parses(state) else against,
        }

    def _remember(self, id: int, state: int) -> None:
        self._state_of.grow(id + 1)
        self._skipped.pop(id, None)
        self._state_of["state"][id] = 1 + state
        self._visits[state, PARSE] += 1

    def _recall(self, id: int) -> int:
        return int(self._state_of["state"][id]) - 1 if id < len(self._state_of) else -1


@part("gate", "parse_or_skip")
def estimated(
    search: Sequence[str],
    encoder: Encoder,
    gamma: float = 0.3,
    price: float = 0.8,  # of a fetch, in what a fetch has lately brought
    printed: bool = False,  # the document's features as they are printed
) -> ParseOrSkip:
    """Skips links that bring less than a fetch costs, by a model counted in the crawl so far."""
    solver = EstimatedPolicy(gamma, price)
    return ParseOrSkip(_states(search, encoder, printed), solver, hindsight=Hindsight())


@part("gate", "parse_or_skip_q")
def q_learning(
    search: Sequence[str],
    encoder: Encoder,
    gamma: float = 0.3,
    price: float = 0.9,  # of a fetch, in what a fetch has lately brought
    printed: bool = False,  # the document's features as they are printed
) -> ParseOrSkip:
    """Skips links that bring less than a fetch costs, by Q-learning: no model."""
    solver = QLearning(gamma, price)
    return ParseOrSkip(_states(search, encoder, printed), solver, hindsight=Hindsight())


@part("gate", "parse_or_skip_document")
def document(
    search: Sequence[str], encoder: Encoder, gamma: float = 0.9, printed: bool = True
) -> ParseOrSkip:
    """Lim's (2016) own policy, which skips in every state: for comparison."""
    return ParseOrSkip(_states(search, encoder, printed), DocumentPolicy(gamma))


def _states(search: Sequence[str], encoder: Encoder, printed: bool) -> States:
    words = UrlWords(search, encoder)
    return Printed(words) if printed else Corrected(words)
