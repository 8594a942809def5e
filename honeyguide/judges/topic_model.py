"""The weights of the models of `topic_calibration`.

They are printed by `python -m experiments.topic_training DATA`, which fits them to the development
topics of `benchmarks/judged_topics.py`.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]


class TopicModel(NamedTuple):
    """What was learnt from pages with labels."""

    usual: Numbers  # shape (3, 6): 10, 30, 50 % of pages are below, in the mean over topics
    first: Numbers  # of `features`
    first_bias: float
    first_threshold: float  # before any page
    first_spread: Numbers  # of `spread_of`
    second: Numbers  # of `second_features`
    second_bias: float
    second_threshold: float
    second_spread: Numbers


FITTED = TopicModel(
    usual=np.array(
        [
            [-0.03014, 0.007233, -0.03736, -0.03115, -0.1034, -3.506],
            [0.06989, 0.1113, 0.05255, 0.04272, -0.03111, -3.476],
            [0.1457, 0.1916, 0.1224, 0.09875, 0.02243, -3.318],
        ]
    ),
    first=np.array(
        [
            0.5984,
            2.446,
            1.919,
            -0.7571,
            0.01216,
            0.3947,
            1.072,
            0.9761,
            0.698,
            0.5399,
            0.6458,
            0.04668,
            0.178,
            0.1876,
            0.1861,
            0.03765,
            0.4177,
            -0.2541,
            -0.3842,
            -0.6539,
        ]
    ),
    first_bias=-6.776,
    first_threshold=-3.75,
    first_spread=np.array(
        [
            -11.81,
            -0.3073,
            -0.1212,
            -0.1565,
            0.03974,
            -0.064,
            -0.04835,
            -0.07308,
            0.1752,
            0.456,
            0.2085,
            -0.06673,
            0.5922,
        ]
    ),
    second=np.array([0.6841, 3.154, -1.065, -0.2215]),
    second_bias=-2.155,
    second_threshold=-3.5,
    second_spread=np.array(
        [
            -8.337,
            -0.01966,
            -0.03886,
            -0.04664,
            -0.08448,
            -0.06401,
            -0.0472,
            0.08451,
            0.1044,
            0.5961,
            0.3688,
            -0.2265,
            0.5467,
        ]
    ),
)
