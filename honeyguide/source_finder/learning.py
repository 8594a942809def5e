"""Train the policy network with torch: equations 6 to 10 of Liao and Chang (2022)."""

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
    """Anchor-Net, Tag-Net, the main task and the auxiliary one; a net left out outputs zeros."""

    def __init__(
        self, width: int, nets: Sequence[str] = ("anchor", "tags"), ensemble_size: int = 1
    ) -> None:
        super().__init__()
        self.nets = frozenset(nets)
        anchor, tag, joint = ANCHOR * ensemble_size, TAG * ensemble_size, JOINT * ensemble_size
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
        """Return (links,) probabilities and (links, 12) layout of pages with so many links each."""
        text = self.anchor(anchors) * ("anchor" in self.nets)
        pages = tags.split(lengths or [len(tags)])  # type: ignore[no-untyped-call]
        packed = rnn.pack_sequence(pages, enforce_sorted=False)
        way, many = rnn.pad_packed_sequence(self.tags(packed)[0], batch_first=True)
        way = torch.cat([page[:length] for page, length in zip(way, many, strict=True)])
        way = way * ("tags" in self.nets)
        joined = torch.cat([text, way], dim=1)
        return torch.sigmoid(self.joint(joined)[:, 0]), self.layout(joined)


class PolicyGradient:
    """Policy gradient with an auxiliary task: predict where links are in the page layout."""

    def __init__(
        self,
        width: int,
        random_seed: int,
        alpha: float = 0.2,  # weight of the auxiliary task (equation 9)
        step_size: float = 0.002,
        credit: float = 0.0,  # share of the other clicks' rewards that a click gets; 1 in the paper
        lineage: float = 0.0,  # share of the best later reward that a click gets; 0 in the paper
        nets: Sequence[str] = ("anchor", "tags"),
        ensemble_size: int = 1,  # networks merged into one
    ) -> None:
        one_thread()
        with torch.random.fork_rng():
            torch.manual_seed(random_seed)
            self.net = PolicyNet(width, nets, ensemble_size)
        self.alpha, self.credit, self.lineage = alpha, credit, lineage
        self._optimiser = torch.optim.Adam(self.net.parameters(), lr=step_size)

    def policy(self) -> Policy:
        """Return a copy of the network for use; weights of a net that is left out are zero."""
        weights = {name: value.detach().numpy().copy() for name, value in self._named()}
        text = len(weights["anchor.2.bias"])
        if "anchor" not in self.net.nets:
            weights["joint.0.weight"][:, :text] = 0
        if "tags" not in self.net.nets:
            weights["joint.0.weight"][:, text:] = 0
        return Policy(weights)

    def load(self, policy: Policy) -> None:
        """Replace the weights by those of a policy."""
        with torch.no_grad():
            for name, value in self._named():
                value.copy_(torch.from_numpy(policy.weights[name]))

    def update(self, episodes: Sequence[Episode]) -> float:
        """Take one gradient step on a batch of episodes and return its loss (equation 9)."""
        episodes = [episode for episode in episodes if episode.choices]
        if not episodes:
            return 0.0
        self._optimiser.zero_grad()
        # all pages in one pass, which takes hardly longer than one page
        pages = [page for episode in episodes for page in episode.pages if len(page)]
        worths, layout = self._forward(pages)
        sizes = [sum(map(len, episode.pages)) for episode in episodes]
        seen = zip(episodes, worths.split(sizes), layout.split(sizes), strict=True)
        loss = torch.stack([self._loss(*one) for one in seen]).mean()
        loss.backward()  # type: ignore[no-untyped-call]
        self._optimiser.step()
        return float(loss.detach())

    def fit(
        self,
        pages: Sequence[PageInputs],
        targets: Sequence[Vector],  # probabilities of each page's links; NaN where unknown
    ) -> float:
        """Take one gradient step towards given probabilities and return the loss."""
        self._optimiser.zero_grad()
        predicted, _ = self._forward(pages)
        wanted = _tensor(targets)
        known = ~wanted.isnan()
        loss = nn.functional.binary_cross_entropy(predicted[known], wanted[known])
        loss.backward()  # type: ignore[no-untyped-call]
        self._optimiser.step()
        return float(loss.detach())

    def _forward(self, pages: Sequence[PageInputs]) -> Any:
        """Return probabilities and layout of all links, one page after the other."""
        anchors, tags = (
            _tensor(rows) for rows in zip(*((p.anchors, p.tags) for p in pages), strict=True)
        )
        return self.net(anchors, tags, [len(page) for page in pages])

    def state(self) -> State:
        """Return the weights and the optimiser's moments."""
        moments = self._optimiser.state_dict()["state"]
        return {
            "weights": {name: value.detach().numpy().copy() for name, value in self._named()},
            "moments": [
                {key: np.asarray(value).copy() for key, value in moments[place].items()}
                for place in sorted(moments)
            ],
        }

    def load_state(self, state: State) -> None:
        """Resume from a saved state."""
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
