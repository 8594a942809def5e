"""Document 000's own deep Q-network: the state in, one output for each page (3.7, 4.3, 4.4).

Kept because the document measures it, and finds the crawler that learns nothing far better.
"""

from collections.abc import Sequence
from zlib import crc32

import numpy as np
import torch

from honeyguide.contracts import (
    Agent,
    Goal,
    Matrix,
    MemoryView,
    Outlinks,
    State,
    Step,
    Vector,
    Visit,
)
from honeyguide.errors import HoneyguideError
from honeyguide.features.state_action import STATE, StateAction
from honeyguide.networks.parameters import Parameters, one_thread
from honeyguide.networks.replay import Experience, Replay
from honeyguide.registry import part

HIDDEN = (128, 256)
DROPOUT = 0.5
ROOM = 50_000  # experiences kept
BATCH = 32
SOFT = 0.01  # share of the network that goes into its copy at each step
HIGH, LOW = 0.6, 0.5  # relevance above which a page is worth 20, and 10


@part("agent", "dqn_outputs")
class DqnOutputs(Agent):
    """A deep Q-network with an output for each page of a small web: the page a link leads to."""

    def __init__(
        self,
        goal: Goal,
        rng: np.random.Generator,
        pages: int = 5_000,  # outputs: about as many as the web has pages
        gamma: float = 0.3,
        epsilon: float = 0.3,  # share of links taken at random: 0.3 in training, 0.1 in a test
        learns: bool = True,  # not in a test
    ) -> None:
        if pages < 1:
            raise HoneyguideError("a network needs at least one page as its output")
        one_thread()
        for_network, for_replay, self._dice = rng.spawn(3)
        self.features: _PageAndNumber = _PageAndNumber(goal, pages)
        self.pages, self.gamma, self.epsilon, self.learns = pages, gamma, epsilon, learns
        first, second = HIDDEN
        shapes = {
            "w1": (STATE, first), "b1": (first,), "w2": (first, second), "b2": (second,),
            "v": (second, 1), "v_offset": (1,), "a": (second, pages), "a_offset": (pages,),
        }  # fmt: skip
        self._parameters = Parameters(shapes, for_network)
        self._slow = self._parameters.copy()
        self._replay = Replay(for_replay, ROOM)
        self._chance = torch.Generator().manual_seed(int(for_network.integers(2**62)))

    def score(self, x: Matrix) -> Vector:
        """Q(s, a) = V(s) + A(s, a) - mean A(s, .): of each row's own output only."""
        p = {
            n: v.numpy() for n, v in self._parameters.views(self._parameters.data.detach()).items()
        }
        hidden = np.tanh(np.tanh(x[:, :STATE] @ p["w1"] + p["b1"]) @ p["w2"] + p["b2"])
        own = x[:, STATE].astype(np.intp)
        advantage = (hidden * p["a"][:, own].T).sum(axis=1) + p["a_offset"][own]
        mean = hidden @ p["a"].mean(axis=1) + p["a_offset"].mean()
        q: Vector = hidden @ p["v"][:, 0] + p["v_offset"][0] + advantage - mean
        return q

    def explores(self) -> bool:
        """At random with probability epsilon."""
        return bool(self._dice.random() < self.epsilon)

    def reward(self, visit: Visit) -> float:
        """Algorithm 3, lines 19 to 31: 30 with the topic's word, 20 or 10 near it, else -1."""
        verdict = visit.verdict
        if verdict.relevant:
            return 30.0
        return 20.0 if verdict.relevance > HIGH else 10.0 if verdict.relevance > LOW else -1.0

    def learn(self, steps: Sequence[Step]) -> None:
        """Lines 32 to 35; as in Keras-RL the best action is any output, offered or not."""
        for step in steps:
            if not self.learns:
                continue
            after = step.options[:1, :STATE] if len(step.options) else np.empty((0, STATE))
            self._replay.add(Experience(step.x.copy(), step.reward, after.astype(np.float32)))
            drawn = self._replay.draw(min(BATCH, len(self._replay)))
            self._descend([self._replay[place] for place in drawn.places])

    def _descend(self, batch: Sequence[Experience]) -> None:
        targets = np.array([experience.reward for experience in batch], np.float32)
        some = [place for place, experience in enumerate(batch) if len(experience.options)]
        if some:
            after = torch.from_numpy(np.concatenate([batch[place].options for place in some]))
            with torch.no_grad():
                best = self._q(after, self._parameters.data).argmax(1, keepdim=True)
                worth = self._q(after, self._slow).gather(1, best)[:, 0]
            targets[some] += self.gamma * worth.numpy()
        x = torch.from_numpy(np.array([experience.x for experience in batch]))
        q = self._q(x[:, :STATE], self._parameters.data, dropout=True)
        own = q.gather(1, x[:, STATE:].long())[:, 0]
        loss = torch.nn.functional.mse_loss(own, torch.from_numpy(targets))
        self._parameters.descend(self._parameters.gradient(loss))
        self._slow.lerp_(self._parameters.data.detach(), SOFT)

    def _q(self, states: torch.Tensor, data: torch.Tensor, dropout: bool = False) -> torch.Tensor:
        p = self._parameters.views(data)
        hidden = self._drop(torch.tanh(states @ p["w1"] + p["b1"]), dropout)
        hidden = self._drop(torch.tanh(hidden @ p["w2"] + p["b2"]), dropout)
        advantage = hidden @ p["a"] + p["a_offset"]
        return hidden @ p["v"] + p["v_offset"] + advantage - advantage.mean(1, keepdim=True)

    def _drop(self, hidden: torch.Tensor, dropout: bool) -> torch.Tensor:
        if not dropout:
            return hidden
        kept = torch.rand(hidden.shape, generator=self._chance) >= DROPOUT
        return hidden * kept / (1 - DROPOUT)

    def policy(self) -> State:
        """The network."""
        return {"network": self._parameters.state()}

    def load_policy(self, state: State) -> None:
        """Start from the network of an earlier crawl."""
        self._parameters.load(state["network"])
        self._slow = self._parameters.copy()

    def state(self) -> State:
        """All of it."""
        return {
            "network": self._parameters.state(),
            "slow": self._slow.numpy().copy(),
            "replay": self._replay.state(),
            "chance": self._chance.get_state().numpy().copy(),
            "dice": self._dice.bit_generator.state,
            "features": self.features.state(),
        }

    def load(self, state: State) -> None:
        """Go on from a saved state."""
        self._parameters.load(state["network"])
        self._slow = torch.from_numpy(state["slow"].copy())
        self._replay.load(state["replay"])
        self._chance.set_state(torch.from_numpy(state["chance"].copy()))
        self._dice.bit_generator.state = state["dice"]
        self.features.load(state["features"])


class _PageAndNumber:
    """The numbers of the page a link stands on, and which output the page it leads to has.

    The document numbers the pages of its dump; here the number follows from the URL, the same in
    every crawl, and two pages may share one.
    """

    width = STATE + 1

    def __init__(self, goal: Goal, pages: int) -> None:
        self._all = StateAction(goal)
        self._pages = pages

    def __call__(self, memory: MemoryView, found: Outlinks) -> Matrix:
        numbers = [crc32(link.url.encode("utf-8", "replace")) % self._pages for link in found.links]
        own = np.array(numbers, np.float32).reshape(-1, 1)
        return np.hstack([self._all(memory, found)[:, :STATE], own]).astype(np.float32)

    def state(self) -> State:
        return self._all.state()

    def load(self, state: State) -> None:
        self._all.load(state)
