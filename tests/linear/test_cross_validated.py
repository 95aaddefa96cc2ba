"""Penalties by cross-validation: fold statistics against fits on the folds' rows."""

import dask.array as da
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.linear_model import ElasticNet as Reference, Ridge as RidgeReference

from lyceum import scan
from lyceum._core.native import native
from lyceum.linear import ElasticNetCV, Lasso, LassoCV, Ridge, RidgeCV


def rows(seed=0, n=150, d=10):
    rng = np.random.default_rng(seed)
    X = rng.normal(2, 1, (n, d))
    return X, X @ np.where(
        np.arange(d) % 3 == 0, rng.normal(size=d), 0.0
    ) + 3 + rng.normal(size=n)


def folds_of(n, count, seed=0):
    u = np.empty(n)
    native.hash_uniform(0, seed, u)
    return (u * count).astype(int)


def errors_by_hand(make, X, y, w, alphas, folds):
    out = np.empty((len(alphas), folds.max() + 1))
    for f in range(folds.max() + 1):
        for k, alpha in enumerate(alphas):
            model = make(alpha).fit(X[folds != f], y[folds != f], w[folds != f])
            left = folds == f
            out[k, f] = np.average(
                (y[left] - model.predict(X[left])) ** 2, weights=w[left]
            )
    return out


@pytest.mark.syllabus("7.2")
@pytest.mark.parametrize("solver", ["gram", "columns"])
def test_lasso_errors_are_those_of_fits_on_the_other_folds(solver):
    X, y = rows()
    w = np.random.default_rng(1).uniform(0.1, 2, len(y))
    alphas = [1.0, 0.3, 0.1, 0.01]
    model = LassoCV(alphas=alphas, cv=4, solver=solver, tol=1e-12, random_state=3).fit(
        X, y, w
    )
    by_hand = errors_by_hand(
        lambda alpha: Reference(alpha=alpha, l1_ratio=1.0, tol=1e-12, max_iter=100_000),
        X, y, w, alphas, folds_of(len(y), 4, seed=3),
    )  # fmt: skip
    assert_allclose(model.mse_path_, by_hand, rtol=1e-6)
    assert model.alpha_ == alphas[np.argmin(by_hand.mean(axis=1))]
    assert_allclose(
        model.coef_, Lasso(alpha=model.alpha_, tol=1e-12).fit(X, y, w).coef_, atol=1e-6
    )


@pytest.mark.syllabus("7.2")
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_ridge_errors_are_those_of_fits_on_the_other_folds(fit_intercept):
    X, y = rows()
    w = np.random.default_rng(1).uniform(0.1, 2, len(y))
    alphas = [100.0, 10.0, 1.0, 0.1]
    model = RidgeCV(
        alphas=alphas, cv=5, fit_intercept=fit_intercept, random_state=0
    ).fit(X, y, w)
    by_hand = errors_by_hand(
        lambda alpha: RidgeReference(alpha=alpha, fit_intercept=fit_intercept),
        X, y, w, alphas, folds_of(len(y), 5),
    )  # fmt: skip
    assert_allclose(model.mse_path_, by_hand, rtol=1e-8)
    assert model.alpha_ == alphas[np.argmin(by_hand.mean(axis=1))]
    reference = Ridge(alpha=model.alpha_, fit_intercept=fit_intercept).fit(X, y, w)
    assert_allclose(model.coef_, reference.coef_, rtol=1e-9)
    assert_allclose(model.intercept_, reference.intercept_, rtol=1e-9)


def test_one_standard_error_takes_the_larger_alpha():
    X, y = rows(d=30)
    best, sparser = (
        LassoCV(choice=choice, random_state=0).fit(X, y)
        for choice in ("best", "one_standard_error")
    )
    assert sparser.alpha_ > best.alpha_
    mean = best.mse_path_.mean(axis=1)
    at = np.argmin(mean)
    reach = mean[at] + best.mse_path_[at].std(ddof=1) / np.sqrt(5)
    assert sparser.alpha_ == best.alphas_[np.flatnonzero(mean <= reach)[0]]


def test_the_best_l1_ratio_is_taken():
    X, y = rows(d=25)
    both = ElasticNetCV(l1_ratio=[0.1, 1.0], random_state=0).fit(X, y)
    alone = {r: ElasticNetCV(l1_ratio=r, random_state=0).fit(X, y) for r in (0.1, 1.0)}
    single = {r: model.mse_path_.mean(axis=1).min() for r, model in alone.items()}
    assert both.l1_ratio_ == min(single, key=single.get)
    assert_allclose(both.mse_path_.mean(axis=1).min(), min(single.values()), rtol=1e-12)


@pytest.mark.parametrize(
    "learner",
    [
        LassoCV(alphas=20, cv=4, random_state=0),
        RidgeCV(n_alphas=20, cv=4, random_state=0),
    ],
)
def test_sparse_files_and_dask_give_the_same(learner, tmp_path):
    X, y = rows(n=400)
    X = np.where(X > 2.5, X, 0.0)
    whole = learner.fit(X, y)
    alpha, coef = whole.alpha_, whole.coef_
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]).assign(y=y)
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=90)
    sources = (
        (sparse.csr_array(X), y),
        (scan(str(tmp_path / "rows.parquet"), target="y", memory=0),),
        (da.from_array(X, chunks=(77, -1)), da.from_array(y, chunks=77)),
    )
    for source in sources:
        other = type(learner)(**learner.get_params()).fit(*source)
        assert_allclose(other.alpha_, alpha, rtol=1e-12)
        assert_allclose(other.coef_, coef, rtol=1e-8, atol=1e-10)


def test_too_few_rows_are_refused():
    for learner in (LassoCV(), RidgeCV()):
        with pytest.raises(ValueError, match=r"1 sample|n_samples=1"):
            learner.fit([[1.0]], [2.0])
    with pytest.raises(ValueError, match="l1_ratio"):
        ElasticNetCV(l1_ratio=[0.0, 1.0]).fit(*rows())
    with pytest.raises(ValueError, match="positive"):
        RidgeCV(alphas=[0.0, 1.0]).fit(*rows())


def test_summary_and_explanation():
    X, y = rows()
    for model in (LassoCV().fit(X, y), RidgeCV().fit(X, y)):
        assert "mean squared error left out" in str(model.summary())
        assert_allclose(model.explain(X).scores, model.predict(X), rtol=1e-9)
