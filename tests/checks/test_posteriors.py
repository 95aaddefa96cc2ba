"""Averages of posteriors are posteriors, and those who take posteriors forgive rounding and nothing
else."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier as ScikitForest
from tests.checks.posterior_laws import check_posteriors

from lyceum import plot
from lyceum._core.base import normalize_posteriors
from lyceum.decision import MinimumRiskClassifier, minimum_risk
from lyceum.ensemble import BaggingClassifier, RandomForestClassifier
from lyceum.errors import DataError
from lyceum.evaluate import brier_score_loss, calibration_curve
from lyceum.trees import DecisionTreeClassifier

ROUNDED_UP = np.array([[1.0000000000000007, 0.0], [-1e-9, 1.000000001], [0.25, 0.75]])


def table(seed=28):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 6))
    return X, (X[:, 0] + X[:, 1] > 0).astype(int), rng


def test_fractions_of_rows_add_up_to_a_posterior():
    X, y, rng = table()
    X, y = X[:120], y[:120]  # a tree of fractions doubles with every few rows
    X[rng.random(X.shape) < 0.4] = np.nan
    check_posteriors(
        DecisionTreeClassifier(missing="fractions").fit(X, y).predict_proba(X)
    )


@pytest.mark.parametrize("forest", [RandomForestClassifier, BaggingClassifier])
def test_staged_and_out_of_bag_means_are_posteriors(forest):
    X, y, _ = table()
    model = forest(n_estimators=49, oob_score=True, random_state=0).fit(X, y)
    for proba in model.staged_predict_proba(X):
        check_posteriors(proba)
    known = ~np.isnan(model.oob_decision_function_[:, 0])
    check_posteriors(model.oob_decision_function_[known])


def test_minimum_risk_gives_posteriors_whoever_averaged_them():
    class Off(ScikitForest):
        def predict_proba(self, X):
            return 1.0000000000000007 * super().predict_proba(X)

    X, y, _ = table()
    check_posteriors(
        MinimumRiskClassifier(Off(10, random_state=0)).fit(X, y).predict_proba(X)
    )


def test_normalized_rows_never_exceed_one():
    rng = np.random.default_rng(0)
    check_posteriors(normalize_posteriors(rng.random((10_000, 7)) ** 30 + 1e-300))


def test_rounding_is_forgiven_where_posteriors_are_taken():
    y = [0, 1, 1]
    assert calibration_curve(y, ROUNDED_UP).brier == pytest.approx(0.0625 / 3, abs=1e-8)
    assert brier_score_loss(y, ROUNDED_UP) == pytest.approx(0.0625 / 3, abs=1e-8)
    assert minimum_risk(ROUNDED_UP).risk.min() >= 0.0
    assert len(plot.calibration(y, ROUNDED_UP[:, 1]).lines) == 2


def test_nonsense_is_refused_where_posteriors_are_taken():
    nonsense = np.array([[1.1, -0.1], [0.5, 0.5]])
    with pytest.raises(DataError, match="outside"):
        calibration_curve([0, 1], nonsense)
    with pytest.raises(DataError, match=r"negative probability -0\.1 in row 0"):
        minimum_risk(nonsense)
    with pytest.raises(DataError, match="posteriors, not scores"):
        plot.calibration([0, 1], nonsense[:, 0])
