"""The number of threads that torch uses."""

import os

import torch


def one_thread() -> None:
    """Limit torch to one thread, as suits small networks, unless OMP_NUM_THREADS is set."""
    if not os.environ.get("OMP_NUM_THREADS") and torch.get_num_threads() != 1:
        torch.set_num_threads(1)
