"""Support vector regression: a hand-solved line, optimality, and libsvm's answers."""

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import sparse
from sklearn.svm import SVR as LibSVR

from lyceum.errors import SettingError
from lyceum.kernels import SVR, RBFKernel


def wave(n=120, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3, 3, size=(n, 2))
    return X, np.sin(X[:, 0]) + 0.3 * X[:, 1] + 0.2 * rng.normal(size=n)


def residual(model, X, y):
    """The largest violation of the KKT conditions, from the definition."""
    f = model.kernel_.gram(X) @ model.alpha_ + model.intercept_[0]
    error, a, bound = y - f, model.alpha_, model.C
    beyond = np.abs(error) - model.epsilon
    edge = np.sign(a) * error - model.epsilon
    return np.where(
        a == 0,
        np.maximum(0, beyond),
        np.where(np.abs(a) >= bound, np.maximum(0, -edge), np.abs(edge)),
    ).max()


@pytest.mark.syllabus("9.4.1")
def test_the_flattest_line_in_the_tube_by_hand():
    """Through (0, 0.3) and (3, 2.7): within 0.3 of the targets 0, 1, 2, 3."""
    X, y = np.arange(4.0)[:, None], np.arange(4.0)
    model = SVR(kernel="linear", C=100.0, epsilon=0.3, tol=1e-9).fit(X, y)
    assert model.coef_[0, 0] == pytest.approx(0.8)
    assert model.intercept_[0] == pytest.approx(0.3)
    np.testing.assert_allclose(model.alpha_, [-0.8 / 3, 0, 0, 0.8 / 3], atol=1e-8)
    assert model.support_.tolist() == [0, 3]
    assert model.primal_objective_ == pytest.approx(0.32)
    assert model.dual_objective_ == pytest.approx(0.32)


@pytest.mark.syllabus("9.4")
@pytest.mark.parametrize(
    "settings",
    [{"kernel": "linear"}, {"gamma": 0.4, "C": 5.0}, {"epsilon": 0.0}],
    ids=str,
)
def test_libsvm_finds_the_same_function(settings):
    X, y = wave()
    w = np.random.default_rng(1).uniform(0.5, 2.0, len(y))
    ours = SVR(tol=1e-8, **{"gamma": 0.5, **settings}).fit(X, y, w)
    peer = LibSVR(tol=1e-8, **{"gamma": 0.5, **settings}).fit(X, y, w)
    np.testing.assert_allclose(ours.predict(X), peer.predict(X), atol=5e-5)
    assert ours.support_.tolist() == sorted(peer.support_.tolist())
    coef = np.zeros(len(y))
    coef[peer.support_] = peer.dual_coef_[0]
    dual = (
        coef @ y
        - ours.epsilon * np.abs(coef).sum()
        - 0.5 * coef @ ours.kernel_.gram(X) @ coef
    )
    assert ours.dual_objective_ == pytest.approx(dual, rel=1e-6)
    assert ours.primal_objective_ == pytest.approx(dual, rel=1e-5)


@pytest.mark.syllabus("9.4")
@given(
    st.integers(1, 50),
    st.sampled_from([0.01, 1.0, 100.0]),
    st.sampled_from([0.0, 0.5]),
    st.integers(0, 10**6),
)
def test_kkt_conditions_hold_to_tol_on_awkward_rows(n, C, epsilon, seed):
    rng = np.random.default_rng(seed)
    X, y = (
        rng.integers(0, 3, size=(n, 2)).astype(float),
        rng.integers(-2, 3, size=n).astype(float),
    )
    model = SVR(C=C, epsilon=epsilon, gamma=0.3, tol=1e-5).fit(X, y)
    assert model.converged_
    assert residual(model, X, y) <= 1.1e-5
    assert abs(model.alpha_.sum()) <= 1e-9 * C * n


def test_many_rows_and_float32_reach_tol():
    X, y = wave(2500, seed=2)
    model = SVR(gamma=0.5, tol=1e-4).fit(X, y)
    assert residual(model, X, y) <= 1.01e-4
    single = SVR(gamma=0.5, tol=1e-4).fit(X.astype(np.float32), y)
    np.testing.assert_allclose(
        single.predict(X.astype(np.float32)), model.predict(X), atol=2e-3
    )


def test_an_offset_of_the_targets_moves_the_intercept_alone():
    X, y = wave()
    one, two = SVR(tol=1e-7).fit(X, y), SVR(tol=1e-7).fit(X, y + 1e6)
    np.testing.assert_allclose(two.predict(X) - 1e6, one.predict(X), atol=1e-5)


def test_sparse_precomputed_and_explained():
    X, y = wave(60)
    kernel = RBFKernel(gamma=0.5)
    model = SVR(kernel=kernel, tol=1e-8).fit(X, y)
    given = SVR(kernel="precomputed", tol=1e-8).fit(kernel.gram(X), y)
    np.testing.assert_allclose(
        given.predict(kernel.gram(X[:9], X)), model.predict(X[:9]), atol=1e-6
    )
    thin = SVR(kernel=kernel, tol=1e-8).fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(
        thin.predict(sparse.csr_array(X)), model.predict(X), atol=1e-6
    )
    for by in ("columns", "support_vectors"):
        np.testing.assert_allclose(
            model.explain(X[:5], by=by).scores, model.predict(X[:5]), atol=1e-9
        )
    with pytest.raises(SettingError, match="no columns to explain"):
        given.explain(kernel.gram(X))
    with pytest.raises(SettingError, match="needs classes"):
        SVR(gamma="closest").fit(X, y)
    assert "duality gap" in str(model.summary())
