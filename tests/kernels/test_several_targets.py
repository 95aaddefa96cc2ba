"""Kernel ridge regression of several targets, and the median width of weighted rows."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge as Peer

from lyceum.errors import MissingValuesError, SettingError
from lyceum.kernels import KernelRidge, RBFKernel, median_sigma

_random = np.random.default_rng(0)
X = _random.normal(size=(50, 4))
Y = np.column_stack([np.sin(X[:, 0]), X[:, 1] * X[:, 2], X[:, 3]])
W = _random.integers(0, 3, 50).astype(float)


@pytest.mark.parametrize("alpha", [0.3, [0.1, 0.3, 0.1]])
def test_several_targets_are_predicted_as_by_scikit_learn(alpha):
    ours = KernelRidge(alpha, gamma=0.2, kernel="rbf").fit(X, Y, W)
    peer = Peer(alpha=np.array(alpha), kernel="rbf", gamma=0.2).fit(X, Y, W)
    np.testing.assert_allclose(ours.predict(X), peer.predict(X), rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(
        ours.dual_coef_, peer.dual_coef_[W > 0], rtol=1e-7, atol=1e-9
    )
    assert ours.score(X, Y) == pytest.approx(peer.score(X, Y))
    assert KernelRidge(gamma=0.2, kernel="rbf").fit(X, Y[:, :1]).predict(X).shape == (
        50,
        1,
    )


@pytest.mark.parametrize(
    "settings", [{"alpha": 0.3}, {"alpha": "loo"}, {"kernel": "linear", "alpha": "loo"}]
)
@pytest.mark.parametrize("fit_intercept", [False, True])
def test_several_targets_are_as_many_single_fits(settings, fit_intercept):
    model = KernelRidge(fit_intercept=fit_intercept, **settings).fit(X, Y, W)
    left = model.leave_one_out()
    for t in range(3):
        one = KernelRidge(fit_intercept=fit_intercept, **settings).fit(X, Y[:, t], W)
        np.testing.assert_allclose(
            model.predict(X)[:, t], one.predict(X), rtol=1e-9, atol=1e-12
        )
        assert np.broadcast_to(model.alpha_, 3)[t] == one.alpha_
        np.testing.assert_allclose(
            left.residuals[:, t], one.leave_one_out().residuals, rtol=1e-8, atol=1e-11
        )
        assert left.r2[t] == pytest.approx(one.leave_one_out().r2)
        np.testing.assert_allclose(
            model.row_contributions(X[:2])[..., t], one.row_contributions(X[:2])
        )
        if settings.get("kernel") == "linear":
            np.testing.assert_allclose(model.coef_[t], one.coef_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(
        model.explain(X[:3]).scores, model.predict(X[:3])[:, 0], rtol=1e-9
    )
    assert "norm of f" in str(model.summary())


def test_many_rows_of_several_targets_are_solved_in_mixed_precision_alike():
    rng = np.random.default_rng(1)
    A, B = rng.normal(size=(1100, 3)), rng.normal(size=(1100, 2))
    found = KernelRidge(0.5, gamma=0.3, kernel="rbf").fit(A, B).predict(A[:50])
    np.testing.assert_allclose(
        found, Peer(0.5, kernel="rbf", gamma=0.3).fit(A, B).predict(A[:50]), rtol=1e-6
    )


def test_targets_that_cannot_be_learned_are_named():
    with pytest.raises(
        MissingValuesError, match=r"target 1 is missing or infinite .* in row 2"
    ):
        KernelRidge(kernel="rbf", gamma="scale").fit(
            X, np.where(np.arange(100).reshape(50, 2) == 5, np.nan, 1.0)
        )
    with pytest.raises(SettingError, match="one for each of 3 targets"):
        KernelRidge([1.0, 2.0], kernel="rbf", gamma="scale").fit(X, Y)


@pytest.mark.syllabus("9.5")
def test_the_median_width_of_weighted_rows_is_that_of_repeated_rows():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        rows, w = rng.normal(size=(rng.integers(2, 9), 2)), rng.integers(1, 4, 9)
        w = w[: len(rows)]
        repeated = np.repeat(rows, w, axis=0)
        assert median_sigma(rows, sample_weight=w) == pytest.approx(
            median_sigma(repeated), rel=1e-12
        )
        assert RBFKernel(sigma="median").learn(rows, None, w).sigma == pytest.approx(
            median_sigma(repeated)
        )
    y = X[:, 0]
    there = np.repeat(np.arange(50), W.astype(int))
    weighted = KernelRidge(gamma="median", kernel="rbf").fit(X, y, W).predict(X)
    repeated = (
        KernelRidge(gamma="median", kernel="rbf").fit(X[there], y[there]).predict(X)
    )
    np.testing.assert_allclose(weighted, repeated, rtol=1e-7)


def test_rows_that_are_drawn_for_the_median_are_drawn_by_weight():
    rng = np.random.default_rng(2)
    rows = np.concatenate([rng.normal(0, 1, (1500, 1)), rng.normal(0, 50, (1500, 1))])
    w = np.repeat([1.0, 0.0], 1500)
    assert median_sigma(rows, sample_weight=w) == pytest.approx(
        median_sigma(rows[:1500]), rel=0.1
    )
