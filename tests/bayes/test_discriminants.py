"""Linear and quadratic discriminants: scikit-learn's answers, the densities, streams, singular
cases."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal
from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis as TheirLinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis as TheirQuadraticDiscriminantAnalysis,
)
from tests.bayes.discriminant_cases import (
    BOTH,
    STRUCTURES,
    classes_of_rows,
    structured,
    within,
)

from lyceum.bayes import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis


def posteriors(X, means, covariances, priors):
    log = np.stack(
        [
            multivariate_normal(m, S).logpdf(X) + np.log(p)
            for m, S, p in zip(means, covariances, priors)
        ],
        axis=1,
    )
    return np.exp(log - np.logaddexp.reduce(log, axis=1, keepdims=True))


@pytest.mark.syllabus("3.3.3", "3.3.4")
@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.parametrize("unbiased", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_posteriors_are_those_of_the_gaussian_densities(structure, unbiased, weighted):
    X, y = classes_of_rows()
    w = (
        np.random.default_rng(1).integers(1, 4, len(X)).astype(float)
        if weighted
        else np.ones(len(X))
    )
    S, n = within(X, y, w)
    means = [np.average(X[y == k], axis=0, weights=w[y == k]) for k in range(3)]
    pooled = structured(S.sum(axis=0), structure) / (n.sum() - 3 * unbiased)
    own = [structured(Sk, structure) / (nk - unbiased) for Sk, nk in zip(S, n)]
    options = {"covariance": structure, "unbiased": unbiased}
    linear, quadratic = (
        L(**options).fit(X, y, w)
        for L in (LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis)
    )
    np.testing.assert_allclose(
        linear.predict_proba(X),
        posteriors(X, means, [pooled] * 3, n / n.sum()),
        rtol=1e-8,
    )
    np.testing.assert_allclose(
        quadratic.predict_proba(X), posteriors(X, means, own, n / n.sum()), rtol=1e-8
    )
    diagonal = structure != "full"
    np.testing.assert_allclose(
        linear.covariance_,
        np.diag(pooled) if diagonal else pooled,
        rtol=1e-10,
        atol=1e-12,
    )
    np.testing.assert_allclose(
        quadratic.covariance_,
        [np.diag(c) if diagonal else c for c in own],
        rtol=1e-10,
        atol=1e-12,
    )


@pytest.mark.syllabus("3.3")
def test_identity_with_equal_priors_is_the_nearest_class_mean():
    X, y = classes_of_rows(seed=2)
    model = LinearDiscriminantAnalysis(covariance="identity", priors="uniform").fit(
        X, y
    )
    distance = ((X[:, None] - model.means_) ** 2).sum(axis=2)
    np.testing.assert_array_equal(model.predict(X), distance.argmin(axis=1))


@pytest.mark.syllabus("3.3.1")
@pytest.mark.parametrize("K", [2, 4])
def test_linear_agrees_with_scikit_learn(K):
    X, y = classes_of_rows(K=K, seed=3)
    # its lsqr solver divides by N in every release; its coefficients are about the origin, not the
    # mean
    theirs = TheirLinearDiscriminantAnalysis(solver="lsqr", store_covariance=True).fit(
        X, y
    )
    ours = LinearDiscriminantAnalysis().fit(X, y)
    np.testing.assert_allclose(
        ours.covariance_, theirs.covariance_, rtol=1e-9, atol=1e-12
    )
    np.testing.assert_allclose(
        np.diff(ours.coef_, axis=0),
        np.diff(theirs.coef_, axis=0),
        rtol=1e-8,
        atol=1e-10,
    )
    np.testing.assert_allclose(
        ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-8
    )
    if K == 2:
        np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8)
        np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-8)
        np.testing.assert_allclose(
            ours.decision_function(X), theirs.decision_function(X), rtol=1e-7, atol=1e-9
        )


@pytest.mark.syllabus("3.3.2")
@pytest.mark.parametrize("K", [2, 4])
def test_quadratic_agrees_with_scikit_learn(K):
    X, y = classes_of_rows(K=K, seed=4)
    theirs = TheirQuadraticDiscriminantAnalysis(store_covariance=True).fit(X, y)
    S, n = within(X, y)
    unbiased = np.allclose(
        theirs.covariance_[0], S[0] / (n[0] - 1)
    )  # which of the two it is depends on the release
    ours = QuadraticDiscriminantAnalysis(unbiased=unbiased).fit(X, y)
    np.testing.assert_allclose(
        ours.covariance_, theirs.covariance_, rtol=1e-9, atol=1e-12
    )
    np.testing.assert_allclose(
        ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-8
    )
    if K == 2:
        np.testing.assert_allclose(
            ours.decision_function(X),
            theirs.decision_function(X),
            rtol=1e-8,
            atol=1e-10,
        )


@BOTH
@pytest.mark.syllabus("3.5")
@pytest.mark.parametrize("structure", STRUCTURES)
@pytest.mark.filterwarnings(
    "ignore::scipy.linalg.LinAlgWarning"
)  # the first rows have no covariance yet
def test_one_row_at_a_time_equals_the_batch(learner, structure):
    X, y = classes_of_rows(n=60, d=3, seed=5)
    order = np.argsort(y, kind="stable")  # class 1 first appears late, class 2 later
    batch = learner(covariance=structure, unbiased=True).fit(X, y)
    stream = learner(covariance=structure, unbiased=True)
    for i in order:
        stream.partial_fit(X[i : i + 1], y[i : i + 1])
    np.testing.assert_allclose(stream.means_, batch.means_, rtol=1e-12)
    np.testing.assert_allclose(
        stream.covariance_, batch.covariance_, rtol=1e-10, atol=1e-12
    )
    np.testing.assert_allclose(
        stream.predict_proba(X), batch.predict_proba(X), rtol=1e-8
    )


@BOTH
def test_weight_two_equals_a_repeated_row(learner):
    X, y = classes_of_rows(seed=6)
    w = np.random.default_rng(0).integers(1, 4, len(X))
    one, two = (
        learner(unbiased=True).fit(X, y, w),
        learner(unbiased=True).fit(np.repeat(X, w, axis=0), np.repeat(y, w)),
    )
    np.testing.assert_allclose(one.predict_proba(X), two.predict_proba(X), rtol=1e-8)


@BOTH
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_an_offset_of_a_million_changes_nothing(learner, dtype):
    X, y = classes_of_rows(seed=7)
    X = np.round(X * 4) / 4  # steps that float32 holds at a million
    model, moved = learner().fit(X, y), learner().fit((X + 1e6).astype(dtype), y)
    np.testing.assert_allclose(
        moved.covariance_, model.covariance_, rtol=1e-8, atol=1e-9
    )
    np.testing.assert_allclose(
        moved.predict_proba((X + 1e6).astype(dtype)), model.predict_proba(X), rtol=1e-6
    )


@BOTH
def test_the_units_of_the_columns_do_not_matter(learner):
    X, y = classes_of_rows(seed=8)
    units = np.array([1e-9, 1e9, 1.0, 1e4])
    np.testing.assert_allclose(
        learner().fit(X * units, y).predict_proba(X * units),
        learner().fit(X, y).predict_proba(X),
        rtol=1e-7,
    )


@BOTH
def test_posteriors_sum_to_one_where_densities_are_below_the_smallest_double(learner):
    rng = np.random.default_rng(9)
    y = rng.integers(0, 3, 400)
    X = rng.normal(size=(400, 50)) + y[:, None]
    far = np.r_[X[:10] * 1e3, X[:10]]
    proba = learner().fit(X, y).predict_proba(far)
    assert np.isfinite(proba).all()
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, rtol=1e-12)
