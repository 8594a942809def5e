"""The deep Q-network of Pertejo (2021, §3.7, 4.3 and 4.4): one output for each page.

For comparison: Pertejo measures it and finds a crawler that learns nothing far better.
"""

from collections.abc import Sequence
from zlib import crc32

import numpy as np
import torch

from honeyguide.agents.rewards import tiered
from honeyguide.contracts import (
    Agent,
    Candidates,
    Goal,
    Matrix,
    MemoryView,
    Outlinks,
    Reasons,
    State,
    Step,
    Vector,
    Visit,
)
from honeyguide.errors import HoneyguideError, unknown
from honeyguide.features.column_names import ColumnNames
from honeyguide.features.discrete import PERTEJO, Discrete, category_words
from honeyguide.learning.exploring import epsilon_greedy
from honeyguide.learning.parameters import Parameters, Views
from honeyguide.learning.rates import check_rates
from honeyguide.learning.replay import Experience, Replay
from honeyguide.learning.torch_threads import one_thread
from honeyguide.registry import part

HIDDEN = (128, 256)
DROPOUT = 0.5
ROOM = 50_000  # experiences kept
BATCH = 32
WARM = 100  # steps before the first gradient step
TARGET_RATE = 0.01  # share of the network in each update of the target network
PICKED = ("a_own", "a_mean", "a_offset_own", "a_offset_mean")
DUELING = ("mean", "max")
NO_OUTPUT = -1  # number of a page that was met when all outputs belonged to other pages
CLOSE, NEAR = 0.6, 0.5  # relevance above which the reward is 30, is 20

# state of the features in a crawl of version 0.2 or earlier, where a hash of the URL was the output
BY_HASH: State = {"urls": None}
BYTES_OF_A_PAGE = 150  # besides its URL: the entry of a dict, a string, a number


@part("agent", "dqn_outputs")
class DqnOutputs(Agent):
    """A deep Q-network with one output for each page of a small web."""

    def __init__(  # noqa: PLR0913 each is a setting of users
        self,
        goal: Goal,
        rng: np.random.Generator,
        pages: int = 5_000,  # outputs: the number of pages of the web
        categories: str = "",  # related words with + between: "earth+science"
        gamma: float = 0.3,
        epsilon: float = 0.3,  # share of links taken at random: 0.3 in training, 0.1 in a test
        learns: bool = True,  # False in a test
        *,
        dueling: str = "mean",  # of A(s, .), which is subtracted from A(s, a): mean or max
        clipped: bool = False,  # clipped double Q-learning, in place of double
        last_epsilon: float = 0.0,  # that epsilon falls to in epsilon_steps choices
        epsilon_steps: int = 0,  # 0: epsilon stays as it is
    ) -> None:
        check_rates(
            "dqn_outputs",
            gamma,
            epsilon=epsilon,
            last_epsilon=last_epsilon,
            epsilon_steps=epsilon_steps,
        )
        if dueling not in DUELING:
            raise unknown("dueling", dueling, DUELING)
        if pages < 1:
            raise HoneyguideError("dqn_outputs needs at least one page, that is, one output")
        one_thread()
        for_network, for_replay, self._rng = rng.spawn(3)
        self.features: _PageAndOutput = _PageAndOutput(goal, categories, pages)
        self.pages, self.gamma, self.learns = pages, gamma, learns
        self.dueling, self.clipped = dueling, clipped
        self._choices = epsilon_greedy(self._rng, epsilon, last_epsilon, epsilon_steps)
        state, (first, second) = self.features.state_width, HIDDEN
        shapes = {
            "w1": (state, first), "b1": (first,), "w2": (first, second), "b2": (second,),
            "v": (second, 1), "v_offset": (1,), "a": (second, pages), "a_offset": (pages,),
        }  # fmt: skip
        self._parameters = Parameters(shapes, for_network)
        self._target_parameters = self._parameters.copy()
        self._direction = torch.empty_like(self._target_parameters)  # the last gradient
        self._replay = Replay(for_replay, ROOM)
        self._dropout_rng = torch.Generator().manual_seed(int(for_network.integers(2**62)))

    def score(self, links: Candidates) -> Vector:
        """Q(s, a) = V(s) + A(s, a) - mean A(s, .), a the output of the link's target page.

        With dueling "max" it is the highest A(s, .) instead of their mean (Pertejo 2021, §2.6.3).
        Q of a page without an output of its own is V(s).
        """
        p = self._parameters.arrays()
        states, own = links.x[:, :-1], links.x[:, -1].astype(np.intp)
        has = (own != NO_OUTPUT).astype(np.float32)
        hidden = np.tanh(np.tanh(states @ p["w1"] + p["b1"]) @ p["w2"] + p["b2"])
        advantage = (hidden * p["a"][:, own].T).sum(axis=1) + p["a_offset"][own]
        if self.dueling == "max":
            baseline = _highest(hidden, p["a"], p["a_offset"])
        else:
            baseline = hidden @ p["a"].mean(axis=1) + p["a_offset"].mean()
        q: Vector = hidden @ p["v"][:, 0] + p["v_offset"][0] + advantage * has - baseline * has
        return q

    def explain(self, links: Candidates) -> Reasons:
        """What Q(s, a) loses when a group of features is left out."""
        blank = np.append(np.zeros(self.features.state_width, np.float32), NO_OUTPUT)
        return self.features.column_names.left_out(self.score, links, blank.astype(np.float32))

    def explores(self) -> bool:
        """Take a random link with probability epsilon."""
        return self._choices.explores()

    def reward(self, visit: Visit) -> float:
        """30, 20 or -1, as in appendix A.8 of Pertejo (2021); its algorithm 3 has 30, 20 and 10."""
        return tiered(visit.verdict, CLOSE, NEAR)

    def learn(self, steps: Sequence[Step]) -> None:
        """Lines 32 to 35; as in Keras-RL the best action may be an output that no link leads to."""
        for step in steps:
            if not self.learns:
                continue
            after = step.options.x[:1, :-1].copy()
            self._replay.add(Experience(step.x.copy(), step.reward, after))
            if len(self._replay) <= WARM:
                continue
            drawn = self._replay.draw(min(BATCH, len(self._replay)))
            self._descend([self._replay[place] for place in drawn.places])

    def _descend(self, batch: Sequence[Experience]) -> None:
        targets = np.array([experience.reward for experience in batch], np.float32)
        some = [place for place, experience in enumerate(batch) if len(experience.options)]
        if some:
            after = torch.from_numpy(np.concatenate([batch[place].options for place in some]))
            with torch.no_grad():
                worth = self._worth(after)
            targets[some] += self.gamma * worth.numpy()
        x = torch.from_numpy(np.array([experience.x for experience in batch]))
        self._parameters.descend(
            self._gradient(x[:, :-1], x[:, -1].long(), torch.from_numpy(targets))
        )
        self._target_parameters.lerp_(self._parameters.data, TARGET_RATE)

    def _worth(self, states: torch.Tensor) -> torch.Tensor:
        """What the best action in each state is worth (Pertejo 2021, §2.6.2)."""
        own = self._parameters.views(self._parameters.data)
        target = self._parameters.views(self._target_parameters)
        if self.clipped:  # the lower of both networks' best
            return torch.minimum(*(self._all(p, states).max(1).values for p in (own, target)))
        best = self._best(states)
        if self.dueling == "max":
            return self._all(target, states).gather(1, best[:, None])[:, 0]
        return self._q(_picked(target, best), states, torch.ones(len(best)))

    def _gradient(
        self, states: torch.Tensor, own: torch.Tensor, targets: torch.Tensor
    ) -> torch.Tensor:
        """The gradient of the mean squared error; other outputs take part through the mean of A."""
        has = (own != NO_OUTPUT).float()
        own = own.clamp(min=0)  # the gradient of an output that a page does not have is 0
        if self.dueling == "max":
            return self._whole_gradient(states, own, has, targets)
        p = _picked(self._parameters.views(), own)
        for name in PICKED:
            p[name] = p[name].detach().requires_grad_(True)
        loss = torch.nn.functional.mse_loss(self._q(p, states, has, dropout=True), targets)
        found = dict(zip(p, torch.autograd.grad(loss, list(p.values())), strict=True))
        whole = self._parameters.views(self._direction)
        for name, place in whole.items():
            if name in found:
                place.copy_(found[name])
        whole["a"].copy_((found["a_mean"] / self.pages)[:, None].expand(-1, self.pages))
        whole["a"].index_add_(1, own, found["a_own"].T)
        whole["a_offset"].fill_(float(found["a_offset_mean"]) / self.pages)
        whole["a_offset"].index_add_(0, own, found["a_offset_own"])
        return self._direction

    def _whole_gradient(
        self, states: torch.Tensor, own: torch.Tensor, has: torch.Tensor, targets: torch.Tensor
    ) -> torch.Tensor:
        """The gradient through all outputs, which is slower."""
        p = self._parameters.views()
        hidden = self._hidden(p, states, dropout=True)
        advantage = hidden @ p["a"] + p["a_offset"]
        above = advantage.gather(1, own[:, None])[:, 0] - advantage.max(1).values
        q = hidden @ p["v"][:, 0] + p["v_offset"][0] + above * has
        return self._parameters.gradient(torch.nn.functional.mse_loss(q, targets))

    def _all(self, p: Views, states: torch.Tensor) -> torch.Tensor:
        """Q of all outputs in each state."""
        hidden = self._hidden(p, states)
        advantage = hidden @ p["a"] + p["a_offset"]
        baseline = advantage.max(1).values if self.dueling == "max" else advantage.mean(1)
        return hidden @ p["v"] + p["v_offset"] + advantage - baseline[:, None]

    def _best(self, states: torch.Tensor) -> torch.Tensor:
        """The output with the highest Q, which is that with the highest A."""
        p = self._parameters.views(self._parameters.data)
        return (self._hidden(p, states) @ p["a"] + p["a_offset"]).argmax(1)

    def _q(
        self, p: Views, states: torch.Tensor, has: torch.Tensor, dropout: bool = False
    ) -> torch.Tensor:
        """Q of the output that `p` holds for each state; `has` is 0 where there is none, else 1."""
        hidden = self._hidden(p, states, dropout)
        advantage = (hidden * p["a_own"]).sum(1) + p["a_offset_own"]
        mean = hidden @ p["a_mean"] + p["a_offset_mean"]
        return hidden @ p["v"][:, 0] + p["v_offset"][0] + advantage * has - mean * has

    def _hidden(self, p: Views, states: torch.Tensor, dropout: bool = False) -> torch.Tensor:
        """The last hidden layer, the only one with dropout."""
        hidden = torch.tanh(torch.tanh(states @ p["w1"] + p["b1"]) @ p["w2"] + p["b2"])
        return self._drop(hidden) if dropout else hidden

    def _drop(self, hidden: torch.Tensor) -> torch.Tensor:
        kept = torch.rand(hidden.shape, generator=self._dropout_rng) >= DROPOUT
        return hidden * kept / (1 - DROPOUT)

    def policy(self) -> State:
        """The network, and the pages that its outputs belong to."""
        return {"network": self._parameters.state(), "outputs": self.features.state()}

    def load_policy(self, state: State) -> None:
        """Start from the network that an earlier crawl has trained, with the same outputs."""
        if state.get("outputs", BY_HASH) == BY_HASH:
            raise HoneyguideError(
                "its pages share outputs, as in version 0.2: train it anew, so that each has one"
            )
        self._parameters.load(state["network"])
        self._target_parameters = self._parameters.copy()
        self.features.load(state["outputs"])

    def state(self) -> State:
        """Everything that `load` restores."""
        return {
            "network": self._parameters.state(),
            "slow": self._target_parameters.numpy().copy(),
            "replay": self._replay.state(),
            "chance": self._dropout_rng.get_state().numpy().copy(),
            "dice": self._rng.bit_generator.state,
            "choices": self._choices.taken,
            "outputs": self.features.state(),
        }

    def load(self, state: State) -> None:
        """Restore a saved state."""
        self._parameters.load(state["network"])
        self._target_parameters = torch.from_numpy(state["slow"].copy())
        self._replay.load(state["replay"])
        self._dropout_rng.set_state(torch.from_numpy(state["chance"].copy()))
        self._rng.bit_generator.state = state["dice"]
        self.features.load(state.get("outputs", BY_HASH))
        self._choices.set_steps(state.get("choices", 0))  # older crawls did not store it


def _highest(hidden: Matrix, outputs: Matrix, offsets: Vector) -> Vector:
    """The highest A(s, .) of each row; links of one page have the same state."""
    distinct, places = np.unique(hidden, axis=0, return_inverse=True)
    highest: Vector = (distinct @ outputs + offsets).max(axis=1)[places.ravel()]
    return highest


def _picked(p: Views, own: torch.Tensor) -> Views:
    """The parameters with one output for each state and the mean output, instead of all outputs."""
    picked = {name: view for name, view in p.items() if name not in ("a", "a_offset")}
    parts = p["a"][:, own].T, p["a"].mean(1), p["a_offset"][own], p["a_offset"].mean()
    return picked | dict(zip(PICKED, parts, strict=True))


class _PageAndOutput:
    """A row a link: the state of its page (§3.3.1), and the output of the page it leads to.

    Pertejo (2021) numbers the pages of a dump; here a page gets the next output when the first link
    to it is found. The URLs are part of the policy, so that outputs mean the same in every crawl.
    """

    def __init__(self, goal: Goal, categories: str, pages: int) -> None:
        self._discrete = Discrete(goal.topic, goal.encoder, category_words(categories), PERTEJO)
        self._pages = pages
        self._outputs: dict[str, int] | None = {}  # by URL; None if pages share outputs
        self._nbytes = 0
        self.state_width = self._discrete.page_width
        self.width = self.state_width + 1
        of_page = self._discrete.columns[: self.state_width]
        self.column_names = ColumnNames([*of_page, "the page that it leads to"])

    def __call__(self, memory: MemoryView, found: Outlinks) -> Matrix:
        x = np.zeros((len(found.links), self.width), np.float32)
        if found.page is not None:
            x[:, :-1] = self._discrete.of_page(memory, found.source, found.page)
        x[:, -1] = [self._output(link.url) for link in found.links]
        return x

    @property
    def nbytes(self) -> int:
        """Size of its table in bytes, about."""
        return self._nbytes

    def state(self) -> State:
        """The URLs of the pages that have an output, in the order of the outputs."""
        return {"urls": None if self._outputs is None else list(self._outputs)}

    def load(self, state: State) -> None:
        """Restore a saved state, or that of a crawl whose pages share outputs."""
        urls = state["urls"]
        self._outputs = None if urls is None else {url: n for n, url in enumerate(urls)}
        self._nbytes = sum(len(url) + BYTES_OF_A_PAGE for url in self._outputs or ())

    def _output(self, url: str) -> int:
        if self._outputs is None:
            return crc32(url.encode("utf-8", "replace")) % self._pages
        if url not in self._outputs and len(self._outputs) < self._pages:
            self._outputs[url] = len(self._outputs)
            self._nbytes += len(url) + BYTES_OF_A_PAGE
        return self._outputs.get(url, NO_OUTPUT)
