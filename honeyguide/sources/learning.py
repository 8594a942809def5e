"""How the policy learns: equations 6 to 10 of document 003, with torch."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from honeyguide.contracts import Matrix, State
from honeyguide.sources.inputs import TAGS, Episode, PageInputs
from honeyguide.sources.policy import ANCHOR, JOINT, TAG, Policy


class PolicyNet(nn.Module):
    """The two nets, the main task and the auxiliary one; without a net its output is zero."""

    def __init__(self, width: int, nets: Sequence[str] = ("anchor", "tags")) -> None:
        super().__init__()
        self.nets = frozenset(nets)
        self.anchor = nn.Sequential(
            nn.Linear(width, ANCHOR), nn.ReLU(), nn.Linear(ANCHOR, JOINT), nn.ReLU()
        )
        self.tags = nn.LSTM(len(TAGS), TAG, bidirectional=True)
        self.joint = nn.Sequential(
            nn.Linear(JOINT + 2 * TAG, JOINT), nn.ReLU(), nn.Linear(JOINT, 1)
        )
        self.layout = nn.Linear(JOINT + 2 * TAG, 12)

    def forward(self, anchors: Tensor, tags: Tensor) -> tuple[Tensor, Tensor]:
        """Probabilities of links, and where a browser would draw them and their neighbours."""
        text = self.anchor(anchors) * ("anchor" in self.nets)
        way = self.tags(tags)[0] * ("tags" in self.nets)
        joined = torch.cat([text, way], dim=1)
        return torch.sigmoid(self.joint(joined)[:, 0]), self.layout(joined)


class PolicyGradient:
    """Raises the chance of clicks that paid, and predicts the layout on the side."""

    def __init__(
        self,
        width: int,
        random_seed: int,
        alpha: float = 0.2,  # weight of the auxiliary task (equation 9)
        step_size: float = 0.002,
        credit: float = 0.0,  # share of the other clicks' rewards that a click gets: printed as 1
        temperature: float = 1.0,  # of the softmax (equation 10): 1 as printed
        nets: Sequence[str] = ("anchor", "tags"),
    ) -> None:
        torch.set_num_threads(1)  # two were slower by far on busy machines
        with torch.random.fork_rng():
            torch.manual_seed(random_seed)
            self.net = PolicyNet(width, nets)
        self.alpha, self.credit, self.temperature = alpha, credit, temperature
        self._optimiser = torch.optim.Adam(self.net.parameters(), lr=step_size)

    def policy(self) -> Policy:
        """What was learnt so far; a net that is left out leaves zero weights."""
        weights = {name: value.detach().numpy().copy() for name, value in self._named()}
        if "anchor" not in self.net.nets:
            weights["joint.0.weight"][:, :JOINT] = 0
        if "tags" not in self.net.nets:
            weights["joint.0.weight"][:, JOINT:] = 0
        return Policy(weights)

    def load(self, policy: Policy) -> None:
        """Go on from there."""
        with torch.no_grad():
            for name, value in self._named():
                value.copy_(torch.from_numpy(policy.weights[name]))

    def update(self, episodes: Sequence[Episode]) -> float:
        """One step down the loss of equation 9 on a batch; the loss."""
        self._optimiser.zero_grad()
        losses = [self._loss(episode) for episode in episodes if episode.choices]
        if not losses:
            return 0.0
        loss = torch.stack(losses).mean()
        loss.backward()  # type: ignore[no-untyped-call]
        self._optimiser.step()
        return float(loss.detach())

    def state(self) -> State:
        """Weights and the optimiser's moments."""
        moments = self._optimiser.state_dict()["state"]
        return {
            "weights": {name: value.detach().numpy().copy() for name, value in self._named()},
            "moments": [
                {key: np.asarray(value).copy() for key, value in moments[place].items()}
                for place in sorted(moments)
            ],
        }

    def load_state(self, state: State) -> None:
        """Go on exactly from a saved state."""
        self.load(Policy(state["weights"]))
        saved = self._optimiser.state_dict()
        saved["state"] = {
            place: {key: torch.from_numpy(np.array(value)) for key, value in moments.items()}
            for place, moments in enumerate(state["moments"])
        }
        self._optimiser.load_state_dict(saved)

    def _named(self) -> Any:
        return self.net.named_parameters()

    def _loss(self, episode: Episode) -> Tensor:
        seen = [self._see(page) for page in episode.pages]
        main = torch.zeros(())
        for choice in episode.choices:
            weight = choice.reward + self.credit * (episode.total - choice.reward)
            worth = torch.stack([seen[page][0][link] for page, link in choice.options])
            main = main - weight * torch.log_softmax(worth / self.temperature, 0)[choice.taken]
        laid = [
            torch.mean((seen[number][1] - torch.from_numpy(page.boxes)) ** 2)
            for number, page in enumerate(episode.pages)
            if page.boxes is not None and len(page)
        ]
        if not laid or not self.alpha:
            return main
        return self.alpha * torch.stack(laid).sum() + (1 - self.alpha) * main

    def _see(self, page: PageInputs) -> tuple[Tensor, Tensor]:
        if not len(page):
            return torch.empty(0), torch.empty(0, 12)
        answer: tuple[Tensor, Tensor] = self.net(_tensor(page.anchors), _tensor(page.tags))
        return answer


def _tensor(rows: Matrix) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(rows))
