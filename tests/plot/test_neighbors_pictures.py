"""Pictures of neighbors show what the models say."""

import matplotlib
import numpy as np
import pytest
from scipy.spatial import Delaunay

from lyceum import plot
from lyceum.errors import DataError
from lyceum.neighbors import (
    KNeighborsClassifier,
    LocallyWeightedRegression,
    RBFNetworkRegressor,
)

matplotlib.use("Agg")


def two_columns(n=40):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, n)
    return rng.normal(size=(n, 2)) + y[:, None], y


@pytest.mark.syllabus("10.8.3")
def test_cells_are_those_of_the_nearest_row_and_edges_those_of_delaunay():
    X, y = two_columns()
    ax = plot.voronoi(X, y)
    cells, edges = ax.collections[0], ax.collections[3]
    order = np.lexsort((X[:, 1], X[:, 0]))
    inside = [
        path.contains_point(row) for path, row in zip(cells.get_paths(), X[order])
    ]
    assert all(inside)
    pairs = {
        tuple(sorted(e))
        for t in Delaunay(X).simplices
        for e in ((t[0], t[1]), (t[1], t[2]), (t[0], t[2]))
    }
    assert len(edges.get_segments()) == len(pairs)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["0", "1", "2"]
    with pytest.raises(DataError, match="not on a line"):
        plot.voronoi([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [3.0, 3.0]])
    with pytest.raises(DataError, match="two columns"):
        plot.voronoi([[0.0], [1.0]])


@pytest.mark.syllabus("10.3")
def test_regions_are_predictions_for_every_k():
    X, y = two_columns(120)
    axs = plot.neighbor_regions(KNeighborsClassifier(), X, y)
    assert [ax.get_title(loc="left") or ax.get_title() for ax in axs] == [
        "k = 1",
        "k = 5",
        "k = 25",
    ]
    mesh = axs[1].collections[0]
    found = np.unique(mesh.get_array())
    assert set(found) <= {0, 1, 2}


@pytest.mark.syllabus("10.6")
@pytest.mark.parametrize("degree", [0, 1, 2])
def test_the_polynomial_at_the_query_goes_through_the_fit(degree):
    rng = np.random.default_rng(1)
    X = rng.uniform(0, 6, (90, 1))
    model = LocallyWeightedRegression(degree=degree).fit(X, np.sin(X[:, 0]))
    found = model.neighborhood(2.0)
    assert found["polynomial"](np.array([2.0]))[0] == pytest.approx(
        model.predict([[2.0]])[0]
    )
    ax = plot.local_fit(model, 2.0)
    np.testing.assert_allclose(
        ax.lines[0].get_ydata(), model.predict(ax.lines[0].get_xdata()[:, None])
    )
    with pytest.raises(DataError, match="one column"):
        plot.local_fit(LocallyWeightedRegression().fit(np.hstack([X, X]), X[:, 0]), 2.0)


@pytest.mark.syllabus("10.7")
@pytest.mark.parametrize("units", ["constant", "linear"])
def test_bumps_and_the_constant_sum_to_the_prediction(units):
    X = np.linspace(0, 6, 90)[:, None]
    model = RBFNetworkRegressor(n_centers=5, centers="uniform", units=units).fit(
        X, np.sin(X[:, 0])
    )
    constant = model.target_mean_ + model.target_scale_ * model.bias_[0]
    np.testing.assert_allclose(
        model.unit_outputs(X).sum(axis=1) + constant, model.predict(X)
    )
    assert len(plot.radial_units(model).lines) == 6
