"""A generated web in plain English: sites, forums, papers and lists on many topics."""

from honeyguide.worlds.readable.world import VERSION, ReadableWorld

__all__ = ["VERSION", "ReadableWorld"]
