"""The room's public face."""

import numpy as np
import pytest

import lyceum.evaluate
from lyceum.evaluate import __all__ as names

PROMISED = [
    "auc_fawcett",
    "auc_hand_till",
    "bayes_factor",
    "bias_variance",
    "binary_report",
    "bootstrap_632",
    "chebyshev_bound",
    "confusion_matrix",
    "corrected_t",
    "cross_validate",
    "five_by_two",
    "hoeffding_bound",
    "holdout_size",
    "information_criteria",
    "macro_average_modified",
    "majority_vote_error",
    "mcnemar",
    "roc_curve",
]


def test_public_names_are_sorted_and_there():
    assert names == sorted(names)
    assert all(hasattr(lyceum.evaluate, name) for name in names)


@pytest.mark.parametrize("name", PROMISED)
def test_promised_names_are_there_and_documented(name):
    function = getattr(lyceum.evaluate, name)
    assert ">>>" in function.__doc__


def test_inputs_are_never_changed():
    y, score, w = (
        np.array([0, 1, 1, 0]),
        np.array([0.3, 0.9, 0.1, 0.2]),
        np.array([1.0, 2.0, 1.0, 1.0]),
    )
    kept = y.copy(), score.copy(), w.copy()
    lyceum.evaluate.roc_auc_score(y, score)
    lyceum.evaluate.roc_curve(y, score, sample_weight=w)
    lyceum.evaluate.confusion_matrix(y, (score > 0.5).astype(int), sample_weight=w)
    lyceum.evaluate.calibration_curve(y, score, sample_weight=w)
    lyceum.evaluate.auc_hand_till(y, np.column_stack([1 - score, score]))
    assert all(np.array_equal(a, b) for a, b in zip(kept, (y, score, w)))


def test_read_only_arrays_and_columns_are_taken():
    y, score = np.array([[0], [1], [1], [0]]), np.array([0.3, 0.9, 0.1, 0.2])
    for array in (y, score):
        array.flags.writeable = False
    assert lyceum.evaluate.roc_auc_score(y, score) == 0.5
    assert lyceum.evaluate.confusion_matrix(y, y).error == 0.0
