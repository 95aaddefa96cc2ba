"""Linear support vector machines: optimality of every loss, penalty and intercept; liblinear's
answers."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings, strategies as st
from scipy import sparse
from scipy.optimize import minimize
from sklearn.svm import LinearSVC as LibLinear

import lyceum.kernels.linear_svm.linear_svc as room
from lyceum import scan
from lyceum.errors import SettingError
from lyceum.kernels import SVC, LinearSVC


def noisy(n=300, d=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X[:, 0] - 0.5 * X[:, 1] + 0.7 * rng.normal(size=n) > 0.2).astype(int)


def objective(theta, X, y, C, loss, penalty, scaling):
    xi = np.maximum(0, 1 - np.where(y == 1, 1, -1) * (X @ theta[:-1] + theta[-1]))
    cost = C * (xi if loss == "hinge" else xi**2).sum()
    weights = np.append(theta[:-1], theta[-1] / scaling if scaling else 0.0)
    return cost + (
        np.abs(weights).sum() if penalty == "l1" else 0.5 * (weights**2).sum()
    )


def intercept(scaling):
    """The parameters of an intercept with this scaling, of none for 0."""
    return {"fit_intercept": scaling > 0, "intercept_scaling": scaling or 1.0}


SCALINGS = [np.inf, 1.0, 3.0, 0.0]


FORMS = [
    (loss, penalty, scaling)
    for loss, penalty in (
        ("squared_hinge", "l2"),
        ("hinge", "l2"),
        ("squared_hinge", "l1"),
    )
    for scaling in SCALINGS
]


@pytest.mark.syllabus("9.3")
@pytest.mark.parametrize(("loss", "penalty", "scaling"), FORMS)
@settings(max_examples=10)
@given(
    st.integers(5, 80),
    st.integers(1, 4),
    st.sampled_from([0.05, 1.0]),
    st.integers(0, 10**6),
)
def test_no_other_plane_is_better(loss, penalty, scaling, n, d, C, seed):
    """From the minimum no random step leads lower, and Powell's search finds nothing below it."""
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-2, 3, size=(n, d)).astype(float), np.arange(n) % 2
    model = LinearSVC(penalty, loss, C=C, tol=1e-8, **intercept(scaling)).fit(X, y)
    theta = np.append(model.coef_[0], model.intercept_[0])
    found = objective(theta, X, y, C, loss, penalty, scaling)
    assert model.objective_[0] == pytest.approx(found)
    free = np.ones(d + 1) if scaling else np.append(np.ones(d), 0.0)
    for size in (1e-4, 1e-2, 1.0):
        for step in size * rng.normal(size=(40, d + 1)) * free:
            assert objective(theta + step, X, y, C, loss, penalty, scaling) >= found * (
                1 - 1e-7
            )

    def search(t):
        return objective(t * free, X, y, C, loss, penalty, scaling)

    other = minimize(search, np.zeros(d + 1), method="Powell", options={"maxiter": 20})
    assert found <= other.fun * (1 + 1e-6)


@pytest.mark.syllabus("9.3")
@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
def test_liblinear_finds_the_same_plane(loss):
    X, y = noisy()
    ours = LinearSVC(loss=loss, tol=1e-8).fit(X, y)
    peer = LibLinear(loss=loss, tol=1e-7, max_iter=200_000, random_state=0).fit(X, y)
    np.testing.assert_allclose(ours.coef_, peer.coef_, atol=2e-4)
    np.testing.assert_allclose(ours.intercept_, peer.intercept_, atol=2e-4)


@pytest.mark.syllabus("9.3.6")
def test_the_hinge_is_that_of_svc():
    X, y = noisy()
    line, machine = (
        LinearSVC(loss="hinge", tol=1e-8, intercept_scaling=np.inf).fit(X, y),
        SVC(kernel="linear", tol=1e-8).fit(X, y),
    )
    np.testing.assert_allclose(line.coef_, machine.coef_, atol=1e-5)
    assert line.objective_[0] == pytest.approx(machine.dual_objective_[0], rel=1e-7)
    assert line.n_wrong_[0] == machine.n_wrong_[0]
    assert line.margin_width_[0] == pytest.approx(machine.margin_width_[0], rel=1e-6)


@pytest.mark.syllabus("9.3")
@pytest.mark.parametrize("scaling", SCALINGS)
@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
def test_dual_descent_and_newton_find_one_plane(loss, scaling, monkeypatch):
    X, y = noisy(200, 4)
    X[X < -0.5] = 0.0
    few = LinearSVC(loss=loss, tol=1e-8, **intercept(scaling)).fit(X, y)
    monkeypatch.setattr(room, "_WIDE", 2)
    settings = {"loss": loss, "tol": 1e-7, "max_iter": 100_000, **intercept(scaling)}
    for cells in (X, sparse.csr_array(X), X.astype(np.float32)):
        many = LinearSVC(**settings).fit(cells, y)
        assert many.objective_[0] == pytest.approx(few.objective_[0], rel=1e-5)
        np.testing.assert_allclose(many.coef_, few.coef_, atol=1e-3)


def test_more_columns_than_rows(tmp_path):
    rng = np.random.default_rng(0)
    X = sparse.random(120, 1800, 0.01, "csr", random_state=1)
    y = (X @ rng.normal(size=1800) > 0).astype(int)
    for loss in ("hinge", "squared_hinge"):
        model = LinearSVC(loss=loss, tol=1e-6, max_iter=20_000).fit(X, y)
        assert model.converged_
        assert model.score(X, y) == 1.0
    thin = LinearSVC(penalty="l1", C=10.0, tol=1e-6, intercept_scaling=np.inf).fit(X, y)
    assert 0 < (thin.coef_ != 0).sum() < 300
    theta = np.append(thin.coef_[0], thin.intercept_[0])
    signs = np.where(y == 1, 1, -1)
    pull = signs * np.maximum(0, 1 - signs * (X @ theta[:-1] + theta[-1]))
    assert np.abs(20.0 * (X.T @ pull)).max() <= 1 + 1e-2
    assert abs(pull.sum()) < 1e-2


def test_files_are_read_pass_by_pass(tmp_path):
    X, y = noisy(3000, 3)
    path = tmp_path / "rows.parquet"
    pq.write_table(
        pa.table({"a": X[:, 0], "b": X[:, 1], "c": X[:, 2], "y": y}),
        path,
        row_group_size=700,
    )
    for loss in ("squared_hinge", "hinge"):
        whole = LinearSVC(loss=loss, tol=1e-7).fit(X, y)
        read = LinearSVC(loss=loss, tol=1e-7).fit(scan(path, target="y", memory=1))
        np.testing.assert_allclose(read.coef_, whole.coef_, atol=1e-6)


def test_several_classes_weights_and_refusals():
    rng = np.random.default_rng(0)
    y = np.arange(150) % 3
    X = rng.normal(size=(150, 2)) + 5 * np.array([[0, 0], [1, 0], [0, 1]])[y]
    model = LinearSVC(class_weight="balanced").fit(X, y)
    assert model.score(X, y) > 0.95
    assert model.coef_.shape == (3, 2)
    assert "ξ > 1" in str(model.summary())
    with pytest.raises(SettingError, match="take loss='squared_hinge'"):
        LinearSVC(loss="hinge", penalty="l1").fit(X, y)
