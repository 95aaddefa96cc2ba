"""One number for K classes, against scikit-learn and the definitions."""

from itertools import combinations

import numpy as np
import pytest
from sklearn import metrics

from lyceum.errors import DataError, MissingValuesError, SettingError
from lyceum.evaluate import (
    auc_fawcett,
    auc_hand_till,
    confusion_matrix,
    macro_average_modified,
    roc_auc_score,
)

RNG = np.random.default_rng(0)
N, K = 300, 4
Y = RNG.choice(K, N, p=[0.5, 0.3, 0.15, 0.05])
PROBA = RNG.dirichlet(np.ones(K), N) + 0.4 * np.eye(K)[Y]
PROBA /= PROBA.sum(axis=1, keepdims=True)
TIED = np.round(PROBA, 1)
W = RNG.integers(0, 3, N).astype(float)


@pytest.mark.syllabus("14.3.2")
def test_fawcett_equals_scikit_learns_weighted_one_vs_rest():
    expected = metrics.roc_auc_score(Y, PROBA, multi_class="ovr", average="weighted")
    assert auc_fawcett(Y, PROBA) == pytest.approx(expected)
    weighted = metrics.roc_auc_score(
        Y, PROBA, multi_class="ovr", average=None, sample_weight=W
    )
    shares = np.bincount(Y, W) / W.sum()
    assert auc_fawcett(Y, PROBA, sample_weight=W) == pytest.approx(weighted @ shares)


@pytest.mark.syllabus("14.3.2")
def test_hand_till_equals_scikit_learns_one_vs_one():
    assert auc_hand_till(Y, PROBA) == pytest.approx(
        metrics.roc_auc_score(Y, PROBA, multi_class="ovo")
    )


@pytest.mark.syllabus("14.3")
def test_hand_till_with_ties_is_its_definition():
    def area(i, j):
        a, b = TIED[i == Y, i][:, None], TIED[j == Y, i]
        return ((a > b) + 0.5 * (a == b)).mean()

    expected = np.mean(
        [(area(i, j) + area(j, i)) / 2 for i, j in combinations(range(K), 2)]
    )
    assert auc_hand_till(Y, TIED) == pytest.approx(expected)


@pytest.mark.parametrize("measure", [auc_fawcett, auc_hand_till])
def test_weight_equals_repeated_rows(measure):
    times = W.astype(int)
    repeated = measure(np.repeat(Y, times), np.repeat(TIED, times, axis=0))
    assert measure(Y, TIED, sample_weight=W) == pytest.approx(repeated)


@pytest.mark.parametrize("measure", [auc_fawcett, auc_hand_till])
def test_two_classes_give_the_plain_area(measure):
    y, p = (Y > 0).astype(int), PROBA[:, 1:].sum(axis=1)
    assert measure(y, p) == pytest.approx(roc_auc_score(y, p))
    assert measure(
        np.array(["n", "y"])[y], np.column_stack([1 - p, p])
    ) == pytest.approx(roc_auc_score(y, p))


@pytest.mark.parametrize("measure", [auc_fawcett, auc_hand_till])
def test_an_empty_class_is_left_out_and_one_class_gives_a_half(measure):
    kept = Y != 2
    without = measure(Y[kept], PROBA[kept], labels=range(K))
    assert without == pytest.approx(measure(Y[kept], PROBA[kept][:, [0, 1, 3]]))
    assert measure([1, 1], PROBA[:2], labels=range(K)) == 0.5


def test_scores_that_do_not_fit_the_classes_are_refused():
    with pytest.raises(DataError, match="give labels="):
        auc_fawcett([0, 1, 2], np.ones((3, 4)))
    with pytest.raises(DataError, match="outside the classes"):
        auc_fawcett([0, 1, 9], np.ones((3, 2)), labels=[0, 1])
    with pytest.raises(MissingValuesError, match="1 missing"):
        auc_hand_till([0, 1, 2], np.where(np.eye(3) == 0, 0.0, [np.nan, 1, 1]))


@pytest.mark.syllabus("14.3")
def test_modified_macro_average_is_three_quarters_mean_and_a_quarter_geometric_mean():
    predicted = PROBA.argmax(axis=1)
    right = metrics.recall_score(Y, predicted, average=None)
    expected = 0.75 * right.mean() + 0.25 * np.prod(right) ** (1 / K)
    assert macro_average_modified(Y, predicted) == pytest.approx(expected)
    assert macro_average_modified(confusion_matrix(Y, predicted)) == pytest.approx(
        expected
    )


def test_modified_macro_average_at_the_edges():
    assert (
        macro_average_modified([0, 1], [0, 0]) == 0.75 * 0.5
    )  # a class never right: no geometric part
    assert macro_average_modified([0, 0], [0, 0]) == 1.0
    assert macro_average_modified([0, 0], [0, 1]) == 0.5  # class 1 has no rows
    assert macro_average_modified([], []) == 0.0
    with pytest.raises(SettingError, match="give y_true and y_pred"):
        macro_average_modified([0, 1])
