"""Parse or skip: document 002's gate, which any agent can wear."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from honeyguide.contracts import Encoder, Ids, Link, State, Vector, Visit
from honeyguide.gates import Row
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
from honeyguide.memory import Memory
from honeyguide.registry import part


@dataclass(slots=True)
class _Decision:
    """What was decided, until its reward and the state of the next decision are known."""

    state: int
    action: int
    after: int = -1
    reward: float | None = None


class ParseOrSkip:
    """Decides by four features of a link, in 16 states, and learns in which to parse."""

    def __init__(self, states: States, solver: Solver) -> None:
        self._states = states
        self._solver = solver
        self._last: _Decision | None = None
        self._open: dict[int, _Decision] = {}  # by page: parsed, not yet known what it was
        self._visits = np.zeros((STATES, 2), np.int64)
        self._relevant = np.zeros(STATES, np.int64)

    def opens(self, memory: Memory, id: int, link: Link) -> bool:
        """Parse or skip."""
        state = self._states.of(memory, id, link)
        if self._solver.parses(state):
            self._open[id] = self._decided(state, PARSE)
            return True
        self._decided(state, SKIP).reward = 0.0
        self._states.hosts.skip(memory.urls.host_of(id))
        return False

    def worths(self, memory: Memory, ids: Ids) -> Vector:
        """What parsing them would bring, by state and by URL."""
        chances = [self._states.chance(memory.urls.url(id)) for id in ids.tolist()]
        return np.array(chances, np.float32)

    def note(self, memory: Memory, id: int, visit: Visit) -> Sequence[int]:
        """Learn from a page; its host's links come back when its record has become a good one."""
        decision = self._open.pop(id, None)
        if decision is None:  # a seed, or taken for want of better ones: there is much to learn
            decision = self._decided(self._states.of(memory, id, visit.link), PARSE)
        decision.reward = float(visit.verdict.relevant)
        self._relevant[decision.state] += visit.verdict.relevant
        host = memory.urls.host_of(id)
        improved = self._states.note(visit.link.url, host, visit.verdict)
        self._settle(decision)
        return (host,) if improved else ()

    def policy(self) -> list[Row]:
        """The 16 states: features, how often each decision was made, and what it is worth."""
        worths = self._solver.worths()
        rows: list[Row] = []
        for state in range(STATES):
            features = {
                name: bool(state >> place & 1)
                for name, place in zip(NAMES, (3, 2, 1, 0), strict=True)
            }
            skipped, parsed = self._visits[state].tolist()
            rows.append(
                {
                    **features,
                    "parsed": parsed,
                    "skipped": skipped,
                    "relevant": int(self._relevant[state]),
                    "worth of parsing": float(worths[state, PARSE]),
                    "worth of skipping": float(worths[state, SKIP]),
                    "decision": "parse" if self._solver.parses(state) else "skip",
                }
            )
        return rows

    def state(self) -> State:
        """All of it."""
        last = self._last
        at = next((id for id, decision in self._open.items() if decision is last), -1)
        return {
            "states": self._states.state(),
            "solver": self._solver.state(),
            "open": [[id, d.state, d.action, d.after] for id, d in self._open.items()],
            "last": None if last is None else [last.state, last.action, last.reward, at],
            "visits": self._visits.copy(),
            "relevant": self._relevant.copy(),
        }

    def load(self, state: State) -> None:
        """Go on from there."""
        self._states.load(state["states"])
        self._solver.load(state["solver"])
        self._open = {id: _Decision(*rest) for id, *rest in state["open"]}
        self._last = None
        if state["last"] is not None:
            seen, action, reward, at = state["last"]
            self._last = self._open.get(at) or _Decision(seen, action, reward=reward)
        self._visits, self._relevant = state["visits"].copy(), state["relevant"].copy()

    def _decided(self, state: int, action: int) -> _Decision:
        """Note a decision, after which the one before can be learnt from."""
        if self._last is not None:
            self._last.after = state
            self._settle(self._last)
        self._visits[state, action] += 1
        self._last = _Decision(state, action)
        return self._last

    def _settle(self, decision: _Decision) -> None:
        """Learn from a decision once both its reward and the next state are known."""
        if decision.reward is not None and decision.after >= 0:
            share = self._states.hosts.share
            self._solver.learn(
                decision.state, decision.action, decision.reward, decision.after, share
            )


@part("gate", "parse_or_skip")
def estimated(
    search: Sequence[str],
    encoder: Encoder,
    gamma: float = 0.3,
    price: float = 0.5,  # of a fetch, in what a fetch brings on average
    printed: bool = False,  # the document's features as they are printed
) -> ParseOrSkip:
    """Skips links that bring less than a fetch costs, by a model counted in the crawl so far."""
    return ParseOrSkip(_states(search, encoder, printed), EstimatedPolicy(gamma, price))


@part("gate", "parse_or_skip_q")
def q_learning(
    search: Sequence[str],
    encoder: Encoder,
    gamma: float = 0.3,
    price: float = 0.5,  # of a fetch, in what a fetch brings on average
    printed: bool = False,  # the document's features as they are printed
) -> ParseOrSkip:
    """Skips links that bring less than a fetch costs, by Q-learning: no model."""
    return ParseOrSkip(_states(search, encoder, printed), QLearning(gamma, price))


@part("gate", "parse_or_skip_document")
def document(
    search: Sequence[str], encoder: Encoder, gamma: float = 0.9, printed: bool = True
) -> ParseOrSkip:
    """Document 002's own policy, which skips in every state: for comparison."""
    return ParseOrSkip(_states(search, encoder, printed), DocumentPolicy(gamma))


def _states(search: Sequence[str], encoder: Encoder, printed: bool) -> States:
    words = UrlWords(search, encoder)
    return Printed(words) if printed else Corrected(words)
