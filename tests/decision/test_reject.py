"""The error–reject curve against brute force over thresholds."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from lyceum.decision import LossMatrix, error_reject_curve, minimum_risk
from lyceum.errors import DataError, SettingError


def draw(seed, n=40, K=3, ties=True):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 4, (n, K)) + (1 if ties else rng.random((n, K)))
    return rng.integers(0, K, n), counts / counts.sum(axis=1, keepdims=True)


@given(st.integers(0, 200), st.floats(0, 1.2), st.booleans())
@pytest.mark.syllabus("2.3.2")
def test_a_point_is_what_minimum_risk_does_with_that_doubt(seed, theta, ties):
    y, proba = draw(seed, ties=ties)
    decided = minimum_risk(proba, None, doubt=theta)
    kept = ~decided.rejected
    point = error_reject_curve(y, proba).at(theta)
    assert point["reject_rate"] == pytest.approx(decided.rejected.mean())
    wrong = np.mean(np.asarray(decided)[kept] != y[kept]) if kept.any() else 0.0
    assert point["error"] == pytest.approx(wrong)
    assert point["total"] == pytest.approx(
        np.where(kept, np.asarray(decided) != y, theta).mean()
    )


@given(st.integers(0, 200), st.integers(0, 60))
@pytest.mark.syllabus("2.3")
def test_cost_among_accepted_is_the_mean_loss_paid(seed, theta):
    y, proba = draw(seed)
    values = np.random.default_rng(seed).integers(0, 9, (3, 3)).astype(float)
    theta = theta / 7
    decided = minimum_risk(proba, values, doubt=theta)
    kept = ~decided.rejected
    point = error_reject_curve(y, proba, values).at(theta)
    paid = values[y[kept], decided.index[kept]].mean() if kept.any() else 0.0
    assert point["cost"] == pytest.approx(paid)
    assert point["reject_rate"] == pytest.approx(1 - kept.mean())


@given(st.integers(0, 100))
def test_weight_two_equals_repeated_row(seed):
    y, proba = draw(seed, n=15)
    w = np.random.default_rng(seed).integers(0, 3, 15)
    w[0] = 1
    weighted = error_reject_curve(y, proba, sample_weight=w)
    repeated = error_reject_curve(np.repeat(y, w), np.repeat(proba, w, axis=0))
    for theta in (0.0, 0.2, 0.5, 0.6, 1.0):
        assert weighted.at(theta) == pytest.approx(repeated.at(theta))
    assert weighted.area == pytest.approx(repeated.area)


def test_the_curve_runs_from_all_rejected_to_none_and_its_ends_are_stated():
    y, proba = draw(3)
    curve = error_reject_curve(y, proba)
    assert curve.reject_rate[0] == 1.0
    assert curve.error[0] == 0.0
    assert curve.reject_rate[-1] == 0.0
    assert curve.thresholds[-1] == np.inf
    assert curve.error[-1] == pytest.approx(np.mean(proba.argmax(axis=1) != y))
    assert (np.diff(curve.thresholds) > 0).all()
    assert (np.diff(curve.reject_rate) < 0).all()
    assert len(curve.thresholds) == len(np.unique(1 - proba.max(axis=1))) + 1


def test_area_by_hand():
    # sure and right, less sure and wrong: error 0 at 50 % rejected, 1/2 at none; held at 0 up to
    # 100 %
    curve = error_reject_curve([0, 1], [[0.9, 0.1], [0.6, 0.4]])
    assert curve.area == pytest.approx(0.125)
    assert error_reject_curve([1], [[0.9, 0.1]]).area == 1.0


def test_a_reject_column_of_the_loss_gives_way_to_doubt():
    y, proba = draw(5, K=2)
    with_column = LossMatrix([[0, 5, 0.1], [1, 0, 0.1]], [0, 1], [0, 1, "ask"])
    without = LossMatrix([[0, 5], [1, 0]], [0, 1])
    a, b = (
        error_reject_curve(y, proba, with_column),
        error_reject_curve(y, proba, without),
    )
    assert a.cost.tolist() == b.cost.tolist()


def test_labels_are_matched_in_any_order():
    y, proba = draw(7, K=2, ties=False)
    names = np.array(["bad", "good"])[y]
    a = error_reject_curve(y, proba)
    b = error_reject_curve(names, proba[:, ::-1], classes=["good", "bad"])
    c = error_reject_curve(names, proba)
    assert a.error.tolist() == b.error.tolist() == c.error.tolist()


def test_thinning_keeps_ends_and_area():
    y, proba = draw(1, n=500, ties=False)
    curve = error_reject_curve(y, proba)
    thin = curve.thin(20)
    assert len(thin.thresholds) == 20
    assert (thin.reject_rate[0], thin.reject_rate[-1], thin.area) == (
        1.0,
        0.0,
        curve.area,
    )
    assert curve.thin(10**6) is curve
    y, proba = draw(1, n=2000, ties=False)
    assert len(error_reject_curve(y, proba).thin().thresholds) == 500


def test_table_shows_the_first_point_that_rejects_enough():
    y, proba = draw(1, n=500, ties=False)
    curve = error_reject_curve(y, proba)
    (row,) = curve.table([0.2]).rows
    assert 0.2 <= row[0] < 0.2 + 1 / 400
    assert "reject rate" in str(curve)
    usual = [row[0] for row in curve.table().rows]
    assert usual == pytest.approx([0.0, 0.05, 0.1, 0.2, 0.3, 0.5], abs=1 / 400)


def test_a_large_table_takes_seconds():
    rng = np.random.default_rng(0)
    p = rng.random(300_000)
    curve = error_reject_curve(
        (rng.random(300_000) < p).astype(int), np.column_stack([1 - p, p])
    )
    # a calibrated posterior that is uniform: error among those surer than c is (1 - c) / 2
    at = curve.at(0.25)
    assert at["reject_rate"] == pytest.approx(0.5, abs=0.005)
    assert at["error"] == pytest.approx(0.125, abs=0.005)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: error_reject_curve([0], [[0.5, 0.5], [0.5, 0.5]]),
            "1 labels for 2 rows",
        ),
        (lambda: error_reject_curve([], np.zeros((0, 2))), "at least one row"),
        (
            lambda: error_reject_curve(["a", "b"], np.full((2, 4), 0.25)),
            "2 distinct labels, but .* 4 col",
        ),
        (
            lambda: error_reject_curve(
                ["a", "z"], np.full((2, 2), 0.5), classes=["a", "b"]
            ),
            "no class: 'z'",
        ),
        (
            lambda: error_reject_curve([0, 1], np.full((2, 2), 0.5), np.zeros((3, 3))),
            "3 rows",
        ),
        (
            lambda: error_reject_curve([[0], [1]], np.full((2, 2), 0.5)),
            "one true label per row",
        ),
        (lambda: error_reject_curve([0, 5], np.full((2, 2), 0.5), classes=[0, 1]), "5"),
    ],
)
def test_what_does_not_fit_is_refused(call, message):
    with pytest.raises((DataError, SettingError), match=message):
        call()
