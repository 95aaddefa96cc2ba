"""The ridge path against scikit-learn's Ridge, and generalized cross-validation by its formula."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge as TheirRidge

from lyceum import plot
from lyceum.errors import SettingError
from lyceum.linear import Ridge, ridge_path

pytestmark = pytest.mark.syllabus("7.2")


def table(n=40, d=4, offset=0.0, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) + offset
    return X, X @ rng.normal(size=d) + rng.normal(size=n), rng.integers(1, 4, n)


@pytest.mark.syllabus("7.2.1")
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("shape", [(40, 4), (20, 1200)])
def test_every_point_of_the_path_is_a_ridge_regression(fit_intercept, shape):
    X, y, w = table(*shape)
    path = ridge_path(X, y, w, alphas=[100.0, 1.0, 0.01], fit_intercept=fit_intercept)
    for alpha, coef, intercept in zip(path.alphas, path.coefs, path.intercepts):
        peer = TheirRidge(alpha=alpha, fit_intercept=fit_intercept, solver="svd")
        peer.fit(X, y, w)
        np.testing.assert_allclose(coef, peer.coef_, atol=1e-7)
        np.testing.assert_allclose(intercept, peer.intercept_, atol=1e-7)
        ours = Ridge(alpha, fit_intercept=fit_intercept).fit(X, y, w)
        at = path.alphas.tolist().index(alpha)
        assert path.effective_degrees[at] == pytest.approx(ours.effective_degrees_)
        squares = w @ (y - peer.predict(X)) ** 2
        # a difference of sums of squares of y has their rounding
        assert path.residual_sums[at] == pytest.approx(squares, abs=1e-13 * (w @ y**2))


def test_generalized_cross_validation_is_its_formula():
    X, y, _ = table()
    path = ridge_path(X, y, alphas=[50.0, 5.0, 0.5])
    centered = X - X.mean(axis=0)
    for alpha, gcv in zip(path.alphas, path.gcv):
        H = centered @ np.linalg.solve(
            centered.T @ centered + alpha * np.eye(4), centered.T
        )
        H += 1.0 / 40.0
        r = y - H @ y
        assert gcv == pytest.approx(40.0 * r @ r / (40.0 - np.trace(H)) ** 2)
    assert path.best_alpha == path.alphas[path.gcv.argmin()]


def test_a_weight_of_two_is_a_repeated_row_and_an_offset_changes_no_slope():
    X, y, w = table()
    weighted = ridge_path(X, y, w, alphas=5)
    repeated = ridge_path(np.repeat(X, w, axis=0), np.repeat(y, w), alphas=5)
    np.testing.assert_allclose(weighted.gcv, repeated.gcv)
    far = ridge_path(X + 1e6, y, alphas=[1.0])
    np.testing.assert_allclose(
        far.coefs, ridge_path(X, y, alphas=[1.0]).coefs, atol=1e-6
    )


def test_units_do_not_matter_if_standardized_and_categories_are_coded():
    X, y, _ = table()
    units = np.array([1.0, 10.0, 0.1, 3.0])
    plain = ridge_path(X, y, alphas=[3.0], standardize=True)
    scaled = ridge_path(X * units, y, alphas=[3.0], standardize=True)
    np.testing.assert_allclose(scaled.coefs * units, plain.coefs)
    frame = pd.DataFrame({"x": X[:, 0], "c": pd.Categorical(list("abcd") * 10)})
    path = ridge_path(frame, y, alphas=4)
    assert len(path.names) == path.coefs.shape[1] == 5
    assert len(plot.regularization_path(path).lines) == 5
    assert set(path.as_dict()) > {"alphas", "gcv", "best_alpha"}


def test_columns_that_depend_on_each_other_share_their_slope():
    X, y, _ = table(d=1)
    path = ridge_path(np.column_stack([X, X, np.ones(40)]), y, alphas=[1e-6])
    np.testing.assert_allclose(path.coefs[0, 0], path.coefs[0, 1])
    assert path.coefs[0, 2] == pytest.approx(0.0, abs=1e-9)
    with pytest.raises(SettingError, match="alphas must be positive"):
        ridge_path(X, y, alphas=[-1.0])
