"""Reliability tables, Brier score and log loss against scikit-learn and the definitions."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn import metrics
from sklearn.calibration import calibration_curve as their_calibration_curve

from lyceum.errors import DataError, SettingError
from lyceum.evaluate import brier_score_loss, calibration_curve, log_loss

RNG = np.random.default_rng(0)
P = RNG.random(500)
Y = (RNG.random(500) < P**2).astype(int)
W = RNG.integers(0, 3, 500).astype(float)
PROBA = RNG.dirichlet(np.ones(3), 500)
Y3 = RNG.integers(0, 3, 500)


@pytest.mark.parametrize("bins", ["uniform", "quantile"])
def test_reliability_table_equals_scikit_learn(bins):
    ours = calibration_curve(Y, P, n_bins=10, strategy=bins)
    observed, predicted = their_calibration_curve(Y, P, n_bins=10, strategy=bins)
    assert ours.observed == pytest.approx(observed)
    assert ours.predicted == pytest.approx(predicted)
    assert ours.weight.sum() == 500
    assert "reliability" in str(ours)


@pytest.mark.parametrize("w", [None, W])
def test_brier_and_log_loss_equal_scikit_learn(w):
    ours = calibration_curve(Y, P, sample_weight=w)
    assert ours.brier == pytest.approx(metrics.brier_score_loss(Y, P, sample_weight=w))
    assert ours.log_loss == pytest.approx(metrics.log_loss(Y, P, sample_weight=w))
    assert brier_score_loss(Y, P, sample_weight=w) == ours.brier
    assert log_loss(Y3, PROBA, sample_weight=w) == pytest.approx(
        metrics.log_loss(Y3, PROBA, sample_weight=w)
    )
    off = ((PROBA - np.eye(3)[Y3]) ** 2).sum(axis=1)
    assert brier_score_loss(Y3, PROBA, sample_weight=w) == pytest.approx(
        np.average(off, weights=w)
    )


def test_expected_error_is_the_mean_gap_by_rows():
    which = np.minimum((P * 10).astype(int), 9)
    gaps = [abs(Y[which == b].mean() - P[which == b].mean()) for b in range(10)]
    share = np.bincount(which) / 500
    ours = calibration_curve(Y, P, n_bins=10)
    assert ours.expected_error == pytest.approx(share @ gaps)
    assert ours.largest_error == pytest.approx(max(gaps))


def test_many_classes_are_judged_by_the_class_chosen():
    ours = calibration_curve(Y3, PROBA, n_bins=4)
    top, right = PROBA.max(axis=1), PROBA.argmax(axis=1) == Y3
    which = np.minimum((top * 4).astype(int), 3)
    assert ours.observed == pytest.approx(
        [right[which == b].mean() for b in np.unique(which)]
    )


def test_weight_equals_repeated_rows():
    times = W.astype(int)
    weighted = calibration_curve(Y, P, sample_weight=W)
    repeated = calibration_curve(np.repeat(Y, times), np.repeat(P, times))
    assert weighted.expected_error == pytest.approx(repeated.expected_error)
    assert weighted.weight == pytest.approx(repeated.weight)


def test_certain_and_wrong_is_a_large_but_finite_loss():
    assert log_loss([1], [0.0]) == pytest.approx(-np.log(np.finfo(float).eps))
    assert log_loss([1], [1.0]) == 0.0
    assert calibration_curve([1, 0], [1.0, 0.0]).expected_error == 0.0


bin_counts = st.integers(1, 4)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.booleans(), st.sampled_from([0.0, 0.1, 0.5, 1.0])), max_size=8
    ),
    bin_counts,
)
def test_no_input_gives_nan_or_a_warning(rows, n_bins):
    y, p = np.array([a for a, _ in rows], dtype=bool), np.array([b for _, b in rows])
    for bins in ("uniform", "quantile"):
        ours = calibration_curve(y, p, n_bins=n_bins, strategy=bins)
        assert np.isfinite(
            [ours.brier, ours.log_loss, ours.expected_error, ours.largest_error]
        ).all()
        assert ours.weight.sum() == len(rows)


def test_scores_are_not_posteriors():
    with pytest.raises(DataError, match="outside"):
        calibration_curve([0, 1], [0.5, 1.5])
    with pytest.raises(DataError, match="outside"):
        calibration_curve([0, 1], [0.5, np.nan])
    with pytest.raises(DataError, match="sum to 1"):
        calibration_curve([0, 1], [[0.5, 0.4], [0.5, 0.5]])
    with pytest.raises(DataError, match="2 and 3 rows"):
        calibration_curve([0, 1], [0.5, 0.5, 0.5])
    with pytest.raises(SettingError, match="choose from 'uniform', 'quantile'"):
        calibration_curve([0, 1], [0.5, 0.5], strategy="log")
    with pytest.raises(SettingError, match="at least one bin"):
        calibration_curve([0, 1], [0.5, 0.5], n_bins=0)
