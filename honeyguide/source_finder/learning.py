"""How the policy learns: equations 6 to 10 of Liao and Chang (2022), with torch."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils import rnn

from honeyguide.contracts import Matrix, State, Vector
from honeyguide.learning.torch_threads import one_thread
from honeyguide.source_finder.inputs import TAGS, Episode, PageInputs
from honeyguide.source_finder.policy import ANCHOR, JOINT, TAG, Policy


class PolicyNet(nn.Module):
    """The two nets, the main task and the auxiliary one; without a net its output is zero."""

    def __init__(
        self, width: int, nets: Sequence[str] = ("anchor", "tags"), times: int = 1
    ) -> None:
        super().__init__()
        self.nets = frozenset(nets)
        anchor, tag, joint = ANCHOR * times, TAG * times, JOINT * times
        self.anchor = nn.Sequential(
            nn.Linear(width, anchor), nn.ReLU(), nn.Linear(anchor, joint), nn.ReLU()
        )
        self.tags = nn.LSTM(len(TAGS), tag, bidirectional=True)
        self.joint = nn.Sequential(
            nn.Linear(joint + 2 * tag, joint), nn.ReLU(), nn.Linear(joint, 1)
        )
        self.layout = nn.Linear(joint + 2 * tag, 12)

    def forward(
        self, anchors: Tensor, tags: Tensor, lengths: Sequence[int] | None = None
    ) -> tuple[Tensor, Tensor]:
        """Probabilities of the links of a page, or of pages of these lengths, and their layout."""
        text = self.anchor(anchors) * ("anchor" in self.nets)
        pages = tags.split(lengths or [len(tags)])  # type: ignore[no-untyped-call]
        packed = rnn.pack_sequence(pages, enforce_sorted=False)
        way, many = rnn.pad_packed_sequence(self.tags(packed)[0], batch_first=True)
        way = torch.cat([page[:length] for page, length in zip(way, many, strict=True)])
        way = way * ("tags" in self.nets)
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
        lineage: float = 0.0,  # share of the best it led to that a click is worth: 0 as printed
        nets: Sequence[str] = ("anchor", "tags"),
        times: int = 1,  # nets side by side
    ) -> None:
        one_thread()
        with torch.random.fork_rng():
            torch.manual_seed(random_seed)
            self.net = PolicyNet(width, nets, times)
        self.alpha, self.credit, self.lineage = alpha, credit, lineage
        self._optimiser = torch.optim.Adam(self.net.parameters(), lr=step_size)

    def policy(self) -> Policy:
        """What was learnt so far; a net that is left out leaves zero weights."""
        weights = {name: value.detach().numpy().copy() for name, value in self._named()}
        text = len(weights["anchor.2.bias"])
        if "anchor" not in self.net.nets:
            weights["joint.0.weight"][:, :text] = 0
        if "tags" not in self.net.nets:
            weights["joint.0.weight"][:, text:] = 0
        return Policy(weights)

    def load(self, policy: Policy) -> None:
        """Go on from there."""
        with torch.no_grad():
            for name, value in self._named():
                value.copy_(torch.from_numpy(policy.weights[name]))

    def update(self, episodes: Sequence[Episode]) -> float:
        """One step down the loss of equation 9 on a batch; the loss."""
        episodes = [episode for episode in episodes if episode.choices]
        if not episodes:
            return 0.0
        self._optimiser.zero_grad()
        # all pages at once: a batch takes hardly longer than a page
        pages = [page for episode in episodes for page in episode.pages if len(page)]
        worths, layout = self._weigh(pages)
        sizes = [sum(map(len, episode.pages)) for episode in episodes]
        seen = zip(episodes, worths.split(sizes), layout.split(sizes), strict=True)
        loss = torch.stack([self._loss(*one) for one in seen]).mean()
        loss.backward()  # type: ignore[no-untyped-call]
        self._optimiser.step()
        return float(loss.detach())

    def imitate(
        self,
        pages: Sequence[PageInputs],
        worths: Sequence[Vector],  # of each page's links; not a number where unknown
    ) -> float:
        """One step towards given probabilities; the loss."""
        self._optimiser.zero_grad()
        guessed, _ = self._weigh(pages)
        told = _tensor(worths)
        known = ~told.isnan()
        loss = nn.functional.binary_cross_entropy(guessed[known], told[known])
        loss.backward()  # type: ignore[no-untyped-call]
        self._optimiser.step()
        return float(loss.detach())

    def _weigh(self, pages: Sequence[PageInputs]) -> Any:
        """Probabilities and layout of the links of pages, one page after the other."""
        anchors, tags = (
            _tensor(rows) for rows in zip(*((p.anchors, p.tags) for p in pages), strict=True)
        )
        return self.net(anchors, tags, [len(page) for page in pages])

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

    def _loss(self, episode: Episode, worths: Tensor, layout: Tensor) -> Tensor:
        starts = np.cumsum([0, *map(len, episode.pages)])
        main = torch.zeros(())
        for choice, worth in zip(episode.choices, episode.worths(self.lineage), strict=True):
            weight = worth + self.credit * (episode.total - worth)
            pages, links = np.array(choice.options).T
            options = worths[torch.from_numpy(starts[pages] + links)]
            main = main - weight * torch.log_softmax(options, 0)[choice.taken]
        drawn = layout.split([len(page) for page in episode.pages])  # type: ignore[no-untyped-call]
        laid = [
            torch.mean((links - torch.from_numpy(page.boxes)) ** 2)
            for page, links in zip(episode.pages, drawn, strict=True)
            if page.boxes is not None and len(page)
        ]
        if not laid or not self.alpha:
            return main
        return self.alpha * torch.stack(laid).sum() + (1 - self.alpha) * main


def _tensor(rows: Sequence[Matrix]) -> Tensor:
    return torch.from_numpy(np.concatenate(rows))
