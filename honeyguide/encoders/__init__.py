"""Text to vectors of meaning, one encoder a file. None downloads anything at run time."""
