"""Logistic regression one row at a time: the formulas step by step, and how near the optimum it
ends."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.optimize import brentq
from scipy.special import expit, softmax
from tests.checks.scikit_learn import obeys_scikit_learn

from lyceum import load, save, scan
from lyceum.errors import SchemaError
from lyceum.linear import LogisticRegression, Ridge


def test_scikit_learns_checks():
    reason = "a row is learned from at the weights so far"
    weighted = [
        f"check_sample_weight_equivalence_on_{cells}_data"
        for cells in ("dense", "sparse")
    ]
    obeys_scikit_learn(
        LogisticRegression(solver="recursive"), dict.fromkeys(weighted, reason)
    )


def rows(K=2, n=3000, d=4, seed=0, offset=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * [1, 2, 0.5, 3][:d]
    y = (X @ rng.normal(size=(d, K)) * 0.5 + rng.gumbel(size=(n, K))).argmax(axis=1)
    return X + offset, y


def new_score(z, s, target):
    """Where the score goes: u = z + s (target - p(u))."""
    return brentq(
        lambda u: u - z - s * (target - expit(u)), z - s - 1, z + s + 1, xtol=1e-14
    )


@pytest.mark.syllabus("7.4.5")
def test_every_step_for_two_classes_is_that_of_sherman_and_morrison():
    X, y = rows(n=12)
    w = np.array([1.0, 2, 0, 1, 0.5, 1, 1, 3, 1, 1, 1, 2])
    model = LogisticRegression(solver="recursive", C=2.0, record=True).fit(X, y, w)
    P, theta = np.diag([2.0, 2, 2, 2, 100]), np.zeros(5)
    for x, target, weight, step in zip(X - X[0], y, w, model.record_):
        x = np.append(x, 1.0)
        z, s = theta @ x, x @ P @ x
        p = expit(new_score(z, s * weight, target))
        theta = theta + weight * (target - p) * P @ x
        v = weight * p * (1 - p)
        P = P - v * np.outer(P @ x, P @ x) / (1 + v * s)
        assert_allclose(step["coef"][0], theta[:-1], rtol=1e-9, atol=1e-12)
        assert_allclose(
            step["intercept"][0], theta[-1] - theta[:-1] @ X[0], rtol=1e-9, atol=1e-12
        )
    back = np.eye(5)
    back[-1, :-1] = -X[0]
    assert_allclose(model.covariance_, back @ P @ back.T, rtol=1e-9, atol=1e-12)


@pytest.mark.syllabus("7.4")
@pytest.mark.parametrize("reference", [None, 1])
def test_every_step_for_more_classes_adds_the_rows_hessian_to_the_inverse(reference):
    X, y = rows(K=3, n=20, d=2)
    model = LogisticRegression(
        solver="recursive", record=True, reference=reference
    ).fit(X, y)
    if reference is None:
        basis = np.array([[1, 1], [-1, 1], [0, -2]]) / np.sqrt([2, 6])
    else:
        basis = np.eye(3)[:, [0, 2]]
    # Hessians are inverted within the outputs that matter
    A = np.kron(basis, np.eye(3))
    H, theta = (
        np.linalg.inv(A.T @ np.kron(np.eye(3), np.diag([1.0, 1, 100])) @ A),
        np.zeros((3, 3)),
    )
    for x, target, step in zip(X - X[0], y, model.record_):
        x = np.append(x, 1.0)
        after = np.column_stack([step["coef"], step["intercept"] + step["coef"] @ X[0]])
        p = softmax(after @ x)
        pull = A.T @ np.kron(
            np.eye(3)[target] - p, x
        )  # the slope of the row's loss, that of the others against it
        assert_allclose(H @ A.T @ (after - theta).ravel(), pull, atol=1e-8)
        assert_allclose(A @ A.T @ after.ravel(), after.ravel(), atol=1e-9)
        H = H + A.T @ np.kron(np.diag(p) - np.outer(p, p), np.outer(x, x)) @ A
        theta = after
    covariance = A @ np.linalg.inv(H) @ A.T
    assert_allclose(
        np.sqrt(np.diagonal(covariance)).reshape(3, 3)[:, :-1],
        model.standard_errors_,
        rtol=1e-8,
    )


@pytest.mark.syllabus("7.4")
@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_it_ends_near_the_optimum_of_all_rows(K, offset):
    X, y = rows(K, offset=offset)
    batch = LogisticRegression().fit(X, y)
    online = LogisticRegression(solver="recursive").fit(X, y)
    assert np.abs(batch.predict_proba(X) - online.predict_proba(X)).max() < 0.03
    assert (np.abs(batch.coef_ - online.coef_) < batch.standard_errors_).all()
    assert_allclose(online.standard_errors_, batch.standard_errors_, rtol=0.1)
    averaged = [
        LogisticRegression(solver=s, posterior="probit").fit(X, y).predict_proba(X)
        for s in ("auto", "recursive")
    ]
    assert np.abs(averaged[0] - averaged[1]).max() < 0.03


def test_columns_of_large_units_do_not_throw_it_off():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(4000, 800, 300), rng.normal(17, 2, 300)])
    y = (X[:, 0] / 400 - X[:, 1] + rng.normal(size=300) > -7).astype(int)
    online = LogisticRegression(solver="recursive").fit(X, y)
    assert online.score(X, y) > LogisticRegression().fit(X, y).score(X, y) - 0.05
    assert online.log_likelihood_ > online.null_log_likelihood_


@pytest.mark.syllabus("7.4")
@pytest.mark.parametrize("K", [2, 4])
def test_going_on_in_pieces_is_one_pass_over_all_rows(K):
    X, y = rows(K, n=500, offset=1e6)
    w = np.random.default_rng(1).integers(0, 3, len(y)).astype(float)
    whole = LogisticRegression(solver="recursive", record=True).fit(X, y, w)
    parts = LogisticRegression(solver="recursive", record=True)
    for at in range(0, 500, 130):
        piece = slice(at, at + 130)
        parts.partial_fit(X[piece], y[piece], classes=range(K), sample_weight=w[piece])
    assert_array_equal(parts.coef_, whole.coef_)
    assert_array_equal(parts.covariance_.shape, whole.covariance_.shape)
    assert_allclose(parts.standard_errors_, whole.standard_errors_, rtol=1e-10)
    assert_allclose(parts.log_likelihood_, whole.log_likelihood_, rtol=1e-12)
    assert_allclose(parts.mean_, whole.mean_, rtol=1e-12)
    assert len(parts.record_) == len(whole.record_) == 500
    assert_allclose(parts.record_[-1]["objective"], whole.objective_, rtol=1e-12)
    assert len(parts.history_) == 4


@pytest.mark.syllabus("7.4")
@pytest.mark.parametrize("K", [2, 3])
def test_the_objective_is_the_loss_of_every_row_before_it_is_learned_from(K):
    X, y = rows(K, n=60, offset=10.0)
    w, factors = (
        np.random.default_rng(1).uniform(0, 2, 60),
        dict(enumerate([0.5, 2.0, 1.0][:K])),
    )
    model = LogisticRegression(
        solver="recursive", record=True, class_weight=factors
    ).fit(X, y, w)
    assert model.record_[-1]["objective"] == pytest.approx(model.objective_, rel=1e-10)
    objective, coef, intercept = 0.0, np.zeros((K, X.shape[1])), np.zeros(K)
    for x, k, weight, step in zip(X, y, w, model.record_):
        objective -= weight * factors[k] * np.log(softmax(coef @ x + intercept)[k])
        assert step["objective"] == pytest.approx(objective, rel=1e-10)
        coef, intercept = step["coef"], step["intercept"]
        if K == 2:
            coef, intercept = np.vstack([0 * coef, coef]), np.append(0.0, intercept)


def test_the_log_likelihood_is_that_of_rows_not_yet_seen():
    X, y = rows(n=40)
    whole = LogisticRegression(solver="recursive").fit(X, y)
    model, total = LogisticRegression(solver="recursive"), np.log(0.5)
    model.partial_fit(X[:1], y[:1], classes=[0, 1])
    for at in range(1, 40):
        total += model.predict_log_proba(X[at : at + 1])[0, y[at]]
        model.partial_fit(X[at : at + 1], y[at : at + 1])
    assert_allclose(whole.log_likelihood_, total, rtol=1e-10)


def test_files_sparse_rows_and_rows_of_no_weight(tmp_path):
    X, y = rows(3, n=700)
    w = np.random.default_rng(1).integers(0, 3, len(y)).astype(float)
    w[0] = 0.0
    model = LogisticRegression(solver="recursive").fit(X, y, w)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=y, w=w)
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=90)
    from_file = scan(str(tmp_path / "rows.parquet"), target="y", weight="w", memory=0)
    from_file = LogisticRegression(solver="recursive").fit(from_file)
    thin = LogisticRegression(solver="recursive").fit(sparse.csr_array(X), y, w)
    fewer = LogisticRegression(solver="recursive").fit(X[w > 0], y[w > 0], w[w > 0])
    for other in (from_file, thin, fewer):
        assert_allclose(other.coef_, model.coef_, rtol=1e-9)


def test_it_goes_on_after_a_model_file(tmp_path):
    X, y = rows(n=200)
    model = LogisticRegression(solver="recursive").fit(X[:100], y[:100])
    save(model, tmp_path / "model.lyceum")
    back = load(tmp_path / "model.lyceum")
    assert_array_equal(
        back.partial_fit(X[100:], y[100:]).coef_,
        model.partial_fit(X[100:], y[100:]).coef_,
    )


def test_what_it_cannot_do_is_said():
    X, y = rows(n=50)
    for settings, told in (
        ({"C": np.inf}, "finite C"),
        ({"class_weight": "balanced"}, "as a dict"),
        ({"warm_start": True}, "partial_fit"),
    ):
        with pytest.raises(ValueError, match=told):
            LogisticRegression(solver="recursive", **settings).fit(X, y)
    with pytest.raises(ValueError, match="too many"):
        LogisticRegression(solver="recursive").fit(sparse.csr_array((50, 6000)), y)
    model = LogisticRegression(solver="recursive").fit(X, y)
    kept = model.coef_.copy()
    with pytest.raises(SchemaError, match="name all classes"):
        model.partial_fit(X, y + 1)
    assert_array_equal(model.coef_, kept)


@pytest.mark.syllabus("7.4")
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("thin", [False, True])
def test_recursive_least_squares_end_at_ridge_regression(fit_intercept, thin):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5)) + 10
    y, w = (
        X @ rng.normal(size=5) + rng.normal(size=300),
        rng.integers(0, 3, 300).astype(float),
    )
    cells = sparse.csr_array(X) if thin else X
    plain = Ridge(alpha=3.0, fit_intercept=fit_intercept).fit(X, y, w)
    online = Ridge(alpha=3.0, fit_intercept=fit_intercept, solver="recursive").fit(
        cells, y, w
    )
    for name in ("coef_", "intercept_", "residual_sum_", "r2_"):
        assert_allclose(
            getattr(online, name), getattr(plain, name), rtol=1e-9, err_msg=name
        )
    with pytest.raises(ValueError, match="alpha > 0"):
        Ridge(alpha=0.0, solver="recursive").fit(X, y)
