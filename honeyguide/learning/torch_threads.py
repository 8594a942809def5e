"""How many threads torch may use."""

import os

import torch


def one_thread() -> None:
    """Networks this small are far slower with more; OMP_NUM_THREADS, where it is set, decides."""
    if not os.environ.get("OMP_NUM_THREADS") and torch.get_num_threads() != 1:
        torch.set_num_threads(1)
