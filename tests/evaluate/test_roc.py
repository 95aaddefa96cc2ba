"""ROC, areas, precision-recall and cost curves against scikit-learn and the pairwise definition."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn import metrics
from threadpoolctl import threadpool_limits

from lyceum.errors import DataError, MissingValuesError, SettingError
from lyceum.evaluate import (
    cost_curve,
    precision_recall_curve,
    probability_cost,
    roc_auc_score,
    roc_curve,
)
from lyceum.evaluate.curves import roc as _roc

RNG = np.random.default_rng(2)


def made(n=400, ties=False, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    score = rng.normal(size=n) + y
    return y, np.round(score, 1) if ties else score, rng.integers(0, 4, n).astype(float)


def pairwise(y, score, w=None):
    w = np.ones(len(y)) if w is None else w
    above, below = score[y == 1], score[y == 0]
    wins = (above[:, None] > below) + 0.5 * (above[:, None] == below)
    weight = np.outer(w[y == 1], w[y == 0])
    return float((wins * weight).sum() / weight.sum()) if weight.sum() else 0.5


@pytest.mark.syllabus("14.3")
@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_area_equals_scikit_learn(ties, dtype):
    y, score, w = made(ties=ties)
    score = (score * 10).astype(dtype)
    assert roc_auc_score(y, score) == pytest.approx(
        metrics.roc_auc_score(y, score), abs=1e-14
    )
    assert roc_curve(y, score).auc == pytest.approx(roc_auc_score(y, score), abs=1e-14)
    weighted = metrics.roc_auc_score(y, score, sample_weight=w)
    assert roc_auc_score(y, score, sample_weight=w) == pytest.approx(
        weighted, abs=1e-13
    )


def test_threads_do_not_change_the_area(monkeypatch):
    y, score, _ = made(ties=True)
    area = roc_auc_score(y, score)
    monkeypatch.setattr(_roc, "_FEW_SCORES", 0)
    with threadpool_limits(2, user_api="openmp"):
        assert roc_auc_score(y, score) == area


tied_scores = st.sampled_from([-np.inf, -1.0, -0.0, 0.0, 0.5, np.inf])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 1), tied_scores, st.integers(0, 2))))
def test_area_is_the_share_of_pairs_won_whatever_the_ties(rows):
    y, score, w = (np.array([row[i] for row in rows], dtype=float) for i in range(3))
    assert roc_auc_score(y == 1, score) == pairwise(y, score)
    assert roc_auc_score(y == 1, score, sample_weight=w) == pytest.approx(
        pairwise(y, score, w)
    )
    curve = roc_curve(y == 1, score, sample_weight=w)
    assert curve.fpr[0] == curve.tpr[0] == 0.0
    assert curve.fpr[-1] == curve.tpr[-1] == 1.0
    assert (np.diff(curve.fpr) >= 0).all()
    assert (np.diff(curve.tpr) >= 0).all()
    assert np.trapezoid(curve.tpr, curve.fpr) == pytest.approx(curve.auc)
    assert isinstance(
        str(curve)
        + str(cost_curve(y == 1, score))
        + str(precision_recall_curve(y == 1, score)),
        str,
    )


def test_the_whole_number_sum_is_exact_where_floats_would_round():
    n = 200_000
    y = np.arange(2 * n) % 2
    assert roc_auc_score(y, np.arange(2 * n)) == (n * (n + 1) // 2) / (n * n)


@pytest.mark.syllabus("14.3")
@pytest.mark.parametrize("drop", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
def test_curve_equals_scikit_learn(drop, weighted):
    y, score, w = made(ties=True)
    w = w if weighted else None
    ours = roc_curve(y, score, sample_weight=w, drop_intermediate=drop)
    fpr, tpr, thresholds = metrics.roc_curve(
        y, score, sample_weight=w, drop_intermediate=drop
    )
    assert ours.fpr == pytest.approx(fpr)
    assert ours.tpr == pytest.approx(tpr)
    assert np.array_equal(ours.thresholds, thresholds)
    assert np.trapezoid(ours.tpr, ours.fpr) == pytest.approx(metrics.auc(fpr, tpr))


@pytest.mark.parametrize(
    "labels", [("no", "yes"), (-1, 1), (False, True), (3, 7), (0.0, 1.0)]
)
def test_the_larger_label_is_positive(labels):
    y, score, _ = made()
    named = np.array(labels)[y]
    expected = metrics.roc_auc_score(y, score)
    assert roc_auc_score(named, score) == pytest.approx(expected)
    assert roc_auc_score(
        named.astype(object), score, pos_label=labels[0]
    ) == pytest.approx(1 - expected)


def test_degenerate_scores_have_stated_areas():
    assert roc_auc_score([0, 1, 0, 1], np.zeros(4)) == 0.5
    assert roc_auc_score([1, 1], [0.1, 0.9]) == 0.5
    assert roc_auc_score([0, 0], [0.1, 0.9]) == 0.5
    assert roc_auc_score([], []) == 0.5
    assert roc_auc_score([0, 1], [0.2, 0.8], sample_weight=[0, 0]) == 0.5
    assert roc_curve([1, 1], [0.1, 0.9]).auc == 0.5
    assert precision_recall_curve([0, 0], [0.1, 0.9]).average_precision == 0.0
    assert precision_recall_curve([], []).average_precision == 0.0


def test_posteriors_of_two_classes_are_read_by_their_second_column():
    y, score, _ = made()
    assert roc_auc_score(y, np.column_stack([-score, score])) == roc_auc_score(y, score)


def test_bad_scores_are_refused_with_a_reason():
    with pytest.raises(MissingValuesError, match="missing values"):
        roc_auc_score([0, 1], [np.nan, 1.0])
    with pytest.raises(MissingValuesError, match="missing values"):
        roc_auc_score([0, 1], [np.nan, 1.0], sample_weight=[1, 1])
    with pytest.raises(SettingError, match="name the positive one"):
        roc_auc_score([0, 1, 2], [0.1, 0.2, 0.3])
    with pytest.raises(SettingError, match="pos_label=2 is not among"):
        roc_auc_score([0, 1], [0.1, 0.2], pos_label=2)
    with pytest.raises(DataError, match="2 and 3 rows"):
        roc_auc_score([0, 1], [1.0, 2.0, 3.0])
    with pytest.raises(DataError, match="give numbers"):
        roc_auc_score([0, 1], ["a", "b"])
    with pytest.raises(MissingValuesError, match="missing labels"):
        roc_auc_score([0.0, np.nan], [1.0, 2.0])


@pytest.mark.parametrize("weighted", [True, False])
def test_precision_and_recall_equal_scikit_learn(weighted):
    y, score, w = made(ties=True)
    w = w if weighted else None
    ours = precision_recall_curve(y, score, sample_weight=w)
    precision, recall, thresholds = metrics.precision_recall_curve(
        y, score, sample_weight=w
    )
    assert ours.average_precision == pytest.approx(
        metrics.average_precision_score(y, score, sample_weight=w)
    )
    reached = {t: (p, r) for p, r, t in zip(precision, recall, thresholds)}
    for p, r, t in zip(ours.precision[1:], ours.recall[1:], ours.thresholds[1:]):
        assert (p, r) == pytest.approx(reached[t])
    best, threshold = ours.best_f1
    assert best == pytest.approx(
        metrics.f1_score(y, score >= threshold, sample_weight=w)
    )


def test_cost_curve_is_the_least_cost_over_all_thresholds():
    y, score, _ = made(ties=True)
    curve = cost_curve(y, score, n_points=51)
    fpr, tpr, thresholds = metrics.roc_curve(y, score, drop_intermediate=False)
    costs = np.outer(curve.probability_cost, 1 - tpr) + np.outer(
        1 - curve.probability_cost, fpr
    )
    assert curve.cost == pytest.approx(costs.min(axis=1))
    assert (curve.cost <= curve.trivial + 1e-12).all()
    cost, threshold = curve.at(0.3, cost_fn=5.0)
    x = 0.3 * 5 / (0.3 * 5 + 0.7)
    assert cost == pytest.approx((x * (1 - tpr) + (1 - x) * fpr).min())
    chosen = int(np.flatnonzero(thresholds == threshold)[0])
    assert cost == pytest.approx(x * (1 - tpr[chosen]) + (1 - x) * fpr[chosen])


def test_cost_curve_area_by_fine_sums_and_at_the_extremes():
    y, score, _ = made()
    curve = cost_curve(y, score, n_points=20_001)
    assert curve.area == pytest.approx(
        np.trapezoid(curve.cost, curve.probability_cost), abs=1e-6
    )
    assert cost_curve(y, np.zeros(len(y))).area == pytest.approx(0.25)
    assert cost_curve(y, y).area == 0.0
    assert probability_cost(0.5, 0.0, 0.0) == 0.5
    with pytest.raises(SettingError, match="must lie in"):
        probability_cost(1.5)


def test_hull_holds_all_points_below_it():
    y, score, _ = made()
    curve = roc_curve(y, score)
    hull = curve.hull
    assert (
        np.interp(curve.fpr, curve.fpr[hull], curve.tpr[hull]) >= curve.tpr - 1e-12
    ).all()
    assert (
        np.diff(np.diff(curve.tpr[hull]) / np.maximum(np.diff(curve.fpr[hull]), 1e-12))
        < 1e-9
    ).all()


@given(st.integers(0, 2**32 - 1), st.integers(1, 80), st.integers(1, 30))
def test_the_hull_by_whole_columns_is_that_of_the_chain(seed, n, span):
    rng = np.random.default_rng(seed)
    steps = rng.integers(0, span, size=(2, n))
    x, y = np.cumsum(steps[:, steps.any(axis=0)], axis=1).astype(np.float64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_roc, "_FEW_POINTS", 2)
        assert _roc._upper_hull(x, y).tolist() == _roc._monotone_chain(x, y).tolist()


def test_repeated_points_are_on_the_hull_once():
    x = np.array([0.0, 0.0, 0.2, 0.2, 0.5, 1.0, 1.0])
    y = np.array([0.0, 0.0, 0.6, 0.6, 0.7, 1.0, 1.0])
    hull = _roc._upper_hull(x, y)
    assert list(zip(x[hull], y[hull])) == [(0.0, 0.0), (0.2, 0.6), (1.0, 1.0)]


def test_the_smaller_of_two_numbers_may_be_the_positive_label():
    y = np.array([0, 1, 0, 1, 1])
    score = np.array([0.9, 0.2, 0.6, 0.7, 0.1])
    assert roc_curve(y, score, pos_label=0).auc == pytest.approx(5 / 6)
    assert roc_curve(y, score, pos_label=1).auc == pytest.approx(1 / 6)
