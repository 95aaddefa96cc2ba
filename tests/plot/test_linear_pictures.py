"""Pictures of linear models show the numbers they are given."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from lyceum.errors import DataError
from lyceum.linear import LinearRegression, LogisticRegression, lasso_path
from lyceum.plot import posterior_contours, regularization_path, residuals

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


def test_a_line_of_the_path_is_a_coefficient():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 12))
    path = lasso_path(X, X[:, 0] - 2 * X[:, 3] + rng.normal(size=60), alphas=15)
    ax = regularization_path(path, most=2)
    named = {line.get_label(): line for line in ax.lines if not line.get_label().startswith("_")}
    assert set(named) == {"x0", "x3"}
    assert_allclose(named["x3"].get_ydata(), path.coefs[:, 3])
    assert ax.xaxis_inverted()
    assert len(ax.lines) == np.count_nonzero(path.coefs.any(axis=0))


def test_residuals_are_what_the_model_leaves():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(40, 2)), rng.normal(size=40)
    model = LinearRegression().fit(X, y)
    shown = residuals(model, X, y).collections[0].get_offsets()
    assert_allclose(shown[:, 0], model.predict(X))
    assert_allclose(shown[:, 1], y - model.predict(X))


@pytest.mark.parametrize("posterior", ["plugin", "probit", "monte_carlo"])
def test_contours_are_drawn_for_every_predictive(posterior):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(50, 2))
    y = (X[:, 0] + rng.normal(size=50) > 0).astype(int)
    ax = posterior_contours(
        LogisticRegression(posterior=posterior).fit(X, y), X, y, steps=15, title=posterior
    )
    assert posterior in (ax.get_title(), ax.get_title("left"))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["0", "1"]


def test_contours_need_two_columns_and_two_classes():
    X, y = np.eye(3), np.array([0, 1, 1])
    with pytest.raises(DataError, match="two columns"):
        posterior_contours(LogisticRegression().fit(X, y), X, y)
