"""Regularized discriminants: their corners, the formula, and cross-validation from fold
statistics."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.linalg import LinAlgWarning
from scipy.stats import multivariate_normal

from lyceum._core.statistics import FoldStatistics, fold_numbers
from lyceum.bayes import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
    RegularizedDiscriminant,
)
from lyceum.bayes.fold_rules import combine_covariances
from lyceum.data import Block, Schema, scan
from lyceum.errors import DataError, SettingError
from lyceum.statistics import ClassScatter

pytestmark = pytest.mark.syllabus("3.4")


def classes_of_rows(n=240, d=4, K=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, K, n)
    shapes = np.eye(d) + 0.4 * rng.normal(size=(K, d, d))
    X = np.einsum("nj,njk->nk", rng.normal(size=(n, d)), shapes[y]) + 0.7 * y[:, None]
    return X, y


def shrunken(X, y, alpha, gamma, shrinkage, w=None, classes=None):
    """Means and covariances by the formulas, one class at a time."""
    w = np.ones(len(X)) if w is None else w
    classes = np.unique(y) if classes is None else classes
    means = np.array(
        [np.average(X[y == k], axis=0, weights=w[y == k]) for k in classes]
    )
    scatters = [
        (w[y == k, None] * (X[y == k] - m)).T @ (X[y == k] - m)
        for k, m in zip(classes, means)
    ]
    n, S, N = [w[y == k].sum() for k in classes], sum(scatters), w.sum()
    covariances = []
    for n_k, S_k in zip(n, scatters):
        Sigma = ((1 - alpha) * S_k + alpha * S) / ((1 - alpha) * n_k + alpha * N)
        round_ = np.trace(Sigma) / X.shape[1] * np.eye(X.shape[1])
        target = round_ if shrinkage == "identity" else np.diag(np.diag(Sigma))
        covariances.append((1 - gamma) * Sigma + gamma * target)
    return means, np.array(covariances), np.array(n) / N


def log_posteriors(X, means, covariances, priors):
    joint = np.stack(
        [
            multivariate_normal(m, S).logpdf(X) + np.log(p)
            for m, S, p in zip(means, covariances, priors)
        ],
        axis=1,
    )
    return joint - np.logaddexp.reduce(joint, axis=1, keepdims=True)


@pytest.mark.parametrize("shrinkage", ["identity", "diagonal"])
@pytest.mark.parametrize(
    ("alpha", "gamma"), [(0.0, 0.0), (0.3, 0.2), (1.0, 0.5), (0.5, 1.0)]
)
@pytest.mark.parametrize("weighted", [False, True])
def test_posteriors_follow_the_formula(shrinkage, alpha, gamma, weighted):
    X, y = classes_of_rows()
    w = (
        np.random.default_rng(1).integers(1, 4, len(X)).astype(float)
        if weighted
        else None
    )
    model = RegularizedDiscriminant(alpha=alpha, gamma=gamma, shrinkage=shrinkage).fit(
        X, y, w
    )
    wanted = log_posteriors(X, *shrunken(X, y, alpha, gamma, shrinkage, w))
    np.testing.assert_allclose(model.predict_log_proba(X), wanted, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(
        model.covariance_, shrunken(X, y, alpha, gamma, shrinkage, w)[1], rtol=1e-10
    )


CORNERS = [
    ((0.0, 0.0, "identity"), QuadraticDiscriminantAnalysis()),
    ((1.0, 0.0, "identity"), LinearDiscriminantAnalysis()),
    ((1.0, 1.0, "identity"), LinearDiscriminantAnalysis(covariance="spherical")),
    ((0.0, 1.0, "identity"), QuadraticDiscriminantAnalysis(covariance="spherical")),
    ((0.0, 1.0, "diagonal"), QuadraticDiscriminantAnalysis(covariance="diagonal")),
    ((1.0, 1.0, "diagonal"), LinearDiscriminantAnalysis(covariance="diagonal")),
]


@pytest.mark.syllabus("3.4.2")
@pytest.mark.parametrize(("corner", "other"), CORNERS, ids=repr)
@pytest.mark.parametrize("unbiased", [False, True])
def test_corners_are_the_linear_the_quadratic_and_the_spherical_rule(
    corner, other, unbiased
):
    X, y = classes_of_rows()
    alpha, gamma, shrinkage = corner
    model = RegularizedDiscriminant(
        alpha=alpha, gamma=gamma, shrinkage=shrinkage, unbiased=unbiased
    ).fit(X, y)
    other.set_params(unbiased=unbiased).fit(X, y)
    np.testing.assert_allclose(
        model.predict_proba(X), other.predict_proba(X), rtol=1e-8, atol=1e-11
    )


def test_the_far_corner_with_even_priors_is_the_nearest_mean():
    X, y = classes_of_rows()
    model = RegularizedDiscriminant(alpha=1.0, gamma=1.0, priors="uniform").fit(X, y)
    means = np.array([X[y == k].mean(axis=0) for k in range(3)])
    nearest = ((X[:, None] - means) ** 2).sum(axis=2).argmin(axis=1)
    np.testing.assert_array_equal(model.predict(X), nearest)


def cross_validated(X, y, alphas, gammas, shrinkage, scoring, n_folds=5, w=None):
    """Losses by refitting from the rows of the other folds."""
    seed = 0
    fold = fold_numbers(Block(X, y, None, 0, Schema.of_numbers(["x"])), n_folds, seed)
    w = np.ones(len(X)) if w is None else w
    losses = np.zeros((len(alphas), len(gammas)))
    for f in range(n_folds):
        here = fold == f
        for a, alpha in enumerate(alphas):
            for g, gamma in enumerate(gammas):
                rule = shrunken(X[~here], y[~here], alpha, gamma, shrinkage, w[~here])
                log_p = log_posteriors(X[here], *rule)
                if scoring == "error":
                    losses[a, g] += w[here] @ (log_p.argmax(axis=1) != y[here])
                else:
                    losses[a, g] -= w[here] @ log_p[np.arange(here.sum()), y[here]]
    return losses / w.sum()


@pytest.mark.syllabus("3.4.3")
@pytest.mark.parametrize("scoring", ["log_loss", "error"])
@pytest.mark.parametrize("shrinkage", ["identity", "diagonal"])
def test_scores_are_those_of_refitting_every_fold(scoring, shrinkage):
    X, y = classes_of_rows()
    w = np.random.default_rng(1).integers(0, 4, len(X)).astype(float)
    alphas, gammas = [0.0, 0.4, 1.0], [0.0, 0.3, 1.0]
    model = RegularizedDiscriminant(
        alpha=alphas, gamma=gammas, shrinkage=shrinkage, scoring=scoring, random_state=0
    ).fit(X, y, w)
    wanted = cross_validated(X, y, alphas, gammas, shrinkage, scoring, w=w)
    np.testing.assert_allclose(model.scores_, wanted, rtol=1e-9)
    a, g = alphas.index(model.alpha_), gammas.index(model.gamma_)
    assert wanted[a, g] == pytest.approx(wanted.min())


def test_equal_scores_go_to_the_most_regular_pair():
    X, y = classes_of_rows()
    X = X + 100.0 * y[:, None]  # no pair errs
    model = RegularizedDiscriminant(scoring="error", random_state=0).fit(X, y)
    assert (model.scores_ == 0).all()
    assert (model.alpha_, model.gamma_) == (1.0, 1.0)


def test_many_alphas_in_several_passes_have_the_scores_of_one_pass(monkeypatch):
    X, y = classes_of_rows()
    one = RegularizedDiscriminant(random_state=0).fit(X, y)
    monkeypatch.setattr(
        "lyceum.bayes.regularized_discriminant._NUMBERS", 2 * 5 * 3 * 4 * 4
    )
    np.testing.assert_array_equal(
        RegularizedDiscriminant(random_state=0).fit(X, y).scores_, one.scores_
    )


def test_the_fold_of_a_row_does_not_depend_on_its_block():
    schema = Schema.of_numbers(["x"])
    X, y = np.arange(1000.0)[:, None], np.zeros(1000, np.int32)
    whole = fold_numbers(Block(X, y, None, 0, schema), 5, 7)
    cut = [
        fold_numbers(Block(X[a:b], y[a:b], None, a, schema), 5, 7)
        for a, b in ((0, 10), (10, 1000))
    ]
    np.testing.assert_array_equal(np.concatenate(cut), whole)
    assert np.bincount(whole).min() > 150


def test_without_a_fold_is_the_statistic_of_the_other_rows():
    X, y = classes_of_rows(n=100)
    rows = scan(pd.DataFrame(X).assign(y=y.astype(str)).rename(columns=str), target="y")
    folds = rows.reduce(lambda block: FoldStatistics.of(block, ClassScatter.of, 4, 3))
    fold = rows.reduce(lambda block: _Numbers(fold_numbers(block, 4, 3))).values
    for f in range(4):
        part = folds.without(f)
        for k in range(3):
            there = X[(fold != f) & (y == k)]
            np.testing.assert_allclose(part.mean[k], there.mean(axis=0))
            np.testing.assert_allclose(
                part.scatter[k], np.cov(there.T, ddof=0) * len(there), rtol=1e-9
            )
    whole = rows.reduce(ClassScatter.of)
    np.testing.assert_allclose(folds.total.scatter, whole.scatter, rtol=1e-10)
    assert folds.total.n_rows == 100


class _Numbers:
    def __init__(self, values):
        self.values = values

    def merge(self, other):
        return _Numbers(np.concatenate([self.values, other.values]))


def mixed_table(n=300):
    rng = np.random.default_rng(1)
    kind = np.sort(rng.integers(0, 3, n))
    return pd.DataFrame(
        {
            "length": rng.normal(size=n) + kind,
            "weight": rng.normal(size=n) * (1 + kind) + 1e6,
            "color": rng.choice(["red", "green", "blue"], n),
            "flat": np.full(n, 3.0),
            "kind": np.array(["p", "q", "r"])[kind],
        }
    )


@pytest.mark.parametrize("shrinkage", ["identity", "diagonal"])
def test_cross_validation_is_the_same_from_array_parquet_and_dask(shrinkage, tmp_path):
    dask = pytest.importorskip("dask.dataframe")
    table = mixed_table()
    X = table.drop(columns="kind")
    learner = RegularizedDiscriminant(shrinkage=shrinkage, random_state=0)
    wanted = learner.fit(X, table["kind"]).predict_proba(X)
    scores, chosen = learner.scores_, (learner.alpha_, learner.gamma_)
    table.to_parquet(tmp_path / "table.parquet", row_group_size=41)
    kinds = {"flat": "continuous"}
    streamed = scan(tmp_path / "table.parquet", target="kind", memory=0, kinds=kinds)
    spread = scan(
        dask.from_pandas(table, npartitions=5, sort=False), target="kind", kinds=kinds
    )
    for rows in (streamed, spread):
        np.testing.assert_allclose(learner.fit(rows).scores_, scores, rtol=1e-6)
        assert (learner.alpha_, learner.gamma_) == chosen
        np.testing.assert_allclose(
            learner.predict_proba(X), wanted, rtol=1e-6, atol=1e-9
        )


@pytest.mark.parametrize("shrinkage", ["identity", "diagonal"])
def test_a_column_that_is_constant_over_all_rows_changes_nothing(shrinkage):
    X, y = classes_of_rows()
    learner = RegularizedDiscriminant(shrinkage=shrinkage, random_state=0)
    wanted = learner.fit(X, y).predict_log_proba(X)
    scores = learner.scores_
    wide = np.insert(X, 1, 5.0, axis=1)
    np.testing.assert_allclose(
        learner.fit(wide, y).predict_log_proba(wide), wanted, rtol=1e-9, atol=1e-12
    )
    np.testing.assert_allclose(learner.scores_, scores, rtol=1e-9)
    moved = np.insert(X, 1, 9.0, axis=1)
    np.testing.assert_allclose(
        learner.predict_log_proba(moved), wanted, rtol=1e-9, atol=1e-12
    )


def test_more_columns_than_rows_are_fitted_without_a_warning():
    rng = np.random.default_rng(3)
    y = np.arange(40) % 2
    X = rng.normal(size=(40, 60)) + y[:, None]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = RegularizedDiscriminant(random_state=0).fit(X, y)
    fresh = rng.normal(size=(400, 60)) + (np.arange(400) % 2)[:, None]
    assert (model.predict(fresh) == np.arange(400) % 2).mean() > 0.95
    assert model.gamma_ > 0


def test_a_singular_covariance_is_named_and_made_regular():
    X = np.array(
        [[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [0.0, 5.0], [1.0, 7.0], [3.0, 6.0]]
    )
    with pytest.warns(
        LinAlgWarning,
        match=r"alpha=0 and gamma=0 the covariance of class 'flat' is singular",
    ):
        model = RegularizedDiscriminant(alpha=0.0, gamma=0.0).fit(
            X, ["flat"] * 3 + ["wide"] * 3
        )
    assert np.isfinite(model.predict_proba(X)).all()


def test_a_class_in_one_fold_only_is_not_scored():
    X, y = classes_of_rows(n=120, K=2)
    X, y = np.vstack([X, [[50.0] * 4]]), np.append(y, 2)
    model = RegularizedDiscriminant(random_state=0).fit(X, y)
    assert np.isfinite(model.scores_).all()
    assert model.predict([[50.0] * 4])[0] == 2


def test_cross_validation_of_too_few_rows_says_so():
    with pytest.raises(DataError, match="no class has rows in two of the 5 folds"):
        RegularizedDiscriminant(random_state=0).fit([[0.0], [1.0]], [0, 1])


def test_candidates_outside_the_unit_interval_are_refused():
    X, y = classes_of_rows()
    with pytest.raises(SettingError, match=r"alpha must be in \[0, 1\]"):
        RegularizedDiscriminant(alpha=[0.5, 1.5]).fit(X, y)


def test_partial_fit_is_there_only_for_given_numbers():
    assert not hasattr(RegularizedDiscriminant(alpha=0.5), "partial_fit")
    X, y = classes_of_rows()
    model = RegularizedDiscriminant(alpha=0.5, gamma=0.1)
    for rows in np.array_split(np.arange(len(X)), 5):
        model.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
    whole = RegularizedDiscriminant(alpha=0.5, gamma=0.1).fit(X, y)
    np.testing.assert_allclose(
        model.predict_proba(X), whole.predict_proba(X), rtol=1e-9
    )


def test_a_class_without_rows_gets_the_pooled_covariance_and_is_never_predicted():
    X, y = classes_of_rows(K=2)
    model = RegularizedDiscriminant(alpha=0.0, gamma=0.5).partial_fit(
        X, y, classes=[0, 1, 2]
    )
    assert (model.predict_proba(X)[:, 2] == 0).all()


def test_one_class_has_probability_one():
    X = np.random.default_rng(0).normal(size=(30, 2))
    assert (
        RegularizedDiscriminant(random_state=0).fit(X, ["a"] * 30).predict_proba(X) == 1
    ).all()


def test_combined_divides_by_the_weights():
    S, n = np.array([[[6.0]], [[2.0]]]), np.array([3.0, 1.0])
    np.testing.assert_allclose(combine_covariances(S, n, 0.0).ravel(), [2.0, 2.0])
    np.testing.assert_allclose(combine_covariances(S, n, 1.0).ravel(), [2.0, 2.0])
    np.testing.assert_allclose(
        combine_covariances(S, n, 0.5).ravel(), [7 / 3.5, 5 / 2.5]
    )
    np.testing.assert_allclose(
        combine_covariances(S, n, 1.0, lost_degrees=1).ravel(), [4.0, 4.0]
    )


def test_contributions_sum_to_the_log_odds_and_the_summary_shows_the_losses():
    X, y = classes_of_rows()
    model = RegularizedDiscriminant(random_state=0).fit(X, y)
    log_p = np.sort(model.predict_log_proba(X), axis=1)
    np.testing.assert_allclose(
        model.explain(X).scores, log_p[:, -1] - log_p[:, -2], rtol=1e-7, atol=1e-9
    )
    text = str(model.summary())
    assert "log_loss of 5-fold cross-validation" in text
    assert "gamma 0.25" in text


@pytest.mark.syllabus("3.4.1")
@pytest.mark.parametrize("unbiased", [True, False])
def test_the_plain_convex_mix_is_that_of_the_two_covariances(unbiased):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [20, 60])
    X = rng.normal(size=(80, 3)) * np.where(y == 0, 1.0, 3.0)[:, None]
    model = RegularizedDiscriminant(
        alpha=0.3, gamma=0.0, pooling="convex", unbiased=unbiased
    ).fit(X, y)
    own = [np.cov(X[y == k].T, bias=not unbiased) for k in (0, 1)]
    lost = int(unbiased)
    pooled = sum(S * (n - lost) for S, n in zip(own, (20, 60))) / (80 - 2 * lost)
    for k in (0, 1):
        np.testing.assert_allclose(
            model.covariance_[k], 0.7 * own[k] + 0.3 * pooled, rtol=1e-10
        )
    chosen = RegularizedDiscriminant(pooling="convex", random_state=0).fit(X, y)
    assert 0.0 <= chosen.alpha_ <= 1.0


@pytest.mark.parametrize("seed", range(12))
def test_folds_without_weight_are_drawn_again(seed):
    X = np.random.default_rng(0).normal(size=(10, 1))
    y = np.arange(10) % 2
    w = np.array([1.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    learner = RegularizedDiscriminant(cv=2, random_state=seed).fit(
        X, y, sample_weight=w
    )
    assert np.isfinite(learner.predict_proba(X)).all()
    fold = fold_numbers(Block(X, y, w, 0, Schema.of_numbers(["x"])), 2, learner.seed_)
    assert any(len(set(fold[(y == k) & (w > 0)])) == 2 for k in (0, 1))


def test_classes_of_one_row_cannot_be_cross_validated():
    with pytest.raises(DataError, match="no class has rows in two of the 2 folds"):
        RegularizedDiscriminant(cv=2, random_state=0).fit([[1.0], [2.0]], ["a", "b"])
