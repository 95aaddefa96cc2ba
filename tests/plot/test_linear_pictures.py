"""Pictures of linear models show the numbers they are given."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import lyceum
from lyceum.errors import DataError
from lyceum.linear import LinearRegression, LogisticRegression, lasso_path
from lyceum.plot import (
    laplace_contours,
    margin_losses,
    posterior_contours,
    regularization_path,
    residuals,
)

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")


def test_a_line_of_the_path_is_a_coefficient():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 12))
    path = lasso_path(X, X[:, 0] - 2 * X[:, 3] + rng.normal(size=60), alphas=15)
    ax = regularization_path(path, most=2)
    named = {
        line.get_label(): line
        for line in ax.lines
        if not line.get_label().startswith("_")
    }
    assert set(named) == {"x0", "x3"}
    assert_allclose(named["x3"].get_ydata(), path.coefs[:, 3])
    assert ax.xaxis_inverted()
    assert len(ax.lines) == np.count_nonzero(path.coefs.any(axis=0))


@pytest.mark.syllabus("7.8")
def test_margin_losses_meet_at_one_and_lie_above_mistakes():
    lines = {line.get_label(): line.get_xydata() for line in margin_losses().lines}
    assert len(lines) == 6
    m = lines["zero-one"][:, 0]
    assert_allclose(lines["logistic (log₂)"][:, 1], np.log2(1 + np.exp(-m)))
    for name, curve in lines.items():
        assert_allclose(curve[np.argmin(np.abs(m)), 1], 1.0)
        assert (curve[:, 1] >= (m <= 0)).all(), name


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
        LogisticRegression(posterior=posterior).fit(X, y),
        X,
        y,
        steps=15,
        title=posterior,
    )
    assert posterior in (ax.get_title(), ax.get_title("left"))
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["0", "1"]


def test_contours_of_three_classes_meet_where_posteriors_are_equal():
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, 90)
    X = rng.normal(size=(90, 2)) + 2 * np.array([[0, 0], [1, 0], [0, 1]])[y]
    model = LogisticRegression().fit(X, y)
    ax = posterior_contours(model, X, y, steps=60)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["0", "1", "2"]
    lines = [c for c in ax.collections if len(getattr(c, "levels", [])) == 1]
    assert len(lines) == 3
    for contour in lines:
        for path in contour.get_paths():
            top = np.sort(model.predict_proba(path.vertices), axis=1)[:, -2:]
            assert np.abs(top[:, 1] - top[:, 0]).max(initial=0.0) < 0.02


def test_contours_of_a_frame_keep_its_names():
    frame = pd.DataFrame(
        np.random.default_rng(0).normal(size=(30, 2)), columns=["a", "b"]
    )
    y = (frame["a"] > 0).to_numpy()
    ax = posterior_contours(LogisticRegression().fit(frame, y), frame, y, steps=8)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("a", "b")


@pytest.mark.syllabus("7.6")
def test_averaging_over_the_weights_is_less_sure_far_away_side_by_side():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(50, 2))
    y = (X[:, 0] + rng.normal(size=50) > 0).astype(int)
    panels = laplace_contours(X, y, C=10.0, steps=25, n_draws=100)
    shown = [float(ax.collections[0].get_array().max()) for ax in panels]
    assert [ax.get_title(loc="left") for ax in panels] == [
        "plug-in",
        "Monte Carlo",
        "probit",
    ]
    assert shown[0] >= max(shown[1:])


def test_contours_need_two_columns_and_two_classes():
    X, y = np.eye(3), np.array([0, 1, 1])
    with pytest.raises(DataError, match="two columns"):
        posterior_contours(LogisticRegression().fit(X, y), X, y)


def test_residuals_of_scanned_rows_are_those_of_the_arrays():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2))
    table = np.column_stack([X, X @ [1.0, 2.0] + rng.normal(size=30)])
    rows = lyceum.scan(table, target="x2")
    model = LinearRegression().fit(rows)
    frame = pd.DataFrame(X, columns=["x0", "x1"])
    found, expected = residuals(model, rows), residuals(model, frame, table[:, 2])
    assert np.array_equal(
        found.collections[0].get_offsets(), expected.collections[0].get_offsets()
    )
