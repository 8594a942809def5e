"""A dueling Q-network for (state, action) pairs: a state value and an action's advantage."""

from typing import Any

import numpy as np
import torch

from honeyguide.contracts import Matrix, Vector
from honeyguide.learning.parameters import Parameters
from honeyguide.learning.torch_threads import one_thread


class Dueling:
    """Q(s, a) = V(s) + A(s, a); without dueling, A alone.

    The mean of A over a state's actions is not subtracted, since links of many pages are scored
    together; A starts at zero, which keeps V and A apart well enough.
    """

    def __init__(
        self,
        width: int,
        state: int,  # width of the state: the first features of a row
        rng: np.random.Generator,
        dueling: bool = True,
        hidden: int = 48,
        step_size: float = 0.001,
    ) -> None:
        one_thread()
        self.state, self.dueling = state, dueling
        shapes: dict[str, tuple[int, ...]] = {
            "a1": (width, hidden), "a1_offset": (hidden,),
            "a2": (hidden, hidden), "a2_offset": (hidden,),
            "a3": (hidden, 1), "a3_offset": (1,),
        }  # fmt: skip
        if dueling:
            shapes |= {"v1": (state, 16), "v1_offset": (16,), "v2": (16, 1), "v2_offset": (1,)}
        self.parameters = Parameters(shapes, rng, step_size)
        with torch.no_grad():
            for name in ("a3", "v2"):
                if name in shapes:
                    self.parameters.views(self.parameters.block[0])[name].zero_()

    def values(self, x: Matrix, data: torch.Tensor | None = None) -> Vector:
        """The network's output for each row, with the parameters in `data` if they are given."""
        p: dict[str, Any] = self.parameters.arrays(data)
        hidden = np.maximum(x @ p["a1"] + p["a1_offset"], 0.0)
        hidden = np.maximum(hidden @ p["a2"] + p["a2_offset"], 0.0)
        out = hidden @ p["a3"][:, 0] + p["a3_offset"][0]
        if self.dueling:
            state = np.maximum(x[:, : self.state] @ p["v1"] + p["v1_offset"], 0.0)
            out = out + state @ p["v2"][:, 0] + p["v2_offset"][0]
        values: Vector = out.astype(np.float32)
        return values

    def learn(self, x: Matrix, targets: Vector) -> float:
        """Take one gradient step towards the targets and return the Huber loss before it."""
        p, rows = self.parameters.views(), torch.from_numpy(x)
        hidden = torch.relu(torch.addmm(p["a1_offset"], rows, p["a1"]))
        hidden = torch.relu(torch.addmm(p["a2_offset"], hidden, p["a2"]))
        out = torch.addmm(p["a3_offset"], hidden, p["a3"])[:, 0]
        if self.dueling:
            state = torch.relu(torch.addmm(p["v1_offset"], rows[:, : self.state], p["v1"]))
            out = out + torch.addmm(p["v2_offset"], state, p["v2"])[:, 0]
        loss = torch.nn.functional.smooth_l1_loss(out, torch.from_numpy(targets))
        self.parameters.descend(self.parameters.gradient(loss))
        return float(loss.detach())
