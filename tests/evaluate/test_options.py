"""Options that users of others expect: partial AUC, the plain paired t, Yates' correction."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from sklearn import metrics
from statsmodels.api import OLS, add_constant
from statsmodels.stats.outliers_influence import OLSInfluence

from lyceum.errors import DataError, SettingError
from lyceum.evaluate import paired_t, roc_auc_score, roc_curve
from lyceum.linear import LinearRegression
from lyceum.statistics import independence_test


@pytest.mark.syllabus("14.3.1")
@pytest.mark.parametrize("max_fpr", [0.03, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_partial_area_is_scikit_learns(max_fpr, weighted):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    scores = np.round(rng.normal(size=200) + y, 1)  # with ties
    w = rng.uniform(0.5, 2.0, 200) if weighted else None
    theirs = metrics.roc_auc_score(y, scores, max_fpr=max_fpr, sample_weight=w)
    assert roc_auc_score(y, scores, max_fpr=max_fpr, sample_weight=w) == pytest.approx(
        theirs
    )
    curve = roc_curve(y, scores)
    assert curve.partial_auc(1.0, standardized=False) == pytest.approx(curve.auc)
    with pytest.raises(SettingError, match="max_fpr=0"):
        curve.partial_auc(0.0)


def test_a_curve_that_rises_at_the_end_of_the_area_adds_nothing_there():
    # up at fpr 0 to 1/2, along to ½, up to 1: the area up to ½ is ¼
    curve = roc_curve([1, 0, 1, 0], [4.0, 3.0, 2.0, 1.0])
    assert curve.partial_auc(0.5, standardized=False) == pytest.approx(0.25)


@pytest.mark.syllabus("14.6")
def test_the_paired_t_is_scipys():
    rng = np.random.default_rng(1)
    first, second = rng.normal(size=12), rng.normal(size=12) + 0.5
    ours = paired_t(first, second)
    theirs = stats.ttest_rel(first, second)
    assert_allclose([ours.t, ours.p_value], [theirs.statistic, theirs.pvalue])
    assert_allclose([ours.low, ours.high], theirs.confidence_interval(0.95))
    assert "paired t, first minus second" in str(ours)
    assert paired_t([1.0, 2.0], [1.0, 2.0]).p_value == 1.0
    assert paired_t([1.0, 2.0], [2.0, 3.0]).p_value == 0.0
    with pytest.raises(DataError, match="at least two"):
        paired_t([1.0], [2.0])


@pytest.mark.parametrize("kind", ["chi2", "g2"])
@pytest.mark.parametrize(
    "table",
    [[[12, 5], [7, 9]], [[3, 3], [3, 4]], [[5, 0], [2, 9]], [[4, 5, 6], [7, 1, 2]]],
)
def test_yates_correction_is_scipys(kind, table):
    statistic = {"chi2": "pearson", "g2": "log-likelihood"}[kind]
    for correction in (True, False):
        theirs = stats.chi2_contingency(table, correction=correction, lambda_=statistic)
        ours = independence_test(np.array(table, float), kind, correction=correction)
        assert_allclose([ours.statistic, ours.p_value], theirs[:2])


@pytest.mark.syllabus("7.1")
def test_cooks_distances_are_those_of_statsmodels():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(30, 2))
    y = X @ [1.0, 2.0] + rng.normal(size=30)
    theirs = OLSInfluence(OLS(y, add_constant(X)).fit()).cooks_distance[0]
    checks = LinearRegression().fit(X, y).residual_checks(X, y)
    assert_allclose(checks.cook, theirs)
