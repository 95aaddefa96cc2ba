"""Effective parameters under a penalty: traces of the maps that the fits are, by small changes."""

from contextlib import nullcontext

import numpy as np
import pytest

from lyceum.bayes import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
    RegularizedDiscriminant,
)
from lyceum.bayes.fold_rules import combine_covariances
from lyceum.density import HistogramDensity
from lyceum.evaluate import degrees_of_freedom
from lyceum.linear import (
    ElasticNet,
    ElasticNetCV,
    Lasso,
    LassoCV,
    LogisticRegression,
    Ridge,
    RidgeCV,
)

RNG = np.random.default_rng(3)
X = RNG.normal(size=(60, 4)) @ RNG.normal(size=(4, 4)) + 5.0
Y = X @ [2.0, 0.0, -1.0, 0.5] + RNG.normal(size=60)
K = np.repeat([0, 1, 2], [30, 20, 10])


def trace_of_fit(learner):
    """Σ ∂ŷ_i / ∂y_i by small changes of every target."""
    step, base = 1e-4, learner.fit(X, Y).predict(X)
    total = 0.0
    for i in range(len(Y)):
        moved = Y.copy()
        moved[i] += step
        total += (learner.fit(X, moved).predict(X)[i] - base[i]) / step
    return total


@pytest.mark.syllabus("14.6")
@pytest.mark.parametrize(
    "learner",
    [
        Ridge(30.0),
        Lasso(0.3, tol=1e-12),
        ElasticNet(0.5, tol=1e-12),
        ElasticNet(0.5, tol=1e-12, fit_intercept=False),
        ElasticNet(0.5, tol=1e-12, standardize=True),
        ElasticNet(0.5, l1_ratio=0.0),
        ElasticNet(0.5, tol=1e-12, solver="columns"),
    ],
    ids=str,
)
def test_effective_parameters_are_the_derivatives_of_the_fitted_values_and_the_variance(
    learner,
):
    assert degrees_of_freedom(learner.fit(X, Y)) == pytest.approx(
        trace_of_fit(learner) + 1.0, abs=1e-4
    )


@pytest.mark.syllabus("14.6")
@pytest.mark.parametrize(
    ("chosen", "given"),
    [
        (RidgeCV(random_state=0), lambda model: Ridge(model.alpha_)),
        (LassoCV(random_state=0), lambda model: Lasso(model.alpha_)),
        (
            ElasticNetCV(random_state=0),
            lambda model: ElasticNet(model.alpha_, l1_ratio=model.l1_ratio_),
        ),
    ],
    ids=["ridge", "lasso", "elastic net"],
)
def test_a_chosen_penalty_counts_as_a_given_one(chosen, given):
    chosen = chosen.fit(X, Y)
    expected = degrees_of_freedom(given(chosen).fit(X, Y))
    assert degrees_of_freedom(chosen) == pytest.approx(expected, rel=1e-6)


@pytest.mark.syllabus("14.6")
@pytest.mark.parametrize("reference", [None, 0])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_penalized_logistic_regression_counts_the_trace_of_its_hessians(
    classes, reference
):
    rows, y = X[classes > K], K[classes > K]
    model = LogisticRegression(C=0.5, reference=reference).fit(rows, y)
    P, A = model.predict_proba(rows), np.column_stack([rows, np.ones(len(rows))])
    free = range(1 if classes == 2 or reference == 0 else 0, classes)
    H = np.block(
        [
            [A.T @ (A * (P[:, a] * ((a == b) - P[:, b]))[:, None]) for b in free]
            for a in free
        ]
    )
    penalty = np.diag(np.tile([2.0] * 4 + [0.0], len(free)))
    assert degrees_of_freedom(model) == pytest.approx(
        np.trace(H @ np.linalg.pinv(H + penalty))
    )


def corners(alpha, gamma):
    return RegularizedDiscriminant(alpha=alpha, gamma=gamma).fit(X, K)


@pytest.mark.syllabus("3.4")
@pytest.mark.syllabus("14.6")
def test_the_corners_of_a_regularized_discriminant_are_the_models_they_are():
    def count(kind, **settings):
        return degrees_of_freedom(kind(**settings).fit(X, K))

    assert degrees_of_freedom(corners(0.0, 0.0)) == count(QuadraticDiscriminantAnalysis)
    assert degrees_of_freedom(corners(1.0, 0.0)) == count(LinearDiscriminantAnalysis)
    assert degrees_of_freedom(corners(0.0, 1.0)) == count(
        QuadraticDiscriminantAnalysis, covariance="spherical"
    )
    assert degrees_of_freedom(corners(1.0, 1.0)) == count(
        LinearDiscriminantAnalysis, covariance="spherical"
    )
    unit = RegularizedDiscriminant(alpha=1.0, gamma=1.0, shrinkage="unit").fit(X, K)
    assert degrees_of_freedom(unit) == count(
        LinearDiscriminantAnalysis, covariance="identity"
    )
    diagonal = RegularizedDiscriminant(alpha=0.0, gamma=1.0, shrinkage="diagonal").fit(
        X, K
    )
    assert degrees_of_freedom(diagonal) == count(
        QuadraticDiscriminantAnalysis, covariance="diagonal"
    )


@pytest.mark.syllabus("3.4")
@pytest.mark.parametrize("pooling", ["weighted", "convex"])
@pytest.mark.parametrize("shrinkage", ["identity", "unit", "diagonal"])
def test_between_them_it_is_the_trace_of_the_map_of_covariances(pooling, shrinkage):
    alpha, gamma, n, d = 0.3, 0.4, np.array([30.0, 20.0, 10.0]), 4
    model = RegularizedDiscriminant(
        alpha=alpha, gamma=gamma, pooling=pooling, shrinkage=shrinkage
    ).fit(X, K)
    entries = [(i, j) for i in range(d) for j in range(i + 1)]

    def used(own):
        mixed = combine_covariances(own * n[:, None, None], n, alpha, pooling=pooling)
        shape = {
            "identity": lambda S: np.trace(S) / d * np.eye(d),
            "unit": lambda S: np.eye(d),
            "diagonal": lambda S: np.diag(np.diag(S)),
        }[shrinkage]
        return np.array([(1 - gamma) * S + gamma * shape(S) for S in mixed])

    base = np.array([np.cov(X[k == K].T, bias=True) for k in range(3)])
    assert model.covariance_ == pytest.approx(used(base))
    trace = 0.0
    for k in range(3):
        for i, j in entries:
            moved = base.copy()
            moved[k, i, j] = moved[k, j, i] = base[k, i, j] + 1.0
            trace += (used(moved) - used(base))[k, i, j]
    assert degrees_of_freedom(model) == pytest.approx(2 + 3 * d + trace)


@pytest.mark.syllabus("3.4")
def test_shrinking_to_the_unit_matrix_is_chosen_as_it_is_used():
    model = RegularizedDiscriminant(
        alpha=0.5, gamma=[0.2, 0.8], shrinkage="unit", random_state=0
    ).fit(X, K)
    losses = []
    for gamma in (0.2, 0.8):
        one = RegularizedDiscriminant(alpha=0.5, gamma=gamma, shrinkage="unit")
        losses.append(-one.fit(X, K).predict_log_proba(X)[np.arange(60), K].mean())
    assert model.gamma_ == (0.2, 0.8)[int(np.argmin(losses))]
    assert np.allclose(model.scores_[0], losses, rtol=0.5)
    wide = RNG.normal(size=(40, 1100)) + (np.arange(40) % 2)[:, None]
    few = RegularizedDiscriminant(alpha=0.5, gamma=0.3, shrinkage="unit").fit(
        wide, np.arange(40) % 2
    )
    S = [np.cov(wide[k::2].T, bias=True) for k in (0, 1)]
    expected = 0.7 * (0.5 * 20 * S[0] + 0.5 * 20 * (S[0] + S[1])) / 30 + 0.3 * np.eye(
        1100
    )
    assert few.covariance_[0].squared_distances(np.ones((1, 1100)))[0] == pytest.approx(
        np.ones(1100) @ np.linalg.solve(expected, np.ones(1100))
    )


@pytest.mark.syllabus("4.1")
def test_a_histogram_counts_the_cells_of_its_range_less_one():
    assert degrees_of_freedom(HistogramDensity(n_bins=6).fit(X[:, :1])) == 5
    assert degrees_of_freedom(HistogramDensity(n_bins=[3, 4]).fit(X[:, :2])) == 11


@pytest.mark.syllabus("7.2")
@pytest.mark.parametrize("alpha", [0.0, 1e-3, 10.0])
def test_the_rank_of_a_ridge_is_that_of_its_columns(alpha):
    tied = np.column_stack([X, X[:, 0] + X[:, 1], np.full(60, 3.0)])
    with pytest.warns(np.exceptions.RankWarning) if not alpha else nullcontext():
        assert Ridge(alpha).fit(tied, Y).rank_ == 4
    few = RNG.normal(size=(20, 1200))
    with pytest.warns(np.exceptions.RankWarning) if not alpha else nullcontext():
        assert Ridge(alpha).fit(few, few[:, 0]).rank_ == 19
