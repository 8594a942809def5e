"""Number of links per page as in Friar (2017, table B.1).

The quartiles are 6, 22 and 67, the mean is 53.9. Random walks end after 5.3 pages, so that about
one page in six has no links.
"""

from itertools import pairwise
from math import exp, log

FAILED = 0.034  # share of all pages that cannot be fetched and so have no links
# (share of pages, most links); between two of them the logarithm of the count grows linearly
_MARKS = ((0.18, 1.0), (0.25, 6.0), (0.5, 22.0), (0.75, 67.0))
MOST = 3455
TAIL = 1.6  # exponent of the power law of the upper quarter, chosen to give the mean


def links(chance: float) -> int:
    """Return the number of links of a page, given the share of fetched pages that have fewer."""
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
