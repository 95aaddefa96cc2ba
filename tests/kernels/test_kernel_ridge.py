"""Kernel ridge regression beside its formula, scikit-learn, and fits without a row."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import sparse
from sklearn.kernel_ridge import KernelRidge as ScikitKernelRidge

import lyceum.kernels.ridge.kernel_ridge as module
from lyceum.datasets import load
from lyceum.errors import DataError, SettingError
from lyceum.kernels import (
    DistanceKernel,
    KernelRidge,
    LinearKernel,
    PolynomialKernel,
    RBFKernel,
    SigmoidKernel,
)
from lyceum.kernels.kernel_learner import refuse_pairs
from lyceum.kernels.ridge.solvers import factor_in_place
from lyceum.linear import Ridge
from lyceum.persist import load as load_model, save


def wave(n, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return (
        X,
        np.sin(2 * X[:, 0]) + 0.3 * X[:, -1] + 0.1 * rng.normal(size=n),
        rng.integers(1, 4, n).astype(float),
    )


@pytest.mark.syllabus("9.4")
def test_it_is_its_formula():
    X, y, _ = wave(40)
    kernel = RBFKernel(gamma=0.3)
    K = kernel.gram(X)
    by_hand = kernel.gram(X[:5], X) @ np.linalg.solve(K + 0.7 * np.eye(40), y)
    np.testing.assert_allclose(
        KernelRidge(0.7, kernel=kernel).fit(X, y).predict(X[:5]), by_hand, rtol=1e-10
    )


@pytest.mark.syllabus("9.4")
# the second is factored in float32 and refined
@pytest.mark.parametrize("n", [60, 1500])
@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_that_of_scikit_learn(n, weighted):
    X, y, w = wave(n)
    w = w if weighted else None
    ours = KernelRidge(0.1, gamma=0.2, kernel="rbf").fit(X, y, w)
    theirs = ScikitKernelRidge(alpha=0.1, kernel="rbf", gamma=0.2).fit(X, y, w)
    np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(
        ours.predict(X[:50] + 0.1), theirs.predict(X[:50] + 0.1), rtol=1e-9, atol=1e-10
    )


@pytest.mark.syllabus("9.4.2")
@settings(max_examples=15)
@given(
    st.integers(3, 15),
    st.booleans(),
    st.sampled_from(
        [
            RBFKernel(gamma=0.5),
            LinearKernel(),
            PolynomialKernel(2),
            DistanceKernel("manhattan"),
        ]
    ),
    st.floats(0.01, 10.0),
    st.integers(0, 99),
)
def test_leave_one_out_is_a_fit_without_the_row(n, intercept, kernel, alpha, seed):
    X, y, w = wave(n, seed=seed)
    X[-1] = X[0]  # twice the same row
    model = KernelRidge(alpha, kernel=kernel, fit_intercept=intercept)
    found = model.fit(X, y, w).leave_one_out()
    for i in range(n):
        rest = np.arange(n) != i
        without = model.fit(X[rest], y[rest], w[rest]).predict(X[i : i + 1])[0]
        assert found.predictions[i] == pytest.approx(without, rel=1e-6, abs=1e-8)
        assert found.residuals[i] == pytest.approx(y[i] - without, rel=1e-6, abs=1e-7)
    assert found.mse == pytest.approx(np.average(found.residuals**2, weights=w))


@pytest.mark.syllabus("9.4")
@pytest.mark.parametrize("intercept", [False, True])
def test_the_chosen_alpha_has_the_least_leave_one_out_error(intercept):
    X, y, w = wave(80)
    model = KernelRidge("loo", gamma=0.5, fit_intercept=intercept, kernel="rbf").fit(
        X, y + 5.0, w
    )
    for alpha, error in list(zip(model.alphas_, model.loo_mse_))[10::8]:
        fixed = KernelRidge(
            alpha, gamma=0.5, fit_intercept=intercept, kernel="rbf"
        ).fit(X, y + 5.0, w)
        assert fixed.leave_one_out().mse == pytest.approx(error, rel=1e-6)
    assert model.loo_mse_.min() == model.loo_mse_[model.alphas_ == model.alpha_]
    same = KernelRidge(
        model.alpha_, gamma=0.5, fit_intercept=intercept, kernel="rbf"
    ).fit(X, y + 5.0, w)
    np.testing.assert_allclose(model.predict(X), same.predict(X), rtol=1e-7)
    assert (
        KernelRidge("loo", alphas=[0.3], kernel="rbf", gamma="scale").fit(X, y).alpha_
        == 0.3
    )


def test_an_unpenalised_intercept_moves_with_the_target():
    X, y, w = wave(60)
    model, moved = (
        KernelRidge(fit_intercept=True, kernel="rbf", gamma="scale").fit(X, y + c, w)
        for c in (0.0, 1e6)
    )
    np.testing.assert_allclose(moved.predict(X) - 1e6, model.predict(X), atol=1e-6)
    assert moved.dual_coef_.sum() == pytest.approx(0.0, abs=1e-6)


def test_the_linear_kernel_is_ridge_regression():
    X, y, w = wave(100, d=5)
    ours = KernelRidge(2.0, kernel="linear", fit_intercept=True).fit(X, y, w)
    ridge = Ridge(alpha=2.0).fit(X, y, w)
    np.testing.assert_allclose(ours.coef_, np.ravel(ridge.coef_), rtol=1e-8)
    found = ours.explain(X[:4])
    np.testing.assert_allclose(found.scores, ours.predict(X[:4]))
    mean = np.average(X, axis=0, weights=w)
    np.testing.assert_allclose(
        found.contributions, (X[:4] - mean) * ours.coef_, atol=1e-8
    )
    np.testing.assert_allclose(
        ours.row_contributions(X[:4]).sum(axis=1) + ours.intercept_, found.scores
    )


@pytest.mark.syllabus("9.4")
def test_any_kernel_and_each_of_several_targets_are_explained_by_columns_and_by_rows():
    X, y, w = wave(50, d=3)
    model = KernelRidge(0.1, fit_intercept=True, kernel="rbf", gamma="scale").fit(
        X, np.column_stack([y, X[:, 0] ** 2]), w
    )
    for target, predicted in enumerate(model.predict(X[:5]).T):
        by_columns = model.explain(X[:5], target=target)
        np.testing.assert_allclose(by_columns.scores, predicted, rtol=1e-9)
        np.testing.assert_allclose(by_columns.predicted, predicted, rtol=1e-9)
        by_rows = model.explain(X[:5], by="rows", target=target)
        np.testing.assert_allclose(by_rows.scores, predicted, rtol=1e-9)
    # x0 squared: the other columns add next to nothing
    alone = model.explain(X[:5], target=1)
    assert (
        np.abs(alone.contributions[:, 0]).sum()
        > 3 * np.abs(alone.contributions[:, 1:]).sum()
    )
    K = RBFKernel(gamma=0.4).gram(X)
    given = KernelRidge(kernel="precomputed").fit(K, y)
    np.testing.assert_allclose(
        given.explain(K[:3], by="rows").scores, given.predict(K[:3])
    )
    with pytest.raises(SettingError, match="by='rows'"):
        given.explain(K[:3])
    with pytest.raises(SettingError, match="there are 2 targets"):
        model.explain(X, target=2)


def test_precomputed_function_and_object_are_one_model():
    X, y, w = wave(50)
    K = RBFKernel(gamma=0.4).gram(X)
    expected = KernelRidge(kernel=RBFKernel(gamma=0.4)).fit(X, y, w).predict(X)
    for kernel, rows in (
        ("rbf", X),
        ("precomputed", K),
        (lambda a, b: np.exp(-0.4 * ((a - b) ** 2).sum()), X),
    ):
        gamma = 0.4 if kernel == "rbf" else None
        np.testing.assert_allclose(
            KernelRidge(kernel=kernel, gamma=gamma).fit(rows, y, w).predict(rows),
            expected,
        )
    with pytest.raises(DataError, match="one column per row"):
        KernelRidge(kernel="precomputed").fit(X, y)


def test_mixed_tables_missing_cells_and_sparse_rows(tmp_path):
    penguins = load("penguins")
    y = np.arange(len(penguins), dtype=float)
    model = KernelRidge(5.0, kernel=DistanceKernel("gower"))
    frame = _frame(penguins)
    assert model.fit(frame, y).score(frame, y) > 0.5
    again = load_model(save(model, tmp_path / "model.skops"))
    np.testing.assert_allclose(again.predict(frame), model.predict(frame))
    X, y, _ = wave(60)
    X[np.abs(X) < 0.5] = 0.0
    dense = KernelRidge(gamma=0.3, kernel="rbf").fit(X, y).predict(X)
    thin = (
        KernelRidge(gamma=0.3, kernel="rbf")
        .fit(sparse.csr_array(X), y)
        .predict(sparse.csr_array(X))
    )
    np.testing.assert_allclose(thin, dense, rtol=1e-8)


def _frame(rows):
    import pandas as pd

    block = rows.in_one_block("a test", "none")
    columns = {
        column.name: block.X[:, j]
        if column.numeric
        else [
            None if code != code else str(column.categories[int(code)])
            for code in block.X[:, j]
        ]
        for j, column in enumerate(block.schema)
    }
    return pd.DataFrame(columns)


def test_rows_that_are_twice_the_same_and_next_to_no_penalty():
    X, y, _ = wave(30)
    X = np.vstack([X, X])
    model = KernelRidge(1e-14, gamma=0.1, kernel="rbf").fit(X, np.r_[y, y + 0.5])
    assert np.isfinite(model.predict(X)).all()
    constant = KernelRidge(kernel="rbf", gamma="scale").fit(
        np.ones((5, 2)), np.arange(5.0)
    )
    np.testing.assert_allclose(constant.predict([[1.0, 1.0]]), 10 / 6)
    assert KernelRidge(kernel="rbf", gamma="scale").fit([[1.0, 2.0]], [3.0]).predict(
        [[1.0, 2.0]]
    ) == pytest.approx(1.5)


def test_a_kernel_that_is_not_mercer_is_refused_with_its_eigenvalue():
    X, y, _ = wave(30)
    with pytest.raises(
        SettingError, match=r"no Mercer kernel on these rows.*eigenvalue of -"
    ):
        KernelRidge(1e-6, kernel=SigmoidKernel(gamma=2.0, coef0=-2.0)).fit(X, y)
    assert np.isfinite(
        KernelRidge(100.0, kernel=SigmoidKernel(gamma=2.0, coef0=-2.0))
        .fit(X, y)
        .dual_coef_
    ).all()


def test_settings_that_do_not_go_together_are_named():
    X, y, _ = wave(10)
    with pytest.raises(SettingError, match="give it to the kernel itself"):
        KernelRidge(kernel=RBFKernel(), gamma=1.0).fit(X, y)
    with pytest.raises(SettingError, match="does not go with"):
        KernelRidge(kernel="poly", gamma="median").fit(X, y)
    with pytest.raises(SettingError, match="positive numbers"):
        KernelRidge("loo", alphas=[0.0], kernel="rbf", gamma="scale").fit(X, y)
    with pytest.raises(DataError, match=r"all pairs of 10,000,000 rows.*use Nystroem"):
        refuse_pairs("KernelRidge", 10_000_000, 8, "Nystroem")


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_factors_by_blocks_are_cholesky_factors(kind):
    rng = np.random.default_rng(0)
    B = rng.normal(size=(1300, 1300)).astype(kind)
    A = B @ B.T + 1300 * np.eye(1300, dtype=kind)
    L = A.copy()
    factor_in_place(L)
    L = np.tril(L)
    np.testing.assert_allclose(
        L @ L.T,
        A,
        rtol=1e-3 if kind == np.float32 else 1e-10,
        atol=1e-3 if kind == np.float32 else 1e-8,
    )


def test_where_float32_fails_float64_takes_over(monkeypatch):
    X, y, _ = wave(1100, d=2)
    monkeypatch.setattr(module, "_MIXED", 1000)
    tight = KernelRidge(1e-9, gamma=0.01, kernel="rbf").fit(X, y)
    monkeypatch.setattr(module, "_MIXED", 10**9)
    exact = KernelRidge(1e-9, gamma=0.01, kernel="rbf").fit(X, y)
    np.testing.assert_allclose(tight.predict(X), exact.predict(X), atol=1e-4)
