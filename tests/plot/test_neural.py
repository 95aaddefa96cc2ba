"""Training curves and network drawings show what was learned."""

import matplotlib
import numpy as np
import pytest
from numpy.testing import assert_allclose

from lyceum import plot
from lyceum.errors import DataError
from lyceum.linear import Lasso, LinearRegression, LogisticRegression
from lyceum.neural import MLPClassifier, MLPRegressor

matplotlib.use("Agg")
from matplotlib import pyplot
from matplotlib.collections import LineCollection


@pytest.fixture(autouse=True)
def _close():
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def model():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = np.where(X[:, 0] > 0, "yes", "no")
    return MLPClassifier(
        hidden_layer_sizes=(4, 30),
        early_stopping=True,
        max_iter=15,
        tol=None,
        random_state=0,
    ).fit(X, y)


@pytest.mark.syllabus("8.3.4")
def test_training_curves_are_the_history(model):
    ax = plot.training_curves(model, label="net")
    named = {line.get_label(): line for line in ax.lines}
    np.testing.assert_array_equal(named["net, training"].get_ydata(), model.history_)
    np.testing.assert_array_equal(
        named["net, validation"].get_ydata(), model.validation_history_
    )
    assert f"best: {model.best_epoch_}" in named
    assert ax.get_yscale() == "log"
    plot.training_curves(model, label="again", ax=ax, log=False)
    assert len(ax.lines) == 6


def test_a_network_has_a_line_for_every_weight_drawn(model):
    ax = plot.network(model, most=10, title="net")
    lines = [c for c in ax.collections if isinstance(c, LineCollection)]
    assert [len(c.get_segments()) for c in lines] == [3 * 4, 4 * 10, 10 * 1]
    assert [t.get_text() for t in ax.get_xticklabels()] == [
        "3 inputs",
        "4 relu",
        "30 relu",
        "1 output",
    ]
    texts = {t.get_text() for t in ax.texts}
    assert {"x0", "x1", "x2", "yes", "⋮"} <= texts
    first = lines[0].get_colors()[0][:3]
    want = matplotlib.colors.to_rgb(plot.style.COLORS[int(model.coefs_[0][0, 0] < 0)])
    np.testing.assert_allclose(first, want)


def test_a_network_without_hidden_layers_is_drawn():
    model = MLPRegressor(
        hidden_layer_sizes=(), max_iter=2, tol=None, random_state=0
    ).fit(np.eye(3), [1.0, 2.0, 3.0])
    ax = plot.network(model, weights=False)
    assert len(ax.collections[0].get_segments()) == 3
    assert plot.training_curves(model).get_xlabel() == "epoch"


def test_other_learners_show_what_they_lower_from_before_the_first_step():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = X[:, 0] + rng.normal(size=60)
    descent = LinearRegression(solver="gradient_descent").fit(X, y)
    ax = plot.training_curves(descent)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("pass", "sum of squared residuals")
    assert ax.lines[0].get_xdata()[0] == 0
    assert_allclose(ax.lines[0].get_ydata(), descent.history_)
    assert (
        plot.training_curves(Lasso(alpha=0.01).fit(X, y)).get_ylabel() == "duality gap"
    )
    assert (
        plot.training_curves(LogisticRegression().fit(X, y > 0)).get_ylabel()
        == "objective"
    )
    with pytest.raises(DataError, match="not fitted step by step"):
        plot.training_curves(LinearRegression().fit(X, y))
