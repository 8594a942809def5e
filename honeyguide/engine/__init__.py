"""The engine: choose a link, absorb a visit, remember the crawled graph. No I/O and no clock here,
except in the loop that drives it.
"""
