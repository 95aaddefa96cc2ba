"""Bounds that are met exactly, and counts of parameters by their definition."""

import math

import numpy as np
import pandas as pd
import pytest

from lyceum.bayes import NaiveBayes
from lyceum.data import scan
from lyceum.errors import DataError, SettingError
from lyceum.evaluate import (
    BayesFactor,
    class_report,
    cross_validate,
    delong,
    hoeffding_bound,
    markov_bound,
    train_validation_test,
)
from lyceum.evaluate.label_codes import as_classes, positive_mask
from lyceum.evaluate.reports.kappa import disagreement_weights
from lyceum.evaluate.resampling.experiment import Experiment
from lyceum.evaluate.significance.criteria import _covariance
from lyceum.evaluate.significance.paired_tests import are_results, significance
from lyceum.linear import LinearRegression


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


def test_weights_of_kappa_are_square_not_negative_and_zero_on_the_diagonal():
    right = [[0.0, 1.0], [2.0, 0.0]]
    assert disagreement_weights(right, 2).tolist() == right
    for wrong in (
        [[0.0, -1.0], [2.0, 0.0]],
        [[0.0, 1.0, 2.0]] * 3,
        [[0.0, 1.0]],
        [[1.0, 1.0], [1.0, 0.0]],
    ):
        with pytest.raises(SettingError, match=r"give \(2, 2\) numbers of at least 0"):
            disagreement_weights(wrong, 2)
    assert disagreement_weights("linear", 3)[0].tolist() == [0.0, 1.0, 2.0]
    assert disagreement_weights("quadratic", 3)[2].tolist() == [4.0, 1.0, 0.0]


def test_a_range_has_a_width():
    for ends in (
        (1.0, 1.0),
        (2.0, 1.0),
        [(0.0, 0.0), (1.0, 1.0)],
        [(0.0, 1.0), (1.0, 0.0)],
    ):
        with pytest.raises(SettingError, match="from low to a higher end"):
            hoeffding_bound(2, 0.1, value_range=ends)
    # Σ (b - a)² of both: 1 and 9, so that the exponent is -2 (2 · 0.1)² / 10
    both = hoeffding_bound(2, 0.1, value_range=[(0.0, 1.0), (-1.0, 2.0)])
    one = hoeffding_bound(2, 0.1, value_range=(0.0, math.sqrt(5.0)))
    assert float(both) == pytest.approx(float(one))


def test_a_test_is_significant_below_the_level():
    assert significance(0.0499) == "differ"
    assert significance(0.05) == "no difference shown"


def test_the_larger_of_two_numbers_is_positive():
    assert positive_mask([3, 7, 3]).tolist() == [False, True, False]
    assert positive_mask([1, 1]).tolist() == [True, True]
    assert positive_mask([0.0, 0.0]).tolist() == [False, False]
    assert positive_mask([5, 5]).tolist() == [False, False]
    with pytest.raises(SettingError, match="3 classes"):
        positive_mask([1, 2, 3])


def test_classes_of_an_experiment_are_those_of_the_target():
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "y": ["b", "a", "b", "a"]})
    frame["y"] = pd.Categorical(frame["y"], categories=["b", "a", "never"])
    rows = scan(frame, target="y")
    experiment = Experiment.of(NaiveBayes(), rows)
    assert experiment.classes.tolist() == list(rows.schema.target.categories)
    plain = Experiment.of(NaiveBayes(), frame[["x"]].to_numpy(), np.array(list("baba")))
    assert plain.classes.tolist() == ["a", "b"]
    regression = Experiment.of(LinearRegression(), [[1.0], [2.0]], [1.0, 2.0])
    assert regression.classes is None


def test_every_class_against_the_rest_has_the_counts_of_its_rows():
    truth = np.array(list("aabbbcccca"))
    called = np.array(list("abbbccacab"))
    report = class_report(truth, called)
    for label, binary in zip("abc", report.per_class):
        is_class, is_called = truth == label, called == label
        assert binary.tp == (is_class & is_called).sum()
        assert binary.fp == (~is_class & is_called).sum()
        assert binary.fn == (is_class & ~is_called).sum()
        assert binary.tn == (~is_class & ~is_called).sum()


def test_tuples_are_labels_of_their_own():
    assert as_classes([(1, 2), (3, 4)]).shape == (2,)
    assert as_classes(["a", "b"]).dtype.kind == "U"
    assert as_classes(["a", 1]).tolist() == ["a", 1]


@pytest.mark.parametrize(
    "shares", [(0.5, 0.5), (0.5, 0.25, 0.2, 0.05), (1.0, 0.0, 0.0)]
)
def test_three_shares_above_zero_sum_to_one(shares):
    with pytest.raises(SettingError, match="three shares above 0 that sum to 1"):
        train_validation_test(100, shares=shares)


def test_results_are_compared_with_results():
    result = cross_validate(
        NaiveBayes(), [[0.0], [1.0], [2.0], [3.0]] * 3, [0, 0, 1, 1] * 3, cv=2
    )
    assert are_results([0.1], [0.2]) is False
    with pytest.raises(
        SettingError, match="two results of cross_validate, or two arrays"
    ):
        are_results(result, [0.1, 0.2])
    assert are_results(result, result)


def test_a_bound_of_markov_is_for_values_above_zero():
    assert markov_bound(mean=0.0, at_least=0.5) == 0.0
    for settings in ({"mean": 0.1, "at_least": 0.0}, {"mean": -0.1, "at_least": 1.0}):
        with pytest.raises(SettingError, match="a mean of at least 0 and a above 0"):
            markov_bound(**settings)
