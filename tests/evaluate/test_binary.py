"""Rates of two classes against scikit-learn, and their stated values where nothing can be
divided."""

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from sklearn import metrics
from statsmodels.stats.contingency_tables import Table2x2

from lyceum.errors import DataError, SettingError
from lyceum.evaluate import BinaryReport, binary_report, kappa_reading

RNG = np.random.default_rng(1)
Y = RNG.integers(0, 2, 200)
P = np.where(RNG.random(200) < 0.7, Y, 1 - Y)
W = RNG.integers(0, 3, 200)

RATES = (
    "accuracy",
    "error",
    "precision",
    "recall",
    "specificity",
    "false_positive_rate",
    "miss_rate",
    "npv",
    "f1",
    "kappa",
    "matthews",
    "prevalence",
    "balanced_accuracy",
)


@pytest.mark.syllabus("14.2.1")
def test_rates_equal_scikit_learn():
    report = binary_report(Y, P, sample_weight=W)
    weighted = {"sample_weight": W}
    assert report.accuracy == pytest.approx(metrics.accuracy_score(Y, P, **weighted))
    assert report.precision == pytest.approx(metrics.precision_score(Y, P, **weighted))
    assert report.recall == pytest.approx(metrics.recall_score(Y, P, **weighted))
    assert report.specificity == pytest.approx(
        metrics.recall_score(Y, P, pos_label=0, **weighted)
    )
    assert report.npv == pytest.approx(
        metrics.precision_score(Y, P, pos_label=0, **weighted)
    )
    assert report.f1 == pytest.approx(metrics.f1_score(Y, P, **weighted))
    assert report.f_score(2.0) == pytest.approx(
        metrics.fbeta_score(Y, P, beta=2.0, **weighted)
    )
    assert report.kappa == pytest.approx(metrics.cohen_kappa_score(Y, P, **weighted))
    assert report.matthews == pytest.approx(metrics.matthews_corrcoef(Y, P, **weighted))
    assert report.balanced_accuracy == pytest.approx(
        metrics.balanced_accuracy_score(Y, P, **weighted)
    )


@pytest.mark.syllabus("14.2")
def test_complements_sum_to_one():
    report = binary_report(Y, P)
    assert report.accuracy + report.error == pytest.approx(1.0)
    assert report.recall + report.miss_rate == pytest.approx(1.0)
    assert report.specificity + report.false_positive_rate == pytest.approx(1.0)


@pytest.mark.syllabus("14.2")
def test_odds_ratio_equals_statsmodels():
    report = binary_report(Y, P)
    table = Table2x2([[report.tp, report.fn], [report.fp, report.tn]])
    assert report.odds_ratio == pytest.approx(table.oddsratio)


def test_labels_and_counts_give_the_same_report():
    by_label = binary_report(Y, P)
    by_count = binary_report(
        tp=by_label.tp, fp=by_label.fp, fn=by_label.fn, tn=by_label.tn
    )
    assert all(getattr(by_label, name) == getattr(by_count, name) for name in RATES)


@pytest.mark.syllabus("2.6.4")
def test_positive_is_the_larger_number_or_the_rarer_text_unless_said():
    assert binary_report(["no", "yes"], ["yes", "yes"]).positive == "yes"
    y, guess = ["good"] * 3 + ["bad"], ["good", "bad", "good", "bad"]
    report = binary_report(y, guess)
    assert (report.positive, report.tp, report.fp) == ("bad", 1, 1)
    assert binary_report(y, guess, sample_weight=[1, 1, 1, 5]).positive == "good"
    assert binary_report([1, 1, 0], [1, 0, 0]).positive == 1
    assert report.task_cost(cost_fp=2.0, cost_fn=7.0) == 2.0
    assert binary_report(tp=3, fp=4, fn=5, tn=6).task_cost(1.0, 10.0) == 54.0
    swapped = binary_report(["no", "yes"], ["yes", "yes"], pos_label="no")
    assert (swapped.tp, swapped.fn, swapped.tn) == (0, 1, 1)
    several = binary_report(["a", "b", "c"], ["a", "c", "b"], pos_label="a")
    assert (several.tp, several.tn, several.negative) == (1, 2, "not a")


def test_a_lone_label_is_positive_if_it_is_one():
    assert binary_report([1, 1], [1, 1]).tp == 2
    assert binary_report([True], [True]).tp == 1
    assert binary_report([0, 0], [0, 0]).tn == 2
    assert binary_report(["x"], ["x"]).tn == 1


@pytest.mark.syllabus("14.2")
def test_rates_without_rows_are_zero_and_are_named():
    report = binary_report([0, 0, 0], [0, 0, 0])
    assert (report.recall, report.precision, report.f1, report.kappa) == (
        0.0,
        0.0,
        0.0,
        0.0,
    )
    assert (report.accuracy, report.specificity, report.npv) == (1.0, 1.0, 1.0)
    assert set(report.undefined) == {
        "recall",
        "miss_rate",
        "precision",
        "f1",
        "odds_ratio",
        "kappa",
    }
    assert "no rows for" in str(report)
    assert binary_report(tp=1, fp=1, fn=1, tn=1).undefined == ()


def test_odds_ratio_is_infinite_or_one_at_the_edges():
    assert binary_report(tp=3, fp=0, fn=1, tn=2).odds_ratio == math.inf
    assert binary_report(tp=0, fp=0, fn=1, tn=2).odds_ratio == 1.0
    assert binary_report(tp=0, fp=2, fn=1, tn=2).odds_ratio == 0.0


cells = st.integers(0, 3)


@settings(max_examples=100, deadline=None)
@given(cells, cells, cells, cells)
def test_every_small_table_has_finite_rates_in_range(tp, fp, fn, tn):
    report = BinaryReport(tp, fp, fn, tn)
    values = {name: getattr(report, name) for name in RATES}
    assert all(-1.0 <= value <= 1.0 for value in values.values())
    assert report.odds_ratio >= 0.0
    assert str(report)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=8))
def test_labels_of_any_length_are_counted_like_the_definition(rows):
    report = binary_report(
        np.array([a for a, _ in rows], bool), np.array([b for _, b in rows], bool)
    )
    assert report.tp == sum(a and b for a, b in rows)
    assert report.fn == sum(a and not b for a, b in rows)
    assert report.n == len(rows)


@pytest.mark.parametrize(
    ("kappa", "word"),
    [
        (-0.1, "poor"),
        (0.0, "slight"),
        (0.2, "slight"),
        (0.21, "fair"),
        (0.5, "moderate"),
        (0.75, "substantial"),
        (0.95, "almost perfect"),
        (1.0, "almost perfect"),
    ],
)
def test_kappa_is_read_in_steps_of_a_fifth(kappa, word):
    assert kappa_reading(kappa, scale="landis_koch") == word


def test_bad_requests_say_what_to_give():
    with pytest.raises(SettingError, match="all of tp, fp, fn and tn"):
        binary_report(tp=1)
    with pytest.raises(SettingError, match="all of tp"):
        binary_report([1], [1], tp=3)
    with pytest.raises(DataError, match="at least 0"):
        binary_report(tp=-1, fp=0, fn=0, tn=0)
    with pytest.raises(SettingError, match="'Yes' is not among the labels 'no', 'yes'"):
        binary_report(["no", "yes"], ["no", "yes"], pos_label="Yes")
    assert binary_report(["no"], ["no"], pos_label="yes").tn == 1
    with pytest.raises(SettingError, match="3 classes"):
        binary_report([1, 2, 3], [1, 2, 3])


def test_undecided_rows_are_left_out_and_counted():
    report = binary_report([1.0, 0.0, 1.0], [1.0, np.nan, 0.0])
    assert (report.n, report.rejected) == (2, 1)
    assert "rejected rows" in str(report)
