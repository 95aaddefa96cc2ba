"""DeLong's interval and test against the definition by pairs, and against simulation."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from lyceum.errors import DataError, MissingValuesError, SettingError
from lyceum.evaluate import auc_interval, delong, roc_auc_score


def brute_force(y, *scores):
    """Areas and covariance by every pair, as DeLong, DeLong and Clarke-Pearson print them."""
    m, n = int(sum(y)), len(y) - int(sum(y))
    V = np.zeros((len(scores), m))
    U = np.zeros((len(scores), n))
    for r, score in enumerate(scores):
        above = [s for s, label in zip(score, y) if label]
        below = [s for s, label in zip(score, y) if not label]
        for (i, a), (j, b) in itertools.product(enumerate(above), enumerate(below)):
            won = 1.0 if a > b else 0.5 if a == b else 0.0
            V[r, i] += won / n
            U[r, j] += won / m
    areas = V.mean(axis=1)
    S10 = [[sum((V[r] - areas[r]) * (V[s] - areas[s])) / (m - 1) for s in range(len(scores))]
           for r in range(len(scores))]  # fmt: skip
    S01 = [[sum((U[r] - areas[r]) * (U[s] - areas[s])) / (n - 1) for s in range(len(scores))]
           for r in range(len(scores))]  # fmt: skip
    return areas, np.array(S10) / m + np.array(S01) / n


@pytest.mark.syllabus("14.6.7")
@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.tuples(st.booleans(), st.integers(0, 6), st.integers(0, 6)),
        min_size=4,
        max_size=30,
    )
)
def test_area_error_z_and_p_equal_the_definition_by_pairs_whatever_the_ties(rows):
    y, one, two = (np.array(column) for column in zip(*rows))
    if min(y.sum(), (~y).sum()) < 2:
        return
    areas, covariance = brute_force(y, one, two)
    test = delong(y, one, two)
    assert (test.first, test.second) == pytest.approx(tuple(areas))
    assert test.first == pytest.approx(roc_auc_score(y, one))
    assert test.covariance == pytest.approx(covariance, abs=1e-12)
    alone = auc_interval(y, two)
    assert alone.standard_error == pytest.approx(math.sqrt(covariance[1, 1]), abs=1e-9)
    variance = covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]
    if variance > 1e-9:
        z = (areas[0] - areas[1]) / math.sqrt(variance)
        assert test.z == pytest.approx(z)
        assert test.p_value == pytest.approx(2 * stats.norm.sf(abs(z)))
        # the interval and the test agree
        assert (test.low > 0 or test.high < 0) == (test.p_value < 0.05)


@pytest.mark.syllabus("14.6")
@pytest.mark.parametrize("scale", ["area", "logit"])
def test_interval_covers_the_true_area_as_often_as_it_says(scale):
    rng = np.random.default_rng(0)
    true = stats.norm.cdf(1.0 / math.sqrt(2.0))
    y = np.arange(120) % 2
    found = [auc_interval(y, rng.normal(size=120) + y, scale=scale) for _ in range(600)]
    covered = np.mean([one.low <= true <= one.high for one in found])
    assert 0.92 < covered < 0.98
    assert np.std([one.auc for one in found]) == pytest.approx(
        found[0].standard_error, rel=0.25
    )


@pytest.mark.syllabus("14.6")
def test_p_values_of_equally_good_scores_are_uniform():
    rng = np.random.default_rng(1)
    y = np.arange(150) % 2
    p = [
        delong(
            y, y + base + rng.normal(size=150), y + base + rng.normal(size=150)
        ).p_value
        for base in rng.normal(size=(400, 150))
    ]
    assert stats.kstest(p, "uniform").pvalue > 0.01


def test_scores_that_order_the_rows_alike_do_not_differ():
    y, score = [0, 1, 0, 1, 1], np.array([0.1, 0.3, 0.4, 0.6, 0.9])
    test = delong(y, score, np.exp(1e3 * score - 900))
    assert (test.z, test.p_value, test.difference) == (0.0, 1.0, 0.0)
    assert "DeLong" in str(test)


def test_a_perfect_score_has_no_error_and_a_perfect_one_beats_its_reverse():
    y = [0, 0, 1, 1]
    for scale in ("area", "logit"):
        best = auc_interval(y, [1, 2, 3, 4], scale=scale)
        assert (best.auc, best.standard_error, best.low, best.high) == (
            1.0,
            0.0,
            1.0,
            1.0,
        )
    assert delong(y, [1, 2, 3, 4], [4, 3, 2, 1]).p_value == 0.0


def test_labels_posteriors_and_positive_label_are_taken_as_auc_takes_them():
    y, score = (
        np.array(["no", "yes", "no", "yes", "no"]),
        np.array([0.2, 0.7, 0.6, 0.5, 0.1]),
    )
    plain = auc_interval(y, score)
    assert auc_interval(y, np.column_stack([1 - score, score])) == plain
    other = auc_interval(y, score, pos_label="no")
    assert other.auc == pytest.approx(1 - plain.auc)
    assert other.standard_error == pytest.approx(plain.standard_error)
    assert str(plain).startswith("AUC 0.8333")


def test_errors_say_what_is_wanted():
    with pytest.raises(DataError, match="1 positive and 2 negative"):
        auc_interval([0, 0, 1], [1, 2, 3])
    with pytest.raises(MissingValuesError, match="1 missing"):
        auc_interval([0, 0, 1, 1], [1, 2, 3, np.nan])
    with pytest.raises(SettingError, match="confidence"):
        delong([0, 0, 1, 1], [1, 2, 3, 4], [1, 2, 3, 4], confidence=1.0)
    with pytest.raises(SettingError, match="'logit'"):
        auc_interval([0, 0, 1, 1], [1, 2, 3, 4], scale="round")
