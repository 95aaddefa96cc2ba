"""Class priors from weights."""

import numpy as np
import pytest

from lyceum.bayes import (
    LinearDiscriminantAnalysis,
    NaiveBayes,
    QuadraticDiscriminantAnalysis,
)
from lyceum.errors import SettingError
from lyceum.probability import class_priors

N_K = np.array([7.0, 2.0, 1.0])


@pytest.mark.syllabus("2.5.2")
def test_priors_are_those_of_the_formulas():
    alpha = np.array([3.0, 2.0, 1.5])
    np.testing.assert_allclose(class_priors(N_K, None), N_K / 10)
    np.testing.assert_allclose(class_priors(N_K, "laplace"), (N_K + 1) / 13)
    np.testing.assert_allclose(class_priors(N_K, "uniform"), 1 / 3)
    np.testing.assert_allclose(
        class_priors(N_K, "dirichlet_map", alpha), (N_K + alpha - 1) / (10 + 6.5 - 3)
    )
    np.testing.assert_allclose(
        class_priors(N_K, "dirichlet_mean", alpha), (N_K + alpha) / 16.5
    )
    np.testing.assert_allclose(class_priors(N_K, [0.5, 0.25, 0.25]), [0.5, 0.25, 0.25])


@pytest.mark.syllabus("2.5.1")
def test_the_flat_dirichlet_has_the_frequencies_as_mode_and_laplace_as_mean():
    np.testing.assert_allclose(
        class_priors(N_K, "dirichlet_map", 1.0), class_priors(N_K, None)
    )
    np.testing.assert_allclose(
        class_priors(N_K, "dirichlet_mean", 1.0), class_priors(N_K, "laplace")
    )


@pytest.mark.syllabus("2.5")
def test_the_map_maximizes_the_dirichlet_posterior():
    from scipy.stats import dirichlet

    alpha = np.array([2.0, 4.0, 1.5])
    posterior, best = dirichlet(N_K + alpha), class_priors(N_K, "dirichlet_map", alpha)
    rng = np.random.default_rng(0)
    for other in rng.dirichlet(200 * best, size=100):
        assert posterior.logpdf(best) >= posterior.logpdf(other)


def test_a_mode_at_the_edge_is_zero():
    priors = class_priors(np.array([5.0, 0.0]), "dirichlet_map", 0.5)
    assert priors.tolist() == [1.0, 0.0]


@pytest.mark.parametrize("wrong", [[0.5, 0.5], [0.5, 0.6, 0.2], [1.5, -0.5, 0.0]])
def test_priors_that_are_none_are_refused(wrong):
    with pytest.raises(SettingError, match="priors"):
        class_priors(N_K, wrong)


@pytest.mark.parametrize("wrong", [[1.0, 2.0], [1.0, 0.0, 2.0]])
def test_dirichlet_parameters_must_fit_the_classes(wrong):
    with pytest.raises(SettingError, match="prior_alpha"):
        class_priors(N_K, "dirichlet_mean", wrong)


@pytest.mark.syllabus("2.5.3")
@pytest.mark.parametrize(
    "learner", [NaiveBayes, LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis]
)
def test_every_learner_moves_its_posteriors_by_the_ratio_of_the_priors(learner):
    rng = np.random.default_rng(1)
    y = rng.permutation(np.repeat([0, 1], [30, 10]))
    X = rng.normal(size=(40, 2)) + y[:, None]
    data, given = learner().fit(X, y), learner(priors=[0.1, 0.9]).fit(X, y)
    moved = data.predict_log_proba(X) + np.log([0.1 / 0.75, 0.9 / 0.25])
    moved -= np.logaddexp.reduce(moved, axis=1, keepdims=True)
    np.testing.assert_allclose(given.predict_log_proba(X), moved, atol=1e-10)


def test_counts_may_be_a_list():
    assert class_priors([6, 3, 1]).tolist() == [0.6, 0.3, 0.1]
    assert class_priors([6, 3, 0], "laplace").tolist() == pytest.approx(
        [7 / 12, 4 / 12, 1 / 12]
    )
