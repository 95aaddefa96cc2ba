"""Mixtures of Student-t, Bernoullis and multinomials, against their formulas and by brute force."""

import itertools
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, sparse, stats
from scipy.special import logsumexp
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score

from lyceum.errors import DataError, SettingError
from lyceum.mixtures import (
    BernoulliMixture,
    GaussianMixture,
    MultinomialMixture,
    StudentMixture,
)

pytestmark = pytest.mark.syllabus("12.4")


def quietly(model, X, **fit):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, **fit)


# -- Student-t -------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["full", "tied", "diag"])
@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_a_constant_column_changes_no_student_t(form, missing):
    rng = np.random.default_rng(1)
    X = np.vstack(
        [rng.standard_t(3, size=(90, 2)), rng.standard_t(5, size=(90, 2)) + 8]
    )
    X[rng.random(X.shape) < missing] = np.nan
    with_constant = np.column_stack([X[:, 0], np.full(180, 7.0), X[:, 1]])
    one, two = (
        StudentMixture(2, covariance_type=form, random_state=0).fit(Z)
        for Z in (X, with_constant)
    )
    np.testing.assert_allclose(two.history_, one.history_, rtol=1e-10)
    np.testing.assert_allclose(two.degrees_, one.degrees_, rtol=1e-8)
    np.testing.assert_allclose(
        two.means_, np.insert(one.means_, 1, 7.0, axis=1), rtol=1e-8, atol=1e-10
    )
    np.testing.assert_allclose(
        two.score_samples(with_constant), one.score_samples(X), rtol=1e-8
    )
    terms = two.explain(with_constant).contributions
    assert (terms[:, 1] == 0.0).all()


def test_zero_weight_outliers_do_not_change_the_start():
    rng = np.random.default_rng(3)
    X = np.vstack(
        [
            rng.normal(size=(30, 3)) + center
            for center in ([0, 0, 0], [6, 0, 0], [0, 7, 0])
        ]
    )
    outliers = np.vstack([X, np.full((9, 3), 1e5)])
    one = quietly(StudentMixture(3, random_state=0), X)
    two = quietly(
        StudentMixture(3, random_state=0),
        outliers,
        sample_weight=[1.0] * 90 + [0.0] * 9,
    )
    np.testing.assert_allclose(two.history_, one.history_, rtol=1e-12)
    np.testing.assert_allclose(two.means_, one.means_, rtol=1e-9, atol=1e-9)


def test_the_density_of_student_t_is_scipys():
    X = np.random.default_rng(0).standard_t(4, size=(200, 2))
    model = StudentMixture(2, random_state=0).fit(X)
    joint = [
        np.log(w) + stats.multivariate_t(m, S, df=v).logpdf(X)
        for w, m, S, v in zip(
            model.weights_, model.means_, model.covariances_, model.degrees_
        )
    ]
    np.testing.assert_allclose(
        model.score_samples(X), logsumexp(joint, axis=0), rtol=1e-9
    )


@pytest.mark.parametrize("form", ["full", "tied", "diag", "spherical"])
def test_no_iteration_lowers_the_likelihood_of_student_t(form):
    rng = np.random.default_rng(1)
    X = rng.standard_t(3, size=(300, 3)) + 4.0 * rng.integers(0, 2, 300)[:, None]
    X[rng.random(X.shape) < 0.1] = np.nan
    model = quietly(
        StudentMixture(2, covariance_type=form, random_state=0, tol=0, max_iter=30), X
    )
    assert (np.diff(model.history_) >= -1e-9 * abs(model.history_[0])).all()


@pytest.mark.syllabus("12.4.4")
def test_one_student_t_is_scipys_maximum_likelihood():
    x = stats.t(5, loc=2.0, scale=3.0).rvs(800, random_state=0)
    model = StudentMixture(prior_rows=0, tol=1e-12, max_iter=5000).fit(x[:, None])
    degrees, location, scale = stats.t.fit(x)
    assert model.degrees_[0] == pytest.approx(degrees, rel=1e-2)
    assert model.means_[0, 0] == pytest.approx(location, rel=1e-3)
    assert np.sqrt(model.covariances_[0, 0, 0]) == pytest.approx(scale, rel=1e-3)
    assert (
        model.score(x[:, None])
        >= stats.t(degrees, location, scale).logpdf(x).mean() - 1e-9
    )


def test_outliers_pull_a_gaussian_and_not_a_student_t():
    rng = np.random.default_rng(2)
    X = np.vstack(
        [rng.normal(0, 1, (100, 1)), rng.normal(10, 1, (100, 1)), [[300.0]] * 4]
    )
    start = [[0.0], [10.0]]
    student = StudentMixture(2, means_init=start).fit(X)
    gauss = GaussianMixture(2, means_init=start).fit(X)
    np.testing.assert_allclose(np.sort(student.means_.ravel()), [0.0, 10.0], atol=0.4)
    assert np.abs(np.sort(gauss.means_.ravel()) - [0.0, 10.0]).max() > 1.0


@pytest.mark.parametrize("noise", ["around", "far", "one"])
def test_outliers_do_not_mislead_student_t_at_default_settings_but_a_gaussian(noise):
    rng = np.random.default_rng(0)
    k = np.repeat([0, 1, 2], 100)
    X = np.array([[0.0, 0.0], [6.0, 0.0], [3.0, 5.0]])[k] + rng.normal(size=(300, 2))
    outliers = {
        "around": rng.uniform(-40, 40, (30, 2)),
        "far": 200 * rng.normal(size=(9, 2)),
        "one": [[1e3, 0.0]],
    }
    rows = np.vstack([X, outliers[noise]])
    student, gauss = (
        learner(3, random_state=0).fit(rows)
        for learner in (StudentMixture, GaussianMixture)
    )
    assert adjusted_rand_score(k, student.labels_[:300]) > 0.9
    assert adjusted_rand_score(k, gauss.labels_[:300]) < 0.6


def test_a_small_group_far_away_is_a_component_of_student_t():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(0, 1, 160), rng.normal(50, 1, 40)])[:, None]
    model = StudentMixture(2, random_state=0).fit(X)
    np.testing.assert_allclose(np.sort(model.means_.ravel()), [0.0, 50.0], atol=0.4)


def test_many_degrees_of_freedom_are_a_gaussian():
    X = np.random.default_rng(3).normal(size=(200, 2))
    student = StudentMixture(degrees=1e6, tol=1e-12, prior_rows=0).fit(X)
    gauss = GaussianMixture(prior_rows=0).fit(X)
    np.testing.assert_allclose(student.covariances_, gauss.covariances_, rtol=1e-4)
    line = np.linspace(-60, 60, 60_001)
    one = StudentMixture(degrees=3.0).fit(X[:, :1])
    area = integrate.simpson(np.exp(one.score_samples(line[:, None])), x=line)
    assert area == pytest.approx(1.0, abs=1e-4)


# -- Bernoulli -------------------------------------------------------------------------


def binary(n=300, seed=0):
    rng = np.random.default_rng(seed)
    P = np.array([[0.9, 0.8, 0.1, 0.2], [0.1, 0.3, 0.9, 0.7]])
    k = rng.integers(0, 2, n)
    return (rng.random((n, 4)) < P[k]).astype(float), k


@pytest.mark.syllabus("12.4.4")
def test_the_m_step_of_bernoullis_by_hand():
    X, _ = binary(40)
    P, weights = (
        np.array([[0.6, 0.5, 0.4, 0.3], [0.2, 0.4, 0.6, 0.7]]),
        np.array([0.3, 0.7]),
    )
    w = np.arange(40) % 3.0
    model = quietly(
        BernoulliMixture(
            2, probabilities_init=P, weights_init=weights, max_iter=1, alpha=0.5
        ),
        X,
        sample_weight=w,
    )
    joint = np.log(weights) + X @ np.log(P).T + (1 - X) @ np.log(1 - P).T
    R = np.exp(joint - logsumexp(joint, axis=1, keepdims=True)) * w[:, None]
    np.testing.assert_allclose(model.weights_, R.sum(axis=0) / w.sum(), rtol=1e-12)
    np.testing.assert_allclose(
        model.probabilities_,
        (R.T @ X + 0.5) / (R.sum(axis=0)[:, None] + 1.0),
        rtol=1e-12,
    )


def test_the_probabilities_of_all_rows_sum_to_one():
    X, _ = binary()
    model = BernoulliMixture(2, random_state=0).fit(X)
    every = np.array(list(itertools.product([0.0, 1.0], repeat=4)))
    assert np.exp(model.score_samples(every)).sum() == pytest.approx(1.0, rel=1e-12)
    frame = pd.DataFrame({"a": list("xyz") * 40, "b": ["u", "v"] * 60})
    found = BernoulliMixture(2, random_state=0).fit(frame)
    every = pd.DataFrame(list(itertools.product("xyz", "uv")), columns=["a", "b"])
    assert np.exp(found.score_samples(every)).sum() == pytest.approx(1.0, rel=1e-12)
    drawn, labels = found.sample(50, random_state=0)
    assert drawn.shape == (50, 4)
    assert (drawn[:, :3].sum(axis=1) == 1).all()
    assert len(labels) == 50


def test_bernoullis_find_groups_and_leave_missing_cells_out():
    X, k = binary(600)
    gone = np.where(np.random.default_rng(1).random(X.shape) < 0.2, np.nan, X)
    for cells in (X, gone, sparse.csr_array(X)):
        model = BernoulliMixture(2, random_state=0).fit(cells)
        agree = (model.labels_ == k).mean()
        assert max(agree, 1 - agree) > 0.85
        assert (np.diff(model.history_) >= -1e-9 * abs(model.history_[0])).all()
    dense, thin = (
        BernoulliMixture(2, random_state=0).fit(c) for c in (X, sparse.csr_array(X))
    )
    np.testing.assert_allclose(
        np.sort(dense.weights_), np.sort(thin.weights_), atol=0.02
    )
    row = np.array([[1.0, np.nan, 0.0, np.nan]])
    filled = [np.array([[1.0, a, 0.0, b]]) for a in (0.0, 1.0) for b in (0.0, 1.0)]
    total = logsumexp([model.score_samples(cells)[0] for cells in filled])
    assert model.score_samples(row)[0] == pytest.approx(total, rel=1e-12)


def test_binarize_is_a_threshold():
    X = np.array([[0.2, 5.0], [0.4, 1.0], [0.3, 6.0]])
    model = BernoulliMixture(1, binarize=0.25, alpha=0).fit(X)
    np.testing.assert_allclose(model.probabilities_[0], [2 / 3, 1.0])
    with pytest.raises(SettingError, match="set binarize"):
        BernoulliMixture(1, binarize=None).fit(X)


# -- multinomial -----------------------------------------------------------------------


def counts(n=300, seed=0):
    rng = np.random.default_rng(seed)
    P = np.array([[0.6, 0.2, 0.1, 0.1], [0.1, 0.1, 0.3, 0.5]])
    k = rng.integers(0, 2, n)
    return np.array(
        [rng.multinomial(m, P[j]) for m, j in zip(rng.integers(5, 30, n), k)],
        dtype=float,
    ), k


@pytest.mark.syllabus("12.4.4")
def test_the_density_of_multinomials_is_scipys():
    X, k = counts()
    for cells in (X, sparse.csr_array(X)):
        model = MultinomialMixture(2, random_state=0).fit(cells)
        joint = [
            np.log(w) + stats.multinomial(X.sum(axis=1).astype(int), p).logpmf(X)
            for w, p in zip(model.weights_, model.probabilities_)
        ]
        np.testing.assert_allclose(
            model.score_samples(cells), logsumexp(joint, axis=0), rtol=1e-9
        )
        agree = (model.labels_ == k).mean()
        assert max(agree, 1 - agree) > 0.95
        assert (np.diff(model.history_) >= -1e-9 * abs(model.history_[0])).all()


def test_counts_are_not_negative():
    with pytest.raises(DataError, match=r"column 'x1' has -1 in row 1"):
        MultinomialMixture(1).fit(np.array([[1.0, 2.0], [3.0, -1.0]]))
