"""The engine: choose a link, absorb a visit, remember the crawled graph.

Only `loop.py` awaits I/O or reads a clock.
"""
