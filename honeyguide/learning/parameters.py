"""All the numbers of a network in one vector, so that they can be shared, kept and compared."""

import math
from collections.abc import Mapping

import numpy as np
import torch
from numpy.typing import NDArray

from honeyguide.contracts import State, Vector
from honeyguide.errors import HoneyguideError

Shapes = Mapping[str, tuple[int, ...]]
Views = dict[str, torch.Tensor]
MEAN, SQUARE = 0.9, 0.999  # how long Adam remembers
LONGEST = 10.0  # of the mean gradient against the root of the mean square: at most 7.3


class Parameters:
    """A network's numbers with Adam's memory of their gradients."""

    def __init__(self, shapes: Shapes, rng: np.random.Generator, step_size: float = 0.001) -> None:
        self.shapes = dict(shapes)
        self.step_size = step_size
        drawn = [_first(name, shape, rng).ravel() for name, shape in self.shapes.items()]
        # four rows: the numbers, the mean and the mean square of their gradients, steps taken
        self.block = torch.zeros((4, sum(map(len, drawn))))
        self.block[0] = torch.from_numpy(np.concatenate(drawn))
        self._look()

    def _look(self) -> None:
        self.data = self.block[0].detach()
        # each array by itself: a gradient through a slice of the whole would be as long as that
        self._leaves = {n: view.requires_grad_(True) for n, view in self.views(self.data).items()}
        self._scratch = torch.empty_like(self.data)  # made once: large pieces tear memory apart

    def views(self, data: torch.Tensor | None = None) -> Views:
        """Each array by its name, to learn by; or the same parts of another vector."""
        if data is None:
            return self._leaves
        views, start = {}, 0
        for name, shape in self.shapes.items():
            size = math.prod(shape)
            views[name] = data[start : start + size].view(shape)
            start += size
        return views

    def arrays(self, data: torch.Tensor | None = None) -> dict[str, NDArray[np.float32]]:
        """The same as numpy arrays that share their memory."""
        source = self.data if data is None else data
        return {name: view.numpy() for name, view in self.views(source).items()}

    def gradient(self, loss: torch.Tensor) -> torch.Tensor:
        """In which direction a loss made from `views()` grows."""
        parts = torch.autograd.grad(loss, list(self._leaves.values()))
        return torch.cat([part.ravel() for part in parts])

    def descend(self, gradient: torch.Tensor) -> None:
        """A step of Adam; several processes may do this at once without waiting (Hogwild)."""
        with torch.no_grad():
            _, mean, square, steps = self.block
            steps += 1
            count = float(steps[0])
            square.mul_(SQUARE).addcmul_(gradient, gradient, value=1 - SQUARE)
            mean.lerp_(gradient, 1 - MEAN)
            scale = self.step_size * math.sqrt(1 - SQUARE**count) / (1 - MEAN**count)
            torch.sqrt(square, out=self._scratch)
            torch.div(mean, self._scratch.add_(1e-8), out=self._scratch)
            # alone it is never as long; another may have written one of the two in between
            self.block[0].add_(self._scratch.clamp_(-LONGEST, LONGEST), alpha=-scale)

    def copy(self) -> torch.Tensor:
        """The numbers as they are now."""
        return self.data.clone()

    def share(self, block: torch.Tensor | None = None) -> torch.Tensor:
        """Use memory that other processes see too: a new piece, or theirs."""
        self.block = shared(self.block) if block is None else block
        self._look()
        return self.block

    def state(self) -> State:
        """All of it, and of what shape it is."""
        return {"shapes": _said(self.shapes), "block": self.block.numpy().copy()}

    def load(self, state: State) -> None:
        """Become what was saved; a network of another shape is refused."""
        if _said(state["shapes"]) != _said(self.shapes) or (
            np.shape(state["block"]) != tuple(self.block.shape)
        ):
            raise HoneyguideError("it is of a network of another shape")
        self.block.copy_(torch.from_numpy(np.array(state["block"], np.float32)))


def shared(tensor: torch.Tensor) -> torch.Tensor:
    """The same numbers in memory that other processes see too."""
    moved: torch.Tensor = tensor.share_memory_()  # type: ignore[no-untyped-call]
    return moved


def _first(name: str, shape: tuple[int, ...], rng: np.random.Generator) -> Vector:
    """Small random weights, by the numbers that come in and go out; offsets of zero."""
    if len(shape) < 2:
        return np.zeros(shape, np.float32)
    spread = math.sqrt(2.0 / (shape[0] + shape[1]))
    return rng.normal(0.0, spread, shape).astype(np.float32)


def _said(shapes: Mapping[str, object]) -> dict[str, list[int]]:
    return {str(name): [int(n) for n in shape] for name, shape in shapes.items()}  # type: ignore[attr-defined]
