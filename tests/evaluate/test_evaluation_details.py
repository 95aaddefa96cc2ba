"""Bounds that are met exactly, and counts of parameters by their definition."""

import math

import numpy as np
import pytest

from lyceum.errors import DataError
from lyceum.evaluate import BayesFactor, delong
from lyceum.evaluate.significance.criteria import _covariance


def parameters(code, K, d):
    """Volumes, shapes and orientations: one for all (E), one per component (V), or none (I)."""
    volume, shape, orientation = code
    count = {"E": 1, "V": K, "I": 0}
    n = count[volume] + count[shape] * (d - 1)
    return n + count[orientation] * d * (d - 1) // 2


@pytest.mark.parametrize(
    "code",
    [
        "EII",
        "VII",
        "EEI",
        "VEI",
        "EVI",
        "VVI",
        "EEE",
        "VEE",
        "EEV",
        "VEV",
        "EVV",
        "VVV",
    ],
)
def test_covariances_have_the_parameters_of_their_decomposition(code):
    for K in (1, 2, 5):
        for d in (1, 2, 3, 7):
            assert _covariance(d, code, K) == parameters(code, K, d)
        # no column has no parameter
        assert _covariance(0, code, K) == 0


def test_bayes_factors_are_read_by_their_bounds():
    readings = {
        1.0: "hardly worth a mention",
        3.0: "hardly worth a mention",
        3.01: "clear support for the first",
        20.0: "clear support for the first",
        20.1: "strong support for the first",
        150.0: "strong support for the first",
        151.0: "decisive support for the first",
    }
    for factor, reading in readings.items():
        assert BayesFactor(math.log(factor)).reading == reading
        if factor > 3:
            other = BayesFactor(-math.log(factor)).reading
            assert other == reading.replace("first", "second")


def test_bayes_factors_end_where_floats_do():
    assert BayesFactor(709.0).factor == math.inf
    assert BayesFactor(708.9).factor == pytest.approx(math.exp(708.9))
    assert BayesFactor(-800.0).factor == 0.0
    assert BayesFactor(-709.0).posterior == 0.0
    assert 0 < BayesFactor(-708.0).posterior < 1e-300
    assert BayesFactor(0.0, prior_odds=3.0).posterior == pytest.approx(0.75)


@pytest.mark.parametrize("y", [[1, 1, 0], [1, 0, 0]])
def test_delongs_variance_needs_two_rows_of_each_class(y):
    said = f"{sum(y)} positive and {3 - sum(y)} negative rows"
    with pytest.raises(DataError, match=said):
        delong(y, [0.1, 0.2, 0.3], [0.3, 0.2, 0.1])
    both = delong([1, 1, 0, 0], [0.9, 0.8, 0.2, 0.1], [0.9, 0.1, 0.2, 0.8])
    assert np.isfinite(both.difference)
