"""Thresholds on scores against trying them all."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, strategies as st

from lyceum.decision import (
    best_threshold,
    minimum_risk,
    theoretical_threshold,
    threshold_costs,
)
from lyceum.errors import DataError, SettingError

rows = st.lists(
    st.tuples(st.integers(0, 1), st.integers(0, 6)), min_size=1, max_size=25
)


def cost_at(t, y, score, cost_fp, cost_fn):
    said = score >= t
    return cost_fp * np.sum(said & (y == 0)) + cost_fn * np.sum(~said & (y == 1))


@given(rows, st.integers(0, 5), st.integers(0, 5))
@pytest.mark.syllabus("2.6")
def test_no_threshold_costs_less_and_of_equals_the_largest_is_taken(
    pairs, cost_fp, cost_fn
):
    y, score = (np.array(column) for column in zip(*pairs))
    best = best_threshold(y, score, cost_fp=cost_fp, cost_fn=cost_fn)
    tried = {
        t: cost_at(t, y, score, cost_fp, cost_fn) for t in [*np.unique(score), np.inf]
    }
    assert best.cost == min(tried.values())
    assert best == max(t for t, cost in tried.items() if cost == best.cost)
    said = score >= best
    assert best.fp == np.sum(said & (y == 0))
    assert best.fn == np.sum(~said & (y == 1))
    assert best.tp == np.sum(said & (y == 1))
    assert best.tn == np.sum(~said & (y == 0))


@given(rows)
def test_all_thresholds_and_costs_are_listed(pairs):
    y, score = (np.array(column) for column in zip(*pairs))
    thresholds, costs = threshold_costs(y, score, cost_fp=2, cost_fn=3)
    assert thresholds.tolist() == [np.inf, *np.unique(score)[::-1]]
    assert costs.tolist() == [cost_at(t, y, score, 2, 3) for t in thresholds]


@given(rows)
def test_weight_two_equals_repeated_row(pairs):
    y, score = (np.array(column) for column in zip(*pairs))
    w = np.arange(len(y)) % 3
    w[0] = 1
    options = {"cost_fp": 2, "cost_fn": 3, "pos_label": 1}
    weighted = best_threshold(y, score, sample_weight=w, **options)
    repeated = best_threshold(np.repeat(y, w), np.repeat(score, w), **options)
    assert weighted.cost == repeated.cost


@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 100))
@pytest.mark.syllabus("2.6", "2.2")
def test_theoretical_threshold_is_where_minimum_risk_changes(cost_fp, cost_fn, percent):
    p, t = percent / 100, theoretical_threshold(cost_fp, cost_fn)
    decided = minimum_risk([[1 - p, p]], [[0, cost_fp], [cost_fn, 0]])
    if abs(p - t) > 1e-9:
        assert bool(decided[0]) == (p > t)


def test_best_threshold_comes_close_to_the_theoretical_one_on_true_posteriors():
    rng = np.random.default_rng(0)
    p = rng.random(200_000)
    y = rng.random(200_000) < p
    assert best_threshold(y, p, cost_fp=1, cost_fn=4) == pytest.approx(
        theoretical_threshold(1, 4), abs=0.02
    )


def test_text_labels_take_the_later_one_as_positive_by_default():
    y, score = ["no", "yes", "no", "yes"], [0.1, 0.9, 0.2, 0.8]
    assert best_threshold(y, score) == 0.8
    assert best_threshold(y, -np.array(score), pos_label="no") == -0.2
    assert best_threshold(np.array([-1, 1]), [0.0, 1.0]) == 1.0


def test_one_class_has_a_stated_answer():
    assert best_threshold([0, 0], [0.3, 0.6]) == np.inf
    assert best_threshold([1, 1], [0.3, 0.6]) == 0.3
    with pytest.raises(DataError, match="say which class is positive"):
        best_threshold(["a", "a"], [0.3, 0.6])


def test_correct_decisions_may_cost_too():
    assert theoretical_threshold(3, 5, cost_tp=1, cost_tn=1) == pytest.approx(2 / 6)


def test_a_threshold_is_a_number_that_survives_copies():
    t = best_threshold([0, 1], [0.2, 0.7])
    assert isinstance(t, float)
    assert repr(t) == "Threshold(0.7, cost=0, fp=0, fn=0)"
    for other in (copy.deepcopy(t), pickle.loads(pickle.dumps(t))):
        assert (other, other.cost, other.tn) == (0.7, 0.0, 1.0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: best_threshold([0, 1, 2], [1, 2, 3]), "3 distinct labels"),
        (lambda: best_threshold([0, 1], [[0.5, 0.5], [0.1, 0.9]]), "one score per row"),
        (lambda: best_threshold([0, 1], [0.5, np.nan]), "none of them missing"),
        (lambda: best_threshold([0, 1], [0.5, 0.6], cost_fp=-1), "not negative"),
        (lambda: best_threshold([0, 1], [0.5, 0.6], cost_fn=np.inf), "finite"),
        (lambda: best_threshold([0, 1], [0.5, 0.6], pos_label=7), "pos_label is 7"),
        (lambda: best_threshold([], []), "at least one row"),
        (lambda: theoretical_threshold(0, 0), "cost at least as much"),
        (lambda: theoretical_threshold(1, 1, cost_tp=2), "cost at least as much"),
    ],
)
def test_what_makes_no_threshold_is_refused(call, message):
    with pytest.raises((DataError, SettingError), match=message):
        call()
