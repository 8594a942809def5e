"""Encoders, one a file: each turns texts into vectors. None downloads anything at run time."""
