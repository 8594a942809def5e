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
            [-0.03, 0.007, -0.037, -0.031, -0.103, -3.506],
            [0.07, 0.111, 0.053, 0.043, -0.03, -3.482],
            [0.146, 0.192, 0.123, 0.099, 0.023, -3.322],
        ]
    ),
    first=np.array(
        [
            -0.08479,
            2.154,
            2.366,
            -1.034,
            0.598,
            -0.0266,
            0.1644,
            1.291,
            1.372,
            0.3119,
            0.3737,
            0.06102,
            0.1468,
            0.3238,
            0.2102,
            0.05345,
            0.7933,
            -0.2155,
            -0.2576,
            -0.667,
        ]
    ),
    first_bias=-6.9374,
    first_threshold=-3.75,
    first_spread=np.array(
        [
            -11.57,
            -0.215,
            -0.2651,
            -0.1193,
            0.05675,
            -0.02008,
            0.02764,
            -0.1158,
            0.1753,
            0.3711,
            0.02829,
            0.02915,
            0.6241,
        ]
    ),
    second=np.array([0.7168, 2.68, -0.6784, -0.1884]),
    second_bias=-2.0863,
    second_threshold=-3.5,
    second_spread=np.array(
        [
            -10.26,
            -0.09728,
            -0.1567,
            -0.06855,
            -0.04057,
            -0.09514,
            0.0379,
            0.04549,
            0.1848,
            0.4323,
            0.3177,
            -0.2303,
            0.5748,
        ]
    ),
)
