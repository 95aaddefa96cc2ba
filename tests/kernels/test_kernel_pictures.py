"""The pictures of kernel machines, by what they draw."""

import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot

matplotlib.use("Agg")

from lyceum import plot
from lyceum.errors import DataError
from lyceum.kernels import SVC


@pytest.fixture(autouse=True)
def _closes_its_figures():
    yield
    pyplot.close("all")


def two_groups(n=60):
    rng = np.random.default_rng(0)
    y = np.arange(n) % 2
    return rng.normal(size=(n, 2)) + 1.6 * y[:, None], y


@pytest.mark.syllabus("9.3")
def test_slacks_end_on_the_edge_of_their_class():
    X, y = two_groups()
    model = SVC(kernel="linear", tol=1e-6).fit(X, y)
    ax = plot.margin(model, X, y)
    slacks = [line for line in ax.lines if line.get_gid() == "slack"]
    assert len(slacks) == (model.slack_ > 1e-5).sum()
    ends = np.array([[line.get_xdata()[1], line.get_ydata()[1]] for line in slacks])
    np.testing.assert_allclose(np.abs(model.decision_function(ends)), 1.0, atol=1e-6)
    assert f"{model.n_at_bound_[0]} at the bound" in ax.get_title(loc="left")
    plot.margin(SVC().fit(X, y), X, y)
    with pytest.raises(DataError, match="two columns for two classes"):
        plot.margin(SVC().fit(X[:, :1], y), X[:, :1], y)


@pytest.mark.syllabus("9.5.2")
def test_the_best_pair_of_settings_is_framed():
    ax = plot.setting_grid([[0.7, 0.8], [0.9, 0.75]], [1, 10], [0.5, 2.0])
    assert ax.patches[0].get_xy() == (-0.5, 0.5)
    with pytest.raises(DataError, match="2 values of C"):
        plot.setting_grid([[0.7]], [1, 10], [0.5])


@pytest.mark.syllabus("9.3")
def test_the_losses_are_those_of_the_definitions():
    curves = {line.get_label(): line for line in plot.hinge_and_logistic().lines}
    m = curves["hinge"].get_xdata()
    np.testing.assert_allclose(curves["hinge"].get_ydata(), np.maximum(0, 1 - m))
    assert (
        curves["logistic / log 2"].get_ydata() >= curves["zero-one"].get_ydata() - 1e-12
    ).all()


@pytest.mark.syllabus("9.1")
def test_a_circle_lifts_to_a_plane():
    angle = np.linspace(0, 6, 30)
    X = np.concatenate(
        [np.c_[np.cos(angle), np.sin(angle)], 3 * np.c_[np.cos(angle), np.sin(angle)]]
    )
    ax = plot.feature_lift(X, np.repeat([0, 1], 30))
    x, _, z = ax.collections[0]._offsets3d
    np.testing.assert_allclose(np.asarray(x) + np.asarray(z), 1.0)
    with pytest.raises(DataError, match="two columns"):
        plot.feature_lift(X[:, :1], np.repeat([0, 1], 30))
    with pytest.raises(DataError, match="three features"):
        plot.feature_lift(X, np.repeat([0, 1], 30), features=lambda X: X)


@pytest.mark.syllabus("9.3.7")
def test_support_vectors_of_images_come_by_their_weight():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 16)), np.arange(40) % 2
    model = SVC().fit(X, y)
    figure = plot.support_faces(model, (4, 4), most=5)
    assert len(figure.axes) == 5
    first = np.abs(model.dual_coef_[:, 0]).argmax()
    np.testing.assert_array_equal(
        figure.axes[0].images[0].get_array(),
        model.support_vectors_[first].reshape(4, 4),
    )
    with pytest.raises(DataError, match="there are 16"):
        plot.support_faces(model, (5, 4))
