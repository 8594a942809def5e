"""All parameters of a network in one vector, which can be shared between processes and saved."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from honeyguide.contracts import State, Vector
from honeyguide.errors import HoneyguideError

Shapes = Mapping[str, tuple[int, ...]]
Spreads = Mapping[str, Any]  # by name: a standard deviation, or one for each column
Views = dict[str, torch.Tensor]
MEAN, SQUARE = 0.9, 0.999  # Adam's decay rates: beta_1, beta_2
LARGEST = 10.0  # of the mean gradient over the root of the mean square: at most 7.3


class Parameters:
    """A network's parameters with the moments of the Adam optimiser."""

    def __init__(
        self,
        shapes: Shapes,
        rng: np.random.Generator,
        step_size: float = 0.001,
        spreads: Spreads | None = None,  # of initial weights; else Glorot's
    ) -> None:
        self.shapes = dict(shapes)
        self.step_size = step_size
        drawn = [
            _initial(shape, rng, (spreads or {}).get(name)).ravel()
            for name, shape in self.shapes.items()
        ]
        # four rows: parameters, mean and mean square of their gradients, steps taken
        self.block = torch.zeros((4, sum(map(len, drawn))))
        self.block[0] = torch.from_numpy(np.concatenate(drawn))
        self._make_views()

    def _make_views(self) -> None:
        self.data = self.block[0].detach()
        # one leaf an array: a gradient through a slice of the vector is as long as the vector
        self._leaves = {n: view.requires_grad_(True) for n, view in self.views(self.data).items()}
        self._scratch = torch.empty_like(self.data)  # allocated once: large buffers fragment memory

    def views(self, data: torch.Tensor | None = None) -> Views:
        """The arrays by name, with gradients; or views of the same parts of the vector `data`."""
        if data is None:
            return self._leaves
        views, start = {}, 0
        for name, shape in self.shapes.items():
            size = math.prod(shape)
            views[name] = data[start : start + size].view(shape)
            start += size
        return views

    def arrays(self, data: torch.Tensor | None = None) -> dict[str, NDArray[np.float32]]:
        """The arrays by name, as numpy arrays that share the memory of the vector."""
        source = self.data if data is None else data
        return {name: view.numpy() for name, view in self.views(source).items()}

    def gradient(self, loss: torch.Tensor) -> torch.Tensor:
        """The gradient of a loss that was computed from `views()`."""
        parts = torch.autograd.grad(loss, list(self._leaves.values()))
        return torch.cat([part.ravel() for part in parts])

    def descend(self, gradient: torch.Tensor) -> None:
        """Take one step of Adam; several processes may do so at once without locks (Hogwild)."""
        with torch.no_grad():
            _, mean, square, steps = self.block
            steps += 1
            count = float(steps[0])
            square.mul_(SQUARE).addcmul_(gradient, gradient, value=1 - SQUARE)
            mean.lerp_(gradient, 1 - MEAN)
            scale = self.step_size * math.sqrt(1 - SQUARE**count) / (1 - MEAN**count)
            torch.sqrt(square, out=self._scratch)
            torch.div(mean, self._scratch.add_(1e-8), out=self._scratch)
            # only another process that writes mean or square meanwhile makes a step that large
            self.block[0].add_(self._scratch.clamp_(-LARGEST, LARGEST), alpha=-scale)

    def copy(self) -> torch.Tensor:
        """A copy of the parameter vector."""
        return self.data.clone()

    def share(self, block: torch.Tensor | None = None) -> torch.Tensor:
        """Move the parameters to shared memory, or use another process's block."""
        self.block = shared(self.block) if block is None else block
        self._make_views()
        return self.block

    def state(self) -> State:
        """The parameters, the optimiser's moments and the shapes."""
        return {"shapes": _shape_lists(self.shapes), "block": self.block.numpy().copy()}

    def load(self, state: State) -> None:
        """Restore a saved state; raise HoneyguideError if its shapes differ."""
        if _shape_lists(state["shapes"]) != _shape_lists(self.shapes) or (
            np.shape(state["block"]) != tuple(self.block.shape)
        ):
            raise HoneyguideError("it belongs to a network of another shape")
        self.block.copy_(torch.from_numpy(np.array(state["block"], np.float32)))


def shared(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor, moved to memory that other processes can share."""
    moved: torch.Tensor = tensor.share_memory_()  # type: ignore[no-untyped-call]
    return moved


def _initial(shape: tuple[int, ...], rng: np.random.Generator, spread: Any = None) -> Vector:
    """Initial values: normal with this spread or Glorot's (Xavier's), zero for offsets."""
    if len(shape) < 2:
        return np.zeros(shape, np.float32)
    if spread is None:
        spread = math.sqrt(2.0 / (shape[0] + shape[1]))
    return rng.normal(0.0, spread, shape).astype(np.float32)


def _shape_lists(shapes: Mapping[str, object]) -> dict[str, list[int]]:
    return {str(name): [int(n) for n in shape] for name, shape in shapes.items()}  # type: ignore[attr-defined]
