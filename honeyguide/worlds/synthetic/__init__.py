"""A generated web, deterministic from a seed, whose pages follow from their URLs."""

from honeyguide.worlds.synthetic.world import VERSION, SyntheticWorld

__all__ = ["VERSION", "SyntheticWorld"]
