"""Inputs that no measure can use are refused in a sentence that names the argument."""

import numpy as np
import pytest

from lyceum import decision, evaluate
from lyceum.errors import DataError, LyceumError, SettingError
from lyceum.linear import LinearRegression

TEXT, LABELS, SCORES = ["a", "b"], [0, 1], [0.2, 0.7]
RAGGED = [[1.0], [1.0, 2.0]]


@pytest.mark.parametrize(
    "measure",
    [evaluate.log_loss, evaluate.brier_score_loss, evaluate.calibration_curve],
)
@pytest.mark.parametrize("given", [TEXT, {"a": 1}, [1j, 2j]])
def test_predicted_classes_in_the_place_of_posteriors_are_refused(measure, given):
    with pytest.raises(DataError, match=r"y_proba? must hold numbers"):
        measure(LABELS, given)


@pytest.mark.parametrize(
    "measure", [evaluate.regression_report, evaluate.gaussian_log_likelihood]
)
def test_classes_in_the_place_of_numbers_are_refused(measure):
    with pytest.raises(
        DataError, match="y_true must hold numbers, but it holds <U1 such as 'a'"
    ):
        measure(TEXT, SCORES)
    with pytest.raises(DataError, match="y_pred must hold numbers"):
        measure(SCORES, TEXT)


@pytest.mark.parametrize(
    "name",
    [
        "roc_auc_score",
        "roc_curve",
        "brier_score_loss",
        "confusion_matrix",
        "auc_hand_till",
        "class_report",
    ],
)
def test_rows_of_different_lengths_are_refused(name):
    with pytest.raises(DataError, match="cannot be read as an array"):
        getattr(evaluate, name)(LABELS, RAGGED)


def test_weights_that_are_no_numbers_are_refused():
    with pytest.raises(DataError, match="sample_weight must hold numbers"):
        evaluate.roc_auc_score(LABELS, SCORES, sample_weight=TEXT)


def test_losses_of_different_folds_are_refused():
    with pytest.raises(DataError, match=r"shapes \(5, 2\) and \(4, 2\)"):
        evaluate.five_by_two(np.zeros((5, 2)), np.zeros((4, 2)))
    with pytest.raises(DataError, match="first and second have 3 and 2 rows"):
        evaluate.corrected_t([0.1, 0.2, 0.3], [0.1, 0.2], test_to_train=0.5)
    with pytest.raises(DataError, match="first must hold numbers"):
        evaluate.five_by_two(TEXT, TEXT)


def test_criteria_without_a_finite_smallest_one_are_refused():
    with pytest.raises(DataError, match="smallest of them finite"):
        evaluate.criterion_weights([-np.inf, 1.0])
    assert evaluate.criterion_weights([np.inf, 1.0]).tolist() == [0.0, 1.0]


def test_sizes_and_shares_that_are_missing_are_refused():
    nan = float("nan")
    with pytest.raises(SettingError, match="within=nan"):
        evaluate.holdout_size(0.1, nan)
    with pytest.raises(SettingError, match="three shares above 0"):
        evaluate.train_validation_test([0, 1] * 5, shares=(nan, nan, nan))
    with pytest.raises(DataError, match=r"X has shape \(2,\)"):
        evaluate.ridge_degrees_of_freedom([1.0, 2.0], 1.0)


@pytest.mark.parametrize("measure", [decision.best_threshold, decision.threshold_costs])
def test_missing_labels_are_refused_by_thresholds(measure):
    with pytest.raises(DataError, match="missing"):
        measure([None, "a", "b"], [0.1, 0.2, 0.3])


def test_missing_labels_are_refused_by_the_curve_of_rejection():
    with pytest.raises(DataError, match="missing"):
        decision.error_reject_curve([None, "a"], [[0.5, 0.5], [0.2, 0.8]])
    with pytest.raises(DataError, match="one true label per row"):
        decision.error_reject_curve(None, [[0.5, 0.5], [0.2, 0.8]])


@pytest.mark.parametrize(
    "function", [decision.bayes_error, decision.expected_risk, decision.minimum_risk]
)
def test_posteriors_that_are_no_numbers_are_refused(function):
    with pytest.raises(DataError, match="proba must hold numbers"):
        function(TEXT)


@pytest.mark.parametrize("given", [[], [[0.1, 0.2]], [np.inf, 0.0], TEXT])
def test_likelihoods_that_cannot_be_compared_are_refused(given):
    with pytest.raises(LyceumError, match="log_likelihood"):
        decision.hypothesis_posterior(given)


@pytest.mark.parametrize(
    "cv", [[1], TEXT, [([0.5], [1.5])], [([0, 99], [1])], [([[0]], [1])]]
)
def test_splits_that_are_no_row_numbers_are_refused(cv):
    with pytest.raises(SettingError, match=r"cv (must|names row 99, which)"):
        evaluate.cross_validate(LinearRegression(), np.eye(4), np.arange(4.0), cv=cv)


def test_settings_of_curves_and_rounds_are_named():
    model, X, y = LinearRegression(), np.arange(12.0)[:, None], np.arange(12.0)
    with pytest.raises(SettingError, match="one loss per row, not their mean"):
        evaluate.cross_validate(model, X, y, cv=3, loss=lambda y, predicted: 0.5)
    with pytest.raises(SettingError, match="n_rounds=0"):
        evaluate.bootstrap_632(model, X, y, n_rounds=0)
    for sizes in (["a"], [-1]):
        with pytest.raises(SettingError, match="train_sizes="):
            evaluate.learning_curve(model, X, y, train_sizes=sizes, cv=3)
    with pytest.raises(DataError, match=r"^1 folds of 12 rows"):
        evaluate.cross_validate(model, X, y, cv=1)
