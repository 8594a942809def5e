"""The file of a trained judge: arrays and numbers with checksums, of which nothing is executed."""

from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from honeyguide.contracts import State
from honeyguide.disk.serialise import DamagedError, read_state, save_state
from honeyguide.errors import HoneyguideError

Model = TypeVar("Model")
VERSION = 1
LARGEST = 1 << 24  # numbers of an array in a file


def write_trained(path: Path, kind: str, fields: State) -> None:
    """Write a judge of a kind to a file, atomically."""
    save_state(path, {"kind": kind, "version": VERSION, **fields})


def kind_of(path: Path) -> str:
    """The kind of judge that a file has."""
    return str(_state(path).get("kind"))


def read_trained(
    path: Path, kind: str, made: Callable[..., Model], fits: Callable[[State], bool]
) -> Model:
    """Read a judge of a kind into its dataclass; raise HoneyguideError if the file has none.

    `fits` says whether the fields in a file have the right types and shapes.
    """
    state = _state(path)
    if str(state.get("kind")) != kind:
        raise HoneyguideError(
            f"{path} is damaged or no trained judge: make one with 'honeyguide train judge'"
        )
    if str(state.get("version")) != str(VERSION) or not fits(state):
        raise HoneyguideError(f"{path} was written by another version: train it again")
    dataclass: Any = made
    return made(**{field.name: state[field.name] for field in fields(dataclass)})


def is_array(array: object, dimensions: int = 1) -> bool:
    """Whether a value is a finite array of 32-bit numbers that is not too large."""
    if not isinstance(array, np.ndarray) or array.dtype != np.float32 or array.ndim != dimensions:
        return False
    return array.size <= LARGEST and bool(np.isfinite(array).all())


def _state(path: Path) -> State:
    try:
        state = read_state(path)
    except OSError as error:
        raise HoneyguideError(f"cannot read the judge {path}: {error.strerror}") from None
    except DamagedError:
        return {}
    return state if isinstance(state, dict) else {}
