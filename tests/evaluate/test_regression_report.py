"""Errors of numeric predictions against scikit-learn and at their edges."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn import metrics

from lyceum.errors import DataError, MissingValuesError
from lyceum.evaluate import regression_report

RNG = np.random.default_rng(0)
Y = RNG.normal(size=200) * 3 + 1
P = Y + RNG.normal(size=200)
W = RNG.integers(0, 3, 200).astype(float)


@pytest.mark.syllabus("14.4.1")
@pytest.mark.parametrize("w", [None, W])
@pytest.mark.parametrize("shift", [0.0, 1e6])
def test_errors_equal_scikit_learn(w, shift):
    y, p = Y + shift, P + shift
    report = regression_report(y, p, sample_weight=w)
    assert report.mse == pytest.approx(
        metrics.mean_squared_error(y, p, sample_weight=w)
    )
    assert report.rmse == pytest.approx(
        metrics.root_mean_squared_error(y, p, sample_weight=w)
    )
    assert report.mae == pytest.approx(
        metrics.mean_absolute_error(y, p, sample_weight=w)
    )
    assert report.r2 == pytest.approx(metrics.r2_score(y, p, sample_weight=w))
    assert report.relative_squared_error == pytest.approx(1 - report.r2)
    assert report.root_relative_squared_error == pytest.approx((1 - report.r2) ** 0.5)
    assert report.relative_absolute_error == pytest.approx(_rae(y, p, w))
    assert "rmse" in str(report)


def _rae(y, p, w):
    w = np.ones(len(y)) if w is None else w
    return (w @ np.abs(y - p)) / (w @ np.abs(y - np.average(y, weights=w)))


def test_weight_equals_repeated_rows():
    times = W.astype(int)
    weighted = regression_report(Y, P, sample_weight=W)
    repeated = regression_report(np.repeat(Y, times), np.repeat(P, times))
    assert weighted.r2 == pytest.approx(repeated.r2)
    assert weighted.mae == pytest.approx(repeated.mae)


def test_the_mean_guess_has_relative_error_one():
    assert regression_report(Y, np.full(200, Y.mean())).r2 == pytest.approx(0.0)
    assert regression_report(
        Y, np.full(200, 2.0), mean=2.0
    ).relative_squared_error == pytest.approx(1.0)


def test_a_constant_target_has_stated_values():
    constant = np.full(7, 0.1)  # whose mean rounds
    assert regression_report(constant, constant).r2 == 1.0
    assert regression_report(constant, constant + 1).r2 == 0.0
    # the same convention
    assert metrics.r2_score(np.full(7, 0.5), np.full(7, 1.5)) == 0.0
    assert regression_report([], []).mse == 0.0
    assert regression_report([1.0], [2.0]).r2 == 0.0


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.tuples(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.integers(0, 2)),
        max_size=6,
    )
)
def test_no_input_gives_nan_or_a_warning(rows):
    y, p, w = (np.array([row[i] for row in rows], dtype=float) for i in range(3))
    report = regression_report(y, p, sample_weight=w)
    assert np.isfinite([report.mse, report.mae, report.bias]).all()
    assert not np.isnan([report.r2, report.root_relative_squared_error]).any()


def test_missing_cells_are_refused():
    with pytest.raises(MissingValuesError, match="y_pred has 1"):
        regression_report([1.0, 2.0], [1.0, np.nan])
    with pytest.raises(DataError, match="2 and 1 rows"):
        regression_report([1.0, 2.0], [1.0])
    with pytest.raises(DataError, match="not a finite"):
        regression_report([1.0], [1.0], mean=np.nan)
