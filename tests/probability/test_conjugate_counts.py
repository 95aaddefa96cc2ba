"""Beta, Dirichlet and Gamma priors: updates by hand, in parts, and evidence by integration and by
steps."""

import numpy as np
import pytest
from scipy import stats
from scipy.integrate import quad

from lyceum.errors import DataError, SettingError
from lyceum.probability import (
    BetaBernoulli,
    DirichletMultinomial,
    GammaPoisson,
    NormalInverseWishart,
)

COIN, COUNTS = np.array([1, 0, 1, 1, 0, 1]), np.array([3, 0, 2, 7])
pytestmark = pytest.mark.syllabus("3.6")


@pytest.mark.syllabus("3.6.6")
def test_updates_in_parts_are_those_at_once_and_weights_are_repeats():
    for prior, x in ((BetaBernoulli(2.0, 0.5), COIN), (GammaPoisson(1.5, 0.3), COUNTS)):
        assert prior.update(x[:2]).update(x[2:]) == prior.update(x)
        w = np.arange(len(x)) % 3
        assert prior.update(x, w) == prior.update(np.repeat(x, w))
    prior = DirichletMultinomial([0.5, 1.0, 2.0])
    parts = prior.update([1, 0, 2]).update([0, 4, 1])
    assert (
        parts.alpha.tolist()
        == prior.update([1, 4, 3]).alpha.tolist()
        == [1.5, 5.0, 5.0]
    )


def test_evidence_is_the_integral_of_likelihood_and_prior():
    beta = BetaBernoulli(2.0, 3.0)
    whole = quad(lambda p: p**4 * (1 - p) ** 2 * stats.beta.pdf(p, 2, 3), 0, 1)[0]
    assert np.exp(beta.log_evidence(COIN)) == pytest.approx(whole)
    gamma = GammaPoisson(1.5, 0.3)
    density = stats.gamma(1.5, scale=1 / 0.3).pdf
    whole = quad(lambda r: stats.poisson.pmf(COUNTS, r).prod() * density(r), 0, 60)[0]
    assert np.exp(gamma.log_evidence(COUNTS)) == pytest.approx(whole, rel=1e-6)


def test_evidence_is_the_product_of_predictions_row_by_row():
    beta, total = BetaBernoulli(0.7, 1.2), 0.0
    for x in COIN:
        total += np.log(beta.mean if x else 1 - beta.mean)
        beta = beta.update([x])
    assert BetaBernoulli(0.7, 1.2).log_evidence(COIN) == pytest.approx(total)
    gamma, total = GammaPoisson(2.0, 0.5), 0.0
    for x in COUNTS:
        total += np.log(gamma.predictive(x)[0])
        gamma = gamma.update([x])
    assert GammaPoisson(2.0, 0.5).log_evidence(COUNTS) == pytest.approx(total)
    shares, total = DirichletMultinomial([0.5, 1.0, 2.0]), 0.0
    for k in (2, 2, 0, 1):
        total += np.log(shares.mean[k])
        shares = shares.update(np.eye(3)[k])
    assert DirichletMultinomial([0.5, 1.0, 2.0]).log_evidence(
        [1, 1, 2]
    ) == pytest.approx(total)


def test_means_modes_and_predictions_are_scipys():
    found, peer = BetaBernoulli(4.0, 3.0), stats.beta(4.0, 3.0)
    assert (found.mean, found.variance) == pytest.approx((peer.mean(), peer.var()))
    grid = np.linspace(0, 1, 10_001)
    assert found.mode == pytest.approx(grid[peer.pdf(grid).argmax()], abs=1e-4)
    gamma = GammaPoisson(4.0, 2.0)
    assert gamma.mode == 1.5
    assert gamma.variance == pytest.approx(stats.gamma(4.0, scale=0.5).var())
    assert gamma.predictive([0, 3, 9]) == pytest.approx(
        stats.nbinom.pmf([0, 3, 9], 4.0, 2.0 / 3.0)
    )
    assert DirichletMultinomial([3.0, 1.0, 2.0]).mode.tolist() == [2 / 3, 0.0, 1 / 3]
    assert np.isnan(BetaBernoulli().mode)
    assert np.isnan(DirichletMultinomial([0.5, 2.0]).mode).all()
    for one in (found, gamma, DirichletMultinomial([3.0, 1.0])):
        assert "mean" in str(one.summary())


@pytest.mark.syllabus("3.6.4")
def test_the_evidence_of_a_gaussian_is_the_product_of_student_predictions():
    X = np.random.default_rng(0).normal(size=(7, 2)) + np.array([1.0, -2.0])
    S_0 = np.array([[2.0, 0.3], [0.3, 1.0]])
    prior = now = NormalInverseWishart(
        np.zeros(2), 0.5, 4.0, S_0, np.array([True, True])
    )
    total = 0.0
    for x in X:
        t = now.predictive()
        total += stats.multivariate_t(t.location, t.shape, df=t.degrees).logpdf(x)
        now = now.update(1.0, x, np.zeros((2, 2)))
    mean, centered = X.mean(axis=0), X - X.mean(axis=0)
    assert prior.log_evidence(7.0, mean, centered.T @ centered) == pytest.approx(total)
    some = NormalInverseWishart(np.zeros(2), 0.5, 3.0, S_0, np.array([True, False]))
    one = NormalInverseWishart(np.zeros(1), 0.5, 3.0, S_0[:1, :1], np.array([True]))
    scatter = centered.T @ centered
    assert some.log_evidence(7.0, mean, scatter) == pytest.approx(
        one.log_evidence(7.0, mean[:1], scatter[:1, :1])
    )


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: BetaBernoulli(0.0), SettingError, "a must be positive"),
        (lambda: BetaBernoulli().update([0, 2]), DataError, "holds 2"),
        (lambda: GammaPoisson().update([1.5]), DataError, "whole numbers"),
        (
            lambda: DirichletMultinomial([1.0, 1.0]).update([1]),
            DataError,
            "give 2 numbers",
        ),
        (lambda: DirichletMultinomial(1.0), SettingError, "one number per value"),
    ],
)
def test_what_is_no_count_is_refused(make, error, message):
    with pytest.raises(error, match=message):
        make()
