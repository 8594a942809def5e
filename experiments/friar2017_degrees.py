"""How many links pages have where that is as in a real web: document 004, table B.1.

Its quartiles are 6, 22 and 67, its mean is 53.9, and its walks at random end after 5.3 pages, so
that about one page in six has no links at all.
"""

from itertools import pairwise
from math import exp, log

FAILED = 0.034  # share of all pages that can't be fetched: they have no links anyway
# (share of pages, links at most), between which counts grow evenly in their logarithm
_MARKS = ((0.18, 1.0), (0.25, 6.0), (0.5, 22.0), (0.75, 67.0))
MOST = 3455
TAIL = 1.6  # exponent of the power law of the upper quarter, which gives the mean


def links(chance: float) -> int:
    """The number of links of a page, given the share of fetched pages that have fewer."""
    among_all = FAILED + (1 - FAILED) * chance
    if among_all < _MARKS[0][0]:
        return 0
    for (low, fewest), (high, most) in pairwise(_MARKS):
        if among_all < high:
            along = (among_all - low) / (high - low)
            return round(exp(log(fewest) + along * log(most / fewest)))
    last, most = _MARKS[-1]
    times: float = ((1 - among_all) / (1 - last)) ** (-1 / TAIL)
    return min(MOST, round(most * times))
