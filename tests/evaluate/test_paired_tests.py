"""Tests of two models against statsmodels, published values and hand computation."""

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB
from statsmodels.stats.contingency_tables import mcnemar as peer

from lyceum.errors import DataError, SettingError
from lyceum.evaluate import (
    bayes_factor,
    corrected_t,
    cross_validate,
    five_by_two,
    mcnemar,
)


@pytest.mark.syllabus("14.6")
@settings(max_examples=40, deadline=None)
@given(st.integers(0, 40), st.integers(0, 40))
def test_mcnemar_equals_statsmodels(b, c):
    exact = mcnemar(only_first_wrong=b, only_second_wrong=c, method="exact")
    if b + c:
        assert exact.p_value == pytest.approx(
            min(1.0, peer([[5, b], [c, 9]], exact=True).pvalue)
        )
    assert exact.p_value == pytest.approx(
        stats.binomtest(b, b + c).pvalue if b + c else 1.0
    )
    rough = mcnemar(only_first_wrong=b, only_second_wrong=c, method="chi-square")
    if b != c:
        theirs = peer([[5, b], [c, 9]], exact=False, correction=True)
        assert (rough.statistic, rough.p_value) == pytest.approx(
            (theirs.statistic, theirs.pvalue)
        )
    else:
        assert (rough.statistic, rough.p_value) == (0.0, 1.0)


@pytest.mark.syllabus("14.6")
def test_mcnemar_counts_rows_that_one_model_alone_gets_wrong_and_says_its_method():
    y, first, second = list("aabbc"), list("abbac"), list("aaabc")
    result = mcnemar(y, first, second)
    assert (result.only_first_wrong, result.only_second_wrong, result.method) == (
        2,
        1,
        "exact",
    )
    assert "exact" in str(result)
    assert mcnemar(only_first_wrong=20, only_second_wrong=5).method == "chi-square"
    assert mcnemar(only_first_wrong=20, only_second_wrong=4).method == "exact"


def test_mcnemar_of_equal_models_has_p_one():
    assert mcnemar([0, 1], [0, 1], [0, 1]).p_value == 1.0
    assert mcnemar([], [], []).p_value == 1.0
    with pytest.raises(SettingError, match="both predictions"):
        mcnemar([0, 1], [0, 1])
    with pytest.raises(SettingError, match="integers"):
        mcnemar(only_first_wrong=-1, only_second_wrong=2)
    with pytest.raises(DataError, match="2 and 1 rows"):
        mcnemar([0, 1], [0, 1], [0])
    with pytest.raises(SettingError, match="'chi-square'"):
        mcnemar([0], [0], [0], method="z")


@pytest.mark.syllabus("14.6.2")
def test_five_by_two_by_hand():
    d = np.array([[0.02, 0.04], [0.01, 0.03], [0.00, 0.02], [0.03, 0.01], [0.02, 0.02]])
    result = five_by_two(d + 0.1, np.full((5, 2), 0.1))
    s2 = [0.0002, 0.0002, 0.0002, 0.0002, 0.0]  # (difference of the two)^2 / 2
    assert result.t == pytest.approx(0.02 / math.sqrt(sum(s2) / 5))
    assert result.f == pytest.approx((d**2).sum() / (2 * sum(s2)))
    assert result.t_p_value == pytest.approx(2 * stats.t.sf(result.t, 5))
    assert result.f_p_value == pytest.approx(stats.f.sf(result.f, 10, 5))
    assert result.mean == pytest.approx(d.mean())


@pytest.mark.syllabus("14.5.3", "14.6")
def test_five_by_two_of_estimators_sees_a_real_difference_and_no_difference():
    X, y = load_iris(return_X_y=True)
    clear = five_by_two(GaussianNB(), DummyClassifier(), X, y)
    assert clear.mean < -0.5
    assert clear.f_p_value < 0.01
    same = five_by_two(GaussianNB(), GaussianNB(), X, y)
    assert (same.t, same.t_p_value, same.f, same.f_p_value) == (0.0, 1.0, 0.0, 1.0)
    assert "differ" in str(clear)


def test_five_by_two_without_variance_is_certain():
    result = five_by_two(np.full((5, 2), 0.5), np.full((5, 2), 0.25))
    assert (result.t, result.t_p_value, result.f_p_value) == (math.inf, 0.0, 0.0)
    with pytest.raises(DataError, match=r"shapes \(2, 2\) and \(2, 2\)"):
        five_by_two(np.zeros((2, 2)), np.zeros((2, 2)))


@pytest.mark.syllabus("14.6.2")
def test_corrected_t_is_its_formula_and_the_plain_paired_t_without_test_rows():
    rng = np.random.default_rng(0)
    a, b = rng.random(30), rng.random(30)
    result = corrected_t(a, b, test_to_train=1 / 9)
    d = a - b
    assert result.t == pytest.approx(
        d.mean() / math.sqrt((1 / 30 + 1 / 9) * d.var(ddof=1))
    )
    assert result.df == 29
    plain = corrected_t(a, b, test_to_train=1e-15)
    theirs = stats.ttest_rel(a, b)
    assert (plain.t, plain.p_value) == pytest.approx((theirs.statistic, theirs.pvalue))
    interval = theirs.confidence_interval()
    assert (plain.low, plain.high) == pytest.approx((interval.low, interval.high))
    assert result.p_value > plain.p_value


def test_corrected_t_takes_cross_validation_as_it_comes():
    X, y = load_iris(return_X_y=True)
    first, second = (
        cross_validate(GaussianNB(), X, y),
        cross_validate(DummyClassifier(), X, y),
    )
    result = corrected_t(first.losses, second.losses, test_to_train=first.test_to_train)
    assert result.high < 0.0
    assert "differ" in str(result)


def test_corrected_t_without_variance_or_splits():
    assert corrected_t([0.1, 0.1], [0.1, 0.1], test_to_train=0.1).p_value == 1.0
    assert corrected_t([0.3] * 3, [0.1] * 3, test_to_train=0.1).t == math.inf
    with pytest.raises(DataError, match="at least two"):
        corrected_t([0.1], [0.2], test_to_train=0.1)
    with pytest.raises(SettingError, match="above 0"):
        corrected_t([0.1, 0.2], [0.2, 0.2], test_to_train=0.0)


@pytest.mark.syllabus("14.6.3")
def test_bayes_factor_of_a_coin_by_its_closed_form():
    # 9 heads in 12: fair coin against a uniform prior, evidence 1/2^12 against B(10, 4)
    fair, uniform = (
        -12 * math.log(2),
        math.lgamma(10) + math.lgamma(4) - math.lgamma(14),
    )
    result = bayes_factor(uniform, fair)
    assert result.factor == pytest.approx(4096 / 2860)
    assert result.posterior == pytest.approx(4096 / (4096 + 2860))
    assert result.reading == "hardly worth a mention"


@pytest.mark.syllabus("14.6")
def test_bayes_factor_from_bic_and_its_reading():
    assert bayes_factor(bic_first=10.0, bic_second=14.0).log_factor == 2.0
    assert bayes_factor(-5.0, 0.0).reading == "strong support for the second"
    assert bayes_factor(2.0, 0.0).reading == "clear support for the first"
    assert bayes_factor(6.0, 0.0).reading == "decisive support for the first"
    assert bayes_factor(0.0, 0.0, prior_odds=3.0).posterior == pytest.approx(0.75)


def test_bayes_factor_far_out_stays_defined():
    assert bayes_factor(5000.0, 0.0).factor == math.inf
    assert bayes_factor(5000.0, 0.0).posterior == 1.0
    assert bayes_factor(0.0, 5000.0).posterior == 0.0
    assert "Bayes factor" in str(bayes_factor(0.0, 5000.0))
    with pytest.raises(SettingError, match="two log evidences"):
        bayes_factor(1.0)
    with pytest.raises(SettingError, match="two log evidences"):
        bayes_factor(1.0, 2.0, bic_first=3.0)
    with pytest.raises(DataError, match="both models"):
        bayes_factor(-math.inf, -math.inf)
    with pytest.raises(SettingError, match="prior_odds"):
        bayes_factor(1.0, 2.0, prior_odds=0.0)
