"""The Normal-inverse-Wishart distribution: recursion, limits, and the predictive density by
integration."""

import numpy as np
import pytest
from scipy import integrate, stats

from lyceum._core.probability import whiten
from lyceum.errors import SettingError
from lyceum.probability import NormalInverseWishart


def prior_of(d, seed=0):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(d, d))
    return NormalInverseWishart(
        rng.normal(size=d), 0.7, d + 1.5, A @ A.T + np.eye(d), np.ones(d, dtype=bool)
    )


def sums(X):
    mean = X.mean(axis=0)
    return float(len(X)), mean, (X - mean).T @ (X - mean)


def close(one, two):
    for name in ("mean", "kappa", "nu", "scale"):
        np.testing.assert_allclose(getattr(one, name), getattr(two, name), rtol=1e-11)


@pytest.mark.syllabus("3.6.2")
def test_two_updates_are_one_update_with_all_rows():
    X, prior = np.random.default_rng(1).normal(size=(30, 3)) + 5.0, prior_of(3)
    close(prior.update(*sums(X[:11])).update(*sums(X[11:])), prior.update(*sums(X)))


def test_classes_are_updated_each_by_itself():
    rng, prior = np.random.default_rng(2), prior_of(2)
    classes = [rng.normal(size=(n, 2)) for n in (4, 9)]
    n, mean, scatter = (np.array(part) for part in zip(*map(sums, classes)))
    together = prior.update(n, mean, scatter)
    for k, rows in enumerate(classes):
        alone = prior.update(*sums(rows))
        np.testing.assert_allclose(together.scale[k], alone.scale)
        np.testing.assert_allclose(together.mean[k], alone.mean)
        np.testing.assert_allclose(
            together.predictive().shape[k], alone.predictive().shape
        )
        np.testing.assert_allclose(
            together.mean_covariance()[k], alone.mean_covariance()
        )
        np.testing.assert_allclose(together.mode()[k], alone.mode())
    shared = prior.update_shared(n, mean, scatter.sum(axis=0))
    np.testing.assert_allclose(shared.nu, prior.nu + 13)
    np.testing.assert_allclose(
        shared.scale[0], together.scale.sum(axis=0) - prior.scale
    )


def test_a_class_without_rows_keeps_the_prior():
    prior = prior_of(2)
    close(prior.update(0.0, np.full(2, np.nan), np.zeros((2, 2))), prior)


@pytest.mark.syllabus("3.6.3")
def test_predictive_density_is_the_average_over_the_posterior():
    """One column: Σ ~ IW(s, ν) is an inverse gamma(ν/2, s/2), and the average over (μ, Σ) is an
    integral."""
    prior = NormalInverseWishart(
        np.array([0.5]), 1.3, 4.0, np.array([[2.0]]), np.array([True])
    )
    found = prior.predictive()
    student = stats.t(found.degrees, found.location[0], np.sqrt(found.shape[0, 0]))

    def weighted(v, x):
        given_v = stats.norm.pdf(x, 0.5, np.sqrt(v * (1 + 1 / 1.3)))
        return given_v * stats.invgamma.pdf(v, 2.0, scale=1.0)

    for x in (-1.0, 0.5, 3.0):
        average, _ = integrate.quad(weighted, 0, np.inf, args=(x,))
        assert student.pdf(x) == pytest.approx(average, rel=1e-6)


def test_mode_is_the_most_probable_covariance():
    prior = prior_of(2, seed=3)

    def log_density(covariance):
        # the joint density of μ = mean and Σ: the inverse Wishart's times |Σ|^(-1/2)
        return (
            stats.invwishart(prior.nu, prior.scale).logpdf(covariance)
            - 0.5 * np.linalg.slogdet(covariance)[1]
        )

    best, rng = log_density(prior.mode()), np.random.default_rng(0)
    for _ in range(30):
        A = rng.normal(size=(2, 2)) * 0.02
        assert log_density(prior.mode() + A @ A.T) < best
        assert log_density(prior.mode() * (1 + rng.normal() * 0.05)) < best


def test_a_scale_from_the_data_leaves_constant_columns_out():
    variance = np.array([2.0, 0.0, 3.0])
    settings = {"mean": np.array([1.0, 2.0, 3.0]), "variance": variance}
    prior = NormalInverseWishart.from_settings("data", 0.01, None, "data", **settings)
    assert prior.used.tolist() == [True, False, True]
    assert (prior.n_used, prior.nu) == (2, 4.0)
    np.testing.assert_allclose(prior.scale / (prior.nu - 3), np.diag(variance))
    posterior = prior.update(5.0, np.ones(3), np.ones((3, 3)))
    assert not posterior.scale[1].any()
    assert not posterior.scale[:, 1].any()
    assert whiten(posterior.predictive().shape, np.zeros(3)).dependent is None


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"nu_0": 0.5}, "nu_0 must be above d - 1, which is 1"),
        ({"prior_mean": [1.0]}, "one for each of the 2 columns"),
        ({"prior_mean": np.inf}, "one finite number"),
        (
            {"scale": [[1.0, 2.0], [2.0, 1.0]]},
            "scale must be a positive definite matrix",
        ),
    ],
)
def test_settings_that_make_no_prior_are_refused(wrong, text):
    settings = {
        "prior_mean": "data",
        "kappa_0": 1.0,
        "nu_0": None,
        "scale": 1.0,
    } | wrong
    with pytest.raises(SettingError, match=text):
        NormalInverseWishart.from_settings(
            **settings, mean=np.zeros(2), variance=np.ones(2)
        )
